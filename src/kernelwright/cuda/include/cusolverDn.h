/* cuSOLVER's dense interface: types and functions, with NVIDIA's names, numbers and meaning. What is not declared is not
   implemented. The device worker computes what the functions ask for (device/libraries/dense/); runtime/libraries/solver/ has
   the host side. */
#pragma once
#define CUSOLVERDN_H_
#pragma GCC system_header
#include <cuComplex.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include "cusolver_common.h"

typedef struct cusolverDnContext *cusolverDnHandle_t;

#if defined(__cplusplus)
extern "C" {
#endif

/* ---- handles ---- */
cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *handle);
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle);
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t streamId);
cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t *streamId);

/* ---- of every type: Cholesky and LU factors, systems with them, QR factors, singular values ---- */
#define KW_OF_EVERY_TYPE(X, T, R)                                                                                     \
    cusolverStatus_t cusolverDn##X##potrf_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *A,   \
                                                     int lda, int *Lwork);                                            \
    cusolverStatus_t cusolverDn##X##potrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *A, int lda,     \
                                          T *Workspace, int Lwork, int *devInfo);                                     \
    cusolverStatus_t cusolverDn##X##potrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs,          \
                                          const T *A, int lda, T *B, int ldb, int *devInfo);                          \
    cusolverStatus_t cusolverDn##X##potri_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *A,   \
                                                     int lda, int *lwork);                                            \
    cusolverStatus_t cusolverDn##X##potri(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *A, int lda,     \
                                          T *work, int lwork, int *devInfo);                                          \
    cusolverStatus_t cusolverDn##X##potrfBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,             \
                                                 T *Aarray[], int lda, int *infoArray, int batchSize);                \
    cusolverStatus_t cusolverDn##X##potrsBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs,   \
                                                 T *A[], int lda, T *B[], int ldb, int *d_info, int batchSize);       \
    cusolverStatus_t cusolverDn##X##getrf_bufferSize(cusolverDnHandle_t handle, int m, int n, T *A, int lda,          \
                                                     int *Lwork);                                                     \
    cusolverStatus_t cusolverDn##X##getrf(cusolverDnHandle_t handle, int m, int n, T *A, int lda, T *Workspace,       \
                                          int *devIpiv, int *devInfo);                                                \
    cusolverStatus_t cusolverDn##X##getrs(cusolverDnHandle_t handle, cublasOperation_t trans, int n, int nrhs,        \
                                          const T *A, int lda, const int *devIpiv, T *B, int ldb, int *devInfo);      \
    cusolverStatus_t cusolverDn##X##geqrf_bufferSize(cusolverDnHandle_t handle, int m, int n, T *A, int lda,          \
                                                     int *lwork);                                                     \
    cusolverStatus_t cusolverDn##X##geqrf(cusolverDnHandle_t handle, int m, int n, T *A, int lda, T *TAU,             \
                                          T *Workspace, int Lwork, int *devInfo);                                     \
    cusolverStatus_t cusolverDn##X##gesvd_bufferSize(cusolverDnHandle_t handle, int m, int n, int *lwork);            \
    cusolverStatus_t cusolverDn##X##gesvd(cusolverDnHandle_t handle, signed char jobu, signed char jobvt, int m,      \
                                          int n, T *A, int lda, R *S, T *U, int ldu, T *VT, int ldvt, T *work,        \
                                          int lwork, R *rwork, int *info);
KW_OF_EVERY_TYPE(S, float, float)
KW_OF_EVERY_TYPE(D, double, double)
KW_OF_EVERY_TYPE(C, cuComplex, float)
KW_OF_EVERY_TYPE(Z, cuDoubleComplex, double)
#undef KW_OF_EVERY_TYPE

/* ---- orthogonal or unitary matrices, and symmetric or Hermitian ones ---- */
#define KW_OF_KIND(X, T, R, gqr, mqr, evd, gvd)                                                                       \
    cusolverStatus_t cusolverDn##X##gqr##_bufferSize(cusolverDnHandle_t handle, int m, int n, int k, const T *A,      \
                                                     int lda, const T *tau, int *lwork);                              \
    cusolverStatus_t cusolverDn##X##gqr(cusolverDnHandle_t handle, int m, int n, int k, T *A, int lda,                \
                                        const T *tau, T *work, int lwork, int *info);                                 \
    cusolverStatus_t cusolverDn##X##mqr##_bufferSize(cusolverDnHandle_t handle, cublasSideMode_t side,                \
                                                     cublasOperation_t trans, int m, int n, int k, const T *A,        \
                                                     int lda, const T *tau, const T *C, int ldc, int *lwork);         \
    cusolverStatus_t cusolverDn##X##mqr(cusolverDnHandle_t handle, cublasSideMode_t side,                             \
                                        cublasOperation_t trans, int m, int n, int k, const T *A, int lda,            \
                                        const T *tau, T *C, int ldc, T *work, int lwork, int *devInfo);               \
    cusolverStatus_t cusolverDn##X##evd##_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,               \
                                                     cublasFillMode_t uplo, int n, const T *A, int lda, const R *W,   \
                                                     int *lwork);                                                     \
    cusolverStatus_t cusolverDn##X##evd(cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo,     \
                                        int n, T *A, int lda, R *W, T *work, int lwork, int *info);                   \
    cusolverStatus_t cusolverDn##X##gvd##_bufferSize(                                                                 \
        cusolverDnHandle_t handle, cusolverEigType_t itype, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n,     \
        const T *A, int lda, const T *B, int ldb, const R *W, int *lwork);                                            \
    cusolverStatus_t cusolverDn##X##gvd(cusolverDnHandle_t handle, cusolverEigType_t itype,                           \
                                        cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, T *A, int lda,          \
                                        T *B, int ldb, R *W, T *work, int lwork, int *info);
KW_OF_KIND(S, float, float, orgqr, ormqr, syevd, sygvd)
KW_OF_KIND(D, double, double, orgqr, ormqr, syevd, sygvd)
KW_OF_KIND(C, cuComplex, float, ungqr, unmqr, heevd, hegvd)
KW_OF_KIND(Z, cuDoubleComplex, double, ungqr, unmqr, heevd, hegvd)
#undef KW_OF_KIND

#if defined(__cplusplus)
}
#endif
