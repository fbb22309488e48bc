// Unusual but legal CUDA, and the same with one mistake.
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <cstdio>
#define KERNEL extern "C" __global__ void

// sound; <4, 64>: decoupled look-back with volatile flags
KERNEL look_back(int *a, int *b, int n)
{
    volatile int *flag = b, *value = b + 64;
    __shared__ int base;
    int sum = __syncthreads_count(a[threadIdx.x + blockIdx.x * 64] % 3 == 0);
    if (threadIdx.x == 0) {
        int before = 0;
        if (blockIdx.x) {
            while (flag[blockIdx.x - 1] == 0) ;
            __threadfence();
            before = value[blockIdx.x - 1];
        }
        value[blockIdx.x] = before + sum;
        __threadfence();
        flag[blockIdx.x] = 1;
        base = before;
    }
    __syncthreads();
    b[1000 + blockIdx.x * 64 + threadIdx.x] = base;
}

// sound; <1, 128>: warp specialised producer/consumer with named barriers, two stages
KERNEL two_stage_pipe(int *a, int *b, int n)
{
    __shared__ int stage[2][64];
    int w = threadIdx.x / 64, lane = threadIdx.x % 64;
    for (int i = 0; i < 6; i++) {
        if (w == 0) {
            if (i >= 2) { if (i % 2 == 0) asm volatile("bar.sync 3, 128;" ::: "memory"); else asm volatile("bar.sync 4, 128;" ::: "memory"); }
            stage[i % 2][lane] = a[i * 64 + lane];
            __threadfence_block();
            if (i % 2 == 0) asm volatile("bar.arrive 1, 128;" ::: "memory"); else asm volatile("bar.arrive 2, 128;" ::: "memory");
        } else {
            if (i % 2 == 0) asm volatile("bar.sync 1, 128;" ::: "memory"); else asm volatile("bar.sync 2, 128;" ::: "memory");
            b[i * 64 + lane] = stage[i % 2][63 - lane];
            if (i < 4) { if (i % 2 == 0) asm volatile("bar.arrive 3, 128;" ::: "memory"); else asm volatile("bar.arrive 4, 128;" ::: "memory"); }
        }
    }
}

// sound; <2, 96>, n 150: early exit by whole warps in a grid-stride loop with warp shuffles
KERNEL warp_per_row(int *a, int *b, int n)
{
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    for (int row = warp; row < 10; row += 6) {
        int sum = 0;
        for (int i = lane; i < n; i += 32) sum += a[row * n + i];
        for (int s = 16; s; s /= 2) sum += __shfl_xor_sync(~0u, sum, s);
        if (lane == 0) b[row] = sum;
    }
}

// sound; <1, 64>: each thread polls a shared volatile flag set by thread 0 through atomics
KERNEL atomic_flag_in_shared(int *a, int *b, int n)
{
    __shared__ int flag, data;
    if (threadIdx.x == 0) { flag = 0; }
    __syncthreads();
    if (threadIdx.x == 0) { data = a[5]; __threadfence_block(); atomicExch(&flag, 1); }
    else if (threadIdx.x == 40) {
        while (atomicAdd(&flag, 0) == 0) ;
        __threadfence_block();
        b[0] = data;
    }
}

// sound; <1, 64>: printf in a branch
KERNEL prints(int *a, int *b, int n)
{
    if (threadIdx.x == 3) printf("%d %s\n", a[3], "x");
    __syncthreads();
    b[threadIdx.x] = 1;
}

// sound; <1, 256>: bitonic sort in shared memory
KERNEL bitonic(int *a, int *b, int n)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = a[(t * 37) % 256];
    __syncthreads();
    for (int k = 2; k <= 256; k *= 2)
        for (int j = k / 2; j; j /= 2) {
            int o = t ^ j;
            if (o > t) {
                bool up = (t & k) == 0;
                if ((s[t] > s[o]) == up) { int x = s[t]; s[t] = s[o]; s[o] = x; }
            }
            __syncthreads();
        }
    b[t] = s[t];
}

// sound; <1, 64>: barrier inside loop with uniform early break by shared flag
KERNEL until_converged(int *a, int *b, int n)
{
    __shared__ int go;
    int value = a[threadIdx.x];
    for (int i = 0; i < 100; i++) {
        __syncthreads();
        if (threadIdx.x == 0) go = 0;
        __syncthreads();
        if (value > 3) { value = value / 2; go = 1; }
        __syncthreads();
        if (!go) break;
    }
    b[threadIdx.x] = value;
}

// sound; <1, 64>: while(true) with return, all together
KERNEL return_together(int *a, int *b, int n)
{
    __shared__ int tile[64];
    int i = 0;
    while (true) {
        tile[threadIdx.x] = a[threadIdx.x] + i;
        __syncthreads();
        int x = tile[63 - threadIdx.x];
        __syncthreads();
        b[threadIdx.x] += x;
        if (++i == n % 7) return;
    }
}

// sound; <1, 64>: syncwarp after divergent branch
KERNEL diverge_and_meet(int *a, int *b, int n)
{
    __shared__ int tile[64];
    int lane = threadIdx.x % 32;
    if (lane % 2) tile[threadIdx.x] = a[threadIdx.x]; else tile[threadIdx.x] = -a[threadIdx.x];
    __syncwarp();
    b[threadIdx.x] = tile[threadIdx.x ^ 1];
}

// sound; <1, 20>: a block smaller than a warp with full masks
KERNEL small_block(int *a, int *b, int n)
{
    __shared__ int tile[20];
    tile[threadIdx.x] = a[threadIdx.x];
    __syncwarp();
    b[threadIdx.x] = tile[19 - threadIdx.x] + __any_sync(~0u, a[threadIdx.x] > 3);
}

