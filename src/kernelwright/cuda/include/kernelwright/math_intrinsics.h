// __sinf and its kin: fast approximations, and single operations with a chosen rounding.
#pragma once
#pragma GCC system_header

KW_DEVICE float __cosf(float x) { return __nv_fast_cosf(x); }
KW_DEVICE float __exp10f(float x) { return __nv_fast_exp10f(x); }
KW_DEVICE float __expf(float x) { return __nv_fast_expf(x); }
KW_DEVICE float __fdividef(float x, float y) { return __nv_fast_fdividef(x, y); }
KW_DEVICE float __log10f(float x) { return __nv_fast_log10f(x); }
KW_DEVICE float __log2f(float x) { return __nv_fast_log2f(x); }
KW_DEVICE float __logf(float x) { return __nv_fast_logf(x); }
KW_DEVICE float __powf(float x, float y) { return __nv_fast_powf(x, y); }
KW_DEVICE float __saturatef(float x) { return __nv_saturatef(x); }
KW_DEVICE void __sincosf(float x, float *sine, float *cosine) { __nv_fast_sincosf(x, sine, cosine); }
KW_DEVICE float __sinf(float x) { return __nv_fast_sinf(x); }
KW_DEVICE float __tanf(float x) { return __nv_fast_tanf(x); }
KW_DEVICE float __frsqrt_rn(float x) { return __nv_frsqrt_rn(x); }

#define KW_ROUNDED_1(type, name)                                         \
    KW_DEVICE type __##name##_rn(type x) { return __nv_##name##_rn(x); } \
    KW_DEVICE type __##name##_rz(type x) { return __nv_##name##_rz(x); } \
    KW_DEVICE type __##name##_ru(type x) { return __nv_##name##_ru(x); } \
    KW_DEVICE type __##name##_rd(type x) { return __nv_##name##_rd(x); }
#define KW_ROUNDED_2(type, name)                                                    \
    KW_DEVICE type __##name##_rn(type x, type y) { return __nv_##name##_rn(x, y); } \
    KW_DEVICE type __##name##_rz(type x, type y) { return __nv_##name##_rz(x, y); } \
    KW_DEVICE type __##name##_ru(type x, type y) { return __nv_##name##_ru(x, y); } \
    KW_DEVICE type __##name##_rd(type x, type y) { return __nv_##name##_rd(x, y); }
#define KW_ROUNDED_3(type, name)                                                               \
    KW_DEVICE type __##name##_rn(type x, type y, type z) { return __nv_##name##_rn(x, y, z); } \
    KW_DEVICE type __##name##_rz(type x, type y, type z) { return __nv_##name##_rz(x, y, z); } \
    KW_DEVICE type __##name##_ru(type x, type y, type z) { return __nv_##name##_ru(x, y, z); } \
    KW_DEVICE type __##name##_rd(type x, type y, type z) { return __nv_##name##_rd(x, y, z); }
KW_ROUNDED_2(float, fadd)
KW_ROUNDED_2(float, fsub)
KW_ROUNDED_2(float, fmul)
KW_ROUNDED_2(float, fdiv)
KW_ROUNDED_1(float, frcp)
KW_ROUNDED_1(float, fsqrt)
KW_ROUNDED_3(float, fmaf)
KW_ROUNDED_3(float, fmaf_ieee)
KW_ROUNDED_2(double, dadd)
KW_ROUNDED_2(double, dsub)
KW_ROUNDED_2(double, dmul)
KW_ROUNDED_2(double, ddiv)
KW_ROUNDED_1(double, drcp)
KW_ROUNDED_1(double, dsqrt)
KW_ROUNDED_3(double, fma)
#undef KW_ROUNDED_1
#undef KW_ROUNDED_2
#undef KW_ROUNDED_3
