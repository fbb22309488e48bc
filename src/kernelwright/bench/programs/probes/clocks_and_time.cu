// The clocks of a kernel go on.
__global__ void ticks(long long *out) {
  long long begun = clock64();
  unsigned long long at;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(at));
  for (volatile int i = 0; i < 100; i++) {}
  out[0] = clock64() - begun;
  out[1] = at > 0;
}
int main() {
  long long h[2], *p;
  cudaMalloc(&p, sizeof h);
  ticks<<<1, 1>>>(p);
  cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  return h[0] > 0 && h[1] ? 0 : 1;
}
