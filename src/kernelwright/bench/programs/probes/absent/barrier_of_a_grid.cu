// A cooperative launch, and a barrier of all its blocks.
#include <cooperative_groups.h>
__global__ void meet(int *p) {
  auto grid = cooperative_groups::this_grid();
  p[grid.thread_rank()] = 1;
  grid.sync();
  if (grid.thread_rank() == 0) p[0] = p[grid.size() - 1];
}
int main() {
  int *p;
  cudaMalloc(&p, 64 * sizeof(int));
  void *arguments[] = {&p};
  return cudaLaunchCooperativeKernel((const void *)meet, dim3(2), dim3(32), arguments, 0, 0) == cudaSuccess ? 0 : 1;
}
