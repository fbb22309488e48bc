// cooperative_groups::reduce over tiles and coalesced groups, and the operators it takes.
#pragma once
#define _COOPERATIVE_GROUPS_REDUCE_H
#pragma GCC system_header
#include "../cooperative_groups.h"

namespace cooperative_groups {

#define KW_OPERATOR(name, result)                                                                          \
    template <class T> struct name {                                                                       \
        __device__ __attribute__((always_inline, nodebug)) T operator()(T a, T b) const { return result; } \
    };
KW_OPERATOR(plus, a + b)
KW_OPERATOR(less, b < a ? b : a)
KW_OPERATOR(greater, a < b ? b : a)
KW_OPERATOR(bit_and, a & b)
KW_OPERATOR(bit_or, a | b)
KW_OPERATOR(bit_xor, a ^ b)
#undef KW_OPERATOR

// Every thread of the group gets the result. Operands meet in a tree, in an order that depends on the size alone.
template <unsigned int Size, class Parent, class T, class Operator>
KW_DEVICE T reduce(const thread_block_tile<Size, Parent> &tile, T value, Operator op) {
    for (unsigned int step = Size / 2; step; step /= 2) {
        T other = tile.shfl_xor(value, step);
        value = tile.thread_rank() & step ? op(other, value) : op(value, other);
    }
    return value;
}
template <unsigned int Size, class T, class Operator>
KW_DEVICE T reduce(const thread_block_tile<Size, thread_block_with_memory> &tile, T value, Operator op) {
    tile.details_share(reduce(tiled_partition<32>(tile), value, op));
    T result = tile.template details_shared<T>(0);
    for (unsigned int warp = 1; warp < Size / 32; warp++) result = op(result, tile.template details_shared<T>(warp));
    tile.sync();  // before the memory is used again
    return result;
}
template <class T, class Operator> KW_DEVICE T reduce(const coalesced_group &group, T value, Operator op) {
    unsigned int rank = group.thread_rank(), size = group.size();
    for (unsigned int step = 1; step < size; step *= 2) {
        T other = group.shfl_down(value, step);
        if (rank + step < size) value = op(value, other);
    }
    return group.shfl(value, 0);
}

}  // namespace cooperative_groups
