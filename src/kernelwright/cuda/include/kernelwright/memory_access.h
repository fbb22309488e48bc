// Loads and stores with a cache hint, and questions about address spaces.
#pragma once
#pragma GCC system_header

// __ldg promises that nothing writes the word while the kernel runs: the load becomes ld.global.nc.
#define KW_LDG(type, code) KW_DEVICE type __ldg(const type *p) { return (type)__nvvm_ldg_##code(p); }
KW_LDG(char, c)
KW_LDG(short, s)
KW_LDG(int, i)
KW_LDG(long, l)
KW_LDG(long long, ll)
KW_LDG(unsigned char, uc)
KW_LDG(unsigned short, us)
KW_LDG(unsigned int, ui)
KW_LDG(unsigned long, ul)
KW_LDG(unsigned long long, ull)
KW_LDG(float, f)
KW_LDG(double, d)
#undef KW_LDG
KW_DEVICE signed char __ldg(const signed char *p) { return (signed char)__nvvm_ldg_c((const char *)p); }

#define KW_LDG_VECTOR(type, element, n, code)                                  \
    KW_DEVICE type __ldg(const type *p) {                                      \
        typedef element vector __attribute__((ext_vector_type(n)));            \
        return __builtin_bit_cast(type, __nvvm_ldg_##code((const vector *)p)); \
    }
KW_LDG_VECTOR(char2, char, 2, c2)
KW_LDG_VECTOR(char4, char, 4, c4)
KW_LDG_VECTOR(short2, short, 2, s2)
KW_LDG_VECTOR(short4, short, 4, s4)
KW_LDG_VECTOR(int2, int, 2, i2)
KW_LDG_VECTOR(int4, int, 4, i4)
KW_LDG_VECTOR(longlong2, long long, 2, ll2)
KW_LDG_VECTOR(uchar2, unsigned char, 2, uc2)
KW_LDG_VECTOR(uchar4, unsigned char, 4, uc4)
KW_LDG_VECTOR(ushort2, unsigned short, 2, us2)
KW_LDG_VECTOR(ushort4, unsigned short, 4, us4)
KW_LDG_VECTOR(uint2, unsigned int, 2, ui2)
KW_LDG_VECTOR(uint4, unsigned int, 4, ui4)
KW_LDG_VECTOR(ulonglong2, unsigned long long, 2, ull2)
KW_LDG_VECTOR(float2, float, 2, f2)
KW_LDG_VECTOR(float4, float, 4, f4)
KW_LDG_VECTOR(double2, double, 2, d2)
#undef KW_LDG_VECTOR

#include "hinted_accesses.h"

// These must reach memory every time: volatile accesses, word by word as wide as the type's alignment allows.
template <int alignment> struct __kw_word { typedef unsigned long long type __attribute__((may_alias)); };
template <> struct __kw_word<1> { typedef unsigned char type __attribute__((may_alias)); };
template <> struct __kw_word<2> { typedef unsigned short type __attribute__((may_alias)); };
template <> struct __kw_word<4> { typedef unsigned int type __attribute__((may_alias)); };
template <class T> KW_DEVICE T __ldcv(const T *p) {
    typedef typename __kw_word<alignof(T)>::type word;
    T value;
    for (unsigned i = 0; i < sizeof(T) / sizeof(word); i++) ((word *)&value)[i] = ((const volatile word *)p)[i];
    return value;
}
template <class T> KW_DEVICE void __stwt(T *p, typename __kw_same<T>::type value) {
    typedef typename __kw_word<alignof(T)>::type word;
    for (unsigned i = 0; i < sizeof(T) / sizeof(word); i++) ((volatile word *)p)[i] = ((const word *)&value)[i];
}

// ---- address spaces ----

KW_DEVICE unsigned int __isGlobal(const void *p) { return __nvvm_isspacep_global(p); }
KW_DEVICE unsigned int __isShared(const void *p) { return __nvvm_isspacep_shared(p); }
KW_DEVICE unsigned int __isConstant(const void *p) { return __nvvm_isspacep_const(p); }
KW_DEVICE unsigned int __isLocal(const void *p) { return __nvvm_isspacep_local(p); }

#define KW_ADDRESS_SPACE(name, number)                                         \
    KW_DEVICE size_t __cvta_generic_to_##name(const void *p) {                 \
        return (size_t)(__attribute__((address_space(number))) const void *)p; \
    }                                                                          \
    KW_DEVICE void *__cvta_##name##_to_generic(size_t raw) {                   \
        return (void *)(__attribute__((address_space(number))) void *)raw;     \
    }
KW_ADDRESS_SPACE(global, 1)
KW_ADDRESS_SPACE(shared, 3)
KW_ADDRESS_SPACE(constant, 4)
KW_ADDRESS_SPACE(local, 5)
#undef KW_ADDRESS_SPACE
