// cudaLaunchKernel with an array of arguments.
__global__ void sum(int *p, int a, int b) { *p = a + b; }
int main() {
  int *p, a = 2, b = 40, h = 0;
  cudaMalloc(&p, sizeof h);
  void *arguments[] = {&p, &a, &b};
  cudaLaunchKernel((const void *)sum, dim3(1), dim3(1), arguments, 0, 0);
  cudaMemcpy(&h, p, sizeof h, cudaMemcpyDeviceToHost);
  return h == 42 && cudaGetLastError() == cudaSuccess ? 0 : 1;
}
