/* The routines of cublas.h, by type. L: the letter of the type T; R: the real type of its absolute values; RL: the letters in
   names of what gives such values, as cublasScnrm2; small: the letter in cublasI?amax. */
#pragma once

#define KW_H cublasGetCurrentCtx()
#define KW_OP(letter) kw_cublas_operation(letter)
#define KW_UP(letter) kw_cublas_triangle(letter)
#define KW_DO(name, parameters, ...)                              \
    static inline void cublas##name parameters                    \
    {                                                             \
        kw_cublas_remember(cublas##name##_v2(KW_H, __VA_ARGS__)); \
    }
/* Of a result: zero, if it fails. */
#define KW_GET(T, name, parameters, ...)                                      \
    static inline T cublas##name parameters                                   \
    {                                                                         \
        T kw_result;                                                          \
        __builtin_memset(&kw_result, 0, sizeof kw_result);                    \
        kw_cublas_remember(cublas##name##_v2(KW_H, __VA_ARGS__, &kw_result)); \
        return kw_result;                                                     \
    }

#define KW_OF_EVERY_TYPE(L, small, RL, T, R)                                                                               \
    KW_DO(L##axpy, (int n, T alpha, const T *x, int incx, T *y, int incy), n, &alpha, x, incx, y, incy)                \
    KW_DO(L##scal, (int n, T alpha, T *x, int incx), n, &alpha, x, incx)                                               \
    KW_DO(L##copy, (int n, const T *x, int incx, T *y, int incy), n, x, incx, y, incy)                                 \
    KW_DO(L##swap, (int n, T *x, int incx, T *y, int incy), n, x, incx, y, incy)                                       \
    KW_GET(int, I##small##amax, (int n, const T *x, int incx), n, x, incx)                                                 \
    KW_GET(int, I##small##amin, (int n, const T *x, int incx), n, x, incx)                                                 \
    KW_GET(R, RL##nrm2, (int n, const T *x, int incx), n, x, incx)                                                     \
    KW_GET(R, RL##asum, (int n, const T *x, int incx), n, x, incx)                                                     \
    KW_DO(L##gemv, (char trans, int m, int n, T alpha, const T *A, int lda, const T *x, int incx, T beta, T *y,        \
                    int incy),                                                                                         \
          KW_OP(trans), m, n, &alpha, A, lda, x, incx, &beta, y, incy)                                                 \
    KW_DO(L##trmv, (char uplo, char trans, char diag, int n, const T *A, int lda, T *x, int incx), KW_UP(uplo),        \
          KW_OP(trans), kw_cublas_diagonal(diag), n, A, lda, x, incx)                                                  \
    KW_DO(L##trsv, (char uplo, char trans, char diag, int n, const T *A, int lda, T *x, int incx), KW_UP(uplo),        \
          KW_OP(trans), kw_cublas_diagonal(diag), n, A, lda, x, incx)                                                  \
    KW_DO(L##gemm, (char transa, char transb, int m, int n, int k, T alpha, const T *A, int lda, const T *B, int ldb,  \
                    T beta, T *C, int ldc),                                                                            \
          KW_OP(transa), KW_OP(transb), m, n, k, &alpha, A, lda, B, ldb, &beta, C, ldc)                                \
    KW_DO(L##symm, (char side, char uplo, int m, int n, T alpha, const T *A, int lda, const T *B, int ldb, T beta,     \
                    T *C, int ldc),                                                                                    \
          kw_cublas_side(side), KW_UP(uplo), m, n, &alpha, A, lda, B, ldb, &beta, C, ldc)                              \
    KW_DO(L##syrk, (char uplo, char trans, int n, int k, T alpha, const T *A, int lda, T beta, T *C, int ldc),         \
          KW_UP(uplo), KW_OP(trans), n, k, &alpha, A, lda, &beta, C, ldc)                                              \
    KW_DO(L##syr2k, (char uplo, char trans, int n, int k, T alpha, const T *A, int lda, const T *B, int ldb, T beta,   \
                     T *C, int ldc),                                                                                   \
          KW_UP(uplo), KW_OP(trans), n, k, &alpha, A, lda, B, ldb, &beta, C, ldc)                                      \
    KW_DO(L##trmm, (char side, char uplo, char transa, char diag, int m, int n, T alpha, const T *A, int lda, T *B,    \
                    int ldb),                                                                                          \
          kw_cublas_side(side), KW_UP(uplo), KW_OP(transa), kw_cublas_diagonal(diag), m, n, &alpha, A, lda, B, ldb, B, \
          ldb)                                                                                                         \
    KW_DO(L##trsm, (char side, char uplo, char transa, char diag, int m, int n, T alpha, const T *A, int lda, T *B,    \
                    int ldb),                                                                                          \
          kw_cublas_side(side), KW_UP(uplo), KW_OP(transa), kw_cublas_diagonal(diag), m, n, &alpha, A, lda, B, ldb)
KW_OF_EVERY_TYPE(S, s, S, float, float)
KW_OF_EVERY_TYPE(D, d, D, double, double)
KW_OF_EVERY_TYPE(C, c, Sc, cuComplex, float)
KW_OF_EVERY_TYPE(Z, z, Dz, cuDoubleComplex, double)

#define KW_OF_REALS(L, T)                                                                                              \
    KW_GET(T, L##dot, (int n, const T *x, int incx, const T *y, int incy), n, x, incx, y, incy)                        \
    KW_DO(L##rot, (int n, T *x, int incx, T *y, int incy, T c, T s), n, x, incx, y, incy, &c, &s)                      \
    KW_DO(L##rotg, (T *a, T *b, T *c, T *s), a, b, c, s)                                                               \
    KW_DO(L##rotm, (int n, T *x, int incx, T *y, int incy, const T *param), n, x, incx, y, incy, param)                \
    KW_DO(L##symv, (char uplo, int n, T alpha, const T *A, int lda, const T *x, int incx, T beta, T *y, int incy),     \
          KW_UP(uplo), n, &alpha, A, lda, x, incx, &beta, y, incy)                                                     \
    KW_DO(L##ger, (int m, int n, T alpha, const T *x, int incx, const T *y, int incy, T *A, int lda), m, n, &alpha, x, \
          incx, y, incy, A, lda)                                                                                       \
    KW_DO(L##syr, (char uplo, int n, T alpha, const T *x, int incx, T *A, int lda), KW_UP(uplo), n, &alpha, x, incx,   \
          A, lda)                                                                                                      \
    KW_DO(L##syr2, (char uplo, int n, T alpha, const T *x, int incx, const T *y, int incy, T *A, int lda),             \
          KW_UP(uplo), n, &alpha, x, incx, y, incy, A, lda)
KW_OF_REALS(S, float)
KW_OF_REALS(D, double)

#define KW_OF_COMPLEX(L, T, R)                                                                                         \
    KW_GET(T, L##dotu, (int n, const T *x, int incx, const T *y, int incy), n, x, incx, y, incy)                       \
    KW_GET(T, L##dotc, (int n, const T *x, int incx, const T *y, int incy), n, x, incx, y, incy)                       \
    KW_DO(L##geru, (int m, int n, T alpha, const T *x, int incx, const T *y, int incy, T *A, int lda), m, n, &alpha,   \
          x, incx, y, incy, A, lda)                                                                                    \
    KW_DO(L##gerc, (int m, int n, T alpha, const T *x, int incx, const T *y, int incy, T *A, int lda), m, n, &alpha,   \
          x, incx, y, incy, A, lda)                                                                                    \
    KW_DO(L##hemv, (char uplo, int n, T alpha, const T *A, int lda, const T *x, int incx, T beta, T *y, int incy),     \
          KW_UP(uplo), n, &alpha, A, lda, x, incx, &beta, y, incy)                                                     \
    KW_DO(L##her, (char uplo, int n, R alpha, const T *x, int incx, T *A, int lda), KW_UP(uplo), n, &alpha, x, incx,   \
          A, lda)                                                                                                      \
    KW_DO(L##her2, (char uplo, int n, T alpha, const T *x, int incx, const T *y, int incy, T *A, int lda),             \
          KW_UP(uplo), n, &alpha, x, incx, y, incy, A, lda)                                                            \
    KW_DO(L##hemm, (char side, char uplo, int m, int n, T alpha, const T *A, int lda, const T *B, int ldb, T beta,     \
                    T *C, int ldc),                                                                                    \
          kw_cublas_side(side), KW_UP(uplo), m, n, &alpha, A, lda, B, ldb, &beta, C, ldc)                              \
    KW_DO(L##herk, (char uplo, char trans, int n, int k, R alpha, const T *A, int lda, R beta, T *C, int ldc),         \
          KW_UP(uplo), KW_OP(trans), n, k, &alpha, A, lda, &beta, C, ldc)                                              \
    KW_DO(L##her2k, (char uplo, char trans, int n, int k, T alpha, const T *A, int lda, const T *B, int ldb, R beta,   \
                     T *C, int ldc),                                                                                   \
          KW_UP(uplo), KW_OP(trans), n, k, &alpha, A, lda, B, ldb, &beta, C, ldc)
KW_OF_COMPLEX(C, cuComplex, float)
KW_OF_COMPLEX(Z, cuDoubleComplex, double)
KW_DO(Csscal, (int n, float alpha, cuComplex *x, int incx), n, &alpha, x, incx)
KW_DO(Zdscal, (int n, double alpha, cuDoubleComplex *x, int incx), n, &alpha, x, incx)

#undef KW_H
#undef KW_OP
#undef KW_UP
#undef KW_DO
#undef KW_GET
#undef KW_OF_EVERY_TYPE
#undef KW_OF_REALS
#undef KW_OF_COMPLEX
