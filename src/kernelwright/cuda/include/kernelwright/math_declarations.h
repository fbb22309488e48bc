// Device overloads of the math functions, declared before <cmath>.
//
// The C++ library's float and integer overloads are constexpr, and clang lets device code call a constexpr host
// function unless a device overload of the same signature came first. What they would call (sinf, ...) does not exist
// on the device. So ours come first, in both namespaces; the C++ library then adds its own for the host.
#pragma once
#pragma GCC system_header
#include "kernelwright/qualifiers.h"

#define KW_DECLARE_1(name)         \
    KW_DEVICE double name(double); \
    KW_DEVICE float name(float);   \
    KW_DEVICE float name##f(float);
#define KW_DECLARE_2(name)                 \
    KW_DEVICE double name(double, double); \
    KW_DEVICE float name(float, float);    \
    KW_DEVICE float name##f(float, float);

#define KW_STANDARD_1 KW_DECLARE_1
#define KW_INSTRUCTION_1 KW_DECLARE_1
#define KW_CUDA_1 KW_DECLARE_1
#define KW_STANDARD_2 KW_DECLARE_2
#define KW_INSTRUCTION_2 KW_DECLARE_2
#include "kernelwright/math_table.h"
#undef KW_STANDARD_1
#undef KW_INSTRUCTION_1
#undef KW_CUDA_1
#undef KW_STANDARD_2
#undef KW_INSTRUCTION_2
#undef KW_DECLARE_1
#undef KW_DECLARE_2

// Functions whose operands are not all of one type: f(T, ...) for T double and float, and the C name of the float form.
#define KW_DECLARE_BOTH(result, result_f, name, operands, operands_f) \
    KW_DEVICE result name operands;                                   \
    KW_DEVICE result_f name operands_f;                               \
    KW_DEVICE result_f name##f operands_f;
KW_DECLARE_BOTH(double, float, fma, (double, double, double), (float, float, float))
KW_DECLARE_BOTH(double, float, frexp, (double, int *), (float, int *))
KW_DECLARE_BOTH(double, float, ldexp, (double, int), (float, int))
KW_DECLARE_BOTH(double, float, scalbn, (double, int), (float, int))
KW_DECLARE_BOTH(double, float, scalbln, (double, long), (float, long))
KW_DECLARE_BOTH(double, float, remquo, (double, double, int *), (float, float, int *))
KW_DECLARE_BOTH(int, int, ilogb, (double), (float))
KW_DECLARE_BOTH(long, long, lrint, (double), (float))
KW_DECLARE_BOTH(long, long, lround, (double), (float))
KW_DECLARE_BOTH(long long, long long, llrint, (double), (float))
KW_DECLARE_BOTH(long long, long long, llround, (double), (float))
#undef KW_DECLARE_BOTH
KW_DEVICE double modf(double, double *);
KW_DEVICE float modf(float, float *);
KW_DEVICE float modff(float, float *);
KW_DEVICE double nan(const char *);
KW_DEVICE float nanf(const char *);

KW_DEVICE int abs(int);
KW_DEVICE long abs(long);
KW_DEVICE long long abs(long long);
KW_DEVICE float abs(float);
KW_DEVICE double abs(double);
KW_DEVICE long labs(long);
KW_DEVICE long long llabs(long long);

#define KW_DECLARE_TEST_1(name) KW_DEVICE bool name(double); KW_DEVICE bool name(float);
KW_DECLARE_TEST_1(isfinite)
KW_DECLARE_TEST_1(isinf)
KW_DECLARE_TEST_1(isnan)
KW_DECLARE_TEST_1(isnormal)
KW_DECLARE_TEST_1(signbit)
#undef KW_DECLARE_TEST_1
#define KW_DECLARE_TEST_2(name) KW_DEVICE bool name(double, double); KW_DEVICE bool name(float, float);
KW_DECLARE_TEST_2(isgreater)
KW_DECLARE_TEST_2(isgreaterequal)
KW_DECLARE_TEST_2(isless)
KW_DECLARE_TEST_2(islessequal)
KW_DECLARE_TEST_2(islessgreater)
KW_DECLARE_TEST_2(isunordered)
#undef KW_DECLARE_TEST_2
KW_DEVICE int fpclassify(double);
KW_DEVICE int fpclassify(float);

// C++'s promotion: an integer operand counts as double; only float with float stays float.
template <bool, class T> struct __kw_if {};
template <class T> struct __kw_if<true, T> { typedef T type; };
template <bool, class T, class> struct __kw_choose { typedef T type; };
template <class T, class F> struct __kw_choose<false, T, F> { typedef F type; };
template <class T> struct __kw_integer_to_double : __kw_if<__is_integral(T), double> {};
template <class T, class U>
struct __kw_promote2
    : __kw_if<__is_arithmetic(T) && __is_arithmetic(U),
              typename __kw_choose<__is_same(T, float) && __is_same(U, float), float, double>::type> {};

#define KW_PROMOTE_1(name) \
    template <class T> KW_DEVICE typename __kw_integer_to_double<T>::type name(T x) { return ::name((double)x); }
#define KW_PROMOTE_2(name)                                                                    \
    template <class T, class U> KW_DEVICE typename __kw_promote2<T, U>::type name(T x, U y) { \
        typedef typename __kw_promote2<T, U>::type P;                                         \
        return ::name((P)x, (P)y);                                                            \
    }
#define KW_STANDARD_1 KW_PROMOTE_1
#define KW_INSTRUCTION_1 KW_PROMOTE_1
#define KW_STANDARD_2 KW_PROMOTE_2
#define KW_INSTRUCTION_2 KW_PROMOTE_2
#include "kernelwright/math_table.h"
#undef KW_STANDARD_1
#undef KW_INSTRUCTION_1
#undef KW_STANDARD_2
#undef KW_INSTRUCTION_2
#undef KW_PROMOTE_1
#undef KW_PROMOTE_2

namespace std {
#define KW_USING(name) using ::name; using ::name##f;
#define KW_STANDARD_1 KW_USING
#define KW_INSTRUCTION_1 KW_USING
#define KW_STANDARD_2 KW_USING
#define KW_INSTRUCTION_2 KW_USING
#include "kernelwright/math_table.h"
KW_USING(fma)
KW_USING(frexp)
KW_USING(ldexp)
KW_USING(scalbn)
KW_USING(scalbln)
KW_USING(remquo)
KW_USING(ilogb)
KW_USING(lrint)
KW_USING(lround)
KW_USING(llrint)
KW_USING(llround)
KW_USING(modf)
KW_USING(nan)
#undef KW_STANDARD_1
#undef KW_INSTRUCTION_1
#undef KW_STANDARD_2
#undef KW_INSTRUCTION_2
#undef KW_USING
using ::abs;
using ::fpclassify;
using ::isfinite;
using ::isgreater;
using ::isgreaterequal;
using ::isinf;
using ::isless;
using ::islessequal;
using ::islessgreater;
using ::isnan;
using ::isnormal;
using ::isunordered;
using ::labs;
using ::llabs;
using ::signbit;
}  // namespace std
