/* Level 2 of cuBLAS: a matrix and vectors. */
#include "cublas_calls.h"

#define OF_EVERY_TYPE(L, T)                                                                                            \
    KW_API cublasStatus_t cublas##L##gemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n,             \
                                             const T *alpha, const T *A, int lda, const T *x, int incx, const T *beta, \
                                             T *y, int incy)                                                           \
    {                                                                                                                  \
        REQUIRE(is_operation(trans) && m >= 0 && n >= 0 && at_least(m, lda) && incx && incy && alpha && beta);         \
        if (!m || !n)                                                                                                  \
            return CUBLAS_STATUS_SUCCESS;                                                                              \
        return CALL(WORD(trans), WORD(m), WORD(n), SCALAR(alpha), ADDRESS(A), WORD(lda), ADDRESS(x), WORD(incx),       \
                    SCALAR(beta), ADDRESS(y), WORD(incy));                                                             \
    }                                                                                                                  \
    SYMMETRIC_PRODUCT(L##symv, T)                                                                                      \
    RANK_ONE_TRIANGLE(L##syr, T, T)                                                                                    \
    RANK_TWO_TRIANGLE(L##syr2, T)                                                                                      \
    TRIANGULAR(L##trmv, T)                                                                                             \
    TRIANGULAR(L##trsv, T)

#define SYMMETRIC_PRODUCT(name, T)                                                                                   \
    KW_API cublasStatus_t cublas##name##_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const T *alpha,     \
                                            const T *A, int lda, const T *x, int incx, const T *beta, T *y, int incy) \
    {                                                                                                                \
        REQUIRE(is_triangle(uplo) && n >= 0 && at_least(n, lda) && incx && incy && alpha && beta);                   \
        if (!n)                                                                                                      \
            return CUBLAS_STATUS_SUCCESS;                                                                            \
        return CALL(WORD(uplo), WORD(n), SCALAR(alpha), ADDRESS(A), WORD(lda), ADDRESS(x), WORD(incx), SCALAR(beta), \
                    ADDRESS(y), WORD(incy));                                                                         \
    }

#define RANK_ONE_TRIANGLE(name, T, R)                                                                             \
    KW_API cublasStatus_t cublas##name##_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const R *alpha,  \
                                            const T *x, int incx, T *A, int lda)                                  \
    {                                                                                                             \
        REQUIRE(is_triangle(uplo) && n >= 0 && at_least(n, lda) && incx && alpha);                                \
        if (!n)                                                                                                   \
            return CUBLAS_STATUS_SUCCESS;                                                                         \
        return CALL(WORD(uplo), WORD(n), SCALAR(alpha), ADDRESS(x), WORD(incx), ADDRESS(A), WORD(lda));           \
    }

#define RANK_TWO_TRIANGLE(name, T)                                                                                \
    KW_API cublasStatus_t cublas##name##_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const T *alpha,  \
                                            const T *x, int incx, const T *y, int incy, T *A, int lda)            \
    {                                                                                                             \
        REQUIRE(is_triangle(uplo) && n >= 0 && at_least(n, lda) && incx && incy && alpha);                        \
        if (!n)                                                                                                   \
            return CUBLAS_STATUS_SUCCESS;                                                                         \
        return CALL(WORD(uplo), WORD(n), SCALAR(alpha), ADDRESS(x), WORD(incx), ADDRESS(y), WORD(incy), ADDRESS(A), \
                    WORD(lda));                                                                                   \
    }

#define TRIANGULAR(name, T)                                                                                         \
    KW_API cublasStatus_t cublas##name##_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,  \
                                            cublasDiagType_t diag, int n, const T *A, int lda, T *x, int incx)      \
    {                                                                                                               \
        REQUIRE(is_triangle(uplo) && is_operation(trans) && is_diagonal(diag) && n >= 0 && at_least(n, lda) && incx); \
        if (!n)                                                                                                     \
            return CUBLAS_STATUS_SUCCESS;                                                                           \
        return CALL(WORD(uplo), WORD(trans), WORD(diag), WORD(n), ADDRESS(A), WORD(lda), ADDRESS(x), WORD(incx));   \
    }

#define RANK_ONE(name, T)                                                                                         \
    KW_API cublasStatus_t cublas##name##_v2(cublasHandle_t handle, int m, int n, const T *alpha, const T *x,      \
                                            int incx, const T *y, int incy, T *A, int lda)                        \
    {                                                                                                             \
        REQUIRE(m >= 0 && n >= 0 && at_least(m, lda) && incx && incy && alpha);                                   \
        if (!m || !n)                                                                                             \
            return CUBLAS_STATUS_SUCCESS;                                                                         \
        return CALL(WORD(m), WORD(n), SCALAR(alpha), ADDRESS(x), WORD(incx), ADDRESS(y), WORD(incy), ADDRESS(A),  \
                    WORD(lda));                                                                                   \
    }

OF_EVERY_TYPE(S, float)
OF_EVERY_TYPE(D, double)
OF_EVERY_TYPE(C, cuComplex)
OF_EVERY_TYPE(Z, cuDoubleComplex)
RANK_ONE(Sger, float)
RANK_ONE(Dger, double)
RANK_ONE(Cgeru, cuComplex)
RANK_ONE(Cgerc, cuComplex)
RANK_ONE(Zgeru, cuDoubleComplex)
RANK_ONE(Zgerc, cuDoubleComplex)
SYMMETRIC_PRODUCT(Chemv, cuComplex)
SYMMETRIC_PRODUCT(Zhemv, cuDoubleComplex)
RANK_ONE_TRIANGLE(Cher, cuComplex, float)
RANK_ONE_TRIANGLE(Zher, cuDoubleComplex, double)
RANK_TWO_TRIANGLE(Cher2, cuComplex)
RANK_TWO_TRIANGLE(Zher2, cuDoubleComplex)
