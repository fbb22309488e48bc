// Adds two rows of numbers on the GPU, real or virtual, and checks the sum.
#include <stdio.h>

__global__ void add(const float *a, const float *b, float *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        sum[i] = a[i] + b[i];
}

int main(void)
{
    const int n = 10000;
    float *a, *b, *sum;
    cudaMallocManaged(&a, n * sizeof(float));
    cudaMallocManaged(&b, n * sizeof(float));
    cudaMallocManaged(&sum, n * sizeof(float));
    for (int i = 0; i < n; i++) {
        a[i] = i;
        b[i] = 2 * i;
    }
    add<<<(n + 255) / 256, 256>>>(a, b, sum, n);
    cudaError_t error = cudaDeviceSynchronize();
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += sum[i] != 3.0f * i;
    printf("%d sums, %d wrong (%s)\n", n, wrong, cudaGetErrorString(error));
    return wrong != 0;
}
