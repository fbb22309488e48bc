// finds: launch at DEFECT, with OTHER: 2,000 threads in a block
__global__ void store(int *out) // OTHER
{
    out[threadIdx.x] = 1;
}

int main()
{
    int *out;
    cudaMalloc(&out, 2000 * sizeof(int));
    store<<<1, 2000>>>(out); // DEFECT
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 0;
}
