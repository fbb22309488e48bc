// cuFFT: a transform there and back, which multiplies by its length.
#include <cufft.h>
int main() {
  cufftHandle plan;
  cufftComplex x[4] = {{1, 0}, {2, 0}, {3, 0}, {4, 0}}, *d;
  cudaMalloc(&d, sizeof x);
  cudaMemcpy(d, x, sizeof x, cudaMemcpyHostToDevice);
  cufftPlan1d(&plan, 4, CUFFT_C2C, 1);
  cufftExecC2C(plan, d, d, CUFFT_FORWARD);
  cufftExecC2C(plan, d, d, CUFFT_INVERSE);
  cudaMemcpy(x, d, sizeof x, cudaMemcpyDeviceToHost);
  cufftDestroy(plan);
  return x[0].x == 4 && x[3].x == 16 && x[3].y == 0 ? 0 : 1;
}
