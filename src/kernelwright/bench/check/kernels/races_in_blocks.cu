// Races on shared memory, and code that looks like one. Each comment says what is found in the kernel below it.
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#define KERNEL extern "C" __global__ void

// finds race at HERE, with OTHER; <1, 64>
KERNEL neighbour_without_barrier(int *a, int *b, int n)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = a[threadIdx.x]; // OTHER
    b[threadIdx.x] = tile[63 - threadIdx.x]; // HERE
}

// sound; <1, 64>
KERNEL neighbour_with_barrier(int *a, int *b, int n)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    b[threadIdx.x] = tile[63 - threadIdx.x];
}

// finds race at HERE, with OTHER; <1, 64>: zeros overwrite zeros, which other data would not
KERNEL zeros_over_zeros(int *a, int *b, int n)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = 0; // HERE OTHER
    __syncthreads();
    b[threadIdx.x] = tile[63 - threadIdx.x]; // OTHER HERE
    tile[threadIdx.x] = a[64 + threadIdx.x] > 10000; // HERE OTHER
}

// sound; <1, 64>
KERNEL two_phases(int *a, int *b, int n)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = 0;
    __syncthreads();
    b[threadIdx.x] = tile[63 - threadIdx.x];
    __syncthreads();
    tile[threadIdx.x] = a[64 + threadIdx.x] > 10000;
    __syncthreads();
    b[threadIdx.x] += tile[63 - threadIdx.x];
}

// finds race at HERE, with OTHER; <1, 64>: equal data on this input, other data on another
KERNEL equal_by_chance(int *a, int *b, int n)
{
    __shared__ int first;
    first = a[1000 + threadIdx.x] / 2000; // HERE OTHER
    __syncthreads();
    b[threadIdx.x] = first;
}

// sound; <1, 64>: every thread that writes writes one
KERNEL flag_of_a_block(int *a, int *b, int n)
{
    __shared__ int any;
    any = 0;
    __syncthreads();
    if (a[threadIdx.x] % 3 == 1)
        any = 1;
    __syncthreads();
    b[threadIdx.x] = any;
}

// sound; <2, 64>: every thread writes the same number of the launch
KERNEL number_of_the_launch(int *a, int *b, int n)
{
    __shared__ int base;
    base = blockIdx.x * blockDim.x + n;
    __syncthreads();
    b[blockIdx.x * 64 + threadIdx.x] = base;
}

// sound; <2, 64>: every thread loads the same element
KERNEL one_element_for_all(int *a, int *b, int n)
{
    __shared__ int element;
    element = a[blockIdx.x];
    __syncthreads();
    b[blockIdx.x * 64 + threadIdx.x] = element;
}

// finds race at HERE; <1, 64>, advice atomic
KERNEL count_without_atomic(int *a, int *b, int n)
{
    __shared__ int count;
    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    if (a[threadIdx.x] % 2)
        count++; // HERE
    __syncthreads();
    b[threadIdx.x] = count;
}

// sound; <1, 64>
KERNEL count_with_atomic(int *a, int *b, int n)
{
    __shared__ int count;
    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    if (a[threadIdx.x] % 2)
        atomicAdd(&count, 1);
    __syncthreads();
    b[threadIdx.x] = count;
}

// finds race at HERE; <1, 128>, advice atomic
KERNEL histogram_without_atomic(int *a, int *b, int n)
{
    __shared__ int bins[8];
    if (threadIdx.x < 8)
        bins[threadIdx.x] = 0;
    __syncthreads();
    bins[a[threadIdx.x] % 8] += 1; // HERE
    __syncthreads();
    if (threadIdx.x < 8)
        b[threadIdx.x] = bins[threadIdx.x];
}

// finds race at HERE, with OTHER; <1, 128>
KERNEL atomic_read_too_early(int *a, int *b, int n)
{
    __shared__ int sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    atomicAdd(&sum, a[threadIdx.x]); // OTHER
    b[threadIdx.x] = sum; // HERE
}

