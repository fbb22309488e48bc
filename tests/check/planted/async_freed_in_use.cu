// finds: async at KERNEL: memory is freed in one stream while a kernel in another uses it
__global__ void produce(int *data) // KERNEL
{
    data[threadIdx.x] = threadIdx.x;
}

int main()
{
    cudaStream_t first, second;
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    int *data;
    cudaMallocAsync(&data, 32 * sizeof(int), first);
    produce<<<1, 32, 0, first>>>(data);
    cudaFreeAsync(data, second);
    cudaDeviceSynchronize();
    return 0;
}
