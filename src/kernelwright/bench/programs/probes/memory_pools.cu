// Memory taken and given back in the order of a stream.
__global__ void fill(int *p) { p[threadIdx.x] = threadIdx.x; }
int main() {
  int *p, h[8];
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  if (cudaMallocAsync((void **)&p, sizeof h, stream) != cudaSuccess) return 2;
  fill<<<1, 8, 0, stream>>>(p);
  cudaMemcpyAsync(h, p, sizeof h, cudaMemcpyDeviceToHost, stream);
  cudaFreeAsync(p, stream);
  cudaStreamSynchronize(stream);
  return h[7] == 7 ? 0 : 1;
}
