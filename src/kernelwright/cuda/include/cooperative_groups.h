// Cooperative groups: the grid, thread_block, tiles, coalesced and partitioned groups.
#pragma once
#define _COOPERATIVE_GROUPS_H_
#pragma GCC system_header
#include "kernelwright_cuda.h"
#include "kernelwright/grid_barrier.h"
#include "kernelwright/group_shuffle.h"

namespace cooperative_groups {

namespace details {
KW_DEVICE unsigned int linear(uint3 index, dim3 extent) {
    return (index.z * extent.y + index.y) * extent.x + index.x;
}
KW_DEVICE unsigned int lane() { return __nvvm_read_ptx_sreg_laneid(); }
}  // namespace details

#define KW_METHOD __device__ __attribute__((always_inline, nodebug))

// ---- the whole block ----

class thread_block {
  public:
    static KW_METHOD void sync() { __syncthreads(); }
    static KW_METHOD void barrier_arrive_and_wait() { __syncthreads(); }
    static KW_METHOD unsigned int thread_rank() { return details::linear(threadIdx, blockDim); }
    static KW_METHOD unsigned int num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
    static KW_METHOD unsigned int size() { return num_threads(); }
    static KW_METHOD dim3 group_index() { return blockIdx; }
    static KW_METHOD dim3 thread_index() { return threadIdx; }
    static KW_METHOD dim3 group_dim() { return blockDim; }
    static KW_METHOD dim3 dim_threads() { return blockDim; }
};
KW_DEVICE thread_block this_thread_block() { return thread_block(); }

// ---- the lanes of one warp that a mask names, ranked by lane ----

class coalesced_group {
  public:
    explicit KW_METHOD coalesced_group(unsigned int mask) : mask_(mask) {}

    KW_METHOD void sync() const { __syncwarp(mask_); }
    KW_METHOD unsigned int num_threads() const { return __popc(mask_); }
    KW_METHOD unsigned int size() const { return num_threads(); }
    KW_METHOD unsigned int thread_rank() const { return __popc(mask_ & ((1u << details::lane()) - 1)); }
    KW_METHOD unsigned int meta_group_rank() const { return meta_rank_; }
    KW_METHOD unsigned int meta_group_size() const { return meta_size_; }

    template <class T> KW_METHOD T shfl(T value, int rank) const {
        return details::shuffle(mask_, value, lane_of(rank));
    }
    // Up and down past the group's ends a thread keeps its own value.
    template <class T> KW_METHOD T shfl_up(T value, unsigned int delta) const {
        int rank = (int)thread_rank() - (int)delta;
        return details::shuffle(mask_, value, rank < 0 ? (int)details::lane() : lane_of(rank));
    }
    template <class T> KW_METHOD T shfl_down(T value, unsigned int delta) const {
        unsigned int rank = thread_rank() + delta;
        return details::shuffle(mask_, value, rank >= num_threads() ? (int)details::lane() : lane_of(rank));
    }
    KW_METHOD int any(int predicate) const { return __any_sync(mask_, predicate); }
    KW_METHOD int all(int predicate) const { return __all_sync(mask_, predicate); }
    KW_METHOD unsigned int ballot(int predicate) const { return by_rank(__ballot_sync(mask_, predicate)); }
    template <class T> KW_METHOD unsigned int match_any(T value) const {
        return by_rank(__match_any_sync(mask_, value));
    }
    template <class T> KW_METHOD unsigned int match_all(T value, int &all_same) const {
        return by_rank(__match_all_sync(mask_, value, &all_same));
    }

    KW_METHOD coalesced_group details_partition(unsigned int lanes, unsigned int rank, unsigned int count) const {
        coalesced_group part(lanes);
        part.meta_rank_ = rank;
        part.meta_size_ = count;
        return part;
    }
    KW_METHOD unsigned int details_mask() const { return mask_; }

  private:
    unsigned int mask_, meta_rank_ = 0, meta_size_ = 1;

