// Entry points of NVIDIA's libdevice, by their own names and signatures (libdevice User's Guide). The code generator
// links the bitcode, or answers the calls itself; tests/headers/test_libdevice.py checks each line against the bitcode.
#pragma once
#pragma GCC system_header

extern "C" {

// float and double forms of everything in the table
#define KW_DECLARE_1(name)                        \
    KW_LIBDEVICE_PURE double __nv_##name(double); \
    KW_LIBDEVICE_PURE float __nv_##name##f(float);
#define KW_DECLARE_2(name)                                \
    KW_LIBDEVICE_PURE double __nv_##name(double, double); \
    KW_LIBDEVICE_PURE float __nv_##name##f(float, float);
#define KW_STANDARD_1 KW_DECLARE_1
#define KW_CUDA_1 KW_DECLARE_1
#define KW_STANDARD_2 KW_DECLARE_2
#include "kernelwright/math_table.h"
#undef KW_STANDARD_1
#undef KW_CUDA_1
#undef KW_STANDARD_2
KW_DECLARE_2(rhypot)
#undef KW_DECLARE_1
#undef KW_DECLARE_2

KW_LIBDEVICE_PURE double __nv_norm3d(double, double, double);
KW_LIBDEVICE_PURE float __nv_norm3df(float, float, float);
KW_LIBDEVICE_PURE double __nv_rnorm3d(double, double, double);
KW_LIBDEVICE_PURE float __nv_rnorm3df(float, float, float);
KW_LIBDEVICE_PURE double __nv_norm4d(double, double, double, double);
KW_LIBDEVICE_PURE float __nv_norm4df(float, float, float, float);
KW_LIBDEVICE_PURE double __nv_rnorm4d(double, double, double, double);
KW_LIBDEVICE_PURE float __nv_rnorm4df(float, float, float, float);
KW_LIBDEVICE double __nv_norm(int, const double *);
KW_LIBDEVICE float __nv_normf(int, const float *);
KW_LIBDEVICE double __nv_rnorm(int, const double *);
KW_LIBDEVICE float __nv_rnormf(int, const float *);

KW_LIBDEVICE_PURE double __nv_jn(int, double);
KW_LIBDEVICE_PURE float __nv_jnf(int, float);
KW_LIBDEVICE_PURE double __nv_yn(int, double);
KW_LIBDEVICE_PURE float __nv_ynf(int, float);
KW_LIBDEVICE_PURE double __nv_ldexp(double, int);
KW_LIBDEVICE_PURE float __nv_ldexpf(float, int);
KW_LIBDEVICE_PURE double __nv_scalbn(double, int);
KW_LIBDEVICE_PURE float __nv_scalbnf(float, int);
KW_LIBDEVICE_PURE int __nv_ilogb(double);
KW_LIBDEVICE_PURE int __nv_ilogbf(float);
KW_LIBDEVICE_PURE long long __nv_llrint(double);
KW_LIBDEVICE_PURE long long __nv_llrintf(float);
KW_LIBDEVICE_PURE long long __nv_llround(double);
KW_LIBDEVICE_PURE long long __nv_llroundf(float);

KW_LIBDEVICE void __nv_sincos(double, double *, double *);
KW_LIBDEVICE void __nv_sincosf(float, float *, float *);
KW_LIBDEVICE void __nv_sincospi(double, double *, double *);
KW_LIBDEVICE void __nv_sincospif(float, float *, float *);
KW_LIBDEVICE double __nv_frexp(double, int *);
KW_LIBDEVICE float __nv_frexpf(float, int *);
KW_LIBDEVICE double __nv_modf(double, double *);
KW_LIBDEVICE float __nv_modff(float, float *);
KW_LIBDEVICE double __nv_remquo(double, double, int *);
KW_LIBDEVICE float __nv_remquof(float, float, int *);
KW_LIBDEVICE double __nv_nan(const signed char *);
KW_LIBDEVICE float __nv_nanf(const signed char *);

// fast, approximate
KW_LIBDEVICE_PURE float __nv_fast_cosf(float);
KW_LIBDEVICE_PURE float __nv_fast_exp10f(float);
KW_LIBDEVICE_PURE float __nv_fast_expf(float);
KW_LIBDEVICE_PURE float __nv_fast_fdividef(float, float);
KW_LIBDEVICE_PURE float __nv_fast_log10f(float);
KW_LIBDEVICE_PURE float __nv_fast_log2f(float);
KW_LIBDEVICE_PURE float __nv_fast_logf(float);
KW_LIBDEVICE_PURE float __nv_fast_powf(float, float);
KW_LIBDEVICE_PURE float __nv_fast_sinf(float);
KW_LIBDEVICE_PURE float __nv_fast_tanf(float);
KW_LIBDEVICE void __nv_fast_sincosf(float, float *, float *);
KW_LIBDEVICE_PURE float __nv_saturatef(float);
KW_LIBDEVICE_PURE float __nv_frsqrt_rn(float);

// one operation, rounded as the name says: nearest even, towards zero, up, down
#define KW_ROUNDED(type, name, operands)              \
    KW_LIBDEVICE_PURE type __nv_##name##_rn operands; \
    KW_LIBDEVICE_PURE type __nv_##name##_rz operands; \
    KW_LIBDEVICE_PURE type __nv_##name##_ru operands; \
    KW_LIBDEVICE_PURE type __nv_##name##_rd operands;
KW_ROUNDED(float, fadd, (float, float))
KW_ROUNDED(float, fsub, (float, float))
KW_ROUNDED(float, fmul, (float, float))
KW_ROUNDED(float, fdiv, (float, float))
KW_ROUNDED(float, frcp, (float))
KW_ROUNDED(float, fsqrt, (float))
KW_ROUNDED(float, fmaf, (float, float, float))
KW_ROUNDED(float, fmaf_ieee, (float, float, float))
KW_ROUNDED(double, dadd, (double, double))
KW_ROUNDED(double, dsub, (double, double))
KW_ROUNDED(double, dmul, (double, double))
KW_ROUNDED(double, ddiv, (double, double))
KW_ROUNDED(double, drcp, (double))
KW_ROUNDED(double, dsqrt, (double))
KW_ROUNDED(double, fma, (double, double, double))

// conversions, rounded as the name says
KW_ROUNDED(float, double2float, (double))
KW_ROUNDED(int, double2int, (double))
KW_ROUNDED(unsigned int, double2uint, (double))
KW_ROUNDED(long long, double2ll, (double))
KW_ROUNDED(unsigned long long, double2ull, (double))
KW_ROUNDED(int, float2int, (float))
KW_ROUNDED(unsigned int, float2uint, (float))
KW_ROUNDED(long long, float2ll, (float))
KW_ROUNDED(unsigned long long, float2ull, (float))
KW_ROUNDED(float, int2float, (int))
KW_ROUNDED(float, uint2float, (unsigned int))
KW_ROUNDED(float, ll2float, (long long))
KW_ROUNDED(float, ull2float, (unsigned long long))
KW_ROUNDED(double, ll2double, (long long))
KW_ROUNDED(double, ull2double, (unsigned long long))
KW_LIBDEVICE_PURE double __nv_int2double_rn(int);
KW_LIBDEVICE_PURE double __nv_uint2double_rn(unsigned int);
#undef KW_ROUNDED

}  // extern "C"
