// __nv_bfloat16 and __nv_bfloat162: the upper 16 bits of a float, and what becomes one. Part of cuda_bf16.h.
#pragma once
#pragma GCC system_header
#include "kernelwright/narrow_rounding.h"

KW_NARROW_FUNCTION float __kw_bfloat16_to_float(unsigned short bits) {
    return __builtin_bit_cast(float, (unsigned int)bits << 16);
}
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define KW_NATIVE_BFLOAT16
#endif
KW_NARROW_FUNCTION unsigned short __kw_float_to_bfloat16(float value) {
#if defined(KW_NATIVE_BFLOAT16)
    return __builtin_bit_cast(unsigned short, (__bf16)value);
#else
    unsigned int bits = __builtin_bit_cast(unsigned int, value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
    return (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);  // nearest, ties to even
#endif
}

struct __nv_bfloat16_raw { unsigned short x; };
struct __attribute__((aligned(4))) __nv_bfloat162_raw { unsigned short x, y; };

struct __nv_bfloat16 {
    unsigned short __x;

    __nv_bfloat16() = default;
    KW_NARROW_METHOD __nv_bfloat16(const __nv_bfloat16_raw &raw) : __x(raw.x) {}
    KW_NARROW_METHOD __nv_bfloat16(float value) : __x(__kw_float_to_bfloat16(value)) {}
    KW_NARROW_METHOD __nv_bfloat16(double value) : __x(__kw_float_to_bfloat16(__kw_odd_float(value))) {}
    KW_NARROW_METHOD __nv_bfloat16(short value) : __x(__kw_float_to_bfloat16((float)value)) {}
    KW_NARROW_METHOD __nv_bfloat16(unsigned short value) : __x(__kw_float_to_bfloat16((float)value)) {}
    KW_NARROW_METHOD __nv_bfloat16(int value) : __nv_bfloat16((long long)value) {}
    KW_NARROW_METHOD __nv_bfloat16(unsigned int value) : __nv_bfloat16((unsigned long long)value) {}
    KW_NARROW_METHOD __nv_bfloat16(long value) : __nv_bfloat16((long long)value) {}
    KW_NARROW_METHOD __nv_bfloat16(unsigned long value) : __nv_bfloat16((unsigned long long)value) {}
    KW_NARROW_METHOD __nv_bfloat16(long long value) : __x(__kw_float_to_bfloat16(__kw_odd_float(value))) {}
    KW_NARROW_METHOD __nv_bfloat16(unsigned long long value) : __x(__kw_float_to_bfloat16(__kw_odd_float(value))) {}

    KW_NARROW_METHOD operator float() const { return __kw_bfloat16_to_float(__x); }
    KW_NARROW_METHOD operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{__x}; }
};
typedef __nv_bfloat16 nv_bfloat16;

struct __attribute__((aligned(4))) __nv_bfloat162 {
    __nv_bfloat16 x, y;

    __nv_bfloat162() = default;
    KW_NARROW_METHOD __nv_bfloat162(const __nv_bfloat16 &x, const __nv_bfloat16 &y) : x(x), y(y) {}
    KW_NARROW_METHOD __nv_bfloat162(const __nv_bfloat162_raw &raw)
        : x(__nv_bfloat16_raw{raw.x}), y(__nv_bfloat16_raw{raw.y}) {}
    KW_NARROW_METHOD operator __nv_bfloat162_raw() const { return __nv_bfloat162_raw{x.__x, y.__x}; }
};
typedef __nv_bfloat162 nv_bfloat162;

KW_NARROW_FUNCTION __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
    return __nv_bfloat16(__nv_bfloat16_raw{bits});
}
KW_NARROW_FUNCTION __nv_bfloat16 __short_as_bfloat16(short bits) { return __ushort_as_bfloat16((unsigned short)bits); }
KW_NARROW_FUNCTION unsigned short __bfloat16_as_ushort(__nv_bfloat16 h) { return h.__x; }
KW_NARROW_FUNCTION short __bfloat16_as_short(__nv_bfloat16 h) { return (short)h.__x; }

