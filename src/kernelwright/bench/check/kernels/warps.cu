// What lanes of a warp do together: masks that do not fit, lanes that are not there, and what is sound.
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#define KERNEL extern "C" __global__ void

// finds barrier at HERE; <1, 32>: the mask names lanes that go another way
KERNEL syncwarp_passed_by(int *a, int *b, int n)
{
    __shared__ int tile[32];
    tile[threadIdx.x] = a[threadIdx.x];
    if (threadIdx.x < 16) {
        __syncwarp(); // HERE
        tile[threadIdx.x] += 1;
    }
    b[threadIdx.x] = tile[threadIdx.x];
}

// sound; <1, 32>
KERNEL syncwarp_of_half(int *a, int *b, int n)
{
    __shared__ int tile[32];
    tile[threadIdx.x] = a[threadIdx.x];
    if (threadIdx.x < 16) {
        __syncwarp(0xffff);
        b[threadIdx.x] = tile[15 - threadIdx.x];
    }
}

// finds barrier at HERE; <1, 32>: the mask names lanes that vote elsewhere
KERNEL ballots_in_branches(int *a, int *b, int n)
{
    unsigned who;
    if (threadIdx.x < 16)
        who = __ballot_sync(~0u, a[threadIdx.x] % 2); // HERE
    else
        who = __any_sync(~0u, a[threadIdx.x] % 3); // HERE
    b[threadIdx.x] = who;
}

// sound; <1, 32>
KERNEL ballots_of_halves(int *a, int *b, int n)
{
    unsigned who;
    if (threadIdx.x < 16)
        who = __ballot_sync(0xffff, a[threadIdx.x] % 2);
    else
        who = __ballot_sync(0xffff0000, a[threadIdx.x] % 3);
    b[threadIdx.x] = who;
}

// finds barrier at HERE; <1, 32>: a lane that its mask leaves out
KERNEL vote_of_a_stranger(int *a, int *b, int n)
{
    b[threadIdx.x] = __all_sync(0x0fffffff >> n % 3, a[threadIdx.x] > 0); // HERE
}

// finds barrier at HERE; <1, 32>, n 20: the mask names lanes that pass by
KERNEL shuffle_passed_by(int *a, int *b, int n)
{
    int value = a[threadIdx.x];
    if (threadIdx.x < n)
        value += __shfl_xor_sync(~0u, value, 1); // HERE
    b[threadIdx.x] = value;
}

// sound; <1, 32>, n 20: the mask is made before the branch
KERNEL shuffle_with_a_ballot(int *a, int *b, int n)
{
    int value = a[threadIdx.x];
    unsigned who = __ballot_sync(~0u, threadIdx.x < n);
    if (threadIdx.x < n)
        value += __shfl_xor_sync(who, value, 1);
    b[threadIdx.x] = value;
}

// finds barrier at HERE; <1, 32>, n 20: lane 0 reads lane 24, which has ended
KERNEL shuffle_from_the_ended(int *a, int *b, int n)
{
    if (threadIdx.x >= n)
        return;
    int value = a[threadIdx.x];
    value += __shfl_down_sync(~0u, value, 8); // HERE
    b[threadIdx.x] = value;
}

// sound; <1, 32>, n 20: what lanes that are not there would give is not used
KERNEL shuffle_from_the_ended_unused(int *a, int *b, int n)
{
    if (threadIdx.x >= n)
        return;
    int value = a[threadIdx.x];
    int other = __shfl_down_sync((1u << n) - 1, value, 8);
    if (threadIdx.x + 8 < n)
        value += other;
    b[threadIdx.x] = value;
}

// finds barrier at HERE; <1, 48>: the second warp has half of its lanes
KERNEL reduction_of_a_partial_warp(int *a, int *b, int n)
{
    int value = a[threadIdx.x];
    for (int step = 16; step; step /= 2)
        value += __shfl_down_sync(~0u, value, step); // HERE
    if (threadIdx.x % 32 == 0)
        b[threadIdx.x / 32] = value;
}

// sound; <1, 48>: as many lanes as there are
KERNEL reduction_of_what_is_there(int *a, int *b, int n)
{
    int value = a[threadIdx.x], lanes = min(32, 48 - threadIdx.x / 32 * 32);
    unsigned who = lanes == 32 ? ~0u : (1u << lanes) - 1;
    for (int step = 16; step; step /= 2) {
        int other = __shfl_down_sync(who, value, step);
        if (threadIdx.x % 32 + step < lanes)
            value += other;
    }
    if (threadIdx.x % 32 == 0)
        b[threadIdx.x / 32] = value;
}

