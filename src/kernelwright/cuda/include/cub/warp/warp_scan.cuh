// cub::WarpScan: every lane's prefix within its logical warp, by shuffles.
#pragma once
#pragma GCC system_header
#include "../thread/thread_operators.cuh"

namespace cub {

template <class T, int LOGICAL_WARP_THREADS = 32, int LEGACY_PTX_ARCH = 0> class WarpScan {
    static_assert((LOGICAL_WARP_THREADS & (LOGICAL_WARP_THREADS - 1)) == 0 && LOGICAL_WARP_THREADS <= 32,
                  "a logical warp of our cub has a power of two of threads: compile with --headers nvidia");

  public:
    struct TempStorage {};
    KW_METHOD WarpScan(TempStorage &) {}

    template <class Operator> KW_METHOD void InclusiveScan(T value, T &inclusive, Operator op) {
        int lane = __nvvm_read_ptx_sreg_laneid() % LOGICAL_WARP_THREADS;
        for (int step = 1; step < LOGICAL_WARP_THREADS; step *= 2) {
            T other = cooperative_groups::details::shuffle_up(
                details::warp_mask<LOGICAL_WARP_THREADS>(), value, step, LOGICAL_WARP_THREADS);
            if (lane >= step) value = op(other, value);
        }
        inclusive = value;
    }
    template <class Operator> KW_METHOD void InclusiveScan(T value, T &inclusive, Operator op, T &aggregate) {
        InclusiveScan(value, inclusive, op);
        aggregate = Broadcast(inclusive, LOGICAL_WARP_THREADS - 1);
    }
    KW_METHOD void InclusiveSum(T value, T &inclusive) { InclusiveScan(value, inclusive, Sum()); }
    KW_METHOD void InclusiveSum(T value, T &inclusive, T &aggregate) {
        InclusiveScan(value, inclusive, Sum(), aggregate);
    }

    // What the first lane gets is not defined by cub where there is no initial value: it gets its own.
    template <class Operator> KW_METHOD void ExclusiveScan(T value, T &exclusive, Operator op) {
        T inclusive;
        InclusiveScan(value, inclusive, op);
        exclusive = Before(inclusive);
    }
    template <class Operator> KW_METHOD void ExclusiveScan(T value, T &exclusive, T initial, Operator op) {
        T inclusive;
        InclusiveScan(value, inclusive, op);
        T before = Before(inclusive);
        bool is_first = __nvvm_read_ptx_sreg_laneid() % LOGICAL_WARP_THREADS == 0;
        exclusive = is_first ? initial : op(initial, before);
    }
    template <class Operator> KW_METHOD void ExclusiveScan(T value, T &exclusive, Operator op, T &aggregate) {
        T inclusive;
        InclusiveScan(value, inclusive, op, aggregate);
        exclusive = Before(inclusive);
    }
    template <class Operator>
    KW_METHOD void ExclusiveScan(T value, T &exclusive, T initial, Operator op, T &aggregate) {
        ExclusiveScan(value, exclusive, initial, op);
        T inclusive;
        InclusiveScan(value, inclusive, op, aggregate);
    }
    KW_METHOD void ExclusiveSum(T value, T &exclusive) { ExclusiveScan(value, exclusive, T{}, Sum()); }
    KW_METHOD void ExclusiveSum(T value, T &exclusive, T &aggregate) {
        ExclusiveScan(value, exclusive, T{}, Sum(), aggregate);
    }

    KW_METHOD T Broadcast(T value, unsigned int lane) {
        return cooperative_groups::details::shuffle(
            details::warp_mask<LOGICAL_WARP_THREADS>(), value, (int)lane, LOGICAL_WARP_THREADS);
    }

  private:
    KW_METHOD T Before(T inclusive) {
        return cooperative_groups::details::shuffle_up(
            details::warp_mask<LOGICAL_WARP_THREADS>(), inclusive, 1, LOGICAL_WARP_THREADS);
    }
};

}  // namespace cub
