/* cuSOLVER's Cholesky and LU factorisations and systems of equations (device/libraries/dense/systems.py). */
#include "solver.h"

static int wrong_potrf(cublasFillMode_t uplo, int n, int lda)
{
    return !is_triangle(uplo) ? 1 : n < 0 ? 2 : !at_least(n, lda) ? 4 : 0;
}

static int wrong_potrs(cublasFillMode_t uplo, int n, int nrhs, int lda, int ldb)
{
    return !is_triangle(uplo) ? 1 : n < 0 ? 2 : nrhs < 0 ? 3 : !at_least(n, lda) ? 5 : !at_least(n, ldb) ? 7 : 0;
}

static int wrong_getrf(int m, int n, int lda)
{
    return m < 0 ? 1 : n < 0 ? 2 : !at_least(m, lda) ? 4 : 0;
}

static int wrong_getrs(cublasOperation_t trans, int n, int nrhs, int lda, int ldb)
{
    return !is_operation(trans) ? 1 : n < 0 ? 2 : nrhs < 0 ? 3 : !at_least(n, lda) ? 5 : !at_least(n, ldb) ? 8 : 0;
}

#define CHOLESKY(L, T)                                                                                                \
    KW_API cusolverStatus_t cusolverDn##L##potrf_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,  \
                                                            T *A, int lda, int *lwork)                                \
    {                                                                                                                 \
        (void)A;                                                                                                      \
        return SIZE(wrong_potrf(uplo, n, lda), lwork);                                                                \
    }                                                                                                                 \
    KW_API cusolverStatus_t cusolverDn##L##potrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *A,       \
                                                 int lda, T *work, int lwork, int *info)                              \
    {                                                                                                                 \
        (void)work, (void)lwork;                                                                                      \
        return RUN(wrong_potrf(uplo, n, lda), info, WORD(uplo), WORD(n), ADDRESS(A), WORD(lda), ADDRESS(info));       \
    }                                                                                                                 \
    KW_API cusolverStatus_t cusolverDn##L##potrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs,   \
                                                 const T *A, int lda, T *B, int ldb, int *info)                       \
    {                                                                                                                 \
        return RUN(wrong_potrs(uplo, n, nrhs, lda, ldb), info, WORD(uplo), WORD(n), WORD(nrhs), ADDRESS(A),           \
                   WORD(lda), ADDRESS(B), WORD(ldb), ADDRESS(info));                                                  \
    }                                                                                                                 \
    KW_API cusolverStatus_t cusolverDn##L##potri_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,  \
                                                            T *A, int lda, int *lwork)                                \
    {                                                                                                                 \
        (void)A;                                                                                                      \
        return SIZE(wrong_potrf(uplo, n, lda), lwork);                                                                \
    }                                                                                                                 \
    KW_API cusolverStatus_t cusolverDn##L##potri(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *A,       \
                                                 int lda, T *work, int lwork, int *info)                              \
    {                                                                                                                 \
        (void)work, (void)lwork;                                                                                      \
        return RUN(wrong_potrf(uplo, n, lda), info, WORD(uplo), WORD(n), ADDRESS(A), WORD(lda), ADDRESS(info));       \
    }

/* The documentation has systems of one right side alone in batches. */
static int wrong_potrs_batched(cublasFillMode_t uplo, int n, int nrhs, int lda, int ldb, int count)
{
    return nrhs > 1 ? 3 : count < 0 ? 9 : wrong_potrs(uplo, n, nrhs, lda, ldb);
}

#define BATCHES(L, T)                                                                                                 \
    KW_API cusolverStatus_t cusolverDn##L##potrfBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,      \
                                                        T *A[], int lda, int *info, int count)                        \
    {                                                                                                                 \
        return RUN(count < 0 ? 6 : wrong_potrf(uplo, n, lda), info, WORD(uplo), WORD(n), ADDRESS(A), WORD(lda),       \
                   ADDRESS(info), WORD(count));                                                                       \
    }                                                                                                                 \
    KW_API cusolverStatus_t cusolverDn##L##potrsBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,      \
                                                        int nrhs, T *A[], int lda, T *B[], int ldb, int *info,        \
                                                        int count)                                                    \
    {                                                                                                                 \
        return RUN(wrong_potrs_batched(uplo, n, nrhs, lda, ldb, count), info, WORD(uplo), WORD(n), WORD(nrhs),        \
                   ADDRESS(A), WORD(lda), ADDRESS(B), WORD(ldb), ADDRESS(info), WORD(count));                         \
    }

#define LU(L, T)                                                                                                      \
    KW_API cusolverStatus_t cusolverDn##L##getrf_bufferSize(cusolverDnHandle_t handle, int m, int n, T *A, int lda,   \
                                                            int *lwork)                                               \
    {                                                                                                                 \
        (void)A;                                                                                                      \
        return SIZE(wrong_getrf(m, n, lda), lwork);                                                                   \
    }                                                                                                                 \
    KW_API cusolverStatus_t cusolverDn##L##getrf(cusolverDnHandle_t handle, int m, int n, T *A, int lda, T *work,     \
                                                 int *pivots, int *info)                                              \
    {                                                                                                                 \
        (void)work;                                                                                                   \
        return RUN(wrong_getrf(m, n, lda), info, WORD(m), WORD(n), ADDRESS(A), WORD(lda), ADDRESS(pivots),            \
                   ADDRESS(info));                                                                                    \
    }                                                                                                                 \
    KW_API cusolverStatus_t cusolverDn##L##getrs(cusolverDnHandle_t handle, cublasOperation_t trans, int n, int nrhs, \
                                                 const T *A, int lda, const int *pivots, T *B, int ldb, int *info)    \
    {                                                                                                                 \
        return RUN(wrong_getrs(trans, n, nrhs, lda, ldb), info, WORD(trans), WORD(n), WORD(nrhs), ADDRESS(A),         \
                   WORD(lda), ADDRESS(pivots), ADDRESS(B), WORD(ldb), ADDRESS(info));                                 \
    }

#define OF_EVERY_TYPE(L, T)                                                                                           \
    CHOLESKY(L, T)                                                                                                    \
    BATCHES(L, T)                                                                                                     \
    LU(L, T)
OF_EVERY_TYPE(S, float)
OF_EVERY_TYPE(D, double)
OF_EVERY_TYPE(C, cuComplex)
OF_EVERY_TYPE(Z, cuDoubleComplex)
