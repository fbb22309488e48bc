// A block of threads on the host: each a coroutine that hands over wherever all threads of the block meet.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ucontext.h>
#include <cmath>

struct dim3 { unsigned x, y, z; };
static dim3 threadIdx, blockIdx, blockDim, gridDim;

#define VECTOR2(t, n, a) struct alignas(a) n { t x, y; }; static inline n make_##n(t x, t y) { return {x, y}; }
#define VECTOR4(t, n, a) struct alignas(a) n { t x, y, z, w; }; static inline n make_##n(t x, t y, t z, t w) { return {x, y, z, w}; }
VECTOR2(int, int2, 8) VECTOR4(int, int4, 16) VECTOR2(short, short2, 4) VECTOR4(unsigned char, uchar4, 4)
VECTOR2(long long, longlong2, 16) VECTOR4(unsigned short, ushort4, 8) VECTOR2(unsigned, uint2, 8) VECTOR2(double, double2, 16)
VECTOR4(float, float4, 16)

enum { MOST = 64 };
static ucontext_t scheduler, threads[MOST];
static char stacks[MOST][65536];
static unsigned here;
static unsigned long long exchanged[MOST];

static void __syncthreads() { swapcontext(&threads[here], &scheduler); }

// Only where all threads of the block are together.
template <class T> static T __shfl_xor_sync(unsigned, T value, int mask) {
    unsigned me = here;
    exchanged[me] = 0;
    memcpy(&exchanged[me], &value, sizeof value);
    __syncthreads();
    T found = value;
    if ((me ^ mask) < blockDim.x) memcpy(&found, &exchanged[me ^ mask], sizeof found);
    __syncthreads();
    return found;
}
static unsigned __ballot_sync(unsigned, int predicate) {
    unsigned me = here, found = 0;
    exchanged[me] = predicate != 0;
    __syncthreads();
    for (unsigned lane = 0; lane < 32; lane++)
        if ((me & ~31u) + lane < blockDim.x) found |= (unsigned)exchanged[(me & ~31u) + lane] << lane;
    __syncthreads();
    return found;
}
template <class T> static T atomicAdd(T *at, T value) { T old = *at; *at = (T)(old + value); return old; }

static int __popc(unsigned x) { return __builtin_popcount(x); }
static int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
static int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static unsigned __brev(unsigned x) { unsigned r = 0; for (int i = 0; i < 32; i++) r |= (x >> i & 1) << (31 - i); return r; }
template <class A, class B> static auto min(A a, B b) -> decltype(a + b) { typedef decltype(a + b) T; return (T)a < (T)b ? (T)a : (T)b; }
template <class A, class B> static auto max(A a, B b) -> decltype(a + b) { typedef decltype(a + b) T; return (T)a > (T)b ? (T)a : (T)b; }

static void (*body)();
static int ended[MOST];
static void enter() {
    body();
    ended[here] = 1;
    swapcontext(&threads[here], &scheduler);
}
// Every block, one after the other; within a block every thread up to where it waits, then all again.
static void run_grid(unsigned grid, unsigned block, void (*kernel)()) {
    body = kernel;
    gridDim = {grid, 1, 1};
    blockDim = {block, 1, 1};
    for (unsigned b = 0; b < grid; b++) {
        blockIdx = {b, 0, 0};
        for (unsigned t = 0; t < block; t++) {
            ended[t] = 0;
            getcontext(&threads[t]);
            threads[t].uc_stack.ss_sp = stacks[t];
            threads[t].uc_stack.ss_size = sizeof stacks[t];
            threads[t].uc_link = &scheduler;
            makecontext(&threads[t], enter, 0);
        }
        for (unsigned left = block; left;)
            for (unsigned t = 0; t < block; t++)
                if (!ended[t]) {
                    threadIdx = {t, 0, 0};
                    here = t;
                    swapcontext(&scheduler, &threads[t]);
                    left -= ended[t];
                }
    }
}
