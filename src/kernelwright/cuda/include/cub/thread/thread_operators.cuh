// What reductions and scans combine with.
#pragma once
#pragma GCC system_header
#include "../util_type.cuh"

namespace cub {

#define KW_OPERATOR(name, result)                                                                        \
    struct name {                                                                                        \
        template <class T, class U>                                                                      \
        __host__ __device__ __attribute__((always_inline, nodebug)) auto operator()(const T &a, const U &b) const \
            -> __remove_cvref(decltype(result)) {                                                        \
            return result;                                                                               \
        }                                                                                                \
    };
KW_OPERATOR(Equality, a == b)
KW_OPERATOR(Inequality, a != b)
KW_OPERATOR(Sum, a + b)
KW_OPERATOR(Difference, a - b)
KW_OPERATOR(Division, a / b)
KW_OPERATOR(Max, a < b ? b : a)
KW_OPERATOR(Min, b < a ? b : a)
// Of two pairs that with the greater (smaller) value; of equal values, that with the smaller key.
KW_OPERATOR(ArgMax, b.value > a.value || (b.value == a.value && b.key < a.key) ? b : a)
KW_OPERATOR(ArgMin, b.value < a.value || (b.value == a.value && b.key < a.key) ? b : a)
#undef KW_OPERATOR

}  // namespace cub
