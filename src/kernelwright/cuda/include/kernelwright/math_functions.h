// Definitions of what math_declarations.h declares, and CUDA's own functions of mixed operands.
#pragma once
#pragma GCC system_header

// -use_fast_math (clang: -fgpu-approx-transcendentals) makes these float functions approximate, as in nvcc.
#if defined(__CLANG_GPU_APPROX_TRANSCENDENTALS__) || defined(__USE_FAST_MATH__)
#define __nv_cosf __nv_fast_cosf
#define __nv_exp10f __nv_fast_exp10f
#define __nv_expf __nv_fast_expf
#define __nv_log10f __nv_fast_log10f
#define __nv_log2f __nv_fast_log2f
#define __nv_logf __nv_fast_logf
#define __nv_powf __nv_fast_powf
#define __nv_sinf __nv_fast_sinf
#define __nv_sincosf __nv_fast_sincosf
#define __nv_tanf __nv_fast_tanf
#if __CUDA_ARCH__ >= 750
#define __nv_tanhf __builtin_elementwise_tanh  // one instruction, with the flags of fast math
#endif
#endif

#define KW_DEFINE_1(name)                                          \
    KW_DEVICE double name(double x) { return __nv_##name(x); }     \
    KW_DEVICE float name##f(float x) { return __nv_##name##f(x); } \
    KW_DEVICE float name(float x) { return __nv_##name##f(x); }
#define KW_DEFINE_2(name)                                                      \
    KW_DEVICE double name(double x, double y) { return __nv_##name(x, y); }    \
    KW_DEVICE float name##f(float x, float y) { return __nv_##name##f(x, y); } \
    KW_DEVICE float name(float x, float y) { return __nv_##name##f(x, y); }
#define KW_STANDARD_1 KW_DEFINE_1
#define KW_CUDA_1 KW_DEFINE_1
#define KW_STANDARD_2 KW_DEFINE_2
#include "kernelwright/math_table.h"
#undef KW_STANDARD_1
#undef KW_CUDA_1
#undef KW_STANDARD_2
KW_DEFINE_2(rhypot)
#undef KW_DEFINE_1
#undef KW_DEFINE_2

// The elementwise builtins always become LLVM's intrinsic; __builtin_sqrt would become a call where errno matters.
#define KW_DEFINE(name, intrinsic, operands, values)                     \
    KW_DEVICE double name operands(double) { return intrinsic values; }  \
    KW_DEVICE float name##f operands(float) { return intrinsic values; } \
    KW_DEVICE float name operands(float) { return intrinsic values; }
#define KW_X(T) (T x)
#define KW_XY(T) (T x, T y)
#define KW_XYZ(T) (T x, T y, T z)
KW_DEFINE(ceil, __builtin_elementwise_ceil, KW_X, (x))
KW_DEFINE(fabs, __builtin_elementwise_abs, KW_X, (x))
KW_DEFINE(floor, __builtin_elementwise_floor, KW_X, (x))
KW_DEFINE(nearbyint, __builtin_elementwise_nearbyint, KW_X, (x))
KW_DEFINE(rint, __builtin_elementwise_rint, KW_X, (x))
KW_DEFINE(sqrt, __builtin_elementwise_sqrt, KW_X, (x))
KW_DEFINE(trunc, __builtin_elementwise_trunc, KW_X, (x))
KW_DEFINE(copysign, __builtin_elementwise_copysign, KW_XY, (x, y))
KW_DEFINE(fmax, __builtin_elementwise_maxnum, KW_XY, (x, y))
KW_DEFINE(fmin, __builtin_elementwise_minnum, KW_XY, (x, y))
KW_DEFINE(fma, __builtin_elementwise_fma, KW_XYZ, (x, y, z))
#undef KW_DEFINE
#undef KW_X
#undef KW_XY
#undef KW_XYZ

// ---- functions whose operands are not all of one type: f and the C name of its float form ----

#define KW_DEFINE_BOTH(result, result_f, name, operands, operands_f, values) \
    KW_DEVICE result name operands { return __nv_##name values; }            \
    KW_DEVICE result_f name##f operands_f { return __nv_##name##f values; }  \
    KW_DEVICE result_f name operands_f { return __nv_##name##f values; }
KW_DEFINE_BOTH(double, float, frexp, (double x, int *e), (float x, int *e), (x, e))
KW_DEFINE_BOTH(double, float, ldexp, (double x, int e), (float x, int e), (x, e))
KW_DEFINE_BOTH(double, float, scalbn, (double x, int e), (float x, int e), (x, e))
KW_DEFINE_BOTH(double, float, remquo, (double x, double y, int *q), (float x, float y, int *q), (x, y, q))
KW_DEFINE_BOTH(double, float, modf, (double x, double *whole), (float x, float *whole), (x, whole))
KW_DEFINE_BOTH(int, int, ilogb, (double x), (float x), (x))
KW_DEFINE_BOTH(long long, long long, llrint, (double x), (float x), (x))
KW_DEFINE_BOTH(long long, long long, llround, (double x), (float x), (x))
KW_DEFINE_BOTH(double, float, jn, (int n, double x), (int n, float x), (n, x))
KW_DEFINE_BOTH(double, float, yn, (int n, double x), (int n, float x), (n, x))
KW_DEFINE_BOTH(void, void, sincos, (double x, double *s, double *c), (float x, float *s, float *c), (x, s, c))
KW_DEFINE_BOTH(void, void, sincospi, (double x, double *s, double *c), (float x, float *s, float *c), (x, s, c))
KW_DEFINE_BOTH(double, float, norm3d, (double x, double y, double z), (float x, float y, float z), (x, y, z))
KW_DEFINE_BOTH(double, float, rnorm3d, (double x, double y, double z), (float x, float y, float z), (x, y, z))
KW_DEFINE_BOTH(double, float, norm4d, (double x, double y, double z, double w), (float x, float y, float z, float w),
               (x, y, z, w))
KW_DEFINE_BOTH(double, float, rnorm4d, (double x, double y, double z, double w), (float x, float y, float z, float w),
               (x, y, z, w))
KW_DEFINE_BOTH(double, float, norm, (int n, const double *v), (int n, const float *v), (n, v))
KW_DEFINE_BOTH(double, float, rnorm, (int n, const double *v), (int n, const float *v), (n, v))
#undef KW_DEFINE_BOTH

KW_DEVICE long lrint(double x) { return __nv_llrint(x); }
KW_DEVICE long lrintf(float x) { return __nv_llrintf(x); }
KW_DEVICE long lrint(float x) { return __nv_llrintf(x); }
KW_DEVICE long lround(double x) { return __nv_llround(x); }
KW_DEVICE long lroundf(float x) { return __nv_llroundf(x); }
KW_DEVICE long lround(float x) { return __nv_llroundf(x); }

// Exponents beyond int's range have the same result as its ends: infinity or zero.
KW_DEVICE int __kw_clamp_to_int(long e) {
    return e > 2147483647L ? 2147483647 : e < -2147483647L ? -2147483647 : (int)e;
}
KW_DEVICE double scalbln(double x, long e) { return __nv_scalbn(x, __kw_clamp_to_int(e)); }
KW_DEVICE float scalblnf(float x, long e) { return __nv_scalbnf(x, __kw_clamp_to_int(e)); }
KW_DEVICE float scalbln(float x, long e) { return __nv_scalbnf(x, __kw_clamp_to_int(e)); }

KW_DEVICE double nan(const char *tag) { return __nv_nan((const signed char *)tag); }
KW_DEVICE float nanf(const char *tag) { return __nv_nanf((const signed char *)tag); }

KW_DEVICE float fdividef(float x, float y) { return x / y; }

// ---- absolute values ----

KW_DEVICE int abs(int x) { return __builtin_abs(x); }
KW_DEVICE long abs(long x) { return __builtin_labs(x); }
KW_DEVICE long long abs(long long x) { return __builtin_llabs(x); }
KW_DEVICE long labs(long x) { return __builtin_labs(x); }
KW_DEVICE long long llabs(long long x) { return __builtin_llabs(x); }
KW_DEVICE float abs(float x) { return fabsf(x); }
KW_DEVICE double abs(double x) { return fabs(x); }

// ---- tests and comparisons ----

#define KW_DEFINE_TEST_1(name)                                    \
    KW_DEVICE bool name(double x) { return __builtin_##name(x); } \
    KW_DEVICE bool name(float x) { return __builtin_##name(x); }
KW_DEFINE_TEST_1(isfinite)
KW_DEFINE_TEST_1(isinf)
KW_DEFINE_TEST_1(isnan)
KW_DEFINE_TEST_1(isnormal)
KW_DEFINE_TEST_1(signbit)
#undef KW_DEFINE_TEST_1
#define KW_DEFINE_TEST_2(name)                                                 \
    KW_DEVICE bool name(double x, double y) { return __builtin_##name(x, y); } \
    KW_DEVICE bool name(float x, float y) { return __builtin_##name(x, y); }
KW_DEFINE_TEST_2(isgreater)
KW_DEFINE_TEST_2(isgreaterequal)
KW_DEFINE_TEST_2(isless)
KW_DEFINE_TEST_2(islessequal)
KW_DEFINE_TEST_2(islessgreater)
KW_DEFINE_TEST_2(isunordered)
#undef KW_DEFINE_TEST_2
KW_DEVICE int fpclassify(double x) {
    return __builtin_fpclassify(FP_NAN, FP_INFINITE, FP_NORMAL, FP_SUBNORMAL, FP_ZERO, x);
}
KW_DEVICE int fpclassify(float x) {
    return __builtin_fpclassify(FP_NAN, FP_INFINITE, FP_NORMAL, FP_SUBNORMAL, FP_ZERO, x);
}

#undef __nv_cosf
#undef __nv_exp10f
#undef __nv_expf
#undef __nv_log10f
#undef __nv_log2f
#undef __nv_logf
#undef __nv_powf
#undef __nv_sinf
#undef __nv_sincosf
#undef __nv_tanf
