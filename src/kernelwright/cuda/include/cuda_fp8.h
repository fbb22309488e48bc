// Numbers of eight bits: __nv_fp8_e4m3, __nv_fp8_e5m2, two and four of them, and what becomes one. They are stored and converted, on
// every architecture by the same integer arithmetic; arithmetic takes place in wider types. A value beyond the largest finite number
// becomes that number, as in CUDA's constructors.
#pragma once
#define __CUDA_FP8_H__
#pragma GCC system_header
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "kernelwright/fp8_conversions.h"

// Of integers: cut off, at the ends of the type where it is too narrow, 0 for NaN.
template <class Integer>
KW_NARROW_FUNCTION Integer __kw_fp8_to_integer(float value) {
    const bool is_signed = (Integer)-1 < (Integer)0;
    const Integer top = (Integer)(is_signed ? ~(1ull << (8 * sizeof(Integer) - 1)) : ~0ull);
    if (value != value) return 0;
    if (value >= (float)top) return top;
    if (value <= (is_signed ? -(float)top : 0.0f)) return is_signed ? (Integer)(value < -(float)top ? ~top : -top) : 0;
    return (Integer)value;
}

#define KW_FP8 __nv_fp8_e4m3
#define KW_FP8X2 __nv_fp8x2_e4m3
#define KW_FP8X4 __nv_fp8x4_e4m3
#define KW_FP8_FORMAT __NV_E4M3
#include "kernelwright/fp8_types.h"

#define KW_FP8 __nv_fp8_e5m2
#define KW_FP8X2 __nv_fp8x2_e5m2
#define KW_FP8X4 __nv_fp8x4_e5m2
#define KW_FP8_FORMAT __NV_E5M2
#include "kernelwright/fp8_types.h"
