// Memory that both sides read and write through one pointer, and a managed variable.
__managed__ int total;
__global__ void sum(const int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&total, p[i]);
}
int main() {
  int *p;
  cudaMallocManaged(&p, 1000 * sizeof(int));
  for (int i = 0; i < 1000; i++) p[i] = i;
  total = 5;
  sum<<<4, 256>>>(p, 1000);
  cudaDeviceSynchronize();
  return total == 499505 ? 0 : 1;
}
