// Results that depend on who comes first, though nothing races; and those that only could. All are tried in other orders.
#include <cuda_runtime.h>
#define KERNEL extern "C" __global__ void

// finds order-dependent, with OTHER; <4, 32>: first come, first served
KERNEL compacted(int *a, int *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (a[i] % 2 == 0)
        b[1 + atomicAdd(&b[0], 1)] = a[i]; // OTHER
}

// sound; <1, 128>: places by a scan
KERNEL compacted_by_a_scan(int *a, int *b, int n)
{
    __shared__ int part[128];
    int mine = a[threadIdx.x] % 2 == 0;
    part[threadIdx.x] = mine;
    __syncthreads();
    for (int step = 1; step < 128; step *= 2) {
        int left = threadIdx.x >= step ? part[threadIdx.x - step] : 0;
        __syncthreads();
        part[threadIdx.x] += left;
        __syncthreads();
    }
    if (mine)
        b[part[threadIdx.x] - 1] = a[threadIdx.x];
}

// finds order-dependent, with OTHER; <8, 64>: sums of floating-point numbers
KERNEL float_sum(int *a, int *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd((float *)b, 1.0f / (3 + a[i])); // OTHER
}

// sound; <8, 64>
KERNEL integer_sum(int *a, int *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(b, a[i]);
    atomicMax(b + 1, a[i]);
    atomicMin(b + 2, -a[i]);
    atomicOr(b + 3, a[i]);
    atomicXor(b + 4, a[i]);
}

// sound; <8, 64>: sums of small whole numbers are exact
KERNEL exact_float_sum(int *a, int *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd((float *)b, (float)(a[i] % 16));
}

// finds order-dependent, with OTHER; <8, 64>: the last to exchange wins
KERNEL exchange(int *a, int *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        atomicExch(b, i); // OTHER
}

// finds order-dependent, with OTHER; <8, 32>: who is the first
KERNEL first_to_swap(int *a, int *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (atomicCAS(&b[0], 0, 1) == 0) // OTHER
        b[1] = i;
}

// finds order-dependent, with OTHER; <8, 32>: a threshold on a running count
KERNEL limited(int *a, int *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (atomicAdd(&b[0], 1) < 20) // OTHER
        b[1 + i] = 1;
}

// sound; <8, 32>: who comes when does not show
KERNEL tickets(int *a, int *b, int n)
{
    int mine = atomicAdd(&b[0], 1);
    b[1 + mine] = 1;
}

// sound; <4, 64>: work from a queue, results by index
KERNEL queue(int *a, int *b, int n)
{
    for (;;) {
        int i = atomicAdd(&b[0], 1);
        if (i >= 200)
            break;
        b[1 + i] = a[i] * 3;
    }
    if (threadIdx.x == 0 && blockIdx.x == 0)
        atomicAdd(&b[300], 1);
}

// finds order-dependent, with OTHER; <4, 64>: the largest, and where it is, in two steps
KERNEL largest_and_place(int *a, int *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (atomicMax(&b[0], a[i] / 8) < a[i] / 8) // OTHER
        atomicExch(&b[1], i); // OTHER
}

// sound; <4, 64>: in one step
KERNEL largest_with_place(int *a, int *b, int n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicMax((unsigned long long *)b, (unsigned long long)(a[i] / 8) << 32 | (~i & 0xffffffffu));
}
