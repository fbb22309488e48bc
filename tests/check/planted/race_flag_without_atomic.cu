// finds: race at DEFECT, with OTHER: one block adds atomically, the other reads without
__global__ void collect(int *sum, int *out)
{
    if (blockIdx.x < 3)
        atomicAdd(sum, 1); // OTHER DEFECT
    else
        out[threadIdx.x] = *sum; // DEFECT OTHER
}

int main()
{
    int *sum, *out;
    cudaMalloc(&sum, sizeof(int));
    cudaMemset(sum, 0, sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    collect<<<4, 32>>>(sum, out);
    cudaDeviceSynchronize();
    return 0;
}