    // The lane of the thread with this rank: the rank-th set bit of the mask.
    KW_METHOD int lane_of(int rank) const {
        unsigned int rest = mask_;
        for (int i = 0; i < rank; i++) rest &= rest - 1;
        return mask_ == 0xffffffff ? rank : rest ? __builtin_ctz(rest) : 0;
    }
    // The bits of a lane mask that belong to the group, moved to its ranks.
    KW_METHOD unsigned int by_rank(unsigned int lanes) const {
        if (mask_ == 0xffffffff) return lanes;
        unsigned int packed = 0, rank = 0;
        for (unsigned int rest = mask_; rest; rest &= rest - 1) packed |= (lanes >> __builtin_ctz(rest) & 1) << rank++;
        return packed;
    }
};
KW_DEVICE coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

// ---- tiles: 1, 2, 4 ... 32 neighbouring lanes ----

template <unsigned int Size, class Parent = void> class thread_block_tile {
    static_assert(Size != 0 && (Size & (Size - 1)) == 0, "the size of a tile is a power of two");
    static_assert(Size <= 32, "a tile wider than a warp needs memory, this_thread_block(block_tile_memory); else use thread_block, or tiles of 32");

  public:
    KW_METHOD thread_block_tile(unsigned int meta_rank, unsigned int meta_size)
        : meta_rank_(meta_rank), meta_size_(meta_size) {}
    template <class Other> KW_METHOD thread_block_tile(const thread_block_tile<Size, Other> &tile)
        : meta_rank_(tile.meta_group_rank()), meta_size_(tile.meta_group_size()) {}

    KW_METHOD void sync() const { __syncwarp(details_mask()); }
    static KW_METHOD unsigned int thread_rank() { return details::lane() & (Size - 1); }
    static KW_METHOD constexpr unsigned int num_threads() { return Size; }
    static KW_METHOD constexpr unsigned int size() { return Size; }
    KW_METHOD unsigned int meta_group_rank() const { return meta_rank_; }
    KW_METHOD unsigned int meta_group_size() const { return meta_size_; }

    template <class T> KW_METHOD T shfl(T value, int rank) const {
        return details::shuffle(details_mask(), value, rank, Size);
    }
    template <class T> KW_METHOD T shfl_up(T value, unsigned int delta) const {
        return details::shuffle_up(details_mask(), value, delta, Size);
    }
    template <class T> KW_METHOD T shfl_down(T value, unsigned int delta) const {
        return details::shuffle_down(details_mask(), value, delta, Size);
    }
    template <class T> KW_METHOD T shfl_xor(T value, unsigned int lane_mask) const {
        return details::shuffle_xor(details_mask(), value, lane_mask, Size);
    }
    KW_METHOD int any(int predicate) const { return __any_sync(details_mask(), predicate); }
    KW_METHOD int all(int predicate) const { return __all_sync(details_mask(), predicate); }
    KW_METHOD unsigned int ballot(int predicate) const { return by_rank(__ballot_sync(details_mask(), predicate)); }
    template <class T> KW_METHOD unsigned int match_any(T value) const {
        return by_rank(__match_any_sync(details_mask(), value));
    }
    template <class T> KW_METHOD unsigned int match_all(T value, int &all_same) const {
        return by_rank(__match_all_sync(details_mask(), value, &all_same));
    }

    static KW_METHOD unsigned int details_mask() {
        return Size == 32 ? 0xffffffffu : ((1u << (Size & 31)) - 1) << first_lane();
    }

  private:
    unsigned int meta_rank_, meta_size_;

    static KW_METHOD unsigned int first_lane() { return details::lane() & ~(Size - 1); }
    static KW_METHOD unsigned int by_rank(unsigned int lanes) {
        return Size == 32 ? lanes : lanes >> first_lane() & ((1u << (Size & 31)) - 1);
    }
};

template <unsigned int Size>
KW_DEVICE thread_block_tile<Size, thread_block> tiled_partition(const thread_block &block) {
    return thread_block_tile<Size, thread_block>(block.thread_rank() / Size, (block.num_threads() + Size - 1) / Size);
}
template <unsigned int Size, unsigned int Outer, class Parent>
KW_DEVICE thread_block_tile<Size, thread_block_tile<Outer, Parent>> tiled_partition(
        const thread_block_tile<Outer, Parent> &tile) {
    static_assert(Size <= Outer, "a tile cannot be partitioned into larger ones");
    return thread_block_tile<Size, thread_block_tile<Outer, Parent>>(tile.thread_rank() / Size, Outer / Size);
}

// ---- groups of a size or shape known at run time ----

// Any group, with what all groups can do. The default is the whole block.
class thread_group {
  public:
    KW_METHOD thread_group(const thread_block &) : mask_(0) {}
    KW_METHOD thread_group(const coalesced_group &group) : mask_(group.details_mask()) {}
    template <unsigned int Size, class Parent>
    KW_METHOD thread_group(const thread_block_tile<Size, Parent> &tile) : mask_(tile.details_mask()) {}

