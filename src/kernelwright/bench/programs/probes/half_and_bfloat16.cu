// Arithmetic of 16 bits, one and two at a time.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void sums(float *out) {
  __half a = __float2half(1.5f), b = __float2half(2.25f);
  __half2 two = __hadd2(__floats2half2_rn(1, 2), __floats2half2_rn(3, 4));
  __nv_bfloat16 c = __float2bfloat16(3.0f);
  out[0] = __half2float(__hmul(a, b));
  out[1] = __low2float(two) + __high2float(two);
  out[2] = __bfloat162float(__hfma(c, c, c));
}
int main() {
  float h[3], *p;
  cudaMalloc(&p, sizeof h);
  sums<<<1, 1>>>(p);
  cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  return h[0] == 3.375f && h[1] == 10 && h[2] == 12 ? 0 : 1;
}
