/* Level 3 of cuBLAS: matrices; and what cuBLAS adds to BLAS: batches, geam, dgmm, factorisations of batches. */
#include "cublas_calls.h"

/* The C++ type of the header, which C does not have. */
typedef struct {
    uint16_t bits;
} __half;

#define IS_GEMM                                                                                                  \
    (is_operation(transa) && is_operation(transb) && m >= 0 && n >= 0 && k >= 0 && alpha && beta &&              \
     at_least(transa == CUBLAS_OP_N ? m : k, lda) && at_least(transb == CUBLAS_OP_N ? k : n, ldb) && at_least(m, ldc))

#define GEMM(L, suffix, T)                                                                                              \
    KW_API cublasStatus_t cublas##L##gemm##suffix(cublasHandle_t handle, cublasOperation_t transa,                      \
                                                  cublasOperation_t transb, int m, int n, int k, const T *alpha,        \
                                                  const T *A, int lda, const T *B, int ldb, const T *beta, T *C,        \
                                                  int ldc)                                                              \
    {                                                                                                                   \
        REQUIRE(IS_GEMM);                                                                                               \
        if (!m || !n)                                                                                                   \
            return CUBLAS_STATUS_SUCCESS;                                                                               \
        return CALL(WORD(transa), WORD(transb), WORD(m), WORD(n), WORD(k), SCALAR(alpha), ADDRESS(A), WORD(lda),        \
                    ADDRESS(B), WORD(ldb), SCALAR(beta), ADDRESS(C), WORD(ldc));                                        \
    }                                                                                                                   \
    KW_API cublasStatus_t cublas##L##gemmBatched(cublasHandle_t handle, cublasOperation_t transa,                       \
                                                 cublasOperation_t transb, int m, int n, int k, const T *alpha,         \
                                                 const T *const A[], int lda, const T *const B[], int ldb,              \
                                                 const T *beta, T *const C[], int ldc, int count)                       \
    {                                                                                                                   \
        REQUIRE(IS_GEMM && count >= 0);                                                                                 \
        if (!m || !n || !count)                                                                                         \
            return CUBLAS_STATUS_SUCCESS;                                                                               \
        return CALL(WORD(transa), WORD(transb), WORD(m), WORD(n), WORD(k), SCALAR(alpha), ADDRESS(A), WORD(lda),        \
                    ADDRESS(B), WORD(ldb), SCALAR(beta), ADDRESS(C), WORD(ldc), WORD(count));                           \
    }                                                                                                                   \
    KW_API cublasStatus_t cublas##L##gemmStridedBatched(                                                                \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const T *alpha, \
        const T *A, int lda, long long strideA, const T *B, int ldb, long long strideB, const T *beta, T *C, int ldc,   \
        long long strideC, int count)                                                                                   \
    {                                                                                                                   \
        REQUIRE(IS_GEMM && count >= 0);                                                                                 \
        if (!m || !n || !count)                                                                                         \
            return CUBLAS_STATUS_SUCCESS;                                                                               \
        return CALL(WORD(transa), WORD(transb), WORD(m), WORD(n), WORD(k), SCALAR(alpha), ADDRESS(A), WORD(lda),        \
                    WORD(strideA), ADDRESS(B), WORD(ldb), WORD(strideB), SCALAR(beta), ADDRESS(C), WORD(ldc),           \
                    WORD(strideC), WORD(count));                                                                        \
    }
GEMM(S, _v2, float)
GEMM(D, _v2, double)
GEMM(C, _v2, cuComplex)
GEMM(Z, _v2, cuDoubleComplex)
GEMM(H, , __half)

#define SYMMETRIC_PRODUCT(name, T)                                                                                     \
    KW_API cublasStatus_t cublas##name##_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,       \
                                            int m, int n, const T *alpha, const T *A, int lda, const T *B, int ldb,    \
                                            const T *beta, T *C, int ldc)                                              \
    {                                                                                                                  \
        REQUIRE(is_side(side) && is_triangle(uplo) && m >= 0 && n >= 0 && alpha && beta &&                             \
                at_least(side == CUBLAS_SIDE_LEFT ? m : n, lda) && at_least(m, ldb) && at_least(m, ldc));              \
        if (!m || !n)                                                                                                  \
            return CUBLAS_STATUS_SUCCESS;                                                                              \
        return CALL(WORD(side), WORD(uplo), WORD(m), WORD(n), SCALAR(alpha), ADDRESS(A), WORD(lda), ADDRESS(B),        \
                    WORD(ldb), SCALAR(beta), ADDRESS(C), WORD(ldc));                                                   \
    }

