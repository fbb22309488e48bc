// A barrier of all threads of a cooperative launch, for our cooperative groups and for NVIDIA's.
#pragma once

#include "qualifiers.h"

// The driver leaves an address of its own in these registers for a cooperative launch alone.
KW_DEVICE bool __kernelwright_is_cooperative() {
    unsigned int low, high;
    asm("mov.u32 %0, %%envreg1;" : "=r"(low));
    asm("mov.u32 %0, %%envreg2;" : "=r"(high));
    return (low | high) != 0;
}
// A barrier of all threads of the grid, which run at the same time. The virtual GPU knows it by its name.
extern "C" inline __device__ __attribute__((noinline)) void __kernelwright_grid_barrier() {
    static __device__ unsigned int arrived, turn;
    if (!__kernelwright_is_cooperative()) __trap();
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) {
        unsigned int now = *(volatile unsigned int *)&turn;
        __threadfence();
        if (atomicAdd(&arrived, 1u) == gridDim.x * gridDim.y * gridDim.z - 1) {
            *(volatile unsigned int *)&arrived = 0;
            __threadfence();
            atomicAdd(&turn, 1u);
        } else {
            while (*(volatile unsigned int *)&turn == now) {
            }
        }
        __threadfence();
    }
    __syncthreads();
}
