// A kernel that launches a kernel.
__global__ void child(int *p) { p[threadIdx.x] = threadIdx.x; }
__global__ void parent(int *p) { child<<<1, 8>>>(p); }
int main() {
  int *p;
  cudaMalloc(&p, 32);
  parent<<<1, 1>>>(p);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