/* A symmetric update takes N and T, a Hermitian one N and C; of real numbers T and C are one. */
#define RANK_K(name, T, R, is_trans)                                                                                 \
    KW_API cublasStatus_t cublas##name##_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,   \
                                            int n, int k, const R *alpha, const T *A, int lda, const R *beta, T *C,  \
                                            int ldc)                                                                 \
    {                                                                                                                \
        REQUIRE(is_triangle(uplo) && (is_trans) && n >= 0 && k >= 0 && alpha && beta &&                              \
                at_least(trans == CUBLAS_OP_N ? n : k, lda) && at_least(n, ldc));                                    \
        if (!n)                                                                                                      \
            return CUBLAS_STATUS_SUCCESS;                                                                            \
        return CALL(WORD(uplo), WORD(trans), WORD(n), WORD(k), SCALAR(alpha), ADDRESS(A), WORD(lda), SCALAR(beta),   \
                    ADDRESS(C), WORD(ldc));                                                                          \
    }

#define RANK_2K(name, T, R, is_trans)                                                                                 \
    KW_API cublasStatus_t cublas##name(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n,  \
                                       int k, const T *alpha, const T *A, int lda, const T *B, int ldb,               \
                                       const R *beta, T *C, int ldc)                                                  \
    {                                                                                                                 \
        REQUIRE(is_triangle(uplo) && (is_trans) && n >= 0 && k >= 0 && alpha && beta &&                               \
                at_least(trans == CUBLAS_OP_N ? n : k, lda) && at_least(trans == CUBLAS_OP_N ? n : k, ldb) &&         \
                at_least(n, ldc));                                                                                    \
        if (!n)                                                                                                       \
            return CUBLAS_STATUS_SUCCESS;                                                                             \
        return CALL(WORD(uplo), WORD(trans), WORD(n), WORD(k), SCALAR(alpha), ADDRESS(A), WORD(lda), ADDRESS(B),      \
                    WORD(ldb), SCALAR(beta), ADDRESS(C), WORD(ldc));                                                  \
    }

#define IS_TRIANGULAR                                                                                      \
    (is_side(side) && is_triangle(uplo) && is_operation(trans) && is_diagonal(diag) && m >= 0 && n >= 0 && \
     alpha && at_least(side == CUBLAS_SIDE_LEFT ? m : n, lda) && at_least(m, ldb))

#define TRIANGULAR(L, T)                                                                                              \
    KW_API cublasStatus_t cublas##L##trmm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,     \
                                             cublasOperation_t trans, cublasDiagType_t diag, int m, int n,            \
                                             const T *alpha, const T *A, int lda, const T *B, int ldb, T *C, int ldc) \
    {                                                                                                                 \
        REQUIRE(IS_TRIANGULAR && at_least(m, ldc));                                                                   \
        if (!m || !n)                                                                                                 \
            return CUBLAS_STATUS_SUCCESS;                                                                             \
        return CALL(WORD(side), WORD(uplo), WORD(trans), WORD(diag), WORD(m), WORD(n), SCALAR(alpha), ADDRESS(A),     \
                    WORD(lda), ADDRESS(B), WORD(ldb), ADDRESS(C), WORD(ldc));                                         \
    }                                                                                                                 \
    KW_API cublasStatus_t cublas##L##trsm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,     \
                                             cublasOperation_t trans, cublasDiagType_t diag, int m, int n,            \
                                             const T *alpha, const T *A, int lda, T *B, int ldb)                      \
    {                                                                                                                 \
        REQUIRE(IS_TRIANGULAR);                                                                                       \
        if (!m || !n)                                                                                                 \
            return CUBLAS_STATUS_SUCCESS;                                                                             \
        return CALL(WORD(side), WORD(uplo), WORD(trans), WORD(diag), WORD(m), WORD(n), SCALAR(alpha), ADDRESS(A),     \
                    WORD(lda), ADDRESS(B), WORD(ldb));                                                                \
    }                                                                                                                 \
    KW_API cublasStatus_t cublas##L##trsmBatched(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, \
                                                 cublasOperation_t trans, cublasDiagType_t diag, int m, int n,        \
                                                 const T *alpha, const T *const A[], int lda, T *const B[], int ldb,  \
                                                 int count)                                                           \
    {                                                                                                                 \
        REQUIRE(IS_TRIANGULAR && count >= 0);                                                                         \
        if (!m || !n || !count)                                                                                       \
            return CUBLAS_STATUS_SUCCESS;                                                                             \
        return CALL(WORD(side), WORD(uplo), WORD(trans), WORD(diag), WORD(m), WORD(n), SCALAR(alpha), ADDRESS(A),     \
                    WORD(lda), ADDRESS(B), WORD(ldb), WORD(count));                                                   \
    }

