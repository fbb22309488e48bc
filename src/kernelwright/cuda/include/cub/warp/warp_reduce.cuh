// cub::WarpReduce: a tree of shuffles; the first lane of each logical warp has the result.
#pragma once
#pragma GCC system_header
#include "../thread/thread_operators.cuh"

namespace cub {

template <class T, int LOGICAL_WARP_THREADS = 32, int LEGACY_PTX_ARCH = 0> class WarpReduce {
    static_assert((LOGICAL_WARP_THREADS & (LOGICAL_WARP_THREADS - 1)) == 0 && LOGICAL_WARP_THREADS <= 32,
                  "a logical warp of our cub has a power of two of threads: compile with --headers nvidia");

  public:
    struct TempStorage {};
    KW_METHOD WarpReduce(TempStorage &) {}

    template <class Operator> KW_METHOD T Reduce(T value, Operator op, int valid = LOGICAL_WARP_THREADS) {
        int lane = __nvvm_read_ptx_sreg_laneid() % LOGICAL_WARP_THREADS;
        for (int step = 1; step < LOGICAL_WARP_THREADS; step *= 2) {
            T other = cooperative_groups::details::shuffle_down(
                details::warp_mask<LOGICAL_WARP_THREADS>(), value, step, LOGICAL_WARP_THREADS);
            if (lane + step < LOGICAL_WARP_THREADS && lane + step < valid) value = op(value, other);
        }
        return value;
    }
    KW_METHOD T Sum(T value, int valid = LOGICAL_WARP_THREADS) { return Reduce(value, cub::Sum(), valid); }
};

}  // namespace cub