// finds race at HERE, with OTHER; <1, 128>
KERNEL reduction_without_last_barrier(int *a, int *b, int n)
{
    __shared__ int part[128];
    part[threadIdx.x] = a[threadIdx.x];
    for (int half = 64; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half]; // OTHER
    }
    b[threadIdx.x] = part[0]; // HERE
}

// sound; <1, 128>
KERNEL reduction(int *a, int *b, int n)
{
    __shared__ int part[128];
    part[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    b[threadIdx.x] = part[0];
}

// finds race at HERE, with OTHER; <1, 64>: the next tile is loaded while the last is still read
KERNEL tiles_with_one_barrier(int *a, int *b, int n)
{
    __shared__ int tile[64];
    int sum = 0;
    for (int start = 0; start < 256; start += 64) {
        tile[threadIdx.x] = a[start + threadIdx.x]; // HERE OTHER
        __syncthreads();
        for (int i = 0; i < 64; i++)
            sum += tile[i]; // HERE OTHER
    }
    b[threadIdx.x] = sum;
}

// sound; <1, 64>
KERNEL tiles_with_two_barriers(int *a, int *b, int n)
{
    __shared__ int tile[64];
    int sum = 0;
    for (int start = 0; start < 256; start += 64) {
        tile[threadIdx.x] = a[start + threadIdx.x];
        __syncthreads();
        for (int i = 0; i < 64; i++)
            sum += tile[i];
        __syncthreads();
    }
    b[threadIdx.x] = sum;
}

// sound; <1, 64>: two buffers need one barrier per step
KERNEL double_buffer(int *a, int *b, int n)
{
    __shared__ int tile[2][64];
    int sum = 0;
    tile[0][threadIdx.x] = a[threadIdx.x];
    for (int step = 0; step < 4; step++) {
        __syncthreads();
        if (step < 3)
            tile[(step + 1) % 2][threadIdx.x] = a[(step + 1) * 64 + threadIdx.x];
        for (int i = 0; i < 64; i++)
            sum += tile[step % 2][i];
    }
    b[threadIdx.x] = sum;
}

// finds race at HERE, with OTHER; <1, 64>: both halves of the buffer are one and the same
KERNEL double_buffer_of_one(int *a, int *b, int n)
{
    __shared__ int tile[2][64];
    int sum = 0;
    tile[0][threadIdx.x] = a[threadIdx.x];
    for (int step = 0; step < 4; step++) {
        __syncthreads();
        if (step < 3)
            tile[0][threadIdx.x] = a[(step + 1) * 64 + threadIdx.x]; // HERE OTHER
        for (int i = 0; i < 64; i++)
            sum += tile[0][i]; // HERE OTHER
    }
    b[threadIdx.x] = sum;
}

// finds race at HERE, with OTHER; <1, 128>, shared 1024: the two arrays carved from dynamic memory overlap
KERNEL carved_too_close(int *a, int *b, int n)
{
    extern __shared__ char room[];
    int *x = (int *)room, *y = (int *)(room + 256);
    x[threadIdx.x] = a[threadIdx.x]; // HERE OTHER
    y[threadIdx.x] = a[threadIdx.x + 128]; // HERE OTHER
    __syncthreads();
    b[threadIdx.x] = x[127 - threadIdx.x] + y[threadIdx.x];
}

// sound; <1, 128>, shared 1024
KERNEL carved(int *a, int *b, int n)
{
    extern __shared__ char room[];
    int *x = (int *)room, *y = x + blockDim.x;
    x[threadIdx.x] = a[threadIdx.x];
    y[threadIdx.x] = a[threadIdx.x + 128];
    __syncthreads();
    b[threadIdx.x] = x[127 - threadIdx.x] + y[127 - threadIdx.x];
}

// finds race at HERE; <1, (32, 4)>, advice threadIdx.y
KERNEL ignores_y(int *a, int *b, int n)
{
    __shared__ int tile[32];
    tile[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    tile[threadIdx.x] += a[threadIdx.x + 32]; // HERE
    __syncthreads();
    b[threadIdx.x] = tile[31 - threadIdx.x];
}

// sound; <1, (32, 4)>
KERNEL uses_y(int *a, int *b, int n)
{
    __shared__ int tile[4][33];
    tile[threadIdx.y][threadIdx.x] = a[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    b[threadIdx.y * 32 + threadIdx.x] = tile[3 - threadIdx.y][31 - threadIdx.x];
}

// finds race at HERE, with OTHER; <1, 32>: a warp need not run in step
KERNEL warp_in_step(int *a, int *b, int n)
{
    __shared__ volatile int part[64];
    part[threadIdx.x] = a[threadIdx.x]; // OTHER
    part[threadIdx.x + 32] = a[threadIdx.x + 32];
    __syncwarp();
    part[threadIdx.x] += part[threadIdx.x + 16]; // HERE OTHER
    part[threadIdx.x] += part[threadIdx.x + 8]; // HERE OTHER
    b[threadIdx.x] = part[threadIdx.x];
}

// sound; <1, 32>
KERNEL warp_synchronous(int *a, int *b, int n)
{
    __shared__ int part[32];
    int sum = a[threadIdx.x];
    for (int step = 16; step; step /= 2) {
        part[threadIdx.x] = sum;
        __syncwarp();
        sum += part[threadIdx.x ^ step];
        __syncwarp();
    }
    b[threadIdx.x] = sum;
}

// sound; <1, 64>: groups of eight lanes synchronise among themselves
KERNEL tiles_of_eight(int *a, int *b, int n)
{
    namespace cg = cooperative_groups;
    __shared__ int part[64];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    part[threadIdx.x] = a[threadIdx.x];
    tile.sync();
    int first = threadIdx.x / 8 * 8;
    b[threadIdx.x] = part[first + (threadIdx.x + 3) % 8];
}

// finds race at HERE, with OTHER; <1, 64>: the tile has eight lanes, the neighbour is sixteen away
KERNEL tiles_of_eight_too_small(int *a, int *b, int n)
{
    namespace cg = cooperative_groups;
    __shared__ int part[64];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    part[threadIdx.x] = a[threadIdx.x]; // OTHER
    tile.sync();
    b[threadIdx.x] = part[(threadIdx.x + 16) % 64]; // HERE
}

// sound; <1, 64>
KERNEL group_of_a_block(int *a, int *b, int n)
{
    namespace cg = cooperative_groups;
    __shared__ int part[64];
    cg::thread_block block = cg::this_thread_block();
    part[block.thread_rank()] = a[threadIdx.x];
    block.sync();
    b[threadIdx.x] = part[63 - threadIdx.x];
}

// sound; <1, 96>: the barrier also counts
KERNEL barrier_that_counts(int *a, int *b, int n)
{
    __shared__ int part[96];
    part[threadIdx.x] = a[threadIdx.x];
    int odd = __syncthreads_count(a[threadIdx.x] & 1);
    int any = __syncthreads_or(part[95 - threadIdx.x] > 90);
    b[threadIdx.x] = odd + any + part[95 - threadIdx.x];
}

// sound; <1, 64>: a lock of atomics and fences
KERNEL lock(int *a, int *b, int n)
{
    __shared__ int held, sum;
    if (threadIdx.x == 0)
        held = sum = 0;
    __syncthreads();
    for (bool done = false; !done;) {
        if (atomicCAS(&held, 0, 1) == 0) {
            __threadfence_block();
            sum += a[threadIdx.x];
            __threadfence_block();
            atomicExch(&held, 0);
            done = true;
        }
    }
    __syncthreads();
    b[threadIdx.x] = sum;
}

// finds race at HERE; <1, 64>: two locks protect one sum
KERNEL two_locks(int *a, int *b, int n)
{
    __shared__ int held[2], sum;
    if (threadIdx.x < 2)
        held[threadIdx.x] = sum = 0;
    __syncthreads();
    for (bool done = false; !done;) {
        if (atomicCAS(&held[threadIdx.x % 2], 0, 1) == 0) {
            __threadfence_block();
            sum += a[threadIdx.x]; // HERE
            __threadfence_block();
            atomicExch(&held[threadIdx.x % 2], 0);
            done = true;
        }
    }
    __syncthreads();
    b[threadIdx.x] = sum;
}

// finds race at HERE, with OTHER; <1, 64>: bytes of one word, the neighbour's too
KERNEL bytes_of_neighbours(int *a, int *b, int n)
{
    __shared__ unsigned char text[65];
    text[threadIdx.x] = a[threadIdx.x]; // HERE OTHER
    text[threadIdx.x + 1] = a[threadIdx.x] + 1; // HERE OTHER
    __syncthreads();
    b[threadIdx.x] = text[threadIdx.x];
}

// sound; <1, 64>: bytes of one word, each by one thread
KERNEL bytes_of_ones_own(int *a, int *b, int n)
{
    __shared__ unsigned char text[64];
    text[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    b[threadIdx.x] = text[63 - threadIdx.x];
}

// sound; <1, 96>: warps meet two by two at barriers of their own
KERNEL named_barriers(int *a, int *b, int n)
{
    __shared__ int part[96];
    if (threadIdx.x < 64) {
        part[threadIdx.x] = a[threadIdx.x];
        asm volatile("bar.sync 1, 64;" ::: "memory");
        b[threadIdx.x] = part[63 - threadIdx.x];
    } else
        b[threadIdx.x] = a[threadIdx.x];
}

// sound; <1, 64>: one warp arrives, the other waits
KERNEL producer_and_consumer(int *a, int *b, int n)
{
    __shared__ int part[32];
    if (threadIdx.x < 32) {
        part[threadIdx.x] = a[threadIdx.x];
        __threadfence_block();
        asm volatile("bar.arrive 2, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 2, 64;" ::: "memory");
        b[threadIdx.x] = part[threadIdx.x - 32];
    }
}

// sound; <1, 128>: prefix sums as Hillis and Steele have them, between two buffers
KERNEL scan_of_two_buffers(int *a, int *b, int n)
{
    __shared__ int part[2][128];
    int now = 0;
    part[0][threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    for (int step = 1; step < 128; step *= 2) {
        int left = threadIdx.x >= step ? part[now][threadIdx.x - step] : 0;
        part[1 - now][threadIdx.x] = part[now][threadIdx.x] + left;
        now = 1 - now;
        __syncthreads();
    }
    b[threadIdx.x] = part[now][threadIdx.x];
}

// finds race at HERE, with OTHER; <1, (16, 16)>: transposed without waiting
KERNEL transposed_early(int *a, int *b, int n)
{
    __shared__ int tile[16][17];
    tile[threadIdx.y][threadIdx.x] = a[threadIdx.y * 16 + threadIdx.x]; // OTHER
    __syncwarp();
    b[threadIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y]; // HERE
}

// finds race at HERE, with OTHER; <1, 256>: warp sums are read before all are written
KERNEL warp_sums_early(int *a, int *b, int n)
{
    __shared__ int sums[8];
    int sum = __reduce_add_sync(~0u, a[threadIdx.x]);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = sum; // OTHER
    if (threadIdx.x < 8)
        b[threadIdx.x] = sums[threadIdx.x]; // HERE
}

// sound; <1, 256>
KERNEL warp_sums(int *a, int *b, int n)
{
    __shared__ int sums[8];
    int sum = a[threadIdx.x];
    for (int step = 16; step; step /= 2)
        sum += __shfl_down_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < 8 ? sums[threadIdx.x] : 0;
        for (int step = 4; step; step /= 2)
            sum += __shfl_down_sync(~0u, sum, step);
        if (threadIdx.x == 0)
            b[0] = sum;
    }
}
