/* Routines whose numbers are 64 bits wide, cublasSgemm_64 and its like: those of cublas_declarations.h, for numbers that fit in 32 bits.
   Larger ones are CUBLAS_STATUS_NOT_SUPPORTED: no virtual GPU holds such operands. Part of cublas_api.h. */
#pragma once
#include <stdint.h>

#define KW_FIT(n) ((n) == (int64_t)(int)(n))
#define KW_WIDE static inline cublasStatus_t
#define KW_NARROW(fits, call) { return (fits) ? (call) : CUBLAS_STATUS_NOT_SUPPORTED; }

/* The place of the largest or smallest: 64 bits of the host, or of the device, where the upper half is cleared first. */
#define KW_PLACE(name, T)                                                                                                \
    KW_WIDE name##_64(cublasHandle_t handle, int64_t n, const T *x, int64_t incx, int64_t *result) {                     \
        cublasPointerMode_t mode;                                                                                        \
        cudaStream_t stream;                                                                                             \
        cublasStatus_t status = cublasGetPointerMode_v2(handle, &mode);                                                  \
        if (status == CUBLAS_STATUS_SUCCESS) status = cublasGetStream_v2(handle, &stream);                               \
        if (status != CUBLAS_STATUS_SUCCESS) return status;                                                              \
        if (!KW_FIT(n) || !KW_FIT(incx)) return CUBLAS_STATUS_NOT_SUPPORTED;                                             \
        if (!result) return CUBLAS_STATUS_INVALID_VALUE;                                                                 \
        if (mode == CUBLAS_POINTER_MODE_HOST) *result = 0;                                                               \
        else if (cudaMemsetAsync(result, 0, sizeof *result, stream) != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED; \
        return name##_v2(handle, (int)n, x, (int)incx, (int *)result);                                                   \
    }

