// Pointers to device memory and references through them, which the host reads and writes by copies. Part of thrust/device_ptr.h.
#pragma once
#pragma GCC system_header
#include "functional.h"
#include <iosfwd>
#include <iterator>
#include <stdexcept>
#include <string>

namespace thrust {

struct system_error : std::runtime_error {
    explicit system_error(cudaError_t error) : std::runtime_error(cudaGetErrorString(error)), number(error) {}
    cudaError_t code() const { return number; }

  private:
    cudaError_t number;
};

namespace details {

inline void check(cudaError_t error) {
    if (error) {
        cudaGetLastError();
        throw system_error(error);
    }
}

}  // namespace details

template <class T> class device_reference;

template <class T> class device_ptr {
  public:
    typedef std::random_access_iterator_tag iterator_category;
    typedef std::remove_cv_t<T> value_type;
    typedef std::ptrdiff_t difference_type;
    typedef device_ptr pointer;
    typedef device_reference<T> reference;

    KW_BOTH device_ptr() : raw(nullptr) {}
    KW_BOTH device_ptr(std::nullptr_t) : raw(nullptr) {}
    KW_BOTH explicit device_ptr(T *raw) : raw(raw) {}
    template <class U, class = std::enable_if_t<std::is_convertible_v<U *, T *>>>
    KW_BOTH device_ptr(const device_ptr<U> &other) : raw(other.get()) {}
    KW_BOTH T *get() const { return raw; }
    KW_BOTH reference operator*() const;
    KW_BOTH reference operator[](std::ptrdiff_t index) const;
    KW_BOTH T *operator->() const { return raw; }
    KW_BOTH explicit operator bool() const { return raw; }
    KW_BOTH device_ptr &operator++() { return ++raw, *this; }
    KW_BOTH device_ptr &operator--() { return --raw, *this; }
    KW_BOTH device_ptr operator++(int) { return device_ptr(raw++); }
    KW_BOTH device_ptr operator--(int) { return device_ptr(raw--); }
    KW_BOTH device_ptr &operator+=(std::ptrdiff_t steps) { return raw += steps, *this; }
    KW_BOTH device_ptr &operator-=(std::ptrdiff_t steps) { return raw -= steps, *this; }
    KW_BOTH friend device_ptr operator+(device_ptr a, std::ptrdiff_t steps) { return device_ptr(a.raw + steps); }
    KW_BOTH friend device_ptr operator+(std::ptrdiff_t steps, device_ptr a) { return device_ptr(a.raw + steps); }
    KW_BOTH friend device_ptr operator-(device_ptr a, std::ptrdiff_t steps) { return device_ptr(a.raw - steps); }

  private:
    T *raw;
};

template <class T, class U> KW_BOTH std::ptrdiff_t operator-(const device_ptr<T> &a, const device_ptr<U> &b) {
    return a.get() - b.get();
}
#define KW_COMPARE(sign)                                                                             \
    template <class T, class U> KW_BOTH bool operator sign(const device_ptr<T> &a, const device_ptr<U> &b) { \
        return a.get() sign b.get();                                                                 \
    }
KW_COMPARE(==)
KW_COMPARE(!=)
KW_COMPARE(<)
KW_COMPARE(<=)
KW_COMPARE(>)
KW_COMPARE(>=)
#undef KW_COMPARE

// A value of device memory. On the host each use is a copy.
template <class T> class device_reference {
  public:
    typedef std::remove_cv_t<T> value_type;
    KW_BOTH explicit device_reference(T *raw) : raw(raw) {}
    KW_BOTH device_reference(const device_reference &) = default;
    KW_BOTH device_ptr<T> operator&() const { return device_ptr<T>(raw); }
    KW_BOTH operator value_type() const {
#ifdef __CUDA_ARCH__
        return *raw;
#else
        value_type value;
        details::check(cudaMemcpy((void *)&value, (const void *)raw, sizeof value, cudaMemcpyDeviceToHost));
        return value;
#endif
    }
    KW_BOTH const device_reference &operator=(const value_type &value) const {
#ifdef __CUDA_ARCH__
        *raw = value;
#else
        details::check(cudaMemcpy((void *)raw, (const void *)&value, sizeof value, cudaMemcpyHostToDevice));
#endif
        return *this;
    }
    KW_BOTH const device_reference &operator=(const device_reference &other) const { return *this = value_type(other); }
#define KW_ASSIGN(sign) \
    template <class U> KW_BOTH const device_reference &operator sign##=(const U &value) const { return *this = value_type(*this) sign value; }
    KW_ASSIGN(+)
    KW_ASSIGN(-)
    KW_ASSIGN(*)
    KW_ASSIGN(/)
#undef KW_ASSIGN
    KW_BOTH const device_reference &operator++() const { return *this += 1; }
    KW_BOTH const device_reference &operator--() const { return *this -= 1; }

  private:
    T *raw;
};

// Which of the stream's own operators is meant, a conversion alone does not say.
template <class T, class C, class Traits>
std::basic_ostream<C, Traits> &operator<<(std::basic_ostream<C, Traits> &stream, const device_reference<T> &reference) {
    return stream << typename device_reference<T>::value_type(reference);
}

template <class T> KW_BOTH device_reference<T> device_ptr<T>::operator*() const { return device_reference<T>(raw); }
template <class T> KW_BOTH device_reference<T> device_ptr<T>::operator[](std::ptrdiff_t index) const {
    return device_reference<T>(raw + index);
}

template <class T> KW_BOTH T *raw_pointer_cast(T *pointer) { return pointer; }
template <class T> KW_BOTH T *raw_pointer_cast(const device_ptr<T> &pointer) { return pointer.get(); }
template <class T> KW_BOTH device_ptr<T> device_pointer_cast(T *pointer) { return device_ptr<T>(pointer); }
template <class T> KW_BOTH device_ptr<T> device_pointer_cast(const device_ptr<T> &pointer) { return pointer; }

template <class T> device_ptr<T> device_malloc(std::size_t count) {
    T *raw = nullptr;
    details::check(cudaMalloc((void **)&raw, count * sizeof(T)));
    return device_ptr<T>(raw);
}
template <class T> void device_free(device_ptr<T> pointer) { details::check(cudaFree((void *)pointer.get())); }

template <class Iterator> KW_BOTH auto distance(Iterator first, Iterator last) { return last - first; }
template <class Iterator, class Distance> KW_BOTH void advance(Iterator &at, Distance steps) { at += steps; }
template <class Iterator> KW_BOTH Iterator next(Iterator at, std::ptrdiff_t steps = 1) { return at + steps; }
template <class Iterator> KW_BOTH Iterator prev(Iterator at, std::ptrdiff_t steps = 1) { return at - steps; }

}  // namespace thrust
