// finds: async at KERNEL: the program reads managed memory before it has waited for the kernel
#include <cstdio>

__global__ void produce(int *data) // KERNEL
{
    data[threadIdx.x] = threadIdx.x;
}

int main()
{
    int *data;
    cudaMallocManaged(&data, 32 * sizeof(int));
    produce<<<1, 32>>>(data);
    printf("%d\n", data[5]);
    cudaDeviceSynchronize();
    return 0;
}
