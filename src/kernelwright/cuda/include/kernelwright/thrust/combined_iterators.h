// Iterators made of others: several side by side, and the elements of one in the order that another gives. Part of thrust/iterator/*.h.
#pragma once
#pragma GCC system_header
#include "iterators.h"

namespace thrust {

template <class Tuple> class zip_iterator;

// What is pointed to is a tuple of references: assigned to, it assigns to what those refer to.
template <class... Iterator>
class zip_iterator<tuple<Iterator...>> : public details::Steps<zip_iterator<tuple<Iterator...>>> {
  public:
    typedef tuple<details::ValueOf<Iterator>...> value_type;
    typedef tuple<decltype(std::declval<const Iterator &>()[0])...> reference;
    typedef const value_type *pointer;
    zip_iterator() = default;
    KW_BOTH zip_iterator(const tuple<Iterator...> &iterators) : iterators(iterators) {}
    KW_BOTH reference operator*() const { return at(0, std::index_sequence_for<Iterator...>()); }
    KW_BOTH reference operator[](std::ptrdiff_t index) const {
        return at(index, std::index_sequence_for<Iterator...>());
    }
    KW_BOTH zip_iterator &operator+=(std::ptrdiff_t steps) {
        return advance(steps, std::index_sequence_for<Iterator...>()), *this;
    }
    KW_BOTH const auto &position() const { return get<0>(iterators); }
    KW_BOTH const tuple<Iterator...> &get_iterator_tuple() const { return iterators; }

  private:
    tuple<Iterator...> iterators;
    template <std::size_t... Index> KW_BOTH reference at(std::ptrdiff_t index, std::index_sequence<Index...>) const {
        return reference(get<Index>(iterators)[index]...);
    }
    template <std::size_t... Index> KW_BOTH void advance(std::ptrdiff_t steps, std::index_sequence<Index...>) {
        ((void)(get<Index>(iterators) += steps), ...);
    }
};
template <class... Iterator> KW_BOTH zip_iterator<tuple<Iterator...>> make_zip_iterator(const tuple<Iterator...> &of) {
    return zip_iterator<tuple<Iterator...>>(of);
}
template <class... Iterator> KW_BOTH zip_iterator<tuple<Iterator...>> make_zip_iterator(Iterator... each) {
    return zip_iterator<tuple<Iterator...>>(tuple<Iterator...>(each...));
}

// The elements of `elements` in the order that `order` says.
template <class Elements, class Order>
class permutation_iterator : public details::Steps<permutation_iterator<Elements, Order>> {
  public:
    typedef details::ValueOf<Elements> value_type;
    typedef decltype(std::declval<const Elements &>()[0]) reference;
    typedef const value_type *pointer;
    permutation_iterator() = default;
    KW_BOTH permutation_iterator(Elements elements, Order order) : elements(elements), order(order) {}
    KW_BOTH reference operator*() const { return elements[*order]; }
    KW_BOTH reference operator[](std::ptrdiff_t index) const { return elements[order[index]]; }
    KW_BOTH permutation_iterator &operator+=(std::ptrdiff_t steps) { return order += steps, *this; }
    KW_BOTH const Order &position() const { return order; }
    KW_BOTH const Elements &base() const { return elements; }

  private:
    Elements elements;
    Order order;
};
template <class Elements, class Order>
KW_BOTH permutation_iterator<Elements, Order> make_permutation_iterator(Elements elements, Order order) {
    return permutation_iterator<Elements, Order>(elements, order);
}

// A function of several arguments, called with a tuple of them.
template <class Function> struct zip_function {
    mutable Function function;
    KW_BOTH explicit zip_function(Function function) : function(function) {}
    template <class... T> KW_BOTH decltype(auto) operator()(const tuple<T...> &values) const {
        return apart(values, std::index_sequence_for<T...>());
    }

  private:
    template <class Tuple, std::size_t... Index>
    KW_BOTH decltype(auto) apart(const Tuple &values, std::index_sequence<Index...>) const {
        return function(get<Index>(values)...);
    }
};
template <class Function> KW_BOTH zip_function<Function> make_zip_function(Function f) { return zip_function<Function>(f); }

namespace details {

template <class... Iterator>
constexpr bool is_of_device<zip_iterator<tuple<Iterator...>>> = (false || ... || is_of_device<Iterator>);
template <class Elements, class Order>
constexpr bool is_of_device<permutation_iterator<Elements, Order>> = is_of_device<Elements> || is_of_device<Order>;

template <class... Iterator, std::size_t... Index>
auto plain_of(const tuple<Iterator...> &of, std::index_sequence<Index...>) {
    return make_zip_iterator(plain(get<Index>(of))...);
}
template <class... Iterator> auto plain(const zip_iterator<tuple<Iterator...>> &at) {
    return plain_of(at.get_iterator_tuple(), std::index_sequence_for<Iterator...>());
}
template <class Elements, class Order> auto plain(const permutation_iterator<Elements, Order> &at) {
    return make_permutation_iterator(plain(at.base()), plain(at.position()));
}

}  // namespace details
}  // namespace thrust
