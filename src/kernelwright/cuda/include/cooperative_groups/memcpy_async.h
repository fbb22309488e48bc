// Copies that the threads of a group make together, done when the call returns; wait() lets all of them see it.
#pragma once
#define _COOPERATIVE_GROUPS_MEMCPY_ASYNC
#pragma GCC system_header
#include "../cooperative_groups.h"
#include "../kernelwright/arrive_wait_barrier.h"

namespace cooperative_groups {

template <class Group, class T, class Size>
KW_DEVICE void memcpy_async(const Group &group, T *to, const T *from, const Size &size) {
    cuda::details::copy_of(to, from, size, group.thread_rank(), group.size());
}
// Counts are of elements; the smaller one is copied.
template <class Group, class T, class ToCount, class FromCount>
KW_DEVICE void memcpy_async(const Group &group, T *to, const ToCount &to_count, const T *from, const FromCount &from_count) {
    size_t count = (size_t)to_count < (size_t)from_count ? (size_t)to_count : (size_t)from_count;
    cuda::details::copy_of(to, from, count * sizeof(T), group.thread_rank(), group.size());
}
template <class Group> KW_DEVICE void wait(const Group &group) { group.sync(); }
template <unsigned int Stages, class Group> KW_DEVICE void wait_prior(const Group &group) { group.sync(); }

}  // namespace cooperative_groups
