// cuSPARSE: a matrix by rows times a vector.
#include <cusparse.h>
int main() {
  int layout[6] = {0, 1, 3, 0, 0, 1}, *indices;
  float numbers[7] = {2, 3, 4, 5, 6, 0, 0}, one = 1, zero = 0, *d, y[2];
  cusparseHandle_t handle;
  cusparseSpMatDescr_t a;
  cusparseDnVecDescr_t x, product;
  cudaMalloc(&indices, sizeof layout);
  cudaMalloc(&d, sizeof numbers);
  cudaMemcpy(indices, layout, sizeof layout, cudaMemcpyHostToDevice);
  cudaMemcpy(d, numbers, sizeof numbers, cudaMemcpyHostToDevice);
  cusparseCreate(&handle);
  cusparseCreateCsr(&a, 2, 2, 3, indices, indices + 3, d, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                    CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
  cusparseCreateDnVec(&x, 2, d + 3, CUDA_R_32F);
  cusparseCreateDnVec(&product, 2, d + 5, CUDA_R_32F);
  cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, x, &zero, product, CUDA_R_32F,
               CUSPARSE_SPMV_ALG_DEFAULT, nullptr);
  cudaMemcpy(y, d + 5, sizeof y, cudaMemcpyDeviceToHost);
  cusparseDestroy(handle);
  return y[0] == 10 && y[1] == 39 ? 0 : 1;
}
