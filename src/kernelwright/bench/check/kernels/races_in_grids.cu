// Races on global memory, and code that looks like one.
#include <cuda_runtime.h>
#define KERNEL extern "C" __global__ void

__device__ int ticket, total, ready, message;
__device__ volatile int seen[64];

// finds race at HERE, with HERE; <4, 32>, advice atomic
KERNEL sum_without_atomic(int *a, int *b, int n)
{
    b[0] += a[blockIdx.x * 32 + threadIdx.x]; // HERE
}

// sound; <4, 32>
KERNEL sum_with_atomic(int *a, int *b, int n)
{
    atomicAdd(&b[0], a[blockIdx.x * 32 + threadIdx.x]);
}

// finds race at HERE, with HERE; <4, 64>, advice atomic
KERNEL histogram_of_a_grid(int *a, int *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[a[i] % 16]++; // HERE
}

// finds race at HERE, with OTHER; <2, 64>
KERNEL stencil_in_place(int *a, int *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    a[i] = (a[i - 1] + 2 * a[i] + a[i + 1]) / 3; // HERE OTHER
}

// sound; <2, 64>
KERNEL stencil(int *a, int *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
}

// sound; <3, 64>: a grid-stride loop
KERNEL grid_stride(int *a, int *b, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        b[i] = 2 * a[i];
}

// finds race at HERE, with HERE; <3, 64>: the stride is that of a block
KERNEL grid_stride_of_a_block(int *a, int *b, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x)
        b[i] = a[i] + blockIdx.x; // HERE
}

// finds race at HERE, with HERE; <4, 64>: blocks overlap by one element
KERNEL overlapping_blocks(int *a, int *b, int n)
{
    int i = blockIdx.x * (blockDim.x - 1) + threadIdx.x;
    b[i] = a[i] + blockIdx.x; // HERE
}

// note race at HERE; <4, 64>: blocks overlap, and write the same; a finding with --strict
KERNEL overlapping_blocks_alike(int *a, int *b, int n)
{
    int i = blockIdx.x * (blockDim.x - 1) + threadIdx.x;
    b[i] = a[i]; // HERE
}

// sound; <4, 64>: a breadth-first search's flag
KERNEL flag_of_a_grid(int *a, int *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (a[i] % 5 == 2)
        b[0] = 1;
}

// finds race at HERE, with OTHER; <2, 32>: blocks do not wait for each other
KERNEL reads_other_blocks(int *a, int *b, int n)
{
    b[blockIdx.x * 32 + threadIdx.x] = a[threadIdx.x] + 1; // HERE OTHER
    __syncthreads();
    b[256 + blockIdx.x * 32 + threadIdx.x] = b[(1 - blockIdx.x) * 32 + threadIdx.x]; // HERE OTHER
}

// sound; <4, 64>: the last block to finish sums up (threadFenceReduction)
KERNEL last_block_sums_up(int *a, int *b, int n)
{
    __shared__ bool is_last;
    __shared__ int part[64];
    part[threadIdx.x] = a[blockIdx.x * 64 + threadIdx.x];
    __syncthreads();
    for (int half = 32; half; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        b[blockIdx.x] = part[0];
        __threadfence();
        is_last = atomicAdd(&ticket, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        int sum = 0;
        for (int i = 0; i < gridDim.x; i++)
            sum += b[i];
        b[100] = sum;
        ticket = 0;
    }
}

// finds race at HERE, with OTHER; <4, 64>: a ticket that only the thread that takes it may rely on
KERNEL last_block_without_barrier(int *a, int *b, int n)
{
    b[blockIdx.x * 64 + threadIdx.x] = a[threadIdx.x] + blockIdx.x; // OTHER
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        __threadfence();
        is_last = atomicAdd(&ticket, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last) {
        b[1000 + threadIdx.x] = b[threadIdx.x + 32]; // HERE
        ticket = 0;
    }
}

// sound; <2, 32>: a message behind a flag, with fences
KERNEL message_behind_a_flag(int *a, int *b, int n)
{
    volatile int *flag = &ready;
    if (threadIdx.x)
        return;
    if (blockIdx.x == 0) {
        message = a[7];
        __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0)
            ;
        __threadfence();
        b[0] = message;
        *flag = 0;
    }
}

// finds race at HERE, with OTHER; <2, 32>, n 77: the flag is set before the message is there
KERNEL message_after_its_flag(int *a, int *b, int n)
{
    volatile int *flag = &ready;
    if (threadIdx.x)
        return;
    if (blockIdx.x == 0) {
        *flag = 1;
        __threadfence();
        message = n; // HERE OTHER
    } else {
        while (*flag == 0)
            ;
        __threadfence();
        b[0] = message; // HERE OTHER
        *flag = 0;
    }
}

