// finds: race at LAST, with OTHER: a sum is read from shared memory, and nothing stands before the next one is written there
#include <cstdio>

__device__ float sum_of(float value) {
    __shared__ float sums[32];
    for (int far = 16; far; far /= 2) value += __shfl_xor_sync(~0u, value, far);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;  // OTHER
    __syncthreads();
    if (threadIdx.x == 0)
        for (int i = 1; i < (int)blockDim.x / 32; i++) sums[0] += sums[i];
    __syncthreads();
    return sums[0];  // LAST
}

__global__ void spread(float *p) {
    const float mean = sum_of(p[threadIdx.x]) / blockDim.x;
    const float apart = p[threadIdx.x] - mean;
    const float whole = sum_of(apart * apart);
    if (threadIdx.x == 0) p[0] = whole;
}

int main() {
    float *p;
    cudaMalloc(&p, 64 * sizeof(float));
    cudaMemset(p, 0, 64 * sizeof(float));
    spread<<<1, 32>>>(p);  // of one warp, whose lanes alone could meet
    spread<<<1, 64>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