#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7fff)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7f7f)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3f80)

// ---- from float and double ----

KW_NARROW_FUNCTION __nv_bfloat16 __float2bfloat16(float value) { return __nv_bfloat16(value); }
KW_NARROW_FUNCTION __nv_bfloat16 __float2bfloat16_rn(float value) { return __nv_bfloat16(value); }
KW_NARROW_FUNCTION __nv_bfloat16 __double2bfloat16(double value) { return __nv_bfloat16(value); }
// The upper half of the bits is the value cut off towards zero; the other side is one step further.
KW_NARROW_FUNCTION __nv_bfloat16 __float2bfloat16_rz(float value) {
    unsigned int bits = __builtin_bit_cast(unsigned int, value);
    return (bits & 0x7fffffffu) > 0x7f800000u ? CUDART_NAN_BF16 : __ushort_as_bfloat16((unsigned short)(bits >> 16));
}
KW_NARROW_FUNCTION __nv_bfloat16 __kw_bfloat16_away(float value) {
    unsigned int bits = __builtin_bit_cast(unsigned int, value);
    return value != value ? CUDART_NAN_BF16 : __ushort_as_bfloat16((unsigned short)((bits + 0xffffu) >> 16));
}
KW_NARROW_FUNCTION __nv_bfloat16 __float2bfloat16_rd(float value) {
    return value < 0 ? __kw_bfloat16_away(value) : __float2bfloat16_rz(value);
}
KW_NARROW_FUNCTION __nv_bfloat16 __float2bfloat16_ru(float value) {
    return value > 0 ? __kw_bfloat16_away(value) : __float2bfloat16_rz(value);
}

KW_NARROW_FUNCTION float __bfloat162float(__nv_bfloat16 h) { return (float)h; }

// ---- halves of a pair ----

KW_NARROW_FUNCTION __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
KW_NARROW_FUNCTION __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
KW_NARROW_FUNCTION __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 h) { return __nv_bfloat162(h, h); }
KW_NARROW_FUNCTION __nv_bfloat162 __float2bfloat162_rn(float value) {
    return __bfloat162bfloat162(__nv_bfloat16(value));
}
KW_NARROW_FUNCTION __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
    return __nv_bfloat162(__nv_bfloat16(x), __nv_bfloat16(y));
}
KW_NARROW_FUNCTION __nv_bfloat162 __float22bfloat162_rn(float2 v) { return __floats2bfloat162_rn(v.x, v.y); }
KW_NARROW_FUNCTION float2 __bfloat1622float2(__nv_bfloat162 h) { return make_float2((float)h.x, (float)h.y); }
KW_NARROW_FUNCTION float __low2float(__nv_bfloat162 h) { return (float)h.x; }
KW_NARROW_FUNCTION float __high2float(__nv_bfloat162 h) { return (float)h.y; }
KW_NARROW_FUNCTION __nv_bfloat16 __low2bfloat16(__nv_bfloat162 h) { return h.x; }
KW_NARROW_FUNCTION __nv_bfloat16 __high2bfloat16(__nv_bfloat162 h) { return h.y; }
KW_NARROW_FUNCTION __nv_bfloat162 __low2bfloat162(__nv_bfloat162 h) { return __nv_bfloat162(h.x, h.x); }
KW_NARROW_FUNCTION __nv_bfloat162 __high2bfloat162(__nv_bfloat162 h) { return __nv_bfloat162(h.y, h.y); }
KW_NARROW_FUNCTION __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) {
    return __nv_bfloat162(a.x, b.x);
}
KW_NARROW_FUNCTION __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) {
    return __nv_bfloat162(a.y, b.y);
}
KW_NARROW_FUNCTION __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 h) { return __nv_bfloat162(h.y, h.x); }
