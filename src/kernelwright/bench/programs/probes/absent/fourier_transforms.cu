// cuFFT.
#include <cufft.h>
int main() {
  cufftHandle plan;
  return cufftPlan1d(&plan, 8, CUFFT_C2C, 1) == CUFFT_SUCCESS ? 0 : 1;
}
__global__ void none() {}
