// What the clang that Kernelwright brings along has built in and an older one (--clang) has not.
#pragma once
#pragma GCC system_header

#if !__has_builtin(__builtin_elementwise_maxnum)
KW_DEVICE double __kw_maxnum(double x, double y) { return __builtin_fmax(x, y); }
KW_DEVICE float __kw_maxnum(float x, float y) { return __builtin_fmaxf(x, y); }
KW_DEVICE double __kw_minnum(double x, double y) { return __builtin_fmin(x, y); }
KW_DEVICE float __kw_minnum(float x, float y) { return __builtin_fminf(x, y); }
#define __builtin_elementwise_maxnum __kw_maxnum
#define __builtin_elementwise_minnum __kw_minnum
#endif

#if !__has_builtin(__scoped_atomic_fetch_uinc)
#define KW_WRAPPING(name, next)                                                                                \
    template <int scope> KW_DEVICE unsigned int name(unsigned int *address, unsigned int limit) {              \
        unsigned int old = __scoped_atomic_load_n(address, __ATOMIC_RELAXED, scope);                           \
        while (!__scoped_atomic_compare_exchange_n(address, &old, next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED, \
                                                   scope)) {                                                   \
        }                                                                                                      \
        return old;                                                                                            \
    }
KW_WRAPPING(__kw_fetch_uinc, old >= limit ? 0 : old + 1)
KW_WRAPPING(__kw_fetch_udec, old == 0 || old > limit ? limit : old - 1)
#undef KW_WRAPPING
#define __scoped_atomic_fetch_uinc(address, limit, order, scope) __kw_fetch_uinc<scope>(address, limit)
#define __scoped_atomic_fetch_udec(address, limit, order, scope) __kw_fetch_udec<scope>(address, limit)
#endif