#define ADDITIONS(L, T)                                                                                               \
    KW_API cublasStatus_t cublas##L##geam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,  \
                                          int m, int n, const T *alpha, const T *A, int lda, const T *beta,           \
                                          const T *B, int ldb, T *C, int ldc)                                         \
    {                                                                                                                 \
        REQUIRE(is_operation(transa) && is_operation(transb) && m >= 0 && n >= 0 && alpha && beta &&                  \
                at_least(transa == CUBLAS_OP_N ? m : n, lda) && at_least(transb == CUBLAS_OP_N ? m : n, ldb) &&       \
                at_least(m, ldc) && (C != A || (transa == CUBLAS_OP_N && lda == ldc)) &&                              \
                (C != B || (transb == CUBLAS_OP_N && ldb == ldc)));                                                   \
        if (!m || !n)                                                                                                 \
            return CUBLAS_STATUS_SUCCESS;                                                                             \
        return CALL(WORD(transa), WORD(transb), WORD(m), WORD(n), SCALAR(alpha), ADDRESS(A), WORD(lda), SCALAR(beta), \
                    ADDRESS(B), WORD(ldb), ADDRESS(C), WORD(ldc));                                                    \
    }                                                                                                                 \
    KW_API cublasStatus_t cublas##L##dgmm(cublasHandle_t handle, cublasSideMode_t mode, int m, int n, const T *A,     \
                                          int lda, const T *x, int incx, T *C, int ldc)                               \
    {                                                                                                                 \
        REQUIRE(is_side(mode) && m >= 0 && n >= 0 && at_least(m, lda) && at_least(m, ldc));                           \
        if (!m || !n)                                                                                                 \
            return CUBLAS_STATUS_SUCCESS;                                                                             \
        return CALL(WORD(mode), WORD(m), WORD(n), ADDRESS(A), WORD(lda), ADDRESS(x), WORD(incx), ADDRESS(C),          \
                    WORD(ldc));                                                                                       \
    }

