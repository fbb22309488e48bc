// bfloat16: __nv_bfloat16, __nv_bfloat162 and their functions. From sm_80 on the device computes in bfloat16 itself. On the
// host and on older devices all arithmetic goes through float and is rounded once at the end: + - * / are exactly the
// bfloat16 results. A multiply-add rounds to float there (on the host to double) before it rounds to bfloat16, which can
// differ from a single rounding in the last bit.
#pragma once
#define __CUDA_BF16_H__
#pragma GCC system_header
#if defined(__CUDA__)
#include "kernelwright_cuda.h"
#endif
#include "kernelwright/bfloat16_type.h"

#define KW_N __nv_bfloat16
#define KW_N2 __nv_bfloat162
#define KW_N_NAME bfloat16
#define KW_N_FROM_BITS(bits) __ushort_as_bfloat16(bits)
#define KW_N_ONE 0x3f80
#define KW_N_INFINITY 0x7f80
#define KW_N_NAN 0x7fff
#define KW_N_FROM_FLOAT(mode) __float2bfloat16_##mode
#if defined(KW_NATIVE_BFLOAT16)
// Pairs are vectors of two, which become the two-wide instructions.
typedef __bf16 __kw_bfloat16_pair __attribute__((ext_vector_type(2)));
#define KW_BFLOAT16_PAIR(h) __builtin_bit_cast(__kw_bfloat16_pair, h)
#define KW_N_VALUE(h) __builtin_bit_cast(__bf16, h)
#define KW_N_RESULT(value) __builtin_bit_cast(__nv_bfloat16, (__bf16)(value))
#define KW_N2_BINARY(a, op, b) __builtin_bit_cast(__nv_bfloat162, KW_BFLOAT16_PAIR(a) op KW_BFLOAT16_PAIR(b))
#define KW_N_FMA(a, b, c) KW_N_RESULT(__builtin_elementwise_fma(KW_N_VALUE(a), KW_N_VALUE(b), KW_N_VALUE(c)))
#define KW_N2_FMA(a, b, c)              \
    __builtin_bit_cast(__nv_bfloat162, \
                       __builtin_elementwise_fma(KW_BFLOAT16_PAIR(a), KW_BFLOAT16_PAIR(b), KW_BFLOAT16_PAIR(c)))
#else
#define KW_N_VALUE(h) ((float)(h))
#define KW_N_RESULT(value) __nv_bfloat16((float)(value))
#define KW_N2_BINARY(a, op, b) \
    __nv_bfloat162(KW_N_RESULT((float)a.x op (float)b.x), KW_N_RESULT((float)a.y op (float)b.y))
#if defined(__CUDA_ARCH__)
#define KW_N_FMA(a, b, c) __nv_bfloat16(fmaf((float)a, (float)b, (float)c))
#else
#define KW_N_FMA(a, b, c) __nv_bfloat16((double)(float)a * (double)(float)b + (double)(float)c)
#endif
#define KW_N2_FMA(a, b, c) __nv_bfloat162(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y))
#endif
#include "kernelwright/narrow_float.h"
#if defined(KW_NATIVE_BFLOAT16)
#undef KW_BFLOAT16_PAIR
#endif
