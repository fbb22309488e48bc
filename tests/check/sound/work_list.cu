// A breadth-first search whose frontier is filled first come, first served: what the program makes of it is the same.
#include <cstdio>

__global__ void expand(const int *frontier, int size, int *level, int depth, int n, int *next, int *next_size)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size)
        return;
    for (int step = 1; step <= 3; step++) {
        int node = (frontier[i] * 3 + step) % n;
        if (atomicCAS(&level[node], -1, depth) == -1)
            next[atomicAdd(next_size, 1)] = node;
    }
}

int main()
{
    const int n = 300;
    int *frontier, *next, *level, *size, levels[n], count = 1, zero = 0;
    cudaMalloc(&frontier, n * sizeof(int));
    cudaMalloc(&next, n * sizeof(int));
    cudaMalloc(&level, n * sizeof(int));
    cudaMalloc(&size, sizeof(int));
    cudaMemset(level, 0xff, n * sizeof(int));
    cudaMemset(frontier, 0, sizeof(int));
    cudaMemset(level, 0, sizeof(int));
    for (int depth = 1; count; depth++) {
        cudaMemcpy(size, &zero, sizeof(int), cudaMemcpyHostToDevice);
        expand<<<(count + 31) / 32, 32>>>(frontier, count, level, depth, n, next, size);
        cudaMemcpy(&count, size, sizeof(int), cudaMemcpyDeviceToHost);
        int *other = frontier;
        frontier = next;
        next = other;
    }
    cudaMemcpy(levels, level, sizeof levels, cudaMemcpyDeviceToHost);
    long sum = 0;
    for (int i = 0; i < n; i++)
        sum += levels[i] * (i % 7 + 1);
    printf("%ld\n", sum);
    return 0;
}
