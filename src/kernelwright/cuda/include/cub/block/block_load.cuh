// cub::BlockLoad: a tile of memory to the threads of a block, each with `ITEMS_PER_THREAD` values.
#pragma once
#pragma GCC system_header
#include "../util_type.cuh"

namespace cub {

enum BlockLoadAlgorithm {
    BLOCK_LOAD_DIRECT,
    BLOCK_LOAD_STRIPED,
    BLOCK_LOAD_VECTORIZE,
    BLOCK_LOAD_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED,
};

// Values lie behind each other, those of the first thread first. With BLOCK_LOAD_STRIPED the first values of all threads come
// first. The transposing algorithms read memory striped and trade values through shared memory.
template <class T, int BLOCK_DIM_X, int ITEMS_PER_THREAD, BlockLoadAlgorithm ALGORITHM = BLOCK_LOAD_DIRECT,
          int BLOCK_DIM_Y = 1, int BLOCK_DIM_Z = 1, int LEGACY_PTX_ARCH = 0>
class BlockLoad {
    static constexpr int threads_ = BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z;
    static constexpr bool is_traded_ = ALGORITHM >= BLOCK_LOAD_TRANSPOSE;
    static constexpr bool is_striped_ = ALGORITHM == BLOCK_LOAD_STRIPED || is_traded_;

  public:
    typedef details::Storage<T, is_traded_ ? threads_ * ITEMS_PER_THREAD : 1> TempStorage;
    KW_METHOD BlockLoad() : storage_(own_storage()) {}
    KW_METHOD BlockLoad(TempStorage &storage) : storage_(storage) {}

    template <class Iterator> KW_METHOD void Load(Iterator from, T (&values)[ITEMS_PER_THREAD]) {
        Load(from, values, threads_ * ITEMS_PER_THREAD);
    }
    // Values from `valid` on are left as they are.
    template <class Iterator> KW_METHOD void Load(Iterator from, T (&values)[ITEMS_PER_THREAD], int valid) {
        int thread = details::thread_in_block<BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z>();
        for (int item = 0; item < ITEMS_PER_THREAD; item++) {
            int at = is_striped_ ? thread + item * threads_ : thread * ITEMS_PER_THREAD + item;
            if (at < valid) (is_traded_ ? storage_[at] : values[item]) = from[at];
        }
        if constexpr (is_traded_) {
            __syncthreads();
            for (int item = 0; item < ITEMS_PER_THREAD; item++) {
                int at = thread * ITEMS_PER_THREAD + item;
                if (at < valid) values[item] = storage_[at];
            }
        }
    }
    template <class Iterator, class Default>
    KW_METHOD void Load(Iterator from, T (&values)[ITEMS_PER_THREAD], int valid, Default otherwise) {
        for (int item = 0; item < ITEMS_PER_THREAD; item++) values[item] = otherwise;
        Load(from, values, valid);
    }

  private:
    TempStorage &storage_;
    static KW_METHOD TempStorage &own_storage() {
        __shared__ TempStorage storage;
        return storage;
    }
};

}  // namespace cub
