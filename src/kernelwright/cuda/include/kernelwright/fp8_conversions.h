// Numbers of eight bits, E4M3 and E5M2: to and from wider ones. Part of cuda_fp8.h.
//
// E4M3 has no infinity: its largest pattern is the only NaN, 448 the largest number. E5M2 is the upper half of a binary16. Everything
// is computed with integers and rounded once, to nearest, ties to even, from float as from double.
#pragma once
#pragma GCC system_header
#include "kernelwright/narrow_rounding.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short int __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

// Bits: an unsigned integer with the pattern of a float or a double, whose significand has `digits` bits and whose exponent the bias.
template <class Bits>
KW_NARROW_FUNCTION __nv_fp8_storage_t __kw_to_fp8(Bits pattern, int digits, int bias, __nv_saturation_t saturation,
                                                  __nv_fp8_interpretation_t format) {
    const bool is_e4m3 = format == __NV_E4M3;
    const int kept_digits = is_e4m3 ? 3 : 2, kept_bias = is_e4m3 ? 7 : 15;
    const unsigned largest = is_e4m3 ? 0x7e : 0x7b, infinity = is_e4m3 ? 0x7f : 0x7c;
    const unsigned sign = (unsigned)(pattern >> (8 * sizeof(Bits) - 1)) << 7;
    const Bits one = 1, magnitude = pattern & (Bits)(~(Bits)0 >> 1);
    if (magnitude > (Bits)(2 * bias + 1) << digits)  // NaN, which CUDA makes another of a double than of a float
        return (__nv_fp8_storage_t)(digits < 52 ? 0x7f : is_e4m3 ? sign | 0x7f : sign | 0x7e);
    const int field = (int)(magnitude >> digits) - bias + kept_bias;  // of the exponent; below 1 the result is subnormal
    const int dropped = digits - kept_digits + (field < 1 ? 1 - field : 0);
    if (dropped > digits + 1) return (__nv_fp8_storage_t)sign;  // less than half of the smallest
    const Bits significand = (magnitude & ((one << digits) - 1)) | one << digits;
    const Bits rest = significand & ((one << dropped) - 1), half = one << (dropped - 1);
    unsigned result = (unsigned)(significand >> dropped);
    result += rest > half || (rest == half && (result & 1));
    if (field >= 1) result += (unsigned)(field - 1) << kept_digits;  // a digit that is carried out raises the exponent
    if (result > largest) result = saturation == __NV_SATFINITE ? largest : infinity;
    return (__nv_fp8_storage_t)(sign | result);
}

KW_NARROW_FUNCTION __nv_fp8_storage_t __nv_cvt_float_to_fp8(const float x, const __nv_saturation_t saturate,
                                                            const __nv_fp8_interpretation_t fp8_interpretation) {
    return __kw_to_fp8(__builtin_bit_cast(unsigned int, x), 23, 127, saturate, fp8_interpretation);
}
KW_NARROW_FUNCTION __nv_fp8_storage_t __nv_cvt_double_to_fp8(const double x, const __nv_saturation_t saturate,
                                                             const __nv_fp8_interpretation_t fp8_interpretation) {
    return __kw_to_fp8(__builtin_bit_cast(unsigned long long, x), 52, 1023, saturate, fp8_interpretation);
}
KW_NARROW_FUNCTION __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(const __half_raw x, const __nv_saturation_t saturate,
                                                              const __nv_fp8_interpretation_t fp8_interpretation) {
    return __nv_cvt_float_to_fp8(__kw_half_to_float(x.x), saturate, fp8_interpretation);
}
KW_NARROW_FUNCTION __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(const __nv_bfloat16_raw x,
                                                                  const __nv_saturation_t saturate,
                                                                  const __nv_fp8_interpretation_t fp8_interpretation) {
    return __nv_cvt_float_to_fp8(__kw_bfloat16_to_float(x.x), saturate, fp8_interpretation);
}

KW_NARROW_FUNCTION __half_raw __nv_cvt_fp8_to_halfraw(const __nv_fp8_storage_t x,
                                                      const __nv_fp8_interpretation_t fp8_interpretation) {
    const unsigned magnitude = x & 0x7f, sign = (unsigned)(x & 0x80) << 8;
    if (magnitude > (fp8_interpretation == __NV_E5M2 ? 0x7c : 0x7e)) return __half_raw{0x7fff};
    if (fp8_interpretation == __NV_E5M2) return __half_raw{(unsigned short)(x << 8)};
    if (magnitude >= 8) return __half_raw{(unsigned short)(sign | ((magnitude << 7) + (8 << 10)))};  // a bias of 15, not 7
    // Subnormal: so many times 2^-9, which as a half is normal.
    const unsigned shift = magnitude >= 4 ? 1 : magnitude >= 2 ? 2 : 3;
    const unsigned short half = magnitude ? (unsigned short)((9 - shift) << 10 | ((magnitude << shift) & 7) << 7) : 0;
    return __half_raw{(unsigned short)(sign | half)};
}
KW_NARROW_FUNCTION __half2_raw __nv_cvt_fp8x2_to_halfraw2(const __nv_fp8x2_storage_t x,
                                                          const __nv_fp8_interpretation_t fp8_interpretation) {
    return __half2_raw{__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(x & 0xff), fp8_interpretation).x,
                       __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(x >> 8), fp8_interpretation).x};
}
KW_NARROW_FUNCTION float __kw_fp8_to_float(const __nv_fp8_storage_t x, const __nv_fp8_interpretation_t format) {
    return __kw_half_to_float(__nv_cvt_fp8_to_halfraw(x, format).x);
}

// ---- pairs: the first in the lower half ----

#define KW_FP8_PAIR(name, type, one)                                                                               \
    KW_NARROW_FUNCTION __nv_fp8x2_storage_t name(const type x, const __nv_saturation_t saturate,                   \
                                                 const __nv_fp8_interpretation_t fp8_interpretation) {             \
        return (__nv_fp8x2_storage_t)(one(x.x, saturate, fp8_interpretation) |                                     \
                                      one(x.y, saturate, fp8_interpretation) << 8);                                \
    }
#define KW_FP8_OF_HALF(x, saturate, format) __nv_cvt_halfraw_to_fp8(__half_raw{x}, saturate, format)
#define KW_FP8_OF_BFLOAT16(x, saturate, format) __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw{x}, saturate, format)
KW_FP8_PAIR(__nv_cvt_float2_to_fp8x2, float2, __nv_cvt_float_to_fp8)
KW_FP8_PAIR(__nv_cvt_double2_to_fp8x2, double2, __nv_cvt_double_to_fp8)
KW_FP8_PAIR(__nv_cvt_halfraw2_to_fp8x2, __half2_raw, KW_FP8_OF_HALF)
KW_FP8_PAIR(__nv_cvt_bfloat16raw2_to_fp8x2, __nv_bfloat162_raw, KW_FP8_OF_BFLOAT16)
#undef KW_FP8_PAIR
#undef KW_FP8_OF_HALF
#undef KW_FP8_OF_BFLOAT16
