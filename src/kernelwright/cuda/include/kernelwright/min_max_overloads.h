// min and max of any two numbers, on the side that KW_MIN_MAX_SIDE names. Operands of two types convert as in `a + b`, as
// nvcc does it; floats take the number where the other operand is not one (fmin, fmax).
#pragma once
#pragma GCC system_header

#define KW_MIN_MAX(type)                                               \
    KW_MIN_MAX_SIDE type min(type a, type b) { return b < a ? b : a; } \
    KW_MIN_MAX_SIDE type max(type a, type b) { return a < b ? b : a; }
KW_MIN_MAX(int)
KW_MIN_MAX(unsigned int)
KW_MIN_MAX(long)
KW_MIN_MAX(unsigned long)
KW_MIN_MAX(long long)
KW_MIN_MAX(unsigned long long)
#undef KW_MIN_MAX

KW_MIN_MAX_SIDE float min(float a, float b) { return __builtin_fminf(a, b); }
KW_MIN_MAX_SIDE float max(float a, float b) { return __builtin_fmaxf(a, b); }
KW_MIN_MAX_SIDE double min(double a, double b) { return __builtin_fmin(a, b); }
KW_MIN_MAX_SIDE double max(double a, double b) { return __builtin_fmax(a, b); }

template <class A, class B, bool = __is_arithmetic(A) && __is_arithmetic(B) && !__is_same(A, B)>
struct __kw_usual_conversion {};
template <class A, class B>
struct __kw_usual_conversion<A, B, true> { typedef decltype(A() + B()) type; };

template <class A, class B> KW_MIN_MAX_SIDE typename __kw_usual_conversion<A, B>::type min(A a, B b) {
    typedef typename __kw_usual_conversion<A, B>::type C;
    return min((C)a, (C)b);
}
template <class A, class B> KW_MIN_MAX_SIDE typename __kw_usual_conversion<A, B>::type max(A a, B b) {
    typedef typename __kw_usual_conversion<A, B>::type C;
    return max((C)a, (C)b);
}
#undef KW_MIN_MAX_SIDE
