// finds: async at KERNEL: the result is copied in the default stream, for which a non-blocking stream does not wait
__global__ void produce(int *data) // KERNEL
{
    data[threadIdx.x] = threadIdx.x;
}

int main()
{
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    int *data, values[32];
    cudaMalloc(&data, sizeof values);
    produce<<<1, 32, 0, stream>>>(data);
    cudaMemcpy(values, data, sizeof values, cudaMemcpyDeviceToHost);
    cudaDeviceSynchronize();
    return 0;
}
