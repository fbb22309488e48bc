// thrust::tuple: any number of values, on both sides.
#pragma once
#pragma GCC system_header
#include "pair.h"

namespace thrust {
namespace details {

template <std::size_t Index, class T> struct Element {
    T value;
};
template <std::size_t Index, class T> KW_BOTH constexpr T &element(Element<Index, T> &of) { return of.value; }
template <std::size_t Index, class T> KW_BOTH constexpr const T &element(const Element<Index, T> &of) {
    return of.value;
}

template <class Indices, class... T> struct Elements;
template <std::size_t... Index, class... T>
struct Elements<std::index_sequence<Index...>, T...> : Element<Index, T>... {
    KW_BOTH constexpr Elements() : Element<Index, T>{T()}... {}
    template <class... U>
    KW_BOTH constexpr Elements(std::nullptr_t, U &&...values) : Element<Index, T>{T(static_cast<U &&>(values))}... {}
    template <class Other> KW_BOTH constexpr void assign(const Other &other) {
        ((void)(element<Index>(*this) = get<Index>(other)), ...);
    }
    template <class Other> KW_BOTH constexpr bool equals(const Other &other) const {
        return (... && (element<Index>(*this) == element<Index>(other)));
    }
    template <class Other> KW_BOTH constexpr bool is_less(const Other &other) const {
        int order = 0;
        ((order = order ? order
                  : element<Index>(*this) < element<Index>(other) ? -1
                  : element<Index>(other) < element<Index>(*this) ? 1 : 0), ...);
        return order < 0;
    }
};

}  // namespace details

template <class... T> struct tuple : details::Elements<std::index_sequence_for<T...>, T...> {
    typedef details::Elements<std::index_sequence_for<T...>, T...> Base;
    tuple() = default;
    tuple(const tuple &) = default;
    template <class... U, class = std::enable_if_t<sizeof...(U) == sizeof...(T) && (std::is_constructible_v<T, U &&> && ...)>>
    KW_BOTH constexpr tuple(U &&...values) : Base(nullptr, static_cast<U &&>(values)...) {}
    template <class... U, class = std::enable_if_t<sizeof...(U) == sizeof...(T) && !std::is_same_v<tuple, tuple<U...>>>>
    KW_BOTH constexpr tuple(const tuple<U...> &other) : tuple(other, std::index_sequence_for<T...>()) {}
    KW_BOTH constexpr tuple &operator=(const tuple &other) { return Base::assign(other), *this; }
    template <class... U> KW_BOTH constexpr tuple &operator=(const tuple<U...> &other) {
        return Base::assign(other), *this;
    }
    template <class F, class S> KW_BOTH constexpr tuple &operator=(const pair<F, S> &other) {
        return Base::assign(other), *this;
    }

  private:
    template <class Other, std::size_t... Index>
    KW_BOTH constexpr tuple(const Other &other, std::index_sequence<Index...>)
        : Base(nullptr, details::element<Index>(other)...) {}
};

template <class... T> struct tuple_size<tuple<T...>> : std::integral_constant<std::size_t, sizeof...(T)> {};
template <std::size_t Index, class... T>
struct tuple_element<Index, tuple<T...>> : std::tuple_element<Index, std::tuple<T...>> {};

template <std::size_t Index, class... T> KW_BOTH constexpr auto &get(tuple<T...> &of) {
    return details::element<Index>(of);
}
template <std::size_t Index, class... T> KW_BOTH constexpr const auto &get(const tuple<T...> &of) {
    return details::element<Index>(of);
}
template <std::size_t Index, class... T>
KW_BOTH constexpr typename tuple_element<Index, tuple<T...>>::type &&get(tuple<T...> &&of) {
    return static_cast<typename tuple_element<Index, tuple<T...>>::type &&>(details::element<Index>(of));
}
template <class... T> KW_BOTH constexpr tuple<std::decay_t<T>...> make_tuple(T &&...values) {
    return tuple<std::decay_t<T>...>(static_cast<T &&>(values)...);
}
template <class... T> KW_BOTH constexpr tuple<T &...> tie(T &...values) { return tuple<T &...>(values...); }

// Also of references with values, as a zipped iterator gives them.
template <class... T, class... U> KW_BOTH constexpr bool operator==(const tuple<T...> &a, const tuple<U...> &b) {
    return a.equals(b);
}
template <class... T, class... U> KW_BOTH constexpr bool operator!=(const tuple<T...> &a, const tuple<U...> &b) {
    return !a.equals(b);
}
template <class... T, class... U> KW_BOTH constexpr bool operator<(const tuple<T...> &a, const tuple<U...> &b) {
    return a.is_less(b);
}
template <class... T, class... U> KW_BOTH constexpr bool operator>(const tuple<T...> &a, const tuple<U...> &b) {
    return b.is_less(a);
}

}  // namespace thrust

// For structured bindings.
template <class... T> struct std::tuple_size<thrust::tuple<T...>> : thrust::tuple_size<thrust::tuple<T...>> {};
template <std::size_t Index, class... T>
struct std::tuple_element<Index, thrust::tuple<T...>> : thrust::tuple_element<Index, thrust::tuple<T...>> {};
