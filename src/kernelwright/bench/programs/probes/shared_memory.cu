// Static and dynamic shared memory, and more of it than a launch has by itself.
extern __shared__ int dynamic[];
__global__ void turned(int *p) {
  __shared__ int fixed[64];
  int t = threadIdx.x;
  fixed[t] = p[t];
  dynamic[t] = 10 * p[t];
  __syncthreads();
  p[t] = fixed[63 - t] + dynamic[63 - t];
}
int main() {
  int h[64], *p;
  for (int i = 0; i < 64; i++) h[i] = i;
  cudaMalloc(&p, sizeof h);
  cudaMemcpy(p, h, sizeof h, cudaMemcpyHostToDevice);
  if (cudaFuncSetAttribute(turned, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536) != cudaSuccess) return 2;
  turned<<<1, 64, 65536>>>(p);
  if (cudaGetLastError() != cudaSuccess) return 3;
  cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  return h[0] == 63 * 11 && h[60] == 3 * 11 ? 0 : 1;
}
