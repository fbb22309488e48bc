// Kernels that print, and an assertion that holds.
#include <cassert>
#include <cstdio>
__global__ void say() {
  assert(blockDim.x == 2);
  printf("thread %d of %s: %.2f\n", threadIdx.x, "two", 0.5 * threadIdx.x);
}
int main() {
  say<<<1, 2>>>();
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
