// finds: async at DEFECT, with OTHER: the program reads managed memory before it has waited for the kernel
#include <cstdio>

__global__ void produce(int *data) // OTHER
{
    data[threadIdx.x] = threadIdx.x;
}

int main()
{
    int *data;
    cudaMallocManaged(&data, 32 * sizeof(int));
    produce<<<1, 32>>>(data);
    printf("%d\n", data[5]); // DEFECT
    cudaDeviceSynchronize();
    return 0;
}
