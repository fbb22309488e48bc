/* cuBLAS as programs called it before CUDA 4: without handles, scalars by value, results returned, options as letters ('N',
   'T', 'U', ...). Each function is that of cublas_api.h, called with a handle that cublasInit makes; cublasGetError says what
   went wrong last since it was asked. As with NVIDIA's, either this header or cublas_v2.h. */
#pragma once
#if defined(CUBLAS_V2_H_)
#error "It is an error to include both cublas.h and cublas_v2.h"
#endif
#define CUBLAS_H_
#pragma GCC system_header
#include "cublas_api.h"

typedef cublasStatus_t cublasStatus;

#if defined(__cplusplus)
extern "C" {
#endif

cublasStatus_t cublasInit(void);
cublasStatus_t cublasShutdown(void);
cublasStatus_t cublasGetError(void);
cublasStatus_t cublasGetVersion(int *version);
cublasStatus_t cublasSetKernelStream(cudaStream_t stream);
cublasStatus_t cublasAlloc(int n, int elemSize, void **devicePtr);
cublasStatus_t cublasFree(void *devicePtr);
/* That of cublasInit, with which calls of both kinds can be mixed; null before it. */
cublasHandle_t cublasGetCurrentCtx(void);
/* Ours: remembers a failure for cublasGetError. */
void kw_cublas_remember(cublasStatus_t status);
/* Ours: letters of BLAS, of either case; of others values that every routine refuses. */
cublasOperation_t kw_cublas_operation(char letter);
cublasFillMode_t kw_cublas_triangle(char letter);
cublasSideMode_t kw_cublas_side(char letter);
cublasDiagType_t kw_cublas_diagonal(char letter);

#if defined(__cplusplus)
}
#endif

#include "kernelwright/cublas_without_handles.h"
