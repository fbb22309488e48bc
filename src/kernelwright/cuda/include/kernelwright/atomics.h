// Atomic functions. Relaxed order, as CUDA has it: they order nothing but their own word.
#pragma once
#pragma GCC system_header

// The plain name is seen by the whole device, _block by the block, _system also by host and other devices.
#define KW_IN_ALL_SCOPES(define, ...)                  \
    define(, __MEMORY_SCOPE_DEVICE, __VA_ARGS__)       \
    define(_block, __MEMORY_SCOPE_WRKGRP, __VA_ARGS__) \
    define(_system, __MEMORY_SCOPE_SYSTEM, __VA_ARGS__)

#define KW_FETCH(suffix, scope, name, type, operation)                               \
    KW_DEVICE type name##suffix(type *address, type value) {                         \
        return __scoped_atomic_##operation(address, value, __ATOMIC_RELAXED, scope); \
    }
KW_IN_ALL_SCOPES(KW_FETCH, atomicAdd, int, fetch_add)
KW_IN_ALL_SCOPES(KW_FETCH, atomicAdd, unsigned int, fetch_add)
KW_IN_ALL_SCOPES(KW_FETCH, atomicAdd, unsigned long long, fetch_add)
KW_IN_ALL_SCOPES(KW_FETCH, atomicAdd, float, fetch_add)
KW_IN_ALL_SCOPES(KW_FETCH, atomicAdd, double, fetch_add)
KW_IN_ALL_SCOPES(KW_FETCH, atomicSub, int, fetch_sub)
KW_IN_ALL_SCOPES(KW_FETCH, atomicSub, unsigned int, fetch_sub)
KW_IN_ALL_SCOPES(KW_FETCH, atomicInc, unsigned int, fetch_uinc)
KW_IN_ALL_SCOPES(KW_FETCH, atomicDec, unsigned int, fetch_udec)

#define KW_INTEGER_FETCH(type)                             \
    KW_IN_ALL_SCOPES(KW_FETCH, atomicMin, type, fetch_min) \
    KW_IN_ALL_SCOPES(KW_FETCH, atomicMax, type, fetch_max) \
    KW_IN_ALL_SCOPES(KW_FETCH, atomicAnd, type, fetch_and) \
    KW_IN_ALL_SCOPES(KW_FETCH, atomicOr, type, fetch_or)   \
    KW_IN_ALL_SCOPES(KW_FETCH, atomicXor, type, fetch_xor)
KW_INTEGER_FETCH(int)
KW_INTEGER_FETCH(unsigned int)
KW_INTEGER_FETCH(long long)
KW_INTEGER_FETCH(unsigned long long)

KW_IN_ALL_SCOPES(KW_FETCH, atomicExch, int, exchange_n)
KW_IN_ALL_SCOPES(KW_FETCH, atomicExch, unsigned int, exchange_n)
KW_IN_ALL_SCOPES(KW_FETCH, atomicExch, unsigned long long, exchange_n)
#define KW_EXCHANGE_FLOAT(suffix, scope, ...)                                                \
    KW_DEVICE float atomicExch##suffix(float *address, float value) {                        \
        unsigned int bits = __builtin_bit_cast(unsigned int, value);                         \
        return __builtin_bit_cast(float, atomicExch##suffix((unsigned int *)address, bits)); \
    }
KW_IN_ALL_SCOPES(KW_EXCHANGE_FLOAT, )

#define KW_COMPARE_AND_SWAP(suffix, scope, type)                                               \
    KW_DEVICE type atomicCAS##suffix(type *address, type expected, type value) {               \
        __scoped_atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_RELAXED, \
                                           __ATOMIC_RELAXED, scope);                           \
        return expected;                                                                       \
    }
KW_IN_ALL_SCOPES(KW_COMPARE_AND_SWAP, int)
KW_IN_ALL_SCOPES(KW_COMPARE_AND_SWAP, unsigned int)
KW_IN_ALL_SCOPES(KW_COMPARE_AND_SWAP, unsigned long long)
KW_IN_ALL_SCOPES(KW_COMPARE_AND_SWAP, unsigned short)

#undef KW_IN_ALL_SCOPES
#undef KW_FETCH
#undef KW_INTEGER_FETCH
#undef KW_EXCHANGE_FLOAT
#undef KW_COMPARE_AND_SWAP
