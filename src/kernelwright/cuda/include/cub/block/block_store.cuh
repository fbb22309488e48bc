// cub::BlockStore: `ITEMS_PER_THREAD` values of every thread of a block to a tile of memory.
#pragma once
#pragma GCC system_header
#include "../util_type.cuh"

namespace cub {

enum BlockStoreAlgorithm {
    BLOCK_STORE_DIRECT,
    BLOCK_STORE_STRIPED,
    BLOCK_STORE_VECTORIZE,
    BLOCK_STORE_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED,
};

// Values lie behind each other, those of the first thread first. With BLOCK_STORE_STRIPED the first values of all threads come
// first. The transposing algorithms trade values through shared memory and write striped.
template <class T, int BLOCK_DIM_X, int ITEMS_PER_THREAD, BlockStoreAlgorithm ALGORITHM = BLOCK_STORE_DIRECT,
          int BLOCK_DIM_Y = 1, int BLOCK_DIM_Z = 1, int LEGACY_PTX_ARCH = 0>
class BlockStore {
    static constexpr int threads_ = BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z;
    static constexpr bool is_traded_ = ALGORITHM >= BLOCK_STORE_TRANSPOSE;
    static constexpr bool is_striped_ = ALGORITHM == BLOCK_STORE_STRIPED || is_traded_;

  public:
    typedef details::Storage<T, is_traded_ ? threads_ * ITEMS_PER_THREAD : 1> TempStorage;
    KW_METHOD BlockStore() : storage_(own_storage()) {}
    KW_METHOD BlockStore(TempStorage &storage) : storage_(storage) {}

    template <class Iterator> KW_METHOD void Store(Iterator to, T (&values)[ITEMS_PER_THREAD]) {
        Store(to, values, threads_ * ITEMS_PER_THREAD);
    }
    // Only the first `valid` places are written.
    template <class Iterator> KW_METHOD void Store(Iterator to, T (&values)[ITEMS_PER_THREAD], int valid) {
        int thread = details::thread_in_block<BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z>();
        if constexpr (is_traded_) {
            for (int item = 0; item < ITEMS_PER_THREAD; item++) storage_[thread * ITEMS_PER_THREAD + item] = values[item];
            __syncthreads();
        }
        for (int item = 0; item < ITEMS_PER_THREAD; item++) {
            int at = is_striped_ ? thread + item * threads_ : thread * ITEMS_PER_THREAD + item;
            if (at < valid) to[at] = is_traded_ ? storage_[at] : values[item];
        }
    }

  private:
    TempStorage &storage_;
    static KW_METHOD TempStorage &own_storage() {
        __shared__ TempStorage storage;
        return storage;
    }
};

}  // namespace cub