// sound; <4, 32>: a lock for a grid
KERNEL lock_of_a_grid(int *a, int *b, int n)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(&ticket, 0, 1) != 0)
            ;
        __threadfence();
        b[0] += a[blockIdx.x];
        b[1] = b[0] * 2;
        __threadfence();
        atomicExch(&ticket, 0);
    }
}

// finds race at HERE; <4, 32>: the lock is given back before the last write
KERNEL lock_given_back_early(int *a, int *b, int n)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(&ticket, 0, 1) != 0)
            ;
        __threadfence();
        int sum = b[0] + a[blockIdx.x]; // HERE
        __threadfence();
        atomicExch(&ticket, 0);
        b[0] = sum; // HERE
    }
}

// finds race at HERE, with OTHER; <2, 64>: one access is atomic, the other is not
KERNEL half_atomic(int *a, int *b, int n)
{
    if (blockIdx.x == 0)
        atomicAdd(&b[0], a[threadIdx.x]); // HERE OTHER
    else if (threadIdx.x == 3)
        b[0] = 5; // HERE OTHER
}

// finds race at HERE, with HERE; <2, 32>: an index that two threads share
KERNEL scatter_that_collides(int *a, int *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i * 2 % 63] = i; // HERE
}

// sound; <2, 32>: a scatter by a permutation
KERNEL scatter(int *a, int *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i * 5 % 64] = i;
}

// sound; <4, 32>: the list's places come from an atomic, each has one owner
KERNEL work_list(int *a, int *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (a[i] % 3 == 0)
        b[1 + atomicAdd(&b[0], 1)] = a[i];
}

// finds race at HERE; <4, 32>: the place is read after the atomic, when others have moved it on
KERNEL work_list_read_again(int *a, int *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&b[0], 1);
    b[1 + b[0]] = a[i]; // HERE
}

// finds race at HERE, with HERE; <1, (32, 2)>, advice threadIdx.y
KERNEL rows_that_are_ignored(int *a, int *b, int n)
{
    b[threadIdx.x] = b[threadIdx.x] * 3 + a[threadIdx.x]; // HERE
}

// sound; <2, (8, 8, 2)>
KERNEL volume(int *a, int *b, int n)
{
    int i = ((blockIdx.x * blockDim.z + threadIdx.z) * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    b[i] = a[i] + 1;
}

// finds race at HERE, with OTHER; <1, 64>: the neighbour's element, and only a barrier of the warp between
KERNEL global_across_warps(int *a, int *b, int n)
{
    b[threadIdx.x] = a[threadIdx.x] + 1; // OTHER
    __syncwarp();
    b[256 + threadIdx.x] = b[63 - threadIdx.x]; // HERE
}

// sound; <2, 64>: a barrier orders global memory within a block
KERNEL global_within_a_block(int *a, int *b, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    b[i] = a[i] + 1;
    __syncthreads();
    b[256 + i] = b[blockIdx.x * 64 + 63 - threadIdx.x];
}

// finds race at HERE; <2, 64>: wide stores that overlap narrow ones
KERNEL wide_over_narrow(int *a, int *b, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < 32)
        ((int4 *)b)[i] = make_int4(i, i + 1, i + 2, i + 3); // HERE
    else
        b[i] = i; // HERE
}

// sound; <1, 64>: maximum by compare and swap
KERNEL maximum_by_swaps(int *a, int *b, int n)
{
    int mine = a[threadIdx.x], old = *(volatile int *)b;
    while (mine > old) {
        int seen = atomicCAS(b, old, mine);
        if (seen == old)
            break;
        old = seen;
    }
}

// sound; <2, 64>: every thread its own counter, warps vote
KERNEL votes_before_atomics(int *a, int *b, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    unsigned who = __ballot_sync(~0u, a[i] % 3 == 0);
    if (threadIdx.x % 32 == 0)
        atomicAdd(b, __popc(who));
}

// sound; <2, 64>: a lane takes places for all of its warp
KERNEL places_for_a_warp(int *a, int *b, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    if (a[i] % 3 == 0) {
        unsigned here = __activemask();
        int leader = __ffs(here) - 1, lane = threadIdx.x % 32, base = 0;
        if (lane == leader)
            base = atomicAdd(b, __popc(here));
        base = __shfl_sync(here, base, leader);
        b[1 + base + __popc(here & ((1u << lane) - 1))] = a[i];
    }
}
