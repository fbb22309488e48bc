// cooperative_groups::inclusive_scan and exclusive_scan over tiles and coalesced groups.
#pragma once
#define _COOPERATIVE_GROUPS_SCAN_H
#pragma GCC system_header
#include "reduce.h"

namespace cooperative_groups {

template <class Group, class T, class Operator>
KW_DEVICE T inclusive_scan(const Group &group, T value, Operator op) {
    unsigned int rank = group.thread_rank(), size = group.size();
    for (unsigned int step = 1; step < size; step *= 2) {
        T other = group.shfl_up(value, step);
        if (rank >= step) value = op(other, value);
    }
    return value;
}
template <class Group, class T> KW_DEVICE T inclusive_scan(const Group &group, T value) {
    return inclusive_scan(group, value, plus<T>());
}

// The first thread gets T().
template <class Group, class T, class Operator>
KW_DEVICE T exclusive_scan(const Group &group, T value, Operator op) {
    T before = group.shfl_up(inclusive_scan(group, value, op), 1);
    return group.thread_rank() == 0 ? T() : before;
}
template <class Group, class T> KW_DEVICE T exclusive_scan(const Group &group, T value) {
    return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups
