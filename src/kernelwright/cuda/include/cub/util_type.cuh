// What the parts of cub share: pairs, the empty type, storage, and a thread's place.
#pragma once
#pragma GCC system_header
#include "../kernelwright/group_shuffle.h"
#define KW_METHOD __device__ __attribute__((always_inline, nodebug))

namespace cub {

struct NullType {};

template <class Key_, class Value_> struct KeyValuePair {
    typedef Key_ Key;
    typedef Value_ Value;
    Key key;
    Value value;
    KeyValuePair() = default;
    __host__ __device__ KeyValuePair(const Key &key, const Value &value) : key(key), value(value) {}
    __host__ __device__ bool operator==(const KeyValuePair &b) const { return key == b.key && value == b.value; }
    __host__ __device__ bool operator!=(const KeyValuePair &b) const { return !(*this == b); }
};

namespace details {

template <int Bytes> struct Bits;
template <> struct Bits<1> { typedef unsigned char Unsigned; };
template <> struct Bits<2> { typedef unsigned short Unsigned; };
template <> struct Bits<4> { typedef unsigned int Unsigned; };
template <> struct Bits<8> { typedef unsigned long long Unsigned; };

// Memory without a constructor, as shared variables and members of unions must be.
template <class T, int Count> struct Storage {
    alignas(T) unsigned char bytes[sizeof(T) * Count];
    KW_METHOD T &operator[](int index) { return reinterpret_cast<T *>(bytes)[index]; }
};

// A thread in its block. The extents are those of the template, as in cub: one that is 1 does not count.
template <int DimX, int DimY, int DimZ> KW_METHOD int thread_in_block() {
    return (DimZ == 1 ? 0 : (int)threadIdx.z * DimX * DimY) + (DimY == 1 ? 0 : (int)threadIdx.y * DimX) + (int)threadIdx.x;
}

// The lanes of this thread's logical warp.
template <int Lanes> KW_METHOD unsigned int warp_mask() {
    return (~0u >> (32 - Lanes)) << (__nvvm_read_ptx_sreg_laneid() & ~(Lanes - 1u));
}

}  // namespace details

// The bits of a number so that they have its order as unsigned ones, and back. What is no integer is a number with a sign bit.
template <class T> struct Traits {
    typedef typename details::Bits<sizeof(T)>::Unsigned UnsignedBits;
    static constexpr UnsignedBits highest_bit = UnsignedBits(1) << (8 * sizeof(T) - 1);
    static __host__ __device__ UnsignedBits TwiddleIn(UnsignedBits bits) {
        return bits ^ (is_float ? bits & highest_bit ? UnsignedBits(~UnsignedBits(0)) : highest_bit : is_signed ? highest_bit : UnsignedBits(0));
    }
    static __host__ __device__ UnsignedBits TwiddleOut(UnsignedBits bits) {
        return bits ^ (is_float ? bits & highest_bit ? highest_bit : UnsignedBits(~UnsignedBits(0)) : is_signed ? highest_bit : UnsignedBits(0));
    }

  private:
    static constexpr bool is_float = !__is_integral(T), is_signed = __is_signed(T);
};

}  // namespace cub
