// What the 16-bit float types share before they differ. Part of cuda_fp16.h and cuda_bf16.h.
#pragma once
#pragma GCC system_header
#include "cuda_runtime_api.h"
#include "vector_functions.h"

#if defined(__CUDA__)
#define KW_NARROW_FUNCTION static __inline__ __attribute__((always_inline, nodebug, host, device))
#define KW_NARROW_METHOD __attribute__((always_inline, nodebug, host, device))
#else
#define KW_NARROW_FUNCTION static inline __attribute__((unused))
#define KW_NARROW_METHOD inline
#endif

// A number rounded to odd as a float: cut off, and the last bit set if anything was lost. Rounding that to a 16-bit
// float is then as if there had been no step between (S. Boldo, G. Melquiond, "When double rounding is odd", 2005).
KW_NARROW_FUNCTION float __kw_odd_float(double value) {
    float nearest = (float)value;
    unsigned int bits = __builtin_bit_cast(unsigned int, nearest);
    if ((double)nearest == value || value != value || bits & 1 || (bits & 0x7fffffffu) == 0x7f800000u) return nearest;
    bool away = nearest < 0 ? (double)nearest < value : (double)nearest > value;
    return __builtin_bit_cast(float, away ? bits - 1 : bits + 1);
}
KW_NARROW_FUNCTION float __kw_odd_float(unsigned long long value) {
    unsigned long long cut = value >> 12 | ((value & 0xfff) != 0);  // fits a double exactly
    return __kw_odd_float(value >> 53 ? (double)cut * 4096.0 : (double)value);
}
KW_NARROW_FUNCTION float __kw_odd_float(long long value) {
    return value < 0 ? -__kw_odd_float(-(unsigned long long)value) : __kw_odd_float((unsigned long long)value);
}