// sound; <1, 64>, n 50: guard with continue in a uniform loop
KERNEL guarded_rounds(int *a, int *b, int n)
{
    __shared__ int t[64];
    int acc = 0;
    for (int r = 0; r < 4; r++) {
        bool mine = threadIdx.x + r * 16 < n;
        t[threadIdx.x] = mine ? a[threadIdx.x + r * 16] : 0;
        __syncthreads();
        if (mine) { for (int i = 0; i < 64; i++) { if (t[i] < 0) continue; acc += t[i]; } }
        __syncthreads();
    }
    if (threadIdx.x < n) b[threadIdx.x] = acc;
}

// sound; <1, 128>: only the first warp finishes, others return before its syncwarps
KERNEL last_warp(int *a, int *b, int n)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncthreads();
    if (t < 64) s[t] += s[t + 64];
    __syncthreads();
    if (t >= 32) return;
    int v = s[t] + s[t + 32];
    for (int d = 16; d; d >>= 1) v += __shfl_down_sync(0xffffffff, v, d);
    if (t == 0) b[0] = v;
}

// sound; <1, 64>: union of bytes and words by phases
KERNEL bytes_then_words(int *a, int *b, int n)
{
    __shared__ __align__(16) unsigned char s[256];
    for (int i = 0; i < 4; i++) s[threadIdx.x + 64 * i] = a[threadIdx.x] + i;
    __syncthreads();
    b[threadIdx.x] = ((int *)s)[threadIdx.x];
}

// sound; <1, 64>: threads exit inside a divergent loop after a vote
KERNEL vote_loop(int *a, int *b, int n)
{
    int v = a[threadIdx.x];
    while (__any_sync(~0u, v > 0)) { if (v > 0) v -= 7; }
    b[threadIdx.x] = v;
}

// sound; <1, 64>: activemask-based aggregation in divergent code
KERNEL aggregated(int *a, int *b, int n)
{
    if (a[threadIdx.x] % 5 < 2) {
        auto g = cooperative_groups::coalesced_threads();
        int base;
        if (g.thread_rank() == 0) base = atomicAdd(&b[0], g.size());
        base = g.shfl(base, 0);
        b[1 + base + g.thread_rank()] = 7;
    }
}

// sound; <1, 64>: butterfly-summed value stored by all lanes
KERNEL all_lanes_store(int *a, int *b, int n)
{
    __shared__ int s[2];
    int v = a[threadIdx.x];
    for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(~0u, v, d);
    s[threadIdx.x / 32] = v;
    __syncthreads();
    b[threadIdx.x] = s[0] + s[1];
}

// sound; <1, 64>: every thread clears the same flag, then reads after a barrier
KERNEL all_clear(int *a, int *b, int n)
{
    __shared__ bool any;
    __shared__ float best;
    any = false; best = 1e30f;
    __syncthreads();
    if (a[threadIdx.x] == 9) { any = true; best = n; }
    __syncthreads();
    b[threadIdx.x] = any ? (int)best : 0;
}

// sound; <2, 64>: global memory result read back through the same thread only
KERNEL own_again(int *a, int *b, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    b[i] = a[i]; b[i] += 2; b[i + 512] = b[i];
}

// finds race; <1, 64>: named barrier for the wrong number of warps
KERNEL wrong_named(int *a, int *b, int n)
{
    __shared__ int s[64];
    s[threadIdx.x] = a[threadIdx.x];
    if (threadIdx.x < 32) asm volatile("bar.sync 1, 32;" ::: "memory"); else asm volatile("bar.sync 2, 32;" ::: "memory");
    b[threadIdx.x] = s[63 - threadIdx.x];
}

// finds race; <4, 64>: look-back that reads the value before the flag
KERNEL look_back_early(int *a, int *b, int n)
{
    volatile int *flag = b; int *value = b + 64;
    if (threadIdx.x == 0) {
        int before = 0;
        if (blockIdx.x) { before = value[blockIdx.x - 1]; while (flag[blockIdx.x - 1] == 0) ; }
        value[blockIdx.x] = before + 1;
        __threadfence();
        flag[blockIdx.x] = 1;
    }
}

// finds race; <1, 64>: syncthreads only every second round
KERNEL every_second(int *a, int *b, int n)
{
    __shared__ int s[64];
    int x = a[threadIdx.x];
    for (int i = 0; i < 4; i++) {
        s[threadIdx.x] = x;
        if (i % 2 == 0) __syncthreads();
        x += s[63 - threadIdx.x];
        __syncthreads();
    }
    b[threadIdx.x] = x;
}

// finds barrier; <1, 64>: return of odd threads in one helper, barrier later in loop of the rest plus work behind
KERNEL odd_skip(int *a, int *b, int n)
{
    int v = a[threadIdx.x];
    if (threadIdx.x & 1) goto out;
    for (int i = 0; i < 3; i++) { b[threadIdx.x + 64] = v; __syncthreads(); v += b[62 - (threadIdx.x & 62) + 64]; __syncthreads(); }
out:
    b[threadIdx.x] = v;
}

// finds barrier; <1, 32>: __syncwarp with a mask lacking ended branch, others pass
KERNEL half_syncwarp_loop(int *a, int *b, int n)
{
    __shared__ int s[32];
    for (int i = 0; i < (threadIdx.x < 8 ? 3 : 2); i++) { s[threadIdx.x] = a[i + threadIdx.x]; __syncwarp(); b[threadIdx.x] += s[threadIdx.x]; }
    b[threadIdx.x] += 5;
}