/* `info` of getrs and gels is the host's: which argument was wrong, counted from 1. */
#define FACTORISATIONS(L, T)                                                                                          \
    KW_API cublasStatus_t cublas##L##getrfBatched(cublasHandle_t handle, int n, T *const A[], int lda, int *pivots,   \
                                                  int *info, int count)                                               \
    {                                                                                                                 \
        REQUIRE(n >= 0 && at_least(n, lda) && count >= 0);                                                            \
        if (!n || !count)                                                                                             \
            return CUBLAS_STATUS_SUCCESS;                                                                             \
        return CALL(WORD(n), ADDRESS(A), WORD(lda), ADDRESS(pivots), ADDRESS(info), WORD(count));                     \
    }                                                                                                                 \
    KW_API cublasStatus_t cublas##L##getriBatched(cublasHandle_t handle, int n, const T *const A[], int lda,          \
                                                  const int *pivots, T *const C[], int ldc, int *info, int count)     \
    {                                                                                                                 \
        REQUIRE(n >= 0 && at_least(n, lda) && at_least(n, ldc) && count >= 0);                                        \
        if (!n || !count)                                                                                             \
            return CUBLAS_STATUS_SUCCESS;                                                                             \
        return CALL(WORD(n), ADDRESS(A), WORD(lda), ADDRESS(pivots), ADDRESS(C), WORD(ldc), ADDRESS(info),            \
                    WORD(count));                                                                                     \
    }                                                                                                                 \
    KW_API cublasStatus_t cublas##L##getrsBatched(cublasHandle_t handle, cublasOperation_t trans, int n, int nrhs,    \
                                                  const T *const A[], int lda, const int *pivots, T *const B[],       \
                                                  int ldb, int *info, int count)                                      \
    {                                                                                                                 \
        REQUIRE(info);                                                                                                \
        *info = !is_operation(trans)        ? -1                                                                      \
                : n < 0                     ? -2                                                                      \
                : nrhs < 0                  ? -3                                                                      \
                : !at_least(n, lda)         ? -5                                                                      \
                : !at_least(n, ldb)         ? -8                                                                      \
                : count < 0                 ? -10                                                                     \
                                            : 0;                                                                      \
        REQUIRE(!*info);                                                                                              \
        if (!n || !nrhs || !count)                                                                                    \
            return CUBLAS_STATUS_SUCCESS;                                                                             \
        return CALL(WORD(trans), WORD(n), WORD(nrhs), ADDRESS(A), WORD(lda), ADDRESS(pivots), ADDRESS(B), WORD(ldb),  \
                    WORD(count));                                                                                     \
    }                                                                                                                 \
    KW_API cublasStatus_t cublas##L##gelsBatched(cublasHandle_t handle, cublasOperation_t trans, int m, int n,        \
                                                 int nrhs, T *const A[], int lda, T *const C[], int ldc, int *info,   \
                                                 int *deviceInfo, int count)                                          \
    {                                                                                                                 \
        REQUIRE(info);                                                                                                \
        *info = m < 0               ? -2                                                                              \
                : n < 0             ? -3                                                                              \
                : nrhs < 0          ? -4                                                                              \
                : !at_least(m, lda) ? -6                                                                              \
                : !at_least(m, ldc) ? -8                                                                              \
                : count < 0         ? -11                                                                             \
                                    : 0;                                                                              \
        REQUIRE(!*info);                                                                                              \
        if (trans != CUBLAS_OP_N || m < n)                                                                            \
            return CUBLAS_STATUS_NOT_SUPPORTED;                                                                       \
        if (!m || !n || !nrhs || !count)                                                                              \
            return CUBLAS_STATUS_SUCCESS;                                                                             \
        return CALL(WORD(trans), WORD(m), WORD(n), WORD(nrhs), ADDRESS(A), WORD(lda), ADDRESS(C), WORD(ldc),          \
                    ADDRESS(deviceInfo), WORD(count));                                                                \
    }

#define SYMMETRIC (trans == CUBLAS_OP_N || trans == CUBLAS_OP_T)
#define HERMITIAN (trans == CUBLAS_OP_N || trans == CUBLAS_OP_C)

#define OF_EVERY_TYPE(L, T, is_trans)        \
    SYMMETRIC_PRODUCT(L##symm, T)            \
    RANK_K(L##syrk, T, T, is_trans)          \
    RANK_2K(L##syr2k_v2, T, T, is_trans)     \
    RANK_2K(L##syrkx, T, T, is_trans)        \
    TRIANGULAR(L, T)                         \
    ADDITIONS(L, T)                          \
    FACTORISATIONS(L, T)
OF_EVERY_TYPE(S, float, is_operation(trans))
OF_EVERY_TYPE(D, double, is_operation(trans))
OF_EVERY_TYPE(C, cuComplex, SYMMETRIC)
OF_EVERY_TYPE(Z, cuDoubleComplex, SYMMETRIC)

#define OF_COMPLEX(L, T, R)              \
    SYMMETRIC_PRODUCT(L##hemm, T)        \
    RANK_K(L##herk, T, R, HERMITIAN)     \
    RANK_2K(L##her2k_v2, T, R, HERMITIAN)
OF_COMPLEX(C, cuComplex, float)
OF_COMPLEX(Z, cuDoubleComplex, double)
