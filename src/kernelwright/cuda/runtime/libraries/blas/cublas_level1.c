/* Level 1 of cuBLAS: vectors. */
#include "cublas_calls.h"

#define OF_EVERY_TYPE(L, I, T)                                                                                         \
    KW_API cublasStatus_t cublas##L##axpy_v2(cublasHandle_t handle, int n, const T *alpha, const T *x, int incx, T *y, \
                                             int incy)                                                                 \
    {                                                                                                                  \
        REQUIRE(alpha);                                                                                                \
        return n <= 0 ? CUBLAS_STATUS_SUCCESS                                                                          \
                      : CALL(WORD(n), SCALAR(alpha), ADDRESS(x), WORD(incx), ADDRESS(y), WORD(incy));                  \
    }                                                                                                                  \
    KW_API cublasStatus_t cublas##L##scal_v2(cublasHandle_t handle, int n, const T *alpha, T *x, int incx)             \
    {                                                                                                                  \
        REQUIRE(alpha);                                                                                                \
        return n <= 0 || incx <= 0 ? CUBLAS_STATUS_SUCCESS : CALL(WORD(n), SCALAR(alpha), ADDRESS(x), WORD(incx));     \
    }                                                                                                                  \
    KW_API cublasStatus_t cublas##L##copy_v2(cublasHandle_t handle, int n, const T *x, int incx, T *y, int incy)       \
    {                                                                                                                  \
        REQUIRE(1);                                                                                                    \
        return n <= 0 ? CUBLAS_STATUS_SUCCESS : CALL(WORD(n), ADDRESS(x), WORD(incx), ADDRESS(y), WORD(incy));         \
    }                                                                                                                  \
    KW_API cublasStatus_t cublas##L##swap_v2(cublasHandle_t handle, int n, T *x, int incx, T *y, int incy)             \
    {                                                                                                                  \
        REQUIRE(1);                                                                                                    \
        return n <= 0 ? CUBLAS_STATUS_SUCCESS : CALL(WORD(n), ADDRESS(x), WORD(incx), ADDRESS(y), WORD(incy));         \
    }                                                                                                                  \
    KW_API cublasStatus_t cublasI##I##amax_v2(cublasHandle_t handle, int n, const T *x, int incx, int *result)         \
    {                                                                                                                  \
        REQUIRE(result);                                                                                               \
        return CALL(WORD(n), ADDRESS(x), WORD(incx), ANSWER(result));                                                  \
    }                                                                                                                  \
    KW_API cublasStatus_t cublasI##I##amin_v2(cublasHandle_t handle, int n, const T *x, int incx, int *result)         \
    {                                                                                                                  \
        REQUIRE(result);                                                                                               \
        return CALL(WORD(n), ADDRESS(x), WORD(incx), ANSWER(result));                                                  \
    }
OF_EVERY_TYPE(S, s, float)
OF_EVERY_TYPE(D, d, double)
OF_EVERY_TYPE(C, c, cuComplex)
OF_EVERY_TYPE(Z, z, cuDoubleComplex)

#define PRODUCT(name, T)                                                                                             \
    KW_API cublasStatus_t cublas##name##_v2(cublasHandle_t handle, int n, const T *x, int incx, const T *y, int incy, \
                                            T *result)                                                               \
    {                                                                                                                \
        REQUIRE(result);                                                                                             \
        return CALL(WORD(n), ADDRESS(x), WORD(incx), ADDRESS(y), WORD(incy), ANSWER(result));                        \
    }
PRODUCT(Sdot, float)
PRODUCT(Ddot, double)
PRODUCT(Cdotu, cuComplex)
PRODUCT(Cdotc, cuComplex)
PRODUCT(Zdotu, cuDoubleComplex)
PRODUCT(Zdotc, cuDoubleComplex)

#define SUM(name, T, R)                                                                                       \
    KW_API cublasStatus_t cublas##name##_v2(cublasHandle_t handle, int n, const T *x, int incx, R *result)    \
    {                                                                                                         \
        REQUIRE(result);                                                                                      \
        return CALL(WORD(n), ADDRESS(x), WORD(incx), ANSWER(result));                                         \
    }
SUM(Snrm2, float, float)
SUM(Dnrm2, double, double)
SUM(Scnrm2, cuComplex, float)
SUM(Dznrm2, cuDoubleComplex, double)
SUM(Sasum, float, float)
SUM(Dasum, double, double)
SUM(Scasum, cuComplex, float)
SUM(Dzasum, cuDoubleComplex, double)

#define SCALE(name, T, R)                                                                                              \
    KW_API cublasStatus_t cublas##name##_v2(cublasHandle_t handle, int n, const R *alpha, T *x, int incx)              \
    {                                                                                                                  \
        REQUIRE(alpha);                                                                                                \
        return n <= 0 || incx <= 0 ? CUBLAS_STATUS_SUCCESS : CALL(WORD(n), SCALAR(alpha), ADDRESS(x), WORD(incx));     \
    }
SCALE(Csscal, cuComplex, float)
SCALE(Zdscal, cuDoubleComplex, double)

#define ROTATIONS(L, T)                                                                                               \
    KW_API cublasStatus_t cublas##L##rot_v2(cublasHandle_t handle, int n, T *x, int incx, T *y, int incy, const T *c, \
                                            const T *s)                                                               \
    {                                                                                                                 \
        REQUIRE(c && s);                                                                                              \
        return n <= 0 ? CUBLAS_STATUS_SUCCESS                                                                         \
                      : CALL(WORD(n), ADDRESS(x), WORD(incx), ADDRESS(y), WORD(incy), SCALAR(c), SCALAR(s));          \
    }                                                                                                                 \
    KW_API cublasStatus_t cublas##L##rotg_v2(cublasHandle_t handle, T *a, T *b, T *c, T *s)                           \
    {                                                                                                                 \
        REQUIRE(a && b && c && s);                                                                                    \
        return CALL(ANSWER(a), ANSWER(b), ANSWER(c), ANSWER(s));                                                      \
    }                                                                                                                 \
    KW_API cublasStatus_t cublas##L##rotm_v2(cublasHandle_t handle, int n, T *x, int incx, T *y, int incy,            \
                                             const T *param)                                                          \
    {                                                                                                                 \
        REQUIRE(param);                                                                                               \
        return n <= 0 ? CUBLAS_STATUS_SUCCESS                                                                         \
                      : CALL(WORD(n), ADDRESS(x), WORD(incx), ADDRESS(y), WORD(incy),                                 \
                             kw_number(param, 5 * sizeof *param, ON_DEVICE));                                         \
    }
ROTATIONS(S, float)
ROTATIONS(D, double)
