// A cooperative launch, and a barrier of all its blocks.
#include <cooperative_groups.h>
__global__ void meet(int *p) {
  auto grid = cooperative_groups::this_grid();
  p[grid.thread_rank()] = grid.thread_rank();
  grid.sync();
  int other = p[grid.size() - 1 - grid.thread_rank()];
  grid.sync();
  p[grid.thread_rank()] = other;
}
int main() {
  int *p, h[64], wrong = 0;
  cudaMalloc(&p, sizeof h);
  void *arguments[] = {&p};
  if (cudaLaunchCooperativeKernel((const void *)meet, dim3(2), dim3(32), arguments, 0, 0) != cudaSuccess) return 1;
  cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 64; i++) wrong += h[i] != 63 - i;
  return wrong != 0;
}
