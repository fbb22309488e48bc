// thrust::device_vector and host_vector, and copies between both sides. Part of thrust/device_vector.h.
#pragma once
#pragma GCC system_header
#include "execution.h"
#include <initializer_list>
#include <iostream> // programs rely on that NVIDIA's include it

namespace thrust {

template <class T, class Allocator = void> class device_vector;

// A vector of the C++ library that copies to and from device_vector.
template <class T, class Allocator = std::allocator<T>> class host_vector : public std::vector<T, Allocator> {
    typedef std::vector<T, Allocator> Base;

  public:
    using Base::Base;
    host_vector() = default;
    host_vector(const Base &other) : Base(other) {}
    template <class U, class A> host_vector(const device_vector<U, A> &other) { *this = other; }
    template <class Iterator> host_vector(device_ptr<Iterator> first, device_ptr<Iterator> last);
    template <class U, class A> host_vector &operator=(const device_vector<U, A> &other);
    host_vector &operator=(const Base &other) { return Base::operator=(other), *this; }
};

namespace details {

template <class Iterator, class T = ValueOf<Iterator>>
constexpr bool is_contiguous =
    std::is_pointer_v<Iterator> || (!std::is_same_v<T, bool> && (std::is_same_v<Iterator, typename std::vector<T>::iterator> ||
                                                                 std::is_same_v<Iterator, typename std::vector<T>::const_iterator>));

inline void transfer(const OnDevice &on, void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind) {
    if (!bytes) return;
    check(cudaMemcpyAsync(to, from, bytes, kind, on.stream));
    check(cudaStreamSynchronize(on.stream));
}

// Elements from any side to any side; each of `from` and `to` is of the device or of the host.
template <class From, class To> To copy_elements(const OnDevice &on, From from, Count count, To to) {
    typedef ValueOf<From> Value;
    constexpr bool from_device = is_of_device<From>, to_device = is_of_device<To>;
    if (count <= 0) return to;
    if constexpr (from_device && to_device) {
        auto in = plain(from);
        auto out = plain(to);
        loop(on, count, [=] __device__(Count i) mutable { out[i] = in[i]; });
    } else if constexpr (to_device) {
        typedef ValueOf<To> Target;
        if constexpr (is_contiguous<From> && std::is_same_v<Value, Target> && std::is_trivially_copyable_v<Value>)
            transfer(on, (void *)plain(to), &*from, count * sizeof(Value), cudaMemcpyHostToDevice);
        else {
            host_vector<Target> kept(from, from + count);
            transfer(on, (void *)plain(to), kept.data(), count * sizeof(Target), cudaMemcpyHostToDevice);
        }
    } else if constexpr (from_device) {
        Scratch<Value> room(std::is_same_v<From, device_ptr<Value>> || std::is_same_v<From, device_ptr<const Value>> ? 0 : count);
        const Value *memory;
        if constexpr (std::is_same_v<From, device_ptr<Value>> || std::is_same_v<From, device_ptr<const Value>>)
            memory = plain(from);
        else {
            auto in = plain(from);
            Value *out = room.get();
            loop(on, count, [=] __device__(Count i) mutable { out[i] = in[i]; });
            memory = out;
        }
        std::vector<unsigned char> bytes(count * sizeof(Value));
        transfer(on, bytes.data(), (const void *)memory, bytes.size(), cudaMemcpyDeviceToHost);
        const Value *values = reinterpret_cast<const Value *>(bytes.data());
        for (Count i = 0; i < count; i++) to[i] = values[i];
    } else
        for (Count i = 0; i < count; i++) to[i] = from[i];
    return to + count;
}

}  // namespace details

// Elements are copied as bytes and are never destroyed: they are trivially copyable.
template <class T, class Allocator> class device_vector {
  public:
    typedef T value_type;
    typedef device_ptr<T> iterator;
    typedef device_ptr<const T> const_iterator;
    typedef device_ptr<T> pointer;
    typedef device_reference<T> reference;
    typedef device_reference<const T> const_reference;
    typedef std::size_t size_type;
    typedef std::ptrdiff_t difference_type;

    device_vector() = default;
    explicit device_vector(size_type count) { resize(count); }
    device_vector(size_type count, const T &value) { resize(count, value); }
    template <class Iterator, class = std::enable_if_t<!std::is_integral_v<Iterator>>>
    device_vector(Iterator first, Iterator last) { assign(first, last); }
    device_vector(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
    device_vector(const device_vector &other) { assign(other.begin(), other.end()); }
    device_vector(device_vector &&other) noexcept { swap(other); }
    template <class U, class A> device_vector(const device_vector<U, A> &other) { assign(other.begin(), other.end()); }
    template <class U, class A> device_vector(const std::vector<U, A> &other) { assign(other.begin(), other.end()); }
    ~device_vector() { cudaFree((void *)memory); }
    device_vector &operator=(const device_vector &other) {
        if (this != &other) assign(other.begin(), other.end());
        return *this;
    }
    device_vector &operator=(device_vector &&other) noexcept { return swap(other), *this; }
    template <class U, class A> device_vector &operator=(const std::vector<U, A> &other) {
        return assign(other.begin(), other.end()), *this;
    }

    iterator begin() { return iterator(memory); }
    iterator end() { return iterator(memory + count); }
    const_iterator begin() const { return const_iterator(memory); }
    const_iterator end() const { return const_iterator(memory + count); }
    const_iterator cbegin() const { return begin(); }
    const_iterator cend() const { return end(); }
    pointer data() { return begin(); }
    const_iterator data() const { return begin(); }
    reference operator[](size_type index) { return reference(memory + index); }
    const_reference operator[](size_type index) const { return const_reference(memory + index); }
    reference front() { return (*this)[0]; }
    reference back() { return (*this)[count - 1]; }
    const_reference front() const { return (*this)[0]; }
    const_reference back() const { return (*this)[count - 1]; }
    size_type size() const { return count; }
    size_type capacity() const { return room; }
    bool empty() const { return !count; }

    void reserve(size_type wanted) {
        if (wanted <= room) return;
        T *larger = nullptr;
        details::check(cudaMalloc((void **)&larger, wanted * sizeof(T)));
        details::transfer({}, (void *)larger, (const void *)memory, count * sizeof(T), cudaMemcpyDeviceToDevice);
        cudaFree((void *)memory);
        memory = larger;
        room = wanted;
    }
    void resize(size_type wanted) { resize(wanted, T()); }
    void resize(size_type wanted, const T &value) {
        reserve(wanted);
        T *from = memory + count, with = value;
        details::loop(details::OnDevice{}, (details::Count)wanted - (details::Count)count,
                      [=] __device__(details::Count i) { from[i] = with; });
        count = wanted;
    }
    template <class Iterator, class = std::enable_if_t<!std::is_integral_v<Iterator>>>
    void assign(Iterator first, Iterator last) {
        clear();
        reserve(last - first);
        count = last - first;
        details::copy_elements({}, first, (details::Count)count, begin());
    }
    void assign(size_type wanted, const T &value) {
        clear();
        resize(wanted, value);
    }
    void push_back(const T &value) {
        if (count == room) reserve(room ? 2 * room : 16);
        count++;
        back() = value;
    }
    void pop_back() { count--; }
    void clear() { count = 0; }
    void shrink_to_fit() {}
    iterator erase(iterator first, iterator last) {
        size_type behind = end() - last, to = first - begin();
        device_vector kept(last, end());
        count = to + behind;
        details::copy_elements({}, kept.begin(), (details::Count)behind, begin() + to);
        return first;
    }
    iterator erase(iterator at) { return erase(at, at + 1); }
    void swap(device_vector &other) {
        std::swap(memory, other.memory);
        std::swap(count, other.count);
        std::swap(room, other.room);
    }

  private:
    static_assert(std::is_trivially_copyable_v<T>, "elements of a device_vector are copied as bytes");
    T *memory = nullptr;
    size_type count = 0, room = 0;
};

template <class T, class A> template <class U, class B>
host_vector<T, A> &host_vector<T, A>::operator=(const device_vector<U, B> &other) {
    this->resize(other.size());
    details::copy_elements({}, other.begin(), (details::Count)other.size(), this->begin());
    return *this;
}
template <class T, class A> template <class U>
host_vector<T, A>::host_vector(device_ptr<U> first, device_ptr<U> last) : Base(last - first) {
    details::copy_elements({}, first, last - first, this->begin());
}

}  // namespace thrust
