/* The routines of cuBLAS that compute, by type. Part of cublas_api.h, within extern "C".
   L: the letter of the type T; R: the real type of its absolute values; I: the letter in cublasI?amax. */
#pragma once

/* ---- level 1 to 3, of every type ---- */

#define KW_CUBLAS_OF_EVERY_TYPE(L, I, T)                                                                              \
    cublasStatus_t cublas##L##axpy_v2(cublasHandle_t handle, int n, const T *alpha, const T *x, int incx, T *y,       \
                                      int incy);                                                                      \
    cublasStatus_t cublas##L##scal_v2(cublasHandle_t handle, int n, const T *alpha, T *x, int incx);                  \
    cublasStatus_t cublas##L##copy_v2(cublasHandle_t handle, int n, const T *x, int incx, T *y, int incy);            \
    cublasStatus_t cublas##L##swap_v2(cublasHandle_t handle, int n, T *x, int incx, T *y, int incy);                  \
    cublasStatus_t cublasI##I##amax_v2(cublasHandle_t handle, int n, const T *x, int incx, int *result);              \
    cublasStatus_t cublasI##I##amin_v2(cublasHandle_t handle, int n, const T *x, int incx, int *result);              \
    cublasStatus_t cublas##L##gemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const T *alpha,   \
                                      const T *A, int lda, const T *x, int incx, const T *beta, T *y, int incy);      \
    cublasStatus_t cublas##L##symv_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const T *alpha,            \
                                      const T *A, int lda, const T *x, int incx, const T *beta, T *y, int incy);      \
    cublasStatus_t cublas##L##syr_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const T *alpha, const T *x, \
                                     int incx, T *A, int lda);                                                        \
    cublasStatus_t cublas##L##syr2_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const T *alpha,            \
                                      const T *x, int incx, const T *y, int incy, T *A, int lda);                     \
    cublasStatus_t cublas##L##trmv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,          \
                                      cublasDiagType_t diag, int n, const T *A, int lda, T *x, int incx);             \
    cublasStatus_t cublas##L##trsv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,          \
                                      cublasDiagType_t diag, int n, const T *A, int lda, T *x, int incx);             \
    cublasStatus_t cublas##L##symm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m,     \
                                      int n, const T *alpha, const T *A, int lda, const T *B, int ldb, const T *beta, \
                                      T *C, int ldc);                                                                 \
    cublasStatus_t cublas##L##syrk_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n,   \
                                      int k, const T *alpha, const T *A, int lda, const T *beta, T *C, int ldc);      \
    cublasStatus_t cublas##L##syr2k_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n,  \
                                       int k, const T *alpha, const T *A, int lda, const T *B, int ldb,               \
                                       const T *beta, T *C, int ldc);                                                 \
    cublasStatus_t cublas##L##syrkx(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n,     \
                                    int k, const T *alpha, const T *A, int lda, const T *B, int ldb, const T *beta,   \
                                    T *C, int ldc);                                                                   \
    cublasStatus_t cublas##L##trmm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,            \
                                      cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const T *alpha,   \
                                      const T *A, int lda, const T *B, int ldb, T *C, int ldc);                       \
    cublasStatus_t cublas##L##trsm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,            \
                                      cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const T *alpha,   \
                                      const T *A, int lda, T *B, int ldb);                                            \
    cublasStatus_t cublas##L##trsmBatched(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,        \
                                          cublasOperation_t trans, cublasDiagType_t diag, int m, int n,               \
                                          const T *alpha, const T *const A[], int lda, T *const B[], int ldb,         \
                                          int count);                                                                 \
    cublasStatus_t cublas##L##geam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,  \
                                   int n, const T *alpha, const T *A, int lda, const T *beta, const T *B, int ldb,    \
                                   T *C, int ldc);                                                                    \
    cublasStatus_t cublas##L##dgmm(cublasHandle_t handle, cublasSideMode_t mode, int m, int n, const T *A, int lda,   \
                                   const T *x, int incx, T *C, int ldc);                                              \
    cublasStatus_t cublas##L##getrfBatched(cublasHandle_t handle, int n, T *const A[], int lda, int *pivots,          \
                                           int *info, int count);                                                     \
    cublasStatus_t cublas##L##getriBatched(cublasHandle_t handle, int n, const T *const A[], int lda,                 \
                                           const int *pivots, T *const C[], int ldc, int *info, int count);           \
    cublasStatus_t cublas##L##getrsBatched(cublasHandle_t handle, cublasOperation_t trans, int n, int nrhs,           \
                                           const T *const A[], int lda, const int *pivots, T *const B[], int ldb,     \
                                           int *info, int count);                                                     \
    cublasStatus_t cublas##L##gelsBatched(cublasHandle_t handle, cublasOperation_t trans, int m, int n, int nrhs,     \
                                          T *const A[], int lda, T *const C[], int ldc, int *info, int *deviceInfo,   \
                                          int count);
