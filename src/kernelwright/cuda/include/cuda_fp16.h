// Half precision: __half, __half2 and their functions.
#pragma once
#define __CUDA_FP16_H__
#pragma GCC system_header
#if defined(__CUDA__)
// Eigen asks __NVCC__ whether one function may have a body for each side, as it may have with clang.
#if defined(EIGEN_COMP_NVCC)
#undef EIGEN_COMP_NVCC
#define EIGEN_COMP_NVCC 0
#endif

#include "kernelwright_cuda.h"
#endif
#include "kernelwright/half_type.h"

#define KW_N __half
#define KW_N2 __half2
#define KW_N_NAME half
#define KW_N_FROM_BITS(bits) __ushort_as_half(bits)
#define KW_N_ONE 0x3c00
#define KW_N_INFINITY 0x7c00
#define KW_N_NAN 0x7fff
#define KW_N_FROM_FLOAT(mode) __float2half_##mode

#if defined(__CUDA_ARCH__)
// The device computes in half precision itself; pairs are vectors of two, which become the two-wide instructions.
typedef _Float16 __kw_half_pair __attribute__((ext_vector_type(2)));
#define KW_HALF_PAIR(h) __builtin_bit_cast(__kw_half_pair, h)
#define KW_N_VALUE(h) __builtin_bit_cast(_Float16, h)
#define KW_N_RESULT(value) __builtin_bit_cast(__half, (_Float16)(value))
#define KW_N2_BINARY(a, op, b) __builtin_bit_cast(__half2, KW_HALF_PAIR(a) op KW_HALF_PAIR(b))
#define KW_N_FMA(a, b, c) KW_N_RESULT(__builtin_elementwise_fma(KW_N_VALUE(a), KW_N_VALUE(b), KW_N_VALUE(c)))
#define KW_N2_FMA(a, b, c) \
    __builtin_bit_cast(__half2, __builtin_elementwise_fma(KW_HALF_PAIR(a), KW_HALF_PAIR(b), KW_HALF_PAIR(c)))
#define KW_N_NATIVE_ATOMIC_ADD(address, value)                                                                     \
    __builtin_bit_cast(__half, __scoped_atomic_fetch_add((_Float16 *)address, __builtin_bit_cast(_Float16, value), \
                                                         __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE))
#else
// The host computes in float: for + - * / rounding twice gives the same half as rounding once. A product of halves is
// exact in float, and its sum with a third is exact in double.
#define KW_N_VALUE(h) ((float)(h))
#define KW_N_RESULT(value) __half((float)(value))
#define KW_N2_BINARY(a, op, b) \
    __half2(KW_N_RESULT((float)a.x op (float)b.x), KW_N_RESULT((float)a.y op (float)b.y))
#define KW_N_FMA(a, b, c) __half((double)((float)a * (float)b) + (double)(float)c)
#define KW_N2_FMA(a, b, c) __half2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y))
#endif
#include "kernelwright/narrow_float.h"
#undef KW_HALF_PAIR