// sound; <1, 64>
KERNEL reduction_of_whole_warps(int *a, int *b, int n)
{
    int value = a[threadIdx.x];
    for (int step = 16; step; step /= 2)
        value += __shfl_down_sync(~0u, value, step);
    if (threadIdx.x % 32 == 0)
        b[threadIdx.x / 32] = value;
}

// finds barrier at HERE; <1, 32>: a broadcast from a lane outside the mask
KERNEL broadcast_from_outside(int *a, int *b, int n)
{
    int value = a[threadIdx.x] + 3;
    if (threadIdx.x >= 16)
        value = __shfl_sync(0xffff0000, value, 2); // HERE
    b[threadIdx.x] = value;
}

// sound; <1, 32>
KERNEL broadcast_from_inside(int *a, int *b, int n)
{
    int value = a[threadIdx.x] + 3;
    if (threadIdx.x >= 16)
        value = __shfl_sync(0xffff0000, value, 18);
    b[threadIdx.x] = value;
}

// sound; <1, 32>: segments of eight lanes
KERNEL segments(int *a, int *b, int n)
{
    int value = a[threadIdx.x];
    for (int step = 1; step < 8; step *= 2) {
        int left = __shfl_up_sync(~0u, value, step, 8);
        if (threadIdx.x % 8 >= step)
            value += left;
    }
    b[threadIdx.x] = value;
}

// finds barrier at HERE; <1, 32>, n 100: lanes leave the loop while others still shuffle with them
KERNEL shuffle_in_a_loop_of_ones_own(int *a, int *b, int n)
{
    int sum = 0;
    for (int i = threadIdx.x; i < n; i += 32)
        sum += __shfl_down_sync(~0u, a[i], 1); // HERE
    b[threadIdx.x] = sum;
}

// sound; <1, 32>, n 100
KERNEL shuffle_in_a_loop_of_all(int *a, int *b, int n)
{
    int sum = 0;
    for (int start = 0; start < n; start += 32) {
        int i = start + threadIdx.x;
        sum += __shfl_down_sync(~0u, i < n ? a[i] : 0, 1);
    }
    b[threadIdx.x] = sum;
}

// note barrier at HERE; <1, 32>, n 20: lanes that have ended are not waited for by votes
KERNEL vote_after_returns(int *a, int *b, int n)
{
    if (threadIdx.x >= n)
        return;
    b[threadIdx.x] = __any_sync(~0u, a[threadIdx.x] == 3); // HERE
}

// sound; <1, 64>: lanes that share a key count together
KERNEL match(int *a, int *b, int n)
{
    unsigned same = __match_any_sync(~0u, a[threadIdx.x] % 5);
    if (__ffs(same) - 1 == threadIdx.x % 32)
        atomicAdd(&b[a[threadIdx.x] % 5], __popc(same));
}

// sound; <1, 64>: a coalesced group
KERNEL coalesced(int *a, int *b, int n)
{
    namespace cg = cooperative_groups;
    if (a[threadIdx.x] % 3 == 0) {
        auto group = cg::coalesced_threads();
        int sum = a[threadIdx.x];
        int first = group.shfl(sum, 0);
        group.sync();
        b[threadIdx.x] = sum + first + group.size();
    }
}

// sound; <1, 64>: groups of four
KERNEL groups_of_four(int *a, int *b, int n)
{
    namespace cg = cooperative_groups;
    auto tile = cg::tiled_partition<4>(cg::this_thread_block());
    int sum = a[threadIdx.x];
    for (int step = 2; step; step /= 2)
        sum += tile.shfl_xor(sum, step);
    if (tile.any(sum > 20) && tile.thread_rank() == 0)
        b[threadIdx.x / 4] = sum;
}

// finds barrier at HERE; <1, 64>: groups of eight, of which half take part
KERNEL groups_of_eight_by_half(int *a, int *b, int n)
{
    namespace cg = cooperative_groups;
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int sum = a[threadIdx.x];
    if (tile.thread_rank() < 4)
        sum += tile.shfl_xor(sum, 1); // HERE
    b[threadIdx.x] = sum;
}

// finds barrier at HERE; <1, 32>: two lanes meet with different masks
KERNEL masks_differ(int *a, int *b, int n)
{
    unsigned mask = threadIdx.x < 16 ? 0x0003ffff : ~0u;
    b[threadIdx.x] = __ballot_sync(mask, a[threadIdx.x] % 2); // HERE
}