#define KW_WIDE_OF_EVERY_TYPE(L, I, T)                                                                                   \
    KW_WIDE cublas##L##axpy_64(cublasHandle_t handle, int64_t n, const T *alpha, const T *x, int64_t incx, T *y,         \
                               int64_t incy)                                                                             \
    KW_NARROW(KW_FIT(n) && KW_FIT(incx) && KW_FIT(incy),                                                                 \
              cublas##L##axpy_v2(handle, (int)n, alpha, x, (int)incx, y, (int)incy))                                     \
    KW_WIDE cublas##L##scal_64(cublasHandle_t handle, int64_t n, const T *alpha, T *x, int64_t incx)                     \
    KW_NARROW(KW_FIT(n) && KW_FIT(incx), cublas##L##scal_v2(handle, (int)n, alpha, x, (int)incx))                        \
    KW_WIDE cublas##L##copy_64(cublasHandle_t handle, int64_t n, const T *x, int64_t incx, T *y, int64_t incy)           \
    KW_NARROW(KW_FIT(n) && KW_FIT(incx) && KW_FIT(incy), cublas##L##copy_v2(handle, (int)n, x, (int)incx, y, (int)incy)) \
    KW_WIDE cublas##L##swap_64(cublasHandle_t handle, int64_t n, T *x, int64_t incx, T *y, int64_t incy)                 \
    KW_NARROW(KW_FIT(n) && KW_FIT(incx) && KW_FIT(incy), cublas##L##swap_v2(handle, (int)n, x, (int)incx, y, (int)incy)) \
    KW_PLACE(cublasI##I##amax, T)                                                                                        \
    KW_PLACE(cublasI##I##amin, T)                                                                                        \
    KW_WIDE cublas##L##gemv_64(cublasHandle_t handle, cublasOperation_t trans, int64_t m, int64_t n, const T *alpha,     \
                               const T *A, int64_t lda, const T *x, int64_t incx, const T *beta, T *y, int64_t incy)     \
    KW_NARROW(KW_FIT(m) && KW_FIT(n) && KW_FIT(lda) && KW_FIT(incx) && KW_FIT(incy),                                     \
              cublas##L##gemv_v2(handle, trans, (int)m, (int)n, alpha, A, (int)lda, x, (int)incx, beta, y, (int)incy))   \
    KW_WIDE cublas##L##gemm_64(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m,     \
                               int64_t n, int64_t k, const T *alpha, const T *A, int64_t lda, const T *B, int64_t ldb,   \
                               const T *beta, T *C, int64_t ldc)                                                         \
    KW_NARROW(KW_FIT(m) && KW_FIT(n) && KW_FIT(k) && KW_FIT(lda) && KW_FIT(ldb) && KW_FIT(ldc),                          \
              cublas##L##gemm_v2(handle, transa, transb, (int)m, (int)n, (int)k, alpha, A, (int)lda, B, (int)ldb, beta,  \
                                 C, (int)ldc))                                                                           \
    KW_WIDE cublas##L##gemmStridedBatched_64(                                                                            \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m, int64_t n, int64_t k,      \
        const T *alpha, const T *A, int64_t lda, long long strideA, const T *B, int64_t ldb, long long strideB,          \
        const T *beta, T *C, int64_t ldc, long long strideC, int64_t count)                                              \
    KW_NARROW(KW_FIT(m) && KW_FIT(n) && KW_FIT(k) && KW_FIT(lda) && KW_FIT(ldb) && KW_FIT(ldc) && KW_FIT(count),         \
              cublas##L##gemmStridedBatched(handle, transa, transb, (int)m, (int)n, (int)k, alpha, A, (int)lda, strideA, \
                                            B, (int)ldb, strideB, beta, C, (int)ldc, strideC, (int)count))               \
    KW_WIDE cublas##L##geam_64(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m,     \
                               int64_t n, const T *alpha, const T *A, int64_t lda, const T *beta, const T *B,            \
                               int64_t ldb, T *C, int64_t ldc)                                                           \
    KW_NARROW(KW_FIT(m) && KW_FIT(n) && KW_FIT(lda) && KW_FIT(ldb) && KW_FIT(ldc),                                       \
              cublas##L##geam(handle, transa, transb, (int)m, (int)n, alpha, A, (int)lda, beta, B, (int)ldb, C,          \
                              (int)ldc))                                                                                 \
    KW_WIDE cublas##L##dgmm_64(cublasHandle_t handle, cublasSideMode_t mode, int64_t m, int64_t n, const T *A,           \
                               int64_t lda, const T *x, int64_t incx, T *C, int64_t ldc)                                 \
    KW_NARROW(KW_FIT(m) && KW_FIT(n) && KW_FIT(lda) && KW_FIT(incx) && KW_FIT(ldc),                                      \
              cublas##L##dgmm(handle, mode, (int)m, (int)n, A, (int)lda, x, (int)incx, C, (int)ldc))                     \
    KW_WIDE cublas##L##trsm_64(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,                      \
                               cublasOperation_t trans, cublasDiagType_t diag, int64_t m, int64_t n, const T *alpha,     \
                               const T *A, int64_t lda, T *B, int64_t ldb)                                               \
    KW_NARROW(KW_FIT(m) && KW_FIT(n) && KW_FIT(lda) && KW_FIT(ldb),                                                      \
              cublas##L##trsm_v2(handle, side, uplo, trans, diag, (int)m, (int)n, alpha, A, (int)lda, B, (int)ldb))      \
    KW_WIDE cublas##L##syrk_64(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int64_t n,         \
                               int64_t k, const T *alpha, const T *A, int64_t lda, const T *beta, T *C, int64_t ldc)     \
    KW_NARROW(KW_FIT(n) && KW_FIT(k) && KW_FIT(lda) && KW_FIT(ldc),                                                      \
              cublas##L##syrk_v2(handle, uplo, trans, (int)n, (int)k, alpha, A, (int)lda, beta, C, (int)ldc))
KW_WIDE_OF_EVERY_TYPE(S, s, float)
KW_WIDE_OF_EVERY_TYPE(D, d, double)
KW_WIDE_OF_EVERY_TYPE(C, c, cuComplex)
KW_WIDE_OF_EVERY_TYPE(Z, z, cuDoubleComplex)
#undef KW_WIDE_OF_EVERY_TYPE
#undef KW_PLACE

#define KW_WIDE_PRODUCT(name, T)                                                                                        \
    KW_WIDE name##_64(cublasHandle_t handle, int64_t n, const T *x, int64_t incx, const T *y, int64_t incy, T *result)  \
    KW_NARROW(KW_FIT(n) && KW_FIT(incx) && KW_FIT(incy), name##_v2(handle, (int)n, x, (int)incx, y, (int)incy, result))
KW_WIDE_PRODUCT(cublasSdot, float)
KW_WIDE_PRODUCT(cublasDdot, double)
KW_WIDE_PRODUCT(cublasCdotu, cuComplex)
KW_WIDE_PRODUCT(cublasCdotc, cuComplex)
KW_WIDE_PRODUCT(cublasZdotu, cuDoubleComplex)
KW_WIDE_PRODUCT(cublasZdotc, cuDoubleComplex)
#undef KW_WIDE_PRODUCT

#define KW_WIDE_SUM(name, T, R)                                                                      \
    KW_WIDE name##_64(cublasHandle_t handle, int64_t n, const T *x, int64_t incx, R *result)         \
    KW_NARROW(KW_FIT(n) && KW_FIT(incx), name##_v2(handle, (int)n, x, (int)incx, result))
KW_WIDE_SUM(cublasSnrm2, float, float)
KW_WIDE_SUM(cublasDnrm2, double, double)
KW_WIDE_SUM(cublasScnrm2, cuComplex, float)
KW_WIDE_SUM(cublasDznrm2, cuDoubleComplex, double)
KW_WIDE_SUM(cublasSasum, float, float)
KW_WIDE_SUM(cublasDasum, double, double)
KW_WIDE_SUM(cublasScasum, cuComplex, float)
KW_WIDE_SUM(cublasDzasum, cuDoubleComplex, double)
#undef KW_WIDE_SUM
#undef KW_NARROW
#undef KW_WIDE
#undef KW_FIT
