// finds: async at KERNEL: a kernel in one stream reads what a kernel in another writes, and no event stands between
__global__ void produce(int *data)
{
    data[threadIdx.x] = threadIdx.x;
}

__global__ void consume(const int *data, int *out) // KERNEL
{
    out[threadIdx.x] = data[threadIdx.x];
}

int main()
{
    cudaStream_t first, second;
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    int *data, *out;
    cudaMalloc(&data, 32 * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    produce<<<1, 32, 0, first>>>(data);
    consume<<<1, 32, 0, second>>>(data, out);
    cudaDeviceSynchronize();
    return 0;
}
