// cub::BlockScan: every thread's prefix in its block. Warps scan by shuffles, and each adds what those before it have:
// the order of cub's BLOCK_SCAN_WARP_SCANS, whichever algorithm is named.
#pragma once
#pragma GCC system_header
#include "../warp/warp_scan.cuh"

namespace cub {

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <class T, int BLOCK_DIM_X, BlockScanAlgorithm ALGORITHM = BLOCK_SCAN_RAKING, int BLOCK_DIM_Y = 1,
          int BLOCK_DIM_Z = 1, int LEGACY_PTX_ARCH = 0>
class BlockScan {
    static constexpr int threads_ = BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z;
    static constexpr int warps_ = (threads_ + 31) / 32;

  public:
    typedef details::Storage<T, warps_ + 1> TempStorage;
    KW_METHOD BlockScan() : storage_(own_storage()) {}
    KW_METHOD BlockScan(TempStorage &storage) : storage_(storage) {}

    // ---- one value of a thread ----

    template <class Operator> KW_METHOD void InclusiveScan(T value, T &inclusive, Operator op) {
        T aggregate;
        InclusiveScan(value, inclusive, op, aggregate);
    }
    template <class Operator> KW_METHOD void InclusiveScan(T value, T &inclusive, Operator op, T &aggregate) {
        T before;
        inclusive = has_before(value, before, op, aggregate) ? op(before, value) : value;
    }
    template <class Operator, class Prefix>
    KW_METHOD void InclusiveScan(T value, T &inclusive, Operator op, Prefix &prefix) {
        T exclusive;
        ExclusiveScan(value, exclusive, op, prefix);
        inclusive = op(exclusive, value);
    }
    // What the first thread gets is not defined by cub where there is no initial value: it gets its own.
    template <class Operator> KW_METHOD void ExclusiveScan(T value, T &exclusive, Operator op) {
        T aggregate;
        ExclusiveScan(value, exclusive, op, aggregate);
    }
    template <class Operator> KW_METHOD void ExclusiveScan(T value, T &exclusive, Operator op, T &aggregate) {
        T before = value;
        has_before(value, before, op, aggregate);
        exclusive = before;
    }
    template <class Operator> KW_METHOD void ExclusiveScan(T value, T &exclusive, T initial, Operator op) {
        T aggregate;
        ExclusiveScan(value, exclusive, initial, op, aggregate);
    }
    template <class Operator>
    KW_METHOD void ExclusiveScan(T value, T &exclusive, T initial, Operator op, T &aggregate) {
        T before;
        exclusive = has_before(value, before, op, aggregate) ? op(initial, before) : initial;
    }
    // `prefix` is called by the first warp with the block's aggregate; the first lane's answer stands before all threads.
    template <class Operator, class Prefix>
    KW_METHOD void ExclusiveScan(T value, T &exclusive, Operator op, Prefix &prefix) {
        T before, aggregate;
        bool has = has_before(value, before, op, aggregate);
        int thread = thread_in_block();
        if (thread < 32) {
            T first = prefix(aggregate);
            if (thread == 0) storage_[warps_] = first;
        }
        __syncthreads();
        T first = storage_[warps_];
        exclusive = has ? op(first, before) : first;
    }
    KW_METHOD void InclusiveSum(T value, T &inclusive) { InclusiveScan(value, inclusive, Sum()); }
    template <class Last> KW_METHOD void InclusiveSum(T value, T &inclusive, Last &aggregate_or_prefix) {
        InclusiveScan(value, inclusive, Sum(), aggregate_or_prefix);
    }
    KW_METHOD void ExclusiveSum(T value, T &exclusive) { ExclusiveScan(value, exclusive, T{}, Sum()); }
    KW_METHOD void ExclusiveSum(T value, T &exclusive, T &aggregate) {
        ExclusiveScan(value, exclusive, T{}, Sum(), aggregate);
    }
    template <class Prefix> KW_METHOD void ExclusiveSum(T value, T &exclusive, Prefix &prefix) {
        ExclusiveScan(value, exclusive, Sum(), prefix);
    }

    // ---- several values of a thread: those of the first come before those of the second ----

