/* cuSOLVER's QR factorisation, eigenvalues and singular values (device/libraries/dense/reflections.py, spectra.py). */
#include "solver.h"

static int wrong_geqrf(int m, int n, int lda)
{
    return m < 0 ? 1 : n < 0 ? 2 : !at_least(m, lda) ? 4 : 0;
}

static int wrong_orgqr(int m, int n, int k, int lda)
{
    return m < 0 ? 1 : n < 0 || n > m ? 2 : k < 0 || k > n ? 3 : !at_least(m, lda) ? 5 : 0;
}

/* The transpose that is not conjugated is no operation on complex reflections. */
static int wrong_ormqr(cublasSideMode_t side, cublasOperation_t trans, int is_complex, int m, int n, int k, int lda,
                       int ldc)
{
    int size = side == CUBLAS_SIDE_LEFT ? m : n;
    return !is_side(side)                                                       ? 1
           : !is_operation(trans) || (is_complex && trans == CUBLAS_OP_T)       ? 2
           : m < 0                                                              ? 3
           : n < 0                                                              ? 4
           : k < 0 || k > size                                                  ? 5
           : !at_least(size, lda)                                               ? 7
           : !at_least(m, ldc)                                                  ? 10
                                                                                : 0;
}

static int is_job(cusolverEigMode_t job)
{
    return job == CUSOLVER_EIG_MODE_VECTOR || job == CUSOLVER_EIG_MODE_NOVECTOR;
}

static int wrong_syevd(cusolverEigMode_t job, cublasFillMode_t uplo, int n, int lda)
{
    return !is_job(job) ? 1 : !is_triangle(uplo) ? 2 : n < 0 ? 3 : !at_least(n, lda) ? 5 : 0;
}

static int wrong_sygvd(cusolverEigType_t type, cusolverEigMode_t job, cublasFillMode_t uplo, int n, int lda, int ldb)
{
    return type < CUSOLVER_EIG_TYPE_1 || type > CUSOLVER_EIG_TYPE_3 ? 1
           : !is_job(job)                                           ? 2
           : !is_triangle(uplo)                                     ? 3
           : n < 0                                                  ? 4
           : !at_least(n, lda)                                      ? 6
           : !at_least(n, ldb)                                      ? 8
                                                                    : 0;
}

static int is_one_of(signed char job, int with_vectors)
{
    return job == 'A' || job == 'S' || (!with_vectors && (job == 'O' || job == 'N'));
}

/* As cuSOLVER documents it, of matrices with at least as many rows as columns. One result alone can be written over A. */
static int wrong_gesvd(signed char jobu, signed char jobvt, int m, int n, int lda, int ldu, int ldvt)
{
    return !is_one_of(jobu, 0)                                           ? 1
           : !is_one_of(jobvt, 0) || (jobu == 'O' && jobvt == 'O')       ? 2
           : m < 0                                                       ? 3
           : n < 0 || n > m                                              ? 4
           : !at_least(m, lda)                                           ? 6
           : !at_least(is_one_of(jobu, 1) ? m : 1, ldu)                  ? 9
           : !at_least(is_one_of(jobvt, 1) ? n : 1, ldvt)                ? 11
                                                                         : 0;
}

#define OF_EVERY_TYPE(L, T, R)                                                                                        \
    KW_API cusolverStatus_t cusolverDn##L##geqrf_bufferSize(cusolverDnHandle_t handle, int m, int n, T *A, int lda,   \
                                                            int *lwork)                                               \
    {                                                                                                                 \
        (void)A;                                                                                                      \
        return SIZE(wrong_geqrf(m, n, lda), lwork);                                                                   \
    }                                                                                                                 \
    KW_API cusolverStatus_t cusolverDn##L##geqrf(cusolverDnHandle_t handle, int m, int n, T *A, int lda, T *tau,      \
                                                 T *work, int lwork, int *info)                                       \
    {                                                                                                                 \
        (void)work, (void)lwork;                                                                                      \
        return RUN(wrong_geqrf(m, n, lda), info, WORD(m), WORD(n), ADDRESS(A), WORD(lda), ADDRESS(tau),               \
                   ADDRESS(info));                                                                                    \
    }                                                                                                                 \
    KW_API cusolverStatus_t cusolverDn##L##gesvd_bufferSize(cusolverDnHandle_t handle, int m, int n, int *lwork)      \
    {                                                                                                                 \
        return SIZE(wrong_gesvd('N', 'N', m, n, m > 0 ? m : 1, 1, 1), lwork);                                         \
    }                                                                                                                 \
    KW_API cusolverStatus_t cusolverDn##L##gesvd(cusolverDnHandle_t handle, signed char jobu, signed char jobvt,      \
                                                 int m, int n, T *A, int lda, R *S, T *U, int ldu, T *VT, int ldvt,   \
                                                 T *work, int lwork, R *rwork, int *info)                             \
    {                                                                                                                 \
        (void)work, (void)lwork, (void)rwork;                                                                         \
        return RUN(wrong_gesvd(jobu, jobvt, m, n, lda, ldu, ldvt), info, WORD(jobu), WORD(jobvt), WORD(m), WORD(n),   \
                   ADDRESS(A), WORD(lda), ADDRESS(S), ADDRESS(U), WORD(ldu), ADDRESS(VT), WORD(ldvt), ADDRESS(info)); \
    }
OF_EVERY_TYPE(S, float, float)
OF_EVERY_TYPE(D, double, double)
OF_EVERY_TYPE(C, cuComplex, float)
OF_EVERY_TYPE(Z, cuDoubleComplex, double)

#define OF_KIND(L, T, R, or, sy, is_complex)                                                                          \
    KW_API cusolverStatus_t cusolverDn##L##or##gqr_bufferSize(cusolverDnHandle_t handle, int m, int n, int k,         \
                                                              const T *A, int lda, const T *tau, int *lwork)          \
    {                                                                                                                 \
        (void)A, (void)tau;                                                                                           \
        return SIZE(wrong_orgqr(m, n, k, lda), lwork);                                                                \
    }                                                                                                                 \
    KW_API cusolverStatus_t cusolverDn##L##or##gqr(cusolverDnHandle_t handle, int m, int n, int k, T *A, int lda,     \
                                                   const T *tau, T *work, int lwork, int *info)                       \
    {                                                                                                                 \
        (void)work, (void)lwork;                                                                                      \
        return RUN(wrong_orgqr(m, n, k, lda), info, WORD(m), WORD(n), WORD(k), ADDRESS(A), WORD(lda), ADDRESS(tau),   \
                   ADDRESS(info));                                                                                    \
    }                                                                                                                 \
    KW_API cusolverStatus_t cusolverDn##L##or##mqr_bufferSize(                                                        \
        cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t trans, int m, int n, int k, const T *A,   \
        int lda, const T *tau, const T *C, int ldc, int *lwork)                                                       \
    {                                                                                                                 \
        (void)A, (void)tau, (void)C;                                                                                  \
        return SIZE(wrong_ormqr(side, trans, is_complex, m, n, k, lda, ldc), lwork);                                  \
    }                                                                                                                 \
    KW_API cusolverStatus_t cusolverDn##L##or##mqr(cusolverDnHandle_t handle, cublasSideMode_t side,                  \
                                                   cublasOperation_t trans, int m, int n, int k, const T *A, int lda, \
                                                   const T *tau, T *C, int ldc, T *work, int lwork, int *info)        \
    {                                                                                                                 \
        (void)work, (void)lwork;                                                                                      \
        return RUN(wrong_ormqr(side, trans, is_complex, m, n, k, lda, ldc), info, WORD(side), WORD(trans), WORD(m),   \
                   WORD(n), WORD(k), ADDRESS(A), WORD(lda), ADDRESS(tau), ADDRESS(C), WORD(ldc), ADDRESS(info));      \
    }                                                                                                                 \
    KW_API cusolverStatus_t cusolverDn##L##sy##evd_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t job,       \
                                                              cublasFillMode_t uplo, int n, const T *A, int lda,      \
                                                              const R *W, int *lwork)                                 \
    {                                                                                                                 \
        (void)A, (void)W;                                                                                             \
        return SIZE(wrong_syevd(job, uplo, n, lda), lwork);                                                           \
    }                                                                                                                 \
    KW_API cusolverStatus_t cusolverDn##L##sy##evd(cusolverDnHandle_t handle, cusolverEigMode_t job,                  \
                                                   cublasFillMode_t uplo, int n, T *A, int lda, R *W, T *work,        \
                                                   int lwork, int *info)                                              \
    {                                                                                                                 \
        (void)work, (void)lwork;                                                                                      \
        return RUN(wrong_syevd(job, uplo, n, lda), info, WORD(job), WORD(uplo), WORD(n), ADDRESS(A), WORD(lda),       \
                   ADDRESS(W), ADDRESS(info));                                                                        \
    }                                                                                                                 \
    KW_API cusolverStatus_t cusolverDn##L##sy##gvd_bufferSize(                                                        \
        cusolverDnHandle_t handle, cusolverEigType_t type, cusolverEigMode_t job, cublasFillMode_t uplo, int n,       \
        const T *A, int lda, const T *B, int ldb, const R *W, int *lwork)                                             \
    {                                                                                                                 \
        (void)A, (void)B, (void)W;                                                                                    \
        return SIZE(wrong_sygvd(type, job, uplo, n, lda, ldb), lwork);                                                \
    }                                                                                                                 \
    KW_API cusolverStatus_t cusolverDn##L##sy##gvd(cusolverDnHandle_t handle, cusolverEigType_t type,                 \
                                                   cusolverEigMode_t job, cublasFillMode_t uplo, int n, T *A,         \
                                                   int lda, T *B, int ldb, R *W, T *work, int lwork, int *info)       \
    {                                                                                                                 \
        (void)work, (void)lwork;                                                                                      \
        return RUN(wrong_sygvd(type, job, uplo, n, lda, ldb), info, WORD(type), WORD(job), WORD(uplo), WORD(n),       \
                   ADDRESS(A), WORD(lda), ADDRESS(B), WORD(ldb), ADDRESS(W), ADDRESS(info));                          \
    }
OF_KIND(S, float, float, or, sy, 0)
OF_KIND(D, double, double, or, sy, 0)
OF_KIND(C, cuComplex, float, un, he, 1)
OF_KIND(Z, cuDoubleComplex, double, un, he, 1)
