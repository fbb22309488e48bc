// Shuffles, votes, matches and reductions of a warp.
__global__ void all(int *out) {
  unsigned lane = threadIdx.x;
  int sum = lane;
  for (int d = 16; d; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  unsigned even = __ballot_sync(0xffffffffu, lane % 2 == 0);
  unsigned same = __match_any_sync(0xffffffffu, lane / 4);
  int most = __reduce_max_sync(0xffffffffu, (int)lane);
  if (lane == 0) {
    out[0] = sum;
    out[1] = even == 0x55555555u;
    out[2] = same == 15u;
    out[3] = most;
    out[4] = __popc(even) + __ffs((int)even);
  }
}
int main() {
  int h[5], *p;
  cudaMalloc(&p, sizeof h);
  all<<<1, 32>>>(p);
  cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  return h[0] == 496 && h[1] && h[2] && h[3] == 31 && h[4] == 17 ? 0 : 1;
}