    template <int Items, class Operator, class... Last>
    KW_METHOD void InclusiveScan(T (&values)[Items], T (&inclusive)[Items], Operator op, Last &...aggregate_or_prefix) {
        T total = combined(values, op), before;
        ExclusiveScan(total, before, op, aggregate_or_prefix...);
        bool has = has_prefix<Last...> || thread_in_block() != 0;
        for (int item = 0; item < Items; item++) {
            T value = values[item];
            inclusive[item] = before = item || has ? op(before, value) : value;
        }
    }
    template <int Items, class Operator, class... Last>
    KW_METHOD void ExclusiveScan(T (&values)[Items], T (&exclusive)[Items], T initial, Operator op, Last &...aggregate) {
        T total = combined(values, op), before;
        ExclusiveScan(total, before, initial, op, aggregate...);
        spread(values, exclusive, before, op);
    }
    template <int Items, class Operator, class Prefix>
    KW_METHOD void ExclusiveScan(T (&values)[Items], T (&exclusive)[Items], Operator op, Prefix &prefix) {
        T total = combined(values, op), before;
        ExclusiveScan(total, before, op, prefix);
        spread(values, exclusive, before, op);
    }
    template <int Items> KW_METHOD void InclusiveSum(T (&values)[Items], T (&inclusive)[Items]) {
        InclusiveScan(values, inclusive, Sum());
    }
    template <int Items, class Last>
    KW_METHOD void InclusiveSum(T (&values)[Items], T (&inclusive)[Items], Last &aggregate_or_prefix) {
        InclusiveScan(values, inclusive, Sum(), aggregate_or_prefix);
    }
    template <int Items> KW_METHOD void ExclusiveSum(T (&values)[Items], T (&exclusive)[Items]) {
        ExclusiveScan(values, exclusive, T{}, Sum());
    }
    template <int Items> KW_METHOD void ExclusiveSum(T (&values)[Items], T (&exclusive)[Items], T &aggregate) {
        ExclusiveScan(values, exclusive, T{}, Sum(), aggregate);
    }
    template <int Items, class Prefix>
    KW_METHOD void ExclusiveSum(T (&values)[Items], T (&exclusive)[Items], Prefix &prefix) {
        ExclusiveScan(values, exclusive, Sum(), prefix);
    }

  private:
    template <class... Last> static constexpr bool has_prefix = false;
    template <class Last> static constexpr bool has_prefix<Last> = !__is_same(Last, T);

    TempStorage &storage_;
    static KW_METHOD TempStorage &own_storage() {
        __shared__ TempStorage storage;
        return storage;
    }
    static KW_METHOD int thread_in_block() { return details::thread_in_block<BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z>(); }

    // Whether there are threads before this one; then `before` is what they come to. `aggregate`: all threads.
    template <class Operator> KW_METHOD bool has_before(T value, T &before, Operator op, T &aggregate) {
        int thread = thread_in_block(), warp = thread / 32, lane = thread % 32;
        typename WarpScan<T>::TempStorage nothing;
        WarpScan<T> scan(nothing);
        T inclusive, in_warp;
        scan.InclusiveScan(value, inclusive, op);
        if (lane == 31 || thread == threads_ - 1) storage_[warp] = inclusive;
        in_warp = cooperative_groups::details::shuffle_up(~0u, inclusive, 1);
        __syncthreads();
        aggregate = storage_[0];
        T warps_before = aggregate;
        for (int other = 1; other < warps_; other++) {
            if (warp == other) warps_before = aggregate;
            aggregate = op(aggregate, storage_[other]);
        }
        if (lane) before = warp ? op(warps_before, in_warp) : in_warp;
        else if (warp) before = warps_before;
        return thread != 0;
    }
    template <int Items, class Operator> static KW_METHOD T combined(T (&values)[Items], Operator op) {
        T total = values[0];
        for (int item = 1; item < Items; item++) total = op(total, values[item]);
        return total;
    }
    template <int Items, class Operator>
    static KW_METHOD void spread(T (&values)[Items], T (&exclusive)[Items], T before, Operator op) {
        for (int item = 0; item < Items; item++) {
            T value = values[item];
            exclusive[item] = before;
            before = op(before, value);
        }
    }
};

}  // namespace cub
