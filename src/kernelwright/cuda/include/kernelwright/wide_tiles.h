// Tiles of 64 to 1024 threads: their warps meet in shared memory that the block lends them. Part of cooperative_groups.h.
#pragma once
#pragma GCC system_header

namespace cooperative_groups {

#define KW_METHOD __device__ __attribute__((always_inline, nodebug))

namespace details {
struct tile_memory {
    struct {
        unsigned int arrived, turn;
    } tile[16];
    alignas(16) char value[32][16];  // of each warp
};
}  // namespace details

// What a block needs for such tiles; a __shared__ variable.
template <unsigned int MaxBlockSize = 1024> struct block_tile_memory {
    static_assert(MaxBlockSize <= 1024, "a block has at most 1024 threads");
    details::tile_memory details_memory;
};

class thread_block_with_memory : public thread_block {
  public:
    explicit KW_METHOD thread_block_with_memory(details::tile_memory *memory) : memory_(memory) {}
    KW_METHOD details::tile_memory *details_memory() const { return memory_; }

  private:
    details::tile_memory *memory_;
};
template <unsigned int MaxBlockSize>
KW_DEVICE thread_block_with_memory this_thread_block(block_tile_memory<MaxBlockSize> &memory) {
    unsigned int rank = thread_block::thread_rank();
    if (rank < 16) memory.details_memory.tile[rank].arrived = memory.details_memory.tile[rank].turn = 0;
    __syncthreads();
    return thread_block_with_memory(&memory.details_memory);
}

template <unsigned int Size> class thread_block_tile<Size, thread_block_with_memory> {
    static_assert(Size != 0 && (Size & (Size - 1)) == 0, "the size of a tile is a power of two");
    static_assert(Size > 32 && Size <= 1024, "a tile has at most 1024 threads");

  public:
    KW_METHOD thread_block_tile(unsigned int meta_rank, unsigned int meta_size, details::tile_memory *memory)
        : meta_rank_(meta_rank), meta_size_(meta_size), memory_(memory) {}

    // The first lanes of the tile's warps wait for each other, and the others for them.
    KW_METHOD void sync() const {
        __syncwarp();
        if (details::lane() == 0) {
            auto &mine = memory_->tile[meta_rank_];
            __threadfence_block();
            unsigned int now = atomicAdd(&mine.turn, 0u);
            if (atomicAdd(&mine.arrived, 1u) == Size / 32 - 1) {
                atomicExch(&mine.arrived, 0u);
                atomicAdd(&mine.turn, 1u);
            } else
                while (atomicAdd(&mine.turn, 0u) == now) {
                }
            __threadfence_block();
        }
        __syncwarp();
    }
    static KW_METHOD unsigned int thread_rank() { return thread_block::thread_rank() & (Size - 1); }
    static KW_METHOD constexpr unsigned int num_threads() { return Size; }
    static KW_METHOD constexpr unsigned int size() { return Size; }
    KW_METHOD unsigned int meta_group_rank() const { return meta_rank_; }
    KW_METHOD unsigned int meta_group_size() const { return meta_size_; }
    KW_METHOD int any(int predicate) const { return count(__any_sync(0xffffffff, predicate)) != 0; }
    KW_METHOD int all(int predicate) const { return count(__all_sync(0xffffffff, predicate)) == Size / 32; }

    // Values of the tile's warps, one of each, in order; T has at most 16 bytes.
    template <class T> KW_METHOD void details_share(T value) const {
        static_assert(sizeof(T) <= 16 && __is_trivially_copyable(T), "values of a wide tile have at most 16 bytes");
        if (details::lane() == 0) *(T *)memory_->value[thread_block::thread_rank() / 32] = value;
        sync();
    }
    template <class T> KW_METHOD T details_shared(unsigned int warp) const {
        return *(const T *)memory_->value[meta_rank_ * (Size / 32) + warp];
    }

  private:
    unsigned int meta_rank_, meta_size_;
    details::tile_memory *memory_;

    KW_METHOD unsigned int count(int warp_says) const {
        unsigned int found = 0;
        details_share(warp_says != 0);
        for (unsigned int warp = 0; warp < Size / 32; warp++) found += details_shared<bool>(warp);
        sync();
        return found;
    }
};

namespace details {
template <unsigned int Size, bool is_wide = (Size > 32)> struct part_of_block {
    typedef thread_block_tile<Size, thread_block> tile;
    static KW_METHOD tile make(const thread_block_with_memory &block) {
        return tile(block.thread_rank() / Size, (block.num_threads() + Size - 1) / Size);
    }
};
template <unsigned int Size> struct part_of_block<Size, true> {
    typedef thread_block_tile<Size, thread_block_with_memory> tile;
    static KW_METHOD tile make(const thread_block_with_memory &block) {
        return tile(block.thread_rank() / Size, (block.num_threads() + Size - 1) / Size, block.details_memory());
    }
};
}  // namespace details
template <unsigned int Size>
KW_DEVICE typename details::part_of_block<Size>::tile tiled_partition(const thread_block_with_memory &block) {
    return details::part_of_block<Size>::make(block);
}
template <unsigned int Size, unsigned int Outer>
KW_DEVICE thread_block_tile<Size, thread_block_tile<Outer, thread_block_with_memory>> tiled_partition(
        const thread_block_tile<Outer, thread_block_with_memory> &tile) {
    static_assert(Size <= 32, "tiles of a wide tile have at most 32 threads");
    return thread_block_tile<Size, thread_block_tile<Outer, thread_block_with_memory>>(tile.thread_rank() / Size, Outer / Size);
}

#undef KW_METHOD

}  // namespace cooperative_groups
