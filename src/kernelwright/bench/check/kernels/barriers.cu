// Barriers of the block that not all threads reach, and those that are reached in unusual but sound ways.
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#define KERNEL extern "C" __global__ void

// finds barrier at HERE, with OTHER; <1, 64>: half of the block goes on behind the condition
KERNEL half_passes_by(int *a, int *b, int n)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = a[threadIdx.x];
    if (threadIdx.x < 32) {
        __syncthreads(); // HERE
        tile[threadIdx.x]++;
    }
    b[threadIdx.x] = tile[threadIdx.x]; // OTHER
}

// finds barrier at HERE, with OTHER; <1, 64>: half of each warp goes on
KERNEL lanes_pass_by(int *a, int *b, int n)
{
    int value = a[threadIdx.x];
    if (threadIdx.x % 2) {
        b[threadIdx.x + 64] = 3;
        __syncthreads(); // HERE
        value += b[threadIdx.x + 64];
    }
    b[threadIdx.x] = value; // OTHER
}

// sound; <1, 64>: whole warps return before the barrier
KERNEL warps_return(int *a, int *b, int n)
{
    __shared__ int tile[32];
    if (threadIdx.x >= 32)
        return;
    tile[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    b[threadIdx.x] = tile[31 - threadIdx.x];
}

// sound; <1, 64>, n 45: some threads return before the barrier, which does not wait for them
KERNEL threads_return(int *a, int *b, int n)
{
    __shared__ int tile[64];
    if (threadIdx.x >= n)
        return;
    tile[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    b[threadIdx.x] = tile[n - 1 - threadIdx.x];
}

// sound; <1, 64>, n 45: they write a last value first, as the others do
KERNEL threads_write_and_return(int *a, int *b, int n)
{
    __shared__ int tile[64];
    if (threadIdx.x >= n) {
        b[threadIdx.x] = -1;
        return;
    }
    tile[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    b[threadIdx.x] = tile[n - 1 - threadIdx.x];
}

// sound; <2, 64>: a condition that is one for the whole block
KERNEL condition_of_the_block(int *a, int *b, int n)
{
    __shared__ int tile[64];
    int value = a[threadIdx.x];
    if (blockIdx.x == 0) {
        tile[threadIdx.x] = value;
        __syncthreads();
        value = tile[63 - threadIdx.x];
    }
    b[blockIdx.x * 64 + threadIdx.x] = value;
}

// finds barrier at HERE; <1, 64>: each branch has a barrier of its own
KERNEL two_barriers(int *a, int *b, int n)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = a[threadIdx.x];
    if (a[threadIdx.x] % 4 == 0) {
        __syncthreads(); // HERE
        b[threadIdx.x] = tile[63 - threadIdx.x];
    } else {
        b[threadIdx.x] = 7;
        __syncthreads(); // HERE
        b[threadIdx.x] += tile[63 - threadIdx.x];
    }
}

// finds barrier at HERE, with OTHER; <1, 64>: rounds that differ from warp to warp
KERNEL rounds_differ(int *a, int *b, int n)
{
    __shared__ int tile[64];
    int sum = 0;
    for (int i = 0; i < 2 + threadIdx.x / 32; i++) {
        tile[threadIdx.x] = a[threadIdx.x] + i;
        __syncthreads(); // HERE
        sum += tile[threadIdx.x];
    }
    b[threadIdx.x] = sum; // OTHER
}

// sound; <1, 64>: rounds that are the same for all
KERNEL rounds_agree(int *a, int *b, int n)
{
    __shared__ int tile[64];
    int sum = 0;
    for (int i = 0; i < n % 5 + 1; i++) {
        tile[threadIdx.x] = a[threadIdx.x] + i;
        __syncthreads();
        sum += tile[63 - threadIdx.x];
        __syncthreads();
    }
    b[threadIdx.x] = sum;
}

// finds barrier at HERE, with OTHER; <1, 64>, n 100: threads leave the loop with their elements
KERNEL last_round_is_partial(int *a, int *b, int n)
{
    __shared__ int tile[64];
    int sum = 0;
    for (int i = threadIdx.x; i < n; i += 64) {
        tile[threadIdx.x] = a[i];
        __syncthreads(); // HERE
        sum += tile[threadIdx.x];
    }
    b[threadIdx.x] = sum; // OTHER
}

// sound; <1, 64>, n 100: the loop is the block's, the access the thread's
KERNEL last_round_is_guarded(int *a, int *b, int n)
{
    __shared__ int tile[64];
    int sum = 0;
    for (int start = 0; start < n; start += 64) {
        tile[threadIdx.x] = start + threadIdx.x < n ? a[start + threadIdx.x] : 0;
        __syncthreads();
        sum += tile[63 - threadIdx.x];
        __syncthreads();
    }
    b[threadIdx.x] = sum;
}

// finds barrier at HERE; <1, 64>: a break before the barrier, and work behind the loop
KERNEL break_before_the_barrier(int *a, int *b, int n)
{
    int value = a[threadIdx.x];
    for (int i = 0; i < 3; i++) {
        if (value > 40)
            break;
        value += 10;
        __syncthreads(); // HERE
    }
    b[threadIdx.x] = value;
}

// sound; <1, 64>: threads return out of the loop for good
KERNEL return_out_of_the_loop(int *a, int *b, int n)
{
    int value = a[threadIdx.x];
    for (int i = 0; i < 3; i++) {
        if (value > 40)
            return;
        value += 10;
        __syncthreads();
    }
    b[threadIdx.x] = value;
}

__device__ __noinline__ int exchanged(int *tile, int value)
{
    tile[threadIdx.x] = value;
    __syncthreads(); // HERE
    return tile[63 - threadIdx.x];
}

// finds barrier; <1, 64>: a function with a barrier, called by half of the block
KERNEL called_by_half(int *a, int *b, int n)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = 0;
    __syncthreads();
    int value = a[threadIdx.x];
    if (threadIdx.x >= 32)
        value = exchanged(tile, value);
    b[threadIdx.x] = value;
}

// sound; <1, 64>
KERNEL called_by_all(int *a, int *b, int n)
{
    __shared__ int tile[64];
    b[threadIdx.x] = exchanged(tile, a[threadIdx.x]);
}

__device__ void returns_early(int *tile, int *a, int n)
{
    if (threadIdx.x >= n)
        return;
    tile[threadIdx.x] = a[threadIdx.x];
    __syncthreads(); // CALLED
    a[threadIdx.x + 64] = tile[n - 1 - threadIdx.x];
}

// finds barrier; <1, 64>, n 40: they return from the function, not from the kernel
KERNEL returns_from_a_function(int *a, int *b, int n)
{
    __shared__ int tile[64];
    returns_early(tile, a, n);
    b[threadIdx.x] = a[threadIdx.x];
}

// finds barrier at HERE; <1, 64>: a condition by the data
KERNEL condition_of_the_data(int *a, int *b, int n)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = a[threadIdx.x];
    if (a[threadIdx.x] > 20)
        __syncthreads(); // HERE
    b[threadIdx.x] = tile[threadIdx.x];
}

