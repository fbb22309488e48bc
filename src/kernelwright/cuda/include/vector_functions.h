/* make_char1 ... make_double4. */
#pragma once
#define __VECTOR_FUNCTIONS_H__
#pragma GCC system_header
#include "vector_types.h"

#if defined(__CUDA__)
#define KW_MAKE static __inline__ __attribute__((always_inline, nodebug, host, device))
#else
#define KW_MAKE static __inline__ __attribute__((unused))
#endif

#define KW_MAKE_VECTORS(name, element)                                                                   \
    KW_MAKE name##1 make_##name##1(element x) { name##1 v = {x}; return v; }                             \
    KW_MAKE name##2 make_##name##2(element x, element y) { name##2 v = {x, y}; return v; }               \
    KW_MAKE name##3 make_##name##3(element x, element y, element z) { name##3 v = {x, y, z}; return v; } \
    KW_MAKE name##4 make_##name##4(element x, element y, element z, element w) { name##4 v = {x, y, z, w}; return v; }

KW_MAKE_VECTORS(char, signed char)
KW_MAKE_VECTORS(uchar, unsigned char)
KW_MAKE_VECTORS(short, short)
KW_MAKE_VECTORS(ushort, unsigned short)
KW_MAKE_VECTORS(int, int)
KW_MAKE_VECTORS(uint, unsigned int)
KW_MAKE_VECTORS(long, long)
KW_MAKE_VECTORS(ulong, unsigned long)
KW_MAKE_VECTORS(longlong, long long)
KW_MAKE_VECTORS(ulonglong, unsigned long long)
KW_MAKE_VECTORS(float, float)
KW_MAKE_VECTORS(double, double)
#undef KW_MAKE_VECTORS
#undef KW_MAKE
