// Barriers, warp synchronisation, shuffles, atomics and the flag of the last block: all ordered, all written first.
#include <cstdio>

__device__ unsigned done;

__global__ void sum(const int *in, int *parts, int *total)
{
    __shared__ int tile[128];
    int t = threadIdx.x;
    tile[t] = in[blockIdx.x * 128 + t];
    __syncthreads();
    for (int half = 64; half >= 32; half /= 2) {
        if (t < half)
            tile[t] += tile[t + half];
        __syncthreads();
    }
    if (t >= 32)
        return;
    int value = tile[t];
    for (int other = 16; other; other /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, other);
    tile[t] = value;
    __syncwarp();
    if (t == 0) {
        parts[blockIdx.x] = tile[31];
        __threadfence();
        if (atomicAdd(&done, 1) == gridDim.x - 1) {
            int all = 0;
            for (unsigned b = 0; b < gridDim.x; b++)
                all += ((volatile int *)parts)[b];
            *total = all;
        }
    }
}

int main()
{
    int *in, *parts, *total, got;
    cudaMalloc(&in, 512 * sizeof(int));
    cudaMemset(in, 0, 512 * sizeof(int));
    cudaMalloc(&parts, 4 * sizeof(int));
    cudaMalloc(&total, sizeof(int));
    sum<<<4, 128>>>(in, parts, total);
    cudaMemcpy(&got, total, sizeof got, cudaMemcpyDeviceToHost);
    printf("%d\n", got);
    return 0;
}
