/* Complex numbers in C style: cuFloatComplex and cuDoubleComplex. */
#pragma once
#define CU_COMPLEX_H_
#pragma GCC system_header
#include "vector_functions.h"
#include <math.h>

#if defined(__CUDA__)
#include "kernelwright_cuda.h"
#define KW_COMPLEX static __inline__ __attribute__((always_inline, nodebug, host, device))
#else
#define KW_COMPLEX static __inline__ __attribute__((unused))
#endif

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

/* The quotient and the absolute value scale by the larger part, so that they do not overflow on the way. */
#define KW_COMPLEX_FUNCTIONS(C, real, suffix, abs_, sqrt_)                                                    \
    KW_COMPLEX real cuCreal##suffix(C x) { return x.x; }                                                      \
    KW_COMPLEX real cuCimag##suffix(C x) { return x.y; }                                                      \
    KW_COMPLEX C cuConj##suffix(C x) { C r = {x.x, -x.y}; return r; }                                         \
    KW_COMPLEX C cuCadd##suffix(C x, C y) { C r = {x.x + y.x, x.y + y.y}; return r; }                         \
    KW_COMPLEX C cuCsub##suffix(C x, C y) { C r = {x.x - y.x, x.y - y.y}; return r; }                         \
    KW_COMPLEX C cuCmul##suffix(C x, C y) { C r = {x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x}; return r; } \
    KW_COMPLEX C cuCdiv##suffix(C x, C y) {                                                                   \
        real s = abs_(y.x) + abs_(y.y), a = x.x / s, b = x.y / s, c = y.x / s, d = y.y / s;                   \
        real n = c * c + d * d;                                                                               \
        C r = {(a * c + b * d) / n, (b * c - a * d) / n};                                                     \
        return r;                                                                                             \
    }                                                                                                         \
    KW_COMPLEX real cuCabs##suffix(C x) {                                                                     \
        real a = abs_(x.x), b = abs_(x.y), big = a > b ? a : b, small = a > b ? b : a;                        \
        if (big == 0 || big - big != 0 || small != small) return a + b; /* zero, infinite or not a number */  \
        return big * sqrt_(1 + (small / big) * (small / big));                                                \
    }                                                                                                         \
    KW_COMPLEX C cuCfma##suffix(C x, C y, C d) { return cuCadd##suffix(cuCmul##suffix(x, y), d); }
KW_COMPLEX_FUNCTIONS(cuFloatComplex, float, f, fabsf, sqrtf)
KW_COMPLEX_FUNCTIONS(cuDoubleComplex, double, , fabs, sqrt)
#undef KW_COMPLEX_FUNCTIONS

KW_COMPLEX cuFloatComplex make_cuFloatComplex(float x, float y) { return make_float2(x, y); }
KW_COMPLEX cuDoubleComplex make_cuDoubleComplex(double x, double y) { return make_double2(x, y); }
KW_COMPLEX cuComplex make_cuComplex(float x, float y) { return make_float2(x, y); }
KW_COMPLEX cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x) { return make_double2(x.x, x.y); }
KW_COMPLEX cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x) { return make_float2((float)x.x, (float)x.y); }
#undef KW_COMPLEX
