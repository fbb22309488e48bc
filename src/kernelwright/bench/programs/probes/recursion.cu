// A device function that calls itself.
__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void kernel(int *p, int n) { *p = fibonacci(n); }
int main() {
  int *p, h = 0;
  cudaMalloc(&p, sizeof h);
  kernel<<<1, 1>>>(p, 10);
  cudaMemcpy(&h, p, sizeof h, cudaMemcpyDeviceToHost);
  return h == 55 ? 0 : 1;
}