KW_CUBLAS_OF_EVERY_TYPE(S, s, float)
KW_CUBLAS_OF_EVERY_TYPE(D, d, double)
KW_CUBLAS_OF_EVERY_TYPE(C, c, cuComplex)
KW_CUBLAS_OF_EVERY_TYPE(Z, z, cuDoubleComplex)
#undef KW_CUBLAS_OF_EVERY_TYPE

#define KW_CUBLAS_GEMM(L, suffix, T)                                                                                    \
    cublasStatus_t cublas##L##gemm##suffix(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,   \
                                           int m, int n, int k, const T *alpha, const T *A, int lda, const T *B,        \
                                           int ldb, const T *beta, T *C, int ldc);                                      \
    cublasStatus_t cublas##L##gemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,    \
                                          int m, int n, int k, const T *alpha, const T *const A[], int lda,             \
                                          const T *const B[], int ldb, const T *beta, T *const C[], int ldc,            \
                                          int count);                                                                   \
    cublasStatus_t cublas##L##gemmStridedBatched(                                                                       \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const T *alpha, \
        const T *A, int lda, long long strideA, const T *B, int ldb, long long strideB, const T *beta, T *C, int ldc,   \
        long long strideC, int count);
KW_CUBLAS_GEMM(S, _v2, float)
KW_CUBLAS_GEMM(D, _v2, double)
KW_CUBLAS_GEMM(C, _v2, cuComplex)
KW_CUBLAS_GEMM(Z, _v2, cuDoubleComplex)
#if defined(__cplusplus)
KW_CUBLAS_GEMM(H, , __half)
#endif
#undef KW_CUBLAS_GEMM

/* ---- of real, or of complex numbers ---- */

#define KW_CUBLAS_OF_REALS(L, T)                                                                                      \
    cublasStatus_t cublas##L##dot_v2(cublasHandle_t handle, int n, const T *x, int incx, const T *y, int incy,        \
                                     T *result);                                                                      \
    cublasStatus_t cublas##L##nrm2_v2(cublasHandle_t handle, int n, const T *x, int incx, T *result);                 \
    cublasStatus_t cublas##L##asum_v2(cublasHandle_t handle, int n, const T *x, int incx, T *result);                 \
    cublasStatus_t cublas##L##rot_v2(cublasHandle_t handle, int n, T *x, int incx, T *y, int incy, const T *c,        \
                                     const T *s);                                                                     \
    cublasStatus_t cublas##L##rotg_v2(cublasHandle_t handle, T *a, T *b, T *c, T *s);                                 \
    cublasStatus_t cublas##L##rotm_v2(cublasHandle_t handle, int n, T *x, int incx, T *y, int incy, const T *param);  \
    cublasStatus_t cublas##L##ger_v2(cublasHandle_t handle, int m, int n, const T *alpha, const T *x, int incx,       \
                                     const T *y, int incy, T *A, int lda);
KW_CUBLAS_OF_REALS(S, float)
KW_CUBLAS_OF_REALS(D, double)
#undef KW_CUBLAS_OF_REALS

