// __half and __half2: 16 bits of IEEE binary16, and how other numbers become one. Part of cuda_fp16.h.
//
// The host never uses _Float16: its conversions would call library functions that an older system does not have.
#pragma once
#pragma GCC system_header
#include "cuda_runtime_api.h"
#include "vector_functions.h"

#include "kernelwright/narrow_rounding.h"

// ---- bits and floats ----

KW_NARROW_FUNCTION float __kw_half_to_float(unsigned short half) {
#if defined(__CUDA_ARCH__)
    return (float)__builtin_bit_cast(_Float16, half);
#else
    unsigned int magnitude = (unsigned int)(half & 0x7fff) << 13, sign = (unsigned int)(half & 0x8000) << 16;
    if ((half & 0x7c00) == 0x7c00) return __builtin_bit_cast(float, sign | magnitude | 0x7f800000u);
    float value = __builtin_bit_cast(float, magnitude) * 0x1p112f;  // from a bias of 127 to one of 15
    return sign ? -value : value;
#endif
}

KW_NARROW_FUNCTION unsigned short __kw_float_to_half(float value) {
#if defined(__CUDA_ARCH__)
    return __builtin_bit_cast(unsigned short, (_Float16)value);
#else
    unsigned int bits = __builtin_bit_cast(unsigned int, value);
    unsigned int magnitude = bits & 0x7fffffffu, half;
    if (magnitude > 0x7f800000u) return 0x7fff;
    if (magnitude >= 0x477ff000u)  // 65520 and above round to infinity
        half = 0x7c00;
    else if (magnitude < 0x38800000u)  // below 2^-14: 0.5 has its last bit where a subnormal half has it, so add 0.5
        half = __builtin_bit_cast(unsigned int, __builtin_bit_cast(float, magnitude) + 0.5f) - 0x3f000000u;
    else
        half = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1)) >> 13;
    return (unsigned short)(half | (bits >> 16 & 0x8000));
#endif
}

// ---- types ----

struct __half_raw { unsigned short x; };
struct __attribute__((aligned(4))) __half2_raw { unsigned short x, y; };

struct __half {
    unsigned short __x;

    __half() = default;
    KW_NARROW_METHOD __half(const __half_raw &raw) : __x(raw.x) {}
    KW_NARROW_METHOD __half(float value) : __x(__kw_float_to_half(value)) {}
    KW_NARROW_METHOD __half(double value) : __x(__kw_float_to_half(__kw_odd_float(value))) {}
    // Beyond 2^16 every integer is infinite as a half, and up to there a float holds it exactly.
    KW_NARROW_METHOD __half(short value) : __x(__kw_float_to_half((float)value)) {}
    KW_NARROW_METHOD __half(unsigned short value) : __x(__kw_float_to_half((float)value)) {}
    KW_NARROW_METHOD __half(int value) : __x(__kw_float_to_half((float)value)) {}
    KW_NARROW_METHOD __half(unsigned int value) : __x(__kw_float_to_half((float)value)) {}
    KW_NARROW_METHOD __half(long value) : __x(__kw_float_to_half((float)value)) {}
    KW_NARROW_METHOD __half(unsigned long value) : __x(__kw_float_to_half((float)value)) {}
    KW_NARROW_METHOD __half(long long value) : __x(__kw_float_to_half((float)value)) {}
    KW_NARROW_METHOD __half(unsigned long long value) : __x(__kw_float_to_half((float)value)) {}

    KW_NARROW_METHOD operator float() const { return __kw_half_to_float(__x); }
    KW_NARROW_METHOD operator __half_raw() const { return __half_raw{__x}; }
};
typedef __half half;
typedef __half __nv_half;
typedef __half nv_half;

struct __attribute__((aligned(4))) __half2 {
    __half x, y;

    __half2() = default;
    KW_NARROW_METHOD constexpr __half2(const __half &x, const __half &y) : x(x), y(y) {}
    KW_NARROW_METHOD __half2(const __half2_raw &raw) : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
    KW_NARROW_METHOD operator __half2_raw() const { return __half2_raw{x.__x, y.__x}; }
};
typedef __half2 half2;
typedef __half2 __nv_half2;
typedef __half2 nv_half2;

KW_NARROW_FUNCTION __half __ushort_as_half(unsigned short bits) { return __half(__half_raw{bits}); }
KW_NARROW_FUNCTION __half __short_as_half(short bits) { return __ushort_as_half((unsigned short)bits); }
KW_NARROW_FUNCTION unsigned short __half_as_ushort(__half h) { return h.__x; }
KW_NARROW_FUNCTION short __half_as_short(__half h) { return (short)h.__x; }

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7fff)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7bff)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3c00)

// ---- from float and double ----

KW_NARROW_FUNCTION __half __float2half_rn(float value) { return __half(value); }
KW_NARROW_FUNCTION __half __float2half(float value) { return __half(value); }
KW_NARROW_FUNCTION __half __double2half(double value) { return __half(value); }
// The neighbour of the nearest half on the asked side, where the nearest lies on the other.
KW_NARROW_FUNCTION __half __float2half_rd(float value) {
    unsigned short h = __kw_float_to_half(value);
    return __ushort_as_half(__kw_half_to_float(h) > value ? (h & 0x8000 ? h + 1 : h - 1) : h);
}
KW_NARROW_FUNCTION __half __float2half_ru(float value) {
    unsigned short h = __kw_float_to_half(value);
    return __ushort_as_half(__kw_half_to_float(h) < value ? (h & 0x8000 ? h - 1 : h + 1) : h);
}
KW_NARROW_FUNCTION __half __float2half_rz(float value) {
    return value < 0 ? __float2half_ru(value) : __float2half_rd(value);
}

KW_NARROW_FUNCTION float __half2float(__half h) { return (float)h; }

// ---- halves of a pair ----

KW_NARROW_FUNCTION __half2 __halves2half2(__half x, __half y) { return __half2(x, y); }
KW_NARROW_FUNCTION __half2 make_half2(__half x, __half y) { return __half2(x, y); }
KW_NARROW_FUNCTION __half2 __half2half2(__half h) { return __half2(h, h); }
KW_NARROW_FUNCTION __half2 __float2half2_rn(float value) { return __half2half2(__half(value)); }
KW_NARROW_FUNCTION __half2 __floats2half2_rn(float x, float y) { return __half2(__half(x), __half(y)); }
KW_NARROW_FUNCTION __half2 __float22half2_rn(float2 v) { return __floats2half2_rn(v.x, v.y); }
KW_NARROW_FUNCTION float2 __half22float2(__half2 h) { return make_float2((float)h.x, (float)h.y); }
KW_NARROW_FUNCTION float __low2float(__half2 h) { return (float)h.x; }
KW_NARROW_FUNCTION float __high2float(__half2 h) { return (float)h.y; }
KW_NARROW_FUNCTION __half __low2half(__half2 h) { return h.x; }
KW_NARROW_FUNCTION __half __high2half(__half2 h) { return h.y; }
KW_NARROW_FUNCTION __half2 __low2half2(__half2 h) { return __half2(h.x, h.x); }
KW_NARROW_FUNCTION __half2 __high2half2(__half2 h) { return __half2(h.y, h.y); }
KW_NARROW_FUNCTION __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
KW_NARROW_FUNCTION __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
KW_NARROW_FUNCTION __half2 __lowhigh2highlow(__half2 h) { return __half2(h.y, h.x); }