// sound; <1, 64>: the votes of all threads decide
KERNEL condition_of_all(int *a, int *b, int n)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = a[threadIdx.x];
    int value = a[threadIdx.x];
    while (__syncthreads_or(value < 50)) {
        tile[threadIdx.x] = value;
        __syncthreads();
        value += tile[63 - threadIdx.x] / 63 + 20;
    }
    b[threadIdx.x] = value;
}

// sound; <1, 64>, n 40: a group of the block's threads, left early
KERNEL group_left_early(int *a, int *b, int n)
{
    namespace cg = cooperative_groups;
    if (threadIdx.x >= 32)
        return;
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    b[threadIdx.x] = tile.shfl(a[threadIdx.x], 31 - tile.thread_rank());
    tile.sync();
}

// finds barrier at HERE; <1, 64>: the switch sends threads to different barriers
KERNEL switch_of_barriers(int *a, int *b, int n)
{
    switch (threadIdx.x / 32) {
        case 0:
            b[threadIdx.x] = 1;
            __syncthreads(); // HERE
            b[threadIdx.x] += 1;
            break;
        default:
            b[threadIdx.x] = 2;
            __syncthreads(); // HERE
            b[threadIdx.x] += 4;
    }
}

// sound; <1, 64>: warps take roles, and all meet behind them
KERNEL roles(int *a, int *b, int n)
{
    __shared__ int tile[64];
    if (threadIdx.x < 32)
        tile[threadIdx.x] = a[threadIdx.x];
    else
        tile[threadIdx.x] = a[threadIdx.x] * 2;
    __syncthreads();
    if (threadIdx.x < 32)
        b[threadIdx.x] = tile[threadIdx.x + 32];
}
