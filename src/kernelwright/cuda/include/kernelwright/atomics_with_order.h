// nvcc's built-in atomic functions, which state their order and scope (CUDA C++ programming guide, "Atomic functions").
#pragma once
#pragma GCC system_header

#define __NV_ATOMIC_RELAXED __ATOMIC_RELAXED
#define __NV_ATOMIC_CONSUME __ATOMIC_CONSUME
#define __NV_ATOMIC_ACQUIRE __ATOMIC_ACQUIRE
#define __NV_ATOMIC_RELEASE __ATOMIC_RELEASE
#define __NV_ATOMIC_ACQ_REL __ATOMIC_ACQ_REL
#define __NV_ATOMIC_SEQ_CST __ATOMIC_SEQ_CST

#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4

// The word as an integer: types of other kinds are moved as their bits.
template <unsigned bytes> struct __kw_bits_of;
template <> struct __kw_bits_of<1> { typedef unsigned char type; };
template <> struct __kw_bits_of<2> { typedef unsigned short type; };
template <> struct __kw_bits_of<4> { typedef unsigned int type; };
template <> struct __kw_bits_of<8> { typedef unsigned long long type; };
#define KW_BITS(T) typename __kw_bits_of<sizeof(T)>::type
#define KW_AS_BITS(T, pointer) ((KW_BITS(T) *)(pointer))

// A template argument is what a call converts to the type of the pointer's target.
template <class T> struct __kw_target { typedef T type; };
#define KW_VALUE(T) typename __kw_target<T>::type

// The order and the scope are numbers at the call, and of these branches one is left.
#define KW_IN_SCOPE(scope, call)                                                        \
    ((scope) == __NV_THREAD_SCOPE_BLOCK    ? call(__MEMORY_SCOPE_WRKGRP)                \
     : (scope) == __NV_THREAD_SCOPE_THREAD ? call(__MEMORY_SCOPE_SINGLE)                \
     : (scope) == __NV_THREAD_SCOPE_SYSTEM ? call(__MEMORY_SCOPE_SYSTEM)                \
                                           : call(__MEMORY_SCOPE_DEVICE))
#define KW_ORDERED template <class T> KW_DEVICE

KW_ORDERED T __nv_atomic_load_n(const T *address, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
#define KW_CALL(s) __scoped_atomic_load_n(KW_AS_BITS(T, address), order, s)
    KW_BITS(T) bits = KW_IN_SCOPE(scope, KW_CALL);
#undef KW_CALL
    return __builtin_bit_cast(T, bits);
}
KW_ORDERED void __nv_atomic_load(const T *address, T *result, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    *result = __nv_atomic_load_n(address, order, scope);
}
KW_ORDERED void __nv_atomic_store_n(T *address, KW_VALUE(T) value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
#define KW_CALL(s) __scoped_atomic_store_n(KW_AS_BITS(T, address), __builtin_bit_cast(KW_BITS(T), value), order, s)
    KW_IN_SCOPE(scope, KW_CALL);
#undef KW_CALL
}
KW_ORDERED void __nv_atomic_store(T *address, T *value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    __nv_atomic_store_n(address, *value, order, scope);
}
KW_ORDERED T __nv_atomic_exchange_n(T *address, KW_VALUE(T) value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
#define KW_CALL(s) __scoped_atomic_exchange_n(KW_AS_BITS(T, address), __builtin_bit_cast(KW_BITS(T), value), order, s)
    KW_BITS(T) bits = KW_IN_SCOPE(scope, KW_CALL);
#undef KW_CALL
    return __builtin_bit_cast(T, bits);
}
KW_ORDERED void __nv_atomic_exchange(T *address, T *value, T *result, int order,
                                     int scope = __NV_THREAD_SCOPE_SYSTEM) {
    *result = __nv_atomic_exchange_n(address, *value, order, scope);
}
KW_ORDERED bool __nv_atomic_compare_exchange_n(T *address, T *expected, KW_VALUE(T) value, bool, int success, int failure,
                                               int scope = __NV_THREAD_SCOPE_SYSTEM) {
#define KW_CALL(s)                                                                                                  \
    __scoped_atomic_compare_exchange_n(KW_AS_BITS(T, address), KW_AS_BITS(T, expected),                             \
                                       __builtin_bit_cast(KW_BITS(T), value), false, success, failure, s)
    return KW_IN_SCOPE(scope, KW_CALL);
#undef KW_CALL
}
KW_ORDERED bool __nv_atomic_compare_exchange(T *address, T *expected, T *value, bool weak, int success, int failure,
                                             int scope = __NV_THREAD_SCOPE_SYSTEM) {
    return __nv_atomic_compare_exchange_n(address, expected, *value, weak, success, failure, scope);
}

#define KW_FETCH_WITH_ORDER(name)                                                                                    \
    KW_ORDERED T __nv_atomic_fetch_##name(T *address, KW_VALUE(T) value, int order,                                  \
                                          int scope = __NV_THREAD_SCOPE_SYSTEM) {                                    \
        return KW_IN_SCOPE(scope, KW_CALL);                                                                          \
    }                                                                                                                \
    KW_ORDERED void __nv_atomic_##name(T *address, KW_VALUE(T) value, int order,                                     \
                                       int scope = __NV_THREAD_SCOPE_SYSTEM) {                                       \
        (void)__nv_atomic_fetch_##name(address, value, order, scope);                                                \
    }
#define KW_CALL(s) __scoped_atomic_fetch_add(address, value, order, s)
KW_FETCH_WITH_ORDER(add)
#undef KW_CALL
#define KW_CALL(s) __scoped_atomic_fetch_sub(address, value, order, s)
KW_FETCH_WITH_ORDER(sub)
#undef KW_CALL
#define KW_CALL(s) __scoped_atomic_fetch_and(address, value, order, s)
KW_FETCH_WITH_ORDER(and)
#undef KW_CALL
#define KW_CALL(s) __scoped_atomic_fetch_or(address, value, order, s)
KW_FETCH_WITH_ORDER(or)
#undef KW_CALL
#define KW_CALL(s) __scoped_atomic_fetch_xor(address, value, order, s)
KW_FETCH_WITH_ORDER(xor)
#undef KW_CALL
#define KW_CALL(s) __scoped_atomic_fetch_min(address, value, order, s)
KW_FETCH_WITH_ORDER(min)
#undef KW_CALL
#define KW_CALL(s) __scoped_atomic_fetch_max(address, value, order, s)
KW_FETCH_WITH_ORDER(max)
#undef KW_CALL
#undef KW_FETCH_WITH_ORDER
#undef KW_IN_SCOPE
#undef KW_ORDERED
#undef KW_VALUE
#undef KW_AS_BITS
#undef KW_BITS

// A fence orders memory of the whole block or more; its order does not make it weaker here.
KW_DEVICE void __nv_atomic_thread_fence(int, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    if (scope == __NV_THREAD_SCOPE_SYSTEM)
        __nvvm_membar_sys();
    else if (scope == __NV_THREAD_SCOPE_DEVICE || scope == __NV_THREAD_SCOPE_CLUSTER)
        __nvvm_membar_gl();
    else
        __nvvm_membar_cta();
}
