// A program with something to find: a kernel that the stand-in for the driver knows, with two barriers that nothing needs.
#include <cuda_runtime.h>

extern "C" __global__ void add_one(float *p, int n) {
    __shared__ float kept[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    kept[threadIdx.x] = i < n ? p[i] : 0;
    __syncthreads();
    __syncthreads();
    if (i < n) p[i] = kept[threadIdx.x] + 1;
}

int main() {
    const int n = 500;
    float host[n], *p;
    for (int i = 0; i < n; i++) host[i] = i * 0.5f;
    cudaMalloc(&p, sizeof host);
    cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice);
    for (int k = 0; k < 3; k++) add_one<<<4, 128>>>(p, n);
    cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
    return cudaFree(p);
}
