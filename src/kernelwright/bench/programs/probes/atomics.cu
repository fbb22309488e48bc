// Atomic operations on integers, floats and doubles, of a block and of the device.
__global__ void every(int *i, unsigned long long *l, float *f, double *d) {
  atomicAdd(i, 1);
  atomicMax(i + 1, (int)threadIdx.x);
  atomicMin(i + 2, -(int)threadIdx.x);
  atomicXor(i + 3, 1 << threadIdx.x % 32);
  if (atomicCAS(i + 4, 0, 7) == 0) atomicExch(i + 5, 9);
  atomicInc((unsigned *)i + 6, 9);
  atomicAdd(l, 1ull << 33);
  atomicAdd(f, 0.5f);
  atomicAdd(d, 0.25);
  atomicAdd_block(i + 7, 2);
}
int main() {
  int h[8], *i;
  unsigned long long *l, hl;
  float *f, hf;
  double *d, hd;
  cudaMalloc(&i, sizeof h);
  cudaMalloc(&l, sizeof hl);
  cudaMalloc(&f, sizeof hf);
  cudaMalloc(&d, sizeof hd);
  cudaMemset(i, 0, sizeof h);
  cudaMemset(l, 0, sizeof hl);
  cudaMemset(f, 0, sizeof hf);
  cudaMemset(d, 0, sizeof hd);
  every<<<1, 64>>>(i, l, f, d);
  cudaMemcpy(h, i, sizeof h, cudaMemcpyDeviceToHost);
  cudaMemcpy(&hl, l, sizeof hl, cudaMemcpyDeviceToHost);
  cudaMemcpy(&hf, f, sizeof hf, cudaMemcpyDeviceToHost);
  cudaMemcpy(&hd, d, sizeof hd, cudaMemcpyDeviceToHost);
  bool whole = h[0] == 64 && h[1] == 63 && h[2] == -63 && h[3] == 0 && h[4] == 7 && h[5] == 9 && h[6] == 4 && h[7] == 128;
  return whole && hl == 64ull << 33 && hf == 32 && hd == 16 ? 0 : 1;
}
