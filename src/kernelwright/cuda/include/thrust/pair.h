// thrust::pair: two values, on both sides.
#pragma once
#pragma GCC system_header
#if __cplusplus < 201703L
#error "our thrust needs C++17: leave out -std, or give -std=c++17"
#endif
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#define KW_BOTH __host__ __device__ __attribute__((always_inline))

namespace thrust {

template <class First, class Second> struct pair {
    typedef First first_type;
    typedef Second second_type;
    First first;
    Second second;
    KW_BOTH constexpr pair() : first(), second() {}
    KW_BOTH constexpr pair(const First &first, const Second &second) : first(first), second(second) {}
    template <class F, class S>
    KW_BOTH constexpr pair(const pair<F, S> &other) : first(other.first), second(other.second) {}
    template <class F, class S>
    KW_BOTH constexpr pair(const std::pair<F, S> &other) : first(other.first), second(other.second) {}
};

template <class First, class Second>
KW_BOTH constexpr pair<std::decay_t<First>, std::decay_t<Second>> make_pair(First &&first, Second &&second) {
    return {static_cast<First &&>(first), static_cast<Second &&>(second)};
}

template <class F, class S> KW_BOTH constexpr bool operator==(const pair<F, S> &a, const pair<F, S> &b) {
    return a.first == b.first && a.second == b.second;
}
template <class F, class S> KW_BOTH constexpr bool operator<(const pair<F, S> &a, const pair<F, S> &b) {
    return a.first < b.first || (!(b.first < a.first) && a.second < b.second);
}
template <class F, class S> KW_BOTH constexpr bool operator!=(const pair<F, S> &a, const pair<F, S> &b) {
    return !(a == b);
}
template <class F, class S> KW_BOTH constexpr bool operator>(const pair<F, S> &a, const pair<F, S> &b) { return b < a; }
template <class F, class S> KW_BOTH constexpr bool operator<=(const pair<F, S> &a, const pair<F, S> &b) {
    return !(b < a);
}
template <class F, class S> KW_BOTH constexpr bool operator>=(const pair<F, S> &a, const pair<F, S> &b) {
    return !(a < b);
}
template <class F, class S> KW_BOTH void swap(pair<F, S> &a, pair<F, S> &b) {
    pair<F, S> kept = a;
    a = b;
    b = kept;
}

template <std::size_t Index, class F, class S> KW_BOTH constexpr auto &get(pair<F, S> &of) {
    if constexpr (Index == 0) return of.first;
    else return of.second;
}
template <std::size_t Index, class F, class S> KW_BOTH constexpr const auto &get(const pair<F, S> &of) {
    if constexpr (Index == 0) return of.first;
    else return of.second;
}

template <class T> struct tuple_size;
template <std::size_t Index, class T> struct tuple_element;
template <class F, class S> struct tuple_size<pair<F, S>> : std::integral_constant<std::size_t, 2> {};
template <std::size_t Index, class F, class S>
struct tuple_element<Index, pair<F, S>> : std::tuple_element<Index, std::pair<F, S>> {};
template <std::size_t Index, class F, class S>
KW_BOTH constexpr typename tuple_element<Index, pair<F, S>>::type &&get(pair<F, S> &&of) {
    return static_cast<typename tuple_element<Index, pair<F, S>>::type &&>(get<Index>(of));
}

}  // namespace thrust

// For structured bindings.
template <class F, class S> struct std::tuple_size<thrust::pair<F, S>> : thrust::tuple_size<thrust::pair<F, S>> {};
template <std::size_t Index, class F, class S>
struct std::tuple_element<Index, thrust::pair<F, S>> : thrust::tuple_element<Index, thrust::pair<F, S>> {};
