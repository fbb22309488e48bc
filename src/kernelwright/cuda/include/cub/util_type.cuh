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
}  // namespace cub
