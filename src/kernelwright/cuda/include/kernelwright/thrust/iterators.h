// Iterators that compute what they point to, and which side an algorithm runs on. Part of thrust/iterator/*.h.
#pragma once
#pragma GCC system_header
#include "pointers.h"

namespace thrust {

// ---- what an iterator says of itself ----

template <class Iterator> using iterator_traits = std::iterator_traits<Iterator>;
template <class Iterator> struct iterator_value {
    typedef typename std::iterator_traits<Iterator>::value_type type;
};
template <class Iterator> struct iterator_difference {
    typedef typename std::iterator_traits<Iterator>::difference_type type;
};
template <class Iterator> struct iterator_pointer {
    typedef typename std::iterator_traits<Iterator>::pointer type;
};
template <class Iterator> struct iterator_reference {
    typedef typename std::iterator_traits<Iterator>::reference type;
};
template <class Iterator> using iterator_value_t = typename iterator_value<Iterator>::type;
template <class Iterator> using iterator_difference_t = typename iterator_difference<Iterator>::type;
template <class Iterator> using iterator_pointer_t = typename iterator_pointer<Iterator>::type;
template <class Iterator> using iterator_reference_t = typename iterator_reference<Iterator>::type;

namespace details {

// Random access for an iterator with `at`, `steps` from here on.
template <class Self> struct Steps {
    typedef std::random_access_iterator_tag iterator_category;
    typedef std::ptrdiff_t difference_type;
    KW_BOTH friend Self operator+(Self a, std::ptrdiff_t steps) { return a += steps; }
    KW_BOTH friend Self operator+(std::ptrdiff_t steps, Self a) { return a += steps; }
    KW_BOTH friend Self operator-(Self a, std::ptrdiff_t steps) { return a += -steps; }
    KW_BOTH friend Self &operator-=(Self &a, std::ptrdiff_t steps) { return a += -steps; }
    KW_BOTH friend Self &operator++(Self &a) { return a += 1; }
    KW_BOTH friend Self &operator--(Self &a) { return a += -1; }
    KW_BOTH friend Self operator++(Self &a, int) {
        Self before = a;
        a += 1;
        return before;
    }
    KW_BOTH friend std::ptrdiff_t operator-(const Self &a, const Self &b) { return a.position() - b.position(); }
    KW_BOTH friend bool operator==(const Self &a, const Self &b) { return a.position() == b.position(); }
    KW_BOTH friend bool operator!=(const Self &a, const Self &b) { return a.position() != b.position(); }
    KW_BOTH friend bool operator<(const Self &a, const Self &b) { return a.position() < b.position(); }
};

}  // namespace details

template <class T, class System = void, class Traversal = void, class Difference = void>
class counting_iterator : public details::Steps<counting_iterator<T, System, Traversal, Difference>> {
  public:
    typedef T value_type;
    typedef T reference;
    typedef const T *pointer;
    KW_BOTH counting_iterator() : value() {}
    KW_BOTH explicit counting_iterator(T value) : value(value) {}
    KW_BOTH T operator*() const { return value; }
    KW_BOTH T operator[](std::ptrdiff_t index) const { return T(value + index); }
    KW_BOTH counting_iterator &operator+=(std::ptrdiff_t steps) { return value += steps, *this; }
    KW_BOTH T position() const { return value; }

  private:
    T value;
};
template <class T> KW_BOTH counting_iterator<T> make_counting_iterator(T value) { return counting_iterator<T>(value); }

template <class T> class constant_iterator : public details::Steps<constant_iterator<T>> {
  public:
    typedef T value_type;
    typedef T reference;
    typedef const T *pointer;
    KW_BOTH explicit constant_iterator(T value = T(), std::ptrdiff_t index = 0) : value(value), index(index) {}
    KW_BOTH T operator*() const { return value; }
    KW_BOTH T operator[](std::ptrdiff_t) const { return value; }
    KW_BOTH constant_iterator &operator+=(std::ptrdiff_t steps) { return index += steps, *this; }
    KW_BOTH std::ptrdiff_t position() const { return index; }

  private:
    T value;
    std::ptrdiff_t index;
};
template <class T> KW_BOTH constant_iterator<T> make_constant_iterator(T value) { return constant_iterator<T>(value); }

// `function` of what `base` points to.
template <class Function, class Base, class Reference = void, class Value = void>
class transform_iterator : public details::Steps<transform_iterator<Function, Base, Reference, Value>> {
  public:
    typedef std::decay_t<std::invoke_result_t<Function, typename std::iterator_traits<Base>::value_type>> value_type;
    typedef value_type reference;
    typedef const value_type *pointer;
    transform_iterator() = default;
    KW_BOTH transform_iterator(Base base, Function function) : at(base), function(function) {}
    KW_BOTH value_type operator*() const { return function(*at); }
    KW_BOTH value_type operator[](std::ptrdiff_t index) const { return function(at[index]); }
    KW_BOTH transform_iterator &operator+=(std::ptrdiff_t steps) { return at += steps, *this; }
    KW_BOTH const Base &position() const { return at; }
    KW_BOTH const Base &base() const { return at; }
    KW_BOTH Function functor() const { return function; }

  private:
    Base at;
    mutable Function function; // its call may be no const one
};
template <class Function, class Base>
KW_BOTH transform_iterator<Function, Base> make_transform_iterator(Base base, Function function) {
    return transform_iterator<Function, Base>(base, function);
}

// ---- where an algorithm runs ----

namespace details {

struct OnHost {};
struct OnDevice {
    cudaStream_t stream = nullptr;
    OnDevice on(cudaStream_t other) const { return OnDevice{other}; }
};
template <class T> constexpr bool is_policy = std::is_same_v<T, OnHost> || std::is_same_v<T, OnDevice>;

template <class T> constexpr bool is_of_device = false;
template <class T> constexpr bool is_of_device<device_ptr<T>> = true;
template <class F, class Base, class R, class V>
constexpr bool is_of_device<transform_iterator<F, Base, R, V>> = is_of_device<Base>;

// Without a policy: on the device where an iterator points to its memory.
template <class... T> auto policy_of() {
    return std::conditional_t<(false || ... || is_of_device<T>), OnDevice, OnHost>();
}

// The same iterator on plain pointers, as kernels take it.
template <class Iterator> Iterator plain(Iterator at) { return at; }
template <class T> T *plain(device_ptr<T> at) { return at.get(); }
template <class F, class Base, class R, class V> auto plain(transform_iterator<F, Base, R, V> at) {
    return make_transform_iterator(plain(at.base()), at.functor());
}

template <class Iterator> using ValueOf = std::remove_cv_t<typename std::iterator_traits<Iterator>::value_type>;

}  // namespace details

inline constexpr details::OnHost host{}, seq{};
inline constexpr details::OnDevice device{};
namespace cuda {
inline constexpr details::OnDevice par{}, par_nosync{};
}

}  // namespace thrust
