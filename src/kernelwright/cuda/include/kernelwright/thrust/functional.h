// Function objects of thrust, on both sides. Part of thrust/functional.h.
#pragma once
#pragma GCC system_header
#include "../../thrust/tuple.h"

namespace thrust {

template <class Argument, class Result> struct unary_function {
    typedef Argument argument_type;
    typedef Result result_type;
};
template <class First, class Second, class Result> struct binary_function {
    typedef First first_argument_type;
    typedef Second second_argument_type;
    typedef Result result_type;
};

// As in the C++ library: of one type, or of any where that is void.
#define KW_BINARY(name, result)                                                                            \
    template <class T = void> struct name {                                                                \
        KW_BOTH constexpr auto operator()(const T &a, const T &b) const { return result; }                 \
    };                                                                                                     \
    template <> struct name<void> {                                                                        \
        template <class T, class U> KW_BOTH constexpr auto operator()(const T &a, const U &b) const { return result; } \
    };
#define KW_ARITHMETIC(name, result)                                                                        \
    template <class T = void> struct name {                                                                \
        typedef T first_argument_type;                                                                     \
        typedef T second_argument_type;                                                                    \
        typedef T result_type;                                                                             \
        KW_BOTH constexpr T operator()(const T &a, const T &b) const { return result; }                    \
    };                                                                                                     \
    template <> struct name<void> {                                                                        \
        template <class T, class U> KW_BOTH constexpr auto operator()(const T &a, const U &b) const { return result; } \
    };
#define KW_UNARY(name, type, result)                                                                       \
    template <class T = void> struct name {                                                                \
        typedef T argument_type;                                                                           \
        typedef type result_type;                                                                          \
        KW_BOTH constexpr type operator()(const T &a) const { return result; }                             \
    };
KW_ARITHMETIC(plus, a + b)
KW_ARITHMETIC(minus, a - b)
KW_ARITHMETIC(multiplies, a * b)
KW_ARITHMETIC(divides, a / b)
KW_ARITHMETIC(modulus, a % b)
KW_ARITHMETIC(bit_and, a & b)
KW_ARITHMETIC(bit_or, a | b)
KW_ARITHMETIC(bit_xor, a ^ b)
KW_ARITHMETIC(maximum, a < b ? b : a)
KW_ARITHMETIC(minimum, b < a ? b : a)
KW_BINARY(equal_to, a == b)
KW_BINARY(not_equal_to, a != b)
KW_BINARY(less, a < b)
KW_BINARY(less_equal, a <= b)
KW_BINARY(greater, a > b)
KW_BINARY(greater_equal, a >= b)
KW_BINARY(logical_and, a && b)
KW_BINARY(logical_or, a || b)
KW_UNARY(negate, T, -a)
KW_UNARY(square, T, a * a)
KW_UNARY(logical_not, bool, !a)
KW_UNARY(identity, T, a)
#undef KW_BINARY
#undef KW_ARITHMETIC
#undef KW_UNARY

}  // namespace thrust