    KW_METHOD void sync() const {
        if (mask_)
            __syncwarp(mask_);
        else
            __syncthreads();
    }
    KW_METHOD unsigned int num_threads() const {
        return mask_ ? coalesced_group(mask_).num_threads() : thread_block::num_threads();
    }
    KW_METHOD unsigned int size() const { return num_threads(); }
    KW_METHOD unsigned int thread_rank() const {
        return mask_ ? coalesced_group(mask_).thread_rank() : thread_block::thread_rank();
    }
    KW_METHOD unsigned int details_mask() const { return mask_; }

  private:
    unsigned int mask_;  // 0: the block
};

// The part of `size` consecutive ranks that this thread is in; size is a power of two up to 32.
KW_DEVICE coalesced_group tiled_partition(const coalesced_group &parent, unsigned int size) {
    unsigned int part = parent.thread_rank() / size, rank = 0, lanes = 0;
    for (unsigned int rest = parent.details_mask(); rest; rest &= rest - 1, rank++)
        if (rank / size == part) lanes |= rest & -rest;
    return parent.details_partition(lanes, part, (parent.num_threads() + size - 1) / size);
}
KW_DEVICE thread_group tiled_partition(const thread_group &parent, unsigned int size) {
    if (parent.details_mask()) return tiled_partition(coalesced_group(parent.details_mask()), size);
    unsigned int first = details::lane() & ~(size - 1);
    return coalesced_group((size == 32 ? 0xffffffffu : (1u << size) - 1) << first);
}
KW_DEVICE thread_group tiled_partition(const thread_block &parent, unsigned int size) {
    return tiled_partition(thread_group(parent), size);
}

// The threads of a warp-sized group that gave the same answer, or the same label.
template <class Group> KW_DEVICE coalesced_group binary_partition(const Group &group, bool predicate) {
    unsigned int yes = __ballot_sync(group.details_mask(), predicate);
    unsigned int lanes = predicate ? yes : group.details_mask() & ~yes;
    return coalesced_group(lanes).details_partition(lanes, !predicate, 2);
}
template <class Group, class Label> KW_DEVICE coalesced_group labeled_partition(const Group &group, Label label) {
    unsigned int lanes = __match_any_sync(group.details_mask(), label);
    // Parts are numbered by their first lanes.
    unsigned int firsts = __ballot_sync(group.details_mask(), details::lane() == (unsigned int)__builtin_ctz(lanes));
    unsigned int rank = __popc(firsts & ((lanes & -lanes) - 1));
    return coalesced_group(lanes).details_partition(lanes, rank, __popc(firsts));
}

// ---- the grid ----

}  // namespace cooperative_groups

namespace cooperative_groups {

class grid_group {
  public:
    static KW_METHOD void sync() { __kernelwright_grid_barrier(); }
    static KW_METHOD bool is_valid() { return __kernelwright_is_cooperative(); }
    static KW_METHOD unsigned long long block_rank() { return details::linear(blockIdx, gridDim); }
    static KW_METHOD unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
    static KW_METHOD unsigned long long num_threads() { return num_blocks() * thread_block::num_threads(); }
    static KW_METHOD unsigned long long size() { return num_threads(); }
    static KW_METHOD unsigned long long thread_rank() {
        return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
    }
    static KW_METHOD dim3 group_dim() { return gridDim; }
    static KW_METHOD dim3 dim_blocks() { return gridDim; }
    static KW_METHOD dim3 block_index() { return blockIdx; }
};
KW_DEVICE grid_group this_grid() { return grid_group(); }

// ---- the same as free functions ----

template <class Group> KW_DEVICE void sync(const Group &group) { group.sync(); }
template <class Group> KW_DEVICE unsigned int thread_rank(const Group &group) { return group.thread_rank(); }
template <class Group> KW_DEVICE unsigned int group_size(const Group &group) { return group.size(); }

#undef KW_METHOD

}  // namespace cooperative_groups

#include "kernelwright/wide_tiles.h"
