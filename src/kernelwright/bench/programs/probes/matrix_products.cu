// cuBLAS: a product of two small matrices, by columns.
#include <cublas_v2.h>
int main() {
  float a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, c[4], one = 1, zero = 0, *d;
  cublasHandle_t handle;
  cublasCreate(&handle);
  cudaMalloc(&d, 12 * sizeof(float));
  cublasSetVector(4, sizeof(float), a, 1, d, 1);
  cublasSetVector(4, sizeof(float), b, 1, d + 4, 1);
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, d, 2, d + 4, 2, &zero, d + 8, 2);
  cublasGetVector(4, sizeof(float), d + 8, 1, c, 1);
  cublasDestroy(handle);
  return c[0] == 23 && c[1] == 34 && c[2] == 31 && c[3] == 46 ? 0 : 1;
}
