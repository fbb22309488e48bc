// cuSOLVER: a symmetric system solved with its Cholesky factor.
#include <cusolverDn.h>
int main() {
  float numbers[6] = {4, 2, 2, 5, 8, 20}, *d, *work, x[2];
  int *info, told, size;
  cusolverDnHandle_t handle;
  cudaMalloc(&d, sizeof numbers);
  cudaMalloc(&info, sizeof *info);
  cudaMemcpy(d, numbers, sizeof numbers, cudaMemcpyHostToDevice);
  cusolverDnCreate(&handle);
  cusolverDnSpotrf_bufferSize(handle, CUBLAS_FILL_MODE_LOWER, 2, d, 2, &size);
  cudaMalloc(&work, size * sizeof *work);
  cusolverDnSpotrf(handle, CUBLAS_FILL_MODE_LOWER, 2, d, 2, work, size, info);
  cusolverDnSpotrs(handle, CUBLAS_FILL_MODE_LOWER, 2, 1, d, 2, d + 4, 2, info);
  cudaMemcpy(x, d + 4, sizeof x, cudaMemcpyDeviceToHost);
  cudaMemcpy(&told, info, sizeof told, cudaMemcpyDeviceToHost);
  cusolverDnDestroy(handle);
  return told == 0 && x[0] == 0 && x[1] == 4 ? 0 : 1;
}
