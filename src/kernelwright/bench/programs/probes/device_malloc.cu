// Memory that a kernel takes and gives back itself.
__global__ void list(int *out) {
  int *mine = (int *)malloc(4 * sizeof(int));
  for (int i = 0; i < 4; i++) mine[i] = threadIdx.x + i;
  out[threadIdx.x] = mine[0] + mine[3];
  free(mine);
}
int main() {
  int h[4], *p;
  cudaMalloc(&p, sizeof h);
  list<<<1, 4>>>(p);
  cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  return h[3] == 9 ? 0 : 1;
}