#define KW_CUBLAS_OF_COMPLEX(L, T, RL, RT)                                                                            \
    cublasStatus_t cublas##L##dotu_v2(cublasHandle_t handle, int n, const T *x, int incx, const T *y, int incy,       \
                                      T *result);                                                                     \
    cublasStatus_t cublas##L##dotc_v2(cublasHandle_t handle, int n, const T *x, int incx, const T *y, int incy,       \
                                      T *result);                                                                     \
    cublasStatus_t cublas##RL##nrm2_v2(cublasHandle_t handle, int n, const T *x, int incx, RT *result);               \
    cublasStatus_t cublas##RL##asum_v2(cublasHandle_t handle, int n, const T *x, int incx, RT *result);               \
    cublasStatus_t cublas##L##geru_v2(cublasHandle_t handle, int m, int n, const T *alpha, const T *x, int incx,      \
                                      const T *y, int incy, T *A, int lda);                                           \
    cublasStatus_t cublas##L##gerc_v2(cublasHandle_t handle, int m, int n, const T *alpha, const T *x, int incx,      \
                                      const T *y, int incy, T *A, int lda);                                           \
    cublasStatus_t cublas##L##hemv_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const T *alpha,            \
                                      const T *A, int lda, const T *x, int incx, const T *beta, T *y, int incy);      \
    cublasStatus_t cublas##L##her_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const RT *alpha,            \
                                     const T *x, int incx, T *A, int lda);                                            \
    cublasStatus_t cublas##L##her2_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const T *alpha,            \
                                      const T *x, int incx, const T *y, int incy, T *A, int lda);                     \
    cublasStatus_t cublas##L##hemm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m,     \
                                      int n, const T *alpha, const T *A, int lda, const T *B, int ldb, const T *beta, \
                                      T *C, int ldc);                                                                 \
    cublasStatus_t cublas##L##herk_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n,   \
                                      int k, const RT *alpha, const T *A, int lda, const RT *beta, T *C, int ldc);    \
    cublasStatus_t cublas##L##her2k_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n,  \
                                       int k, const T *alpha, const T *A, int lda, const T *B, int ldb,               \
                                       const RT *beta, T *C, int ldc);
KW_CUBLAS_OF_COMPLEX(C, cuComplex, Sc, float)
KW_CUBLAS_OF_COMPLEX(Z, cuDoubleComplex, Dz, double)
#undef KW_CUBLAS_OF_COMPLEX
cublasStatus_t cublasCsscal_v2(cublasHandle_t handle, int n, const float *alpha, cuComplex *x, int incx);
cublasStatus_t cublasZdscal_v2(cublasHandle_t handle, int n, const double *alpha, cuDoubleComplex *x, int incx);

/* ---- types as arguments ---- */

cublasStatus_t cublasAxpyEx(cublasHandle_t handle, int n, const void *alpha, cudaDataType alphaType, const void *x,
                            cudaDataType xType, int incx, void *y, cudaDataType yType, int incy,
                            cudaDataType executiontype);
cublasStatus_t cublasScalEx(cublasHandle_t handle, int n, const void *alpha, cudaDataType alphaType, void *x,
                            cudaDataType xType, int incx, cudaDataType executionType);
cublasStatus_t cublasDotEx(cublasHandle_t handle, int n, const void *x, cudaDataType xType, int incx, const void *y,
                           cudaDataType yType, int incy, void *result, cudaDataType resultType,
                           cudaDataType executionType);
cublasStatus_t cublasDotcEx(cublasHandle_t handle, int n, const void *x, cudaDataType xType, int incx, const void *y,
                            cudaDataType yType, int incy, void *result, cudaDataType resultType,
                            cudaDataType executionType);
cublasStatus_t cublasNrm2Ex(cublasHandle_t handle, int n, const void *x, cudaDataType xType, int incx, void *result,
                            cudaDataType resultType, cudaDataType executionType);
cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                             int k, const float *alpha, const void *A, cudaDataType Atype, int lda, const void *B,
                             cudaDataType Btype, int ldb, const float *beta, void *C, cudaDataType Ctype, int ldc);
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                            int k, const void *alpha, const void *A, cudaDataType Atype, int lda, const void *B,
                            cudaDataType Btype, int ldb, const void *beta, void *C, cudaDataType Ctype, int ldc,
                            cublasComputeType_t computeType, cublasGemmAlgo_t algo);
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                   int n, int k, const void *alpha, const void *const A[], cudaDataType Atype, int lda,
                                   const void *const B[], cudaDataType Btype, int ldb, const void *beta,
                                   void *const C[], cudaDataType Ctype, int ldc, int count,
                                   cublasComputeType_t computeType, cublasGemmAlgo_t algo);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                          int m, int n, int k, const void *alpha, const void *A, cudaDataType Atype,
                                          int lda, long long strideA, const void *B, cudaDataType Btype, int ldb,
                                          long long strideB, const void *beta, void *C, cudaDataType Ctype, int ldc,
                                          long long strideC, int count, cublasComputeType_t computeType,
                                          cublasGemmAlgo_t algo);
