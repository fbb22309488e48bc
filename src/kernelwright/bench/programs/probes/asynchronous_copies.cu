// Copies from global to shared memory that go on beside the warp.
#include <cuda_pipeline.h>
__global__ void through(const float4 *in, float4 *out) {
  __shared__ float4 buffer[32];
  __pipeline_memcpy_async(&buffer[threadIdx.x], &in[threadIdx.x], sizeof(float4), threadIdx.x % 2 ? 8 : 0);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = buffer[31 - threadIdx.x];
}
int main() {
  float4 h[32], *in, *out;
  for (int i = 0; i < 32; i++) h[i] = make_float4(i, 2 * i, 3 * i, 4 * i);
  cudaMalloc(&in, sizeof h);
  cudaMalloc(&out, sizeof h);
  cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
  through<<<1, 32>>>(in, out);
  cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
  return h[0].y == 62 && h[0].w == 0 && h[1].w == 120 && h[31].x == 0 ? 0 : 1;
}
