// min and max of any two numbers, on host and device. Operands of two types convert as in `a + b`, as nvcc does it;
// floats take the number where the other operand is not one (fmin, fmax).
#pragma once
#pragma GCC system_header

#define KW_MIN_MAX(type)                                              \
    KW_HOST_DEVICE type min(type a, type b) { return b < a ? b : a; } \
    KW_HOST_DEVICE type max(type a, type b) { return a < b ? b : a; }
KW_MIN_MAX(int)
KW_MIN_MAX(unsigned int)
KW_MIN_MAX(long)
KW_MIN_MAX(unsigned long)
KW_MIN_MAX(long long)
KW_MIN_MAX(unsigned long long)
#undef KW_MIN_MAX

KW_HOST_DEVICE float min(float a, float b) { return __builtin_fminf(a, b); }
KW_HOST_DEVICE float max(float a, float b) { return __builtin_fmaxf(a, b); }
KW_HOST_DEVICE double min(double a, double b) { return __builtin_fmin(a, b); }
KW_HOST_DEVICE double max(double a, double b) { return __builtin_fmax(a, b); }

template <class A, class B, bool = __is_arithmetic(A) && __is_arithmetic(B) && !__is_same(A, B)>
struct __kw_usual_conversion {};
template <class A, class B>
struct __kw_usual_conversion<A, B, true> { typedef decltype(A() + B()) type; };

template <class A, class B> KW_HOST_DEVICE typename __kw_usual_conversion<A, B>::type min(A a, B b) {
    typedef typename __kw_usual_conversion<A, B>::type C;
    return min((C)a, (C)b);
}
template <class A, class B> KW_HOST_DEVICE typename __kw_usual_conversion<A, B>::type max(A a, B b) {
    typedef typename __kw_usual_conversion<A, B>::type C;
    return max((C)a, (C)b);
}

KW_DEVICE unsigned int umin(unsigned int a, unsigned int b) { return min(a, b); }
KW_DEVICE unsigned int umax(unsigned int a, unsigned int b) { return max(a, b); }
KW_DEVICE long long llmin(long long a, long long b) { return min(a, b); }
KW_DEVICE long long llmax(long long a, long long b) { return max(a, b); }
KW_DEVICE unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
KW_DEVICE unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }
