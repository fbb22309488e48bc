// cub::BlockReduce: warps reduce by shuffles, the first thread combines what they found and has the result.
// Operands meet in the order of cub's BLOCK_REDUCE_WARP_REDUCTIONS, whichever algorithm is named.
#pragma once
#pragma GCC system_header
#include "../warp/warp_reduce.cuh"

namespace cub {

enum BlockReduceAlgorithm {
    BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
    BLOCK_REDUCE_RAKING,
    BLOCK_REDUCE_WARP_REDUCTIONS,
};

template <class T, int BLOCK_DIM_X, BlockReduceAlgorithm ALGORITHM = BLOCK_REDUCE_WARP_REDUCTIONS, int BLOCK_DIM_Y = 1,
          int BLOCK_DIM_Z = 1, int LEGACY_PTX_ARCH = 0>
class BlockReduce {
    static constexpr int threads_ = BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z;
    static constexpr int warps_ = (threads_ + 31) / 32;

  public:
    typedef details::Storage<T, warps_> TempStorage;
    KW_METHOD BlockReduce() : storage_(own_storage()) {}
    KW_METHOD BlockReduce(TempStorage &storage) : storage_(storage) {}

    template <class Operator> KW_METHOD T Reduce(T value, Operator op, int valid = threads_) {
        int thread = details::thread_in_block<BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z>(), warp = thread / 32;
        typename WarpReduce<T>::TempStorage nothing;
        value = WarpReduce<T>(nothing).Reduce(value, op, valid - warp * 32);
        if (thread % 32 == 0) storage_[warp] = value;
        __syncthreads();
        if (thread == 0)
            for (int other = 1; other < warps_ && other * 32 < valid; other++) value = op(value, storage_[other]);
        return value;
    }
    template <int Items, class Operator> KW_METHOD T Reduce(T (&values)[Items], Operator op) {
        T value = values[0];
        for (int item = 1; item < Items; item++) value = op(value, values[item]);
        return Reduce(value, op);
    }
    KW_METHOD T Sum(T value, int valid = threads_) { return Reduce(value, cub::Sum(), valid); }
    template <int Items> KW_METHOD T Sum(T (&values)[Items]) { return Reduce(values, cub::Sum()); }

  private:
    TempStorage &storage_;
    static KW_METHOD TempStorage &own_storage() {
        __shared__ TempStorage storage;
        return storage;
    }
};

}  // namespace cub
