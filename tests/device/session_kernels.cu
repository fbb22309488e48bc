// Kernels for the tests of a session; each does one thing.
#include <cassert>
#include <cstdio>

__device__ int counter = 41;
__constant__ int limit = 5;
__device__ int dropped[3]; // no kernel uses it
__managed__ int level = 7;

extern "C" {
__global__ void nothing() {}
__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}
__global__ void count() { atomicAdd(&counter, limit); }
__global__ void raise() { level += 1; }
__global__ void store(int *where, long long offset, int value) { where[offset] = value; }
__global__ void load(const char *from, int *out) { *out = *(const int *)from; }
__global__ void spin(volatile int *flag) { while (*flag == 0) clock64(); }
__global__ void trap() { __trap(); }
__global__ void check(int limit) { assert((int)threadIdx.x < limit); }
__global__ void diverge(int *p)
{
    if (threadIdx.x < 40) {
        __syncthreads();
        p[0] = 1;
    } else {
        p[1] = 2;
        __syncthreads();
        p[2] = 3;
    }
}
__global__ void hello(int n) { printf("hello %d of %d\n", (int)threadIdx.x, n); }
__global__ void reverse(int *data, int n)
{
    extern __shared__ int box[];
    __shared__ int fixed[4];
    fixed[threadIdx.x % 4] = threadIdx.x % 4;
    box[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = box[n - 1 - threadIdx.x] + fixed[n % 4];
}
__global__ void __launch_bounds__(128) bounded() {}
__global__ void strange(int *p) { asm volatile("brkpt;"); *p = 1; }
}
