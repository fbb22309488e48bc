// finds: launch at KERNEL: 2,000 threads in a block
__global__ void store(int *out) // KERNEL
{
    out[threadIdx.x] = 1;
}

int main()
{
    int *out;
    cudaMalloc(&out, 2000 * sizeof(int));
    store<<<1, 2000>>>(out);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 0;
}
