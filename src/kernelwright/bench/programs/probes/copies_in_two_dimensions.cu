// Rows with a pitch, copied and filled, and a pinned buffer.
__global__ void twice(float *p, size_t pitch) {
  float *row = (float *)((char *)p + threadIdx.y * pitch);
  row[threadIdx.x] *= 2;
}
int main() {
  float *h, *p;
  size_t pitch;
  cudaMallocHost(&h, 15 * sizeof(float));
  for (int i = 0; i < 15; i++) h[i] = i;
  cudaMallocPitch(&p, &pitch, 5 * sizeof(float), 3);
  cudaMemcpy2D(p, pitch, h, 20, 20, 3, cudaMemcpyHostToDevice);
  twice<<<1, dim3(5, 3)>>>(p, pitch);
  cudaMemcpy2D(h, 20, p, pitch, 20, 3, cudaMemcpyDeviceToHost);
  bool right = h[14] == 28;
  cudaMemset2D(p, pitch, 0, 20, 2);
  cudaMemcpy2D(h, 20, p, pitch, 20, 3, cudaMemcpyDeviceToHost);
  return right && h[9] == 0 && h[10] == 20 ? 0 : 1;
}
