/* char1 ... double4 and dim3, with the alignments of the CUDA programming guide ("Built-in Vector Types"). */
#pragma once
#define __VECTOR_TYPES_H__
#pragma GCC system_header
#include "host_defines.h"

/* Vectors of two and four are aligned to their size, but to 16 bytes at most; those of one and three to one element. */
#define KW_VECTOR_TYPES(name, element, align2, align4)                       \
    struct name##1 { element x; };                                           \
    struct __attribute__((aligned(align2))) name##2 { element x, y; };       \
    struct name##3 { element x, y, z; };                                     \
    struct __attribute__((aligned(align4))) name##4 { element x, y, z, w; }; \
    typedef struct name##1 name##1;                                          \
    typedef struct name##2 name##2;                                          \
    typedef struct name##3 name##3;                                          \
    typedef struct name##4 name##4;

KW_VECTOR_TYPES(char, signed char, 2, 4)
KW_VECTOR_TYPES(uchar, unsigned char, 2, 4)
KW_VECTOR_TYPES(short, short, 4, 8)
KW_VECTOR_TYPES(ushort, unsigned short, 4, 8)
KW_VECTOR_TYPES(int, int, 8, 16)
KW_VECTOR_TYPES(uint, unsigned int, 8, 16)
KW_VECTOR_TYPES(long, long, 16, 16)
KW_VECTOR_TYPES(ulong, unsigned long, 16, 16)
KW_VECTOR_TYPES(longlong, long long, 16, 16)
KW_VECTOR_TYPES(ulonglong, unsigned long long, 16, 16)
KW_VECTOR_TYPES(float, float, 8, 16)
KW_VECTOR_TYPES(double, double, 16, 16)
#undef KW_VECTOR_TYPES

struct dim3 {
    unsigned int x, y, z;
#if defined(__cplusplus)
    __host__ __device__ constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
    __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
#endif
};
typedef struct dim3 dim3;
