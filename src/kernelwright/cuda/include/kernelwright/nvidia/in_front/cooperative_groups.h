// NVIDIA's cooperative groups, whose barrier of a grid is ours: theirs waits on a word that a driver keeps for each launch.
#pragma once
#pragma GCC system_header

#include "../../grid_barrier.h"

// Those that arrive wait where they wait: what lies in between is never behind the barrier.
#include <cooperative_groups/details/sync.h>
_CG_BEGIN_NAMESPACE
namespace details {
_CG_STATIC_QUALIFIER unsigned int __kernelwright_arrive(volatile barrier_t *) { return 0; }
_CG_STATIC_QUALIFIER void __kernelwright_wait(unsigned int, volatile barrier_t *) { __kernelwright_grid_barrier(); }
}  // namespace details
_CG_END_NAMESPACE
#define sync_grids_arrive __kernelwright_arrive
#define sync_grids_wait __kernelwright_wait
#include_next <cooperative_groups.h>
#undef sync_grids_arrive
#undef sync_grids_wait
