// finds: uninitialised at DEFECT: the sum starts from whatever was in memory
__global__ void accumulate(const int *in, int *sums)
{
    sums[threadIdx.x] += in[threadIdx.x]; // DEFECT
}

int main()
{
    int *in, *sums;
    cudaMalloc(&in, 32 * sizeof(int));
    cudaMemset(in, 0, 32 * sizeof(int));
    cudaMalloc(&sums, 32 * sizeof(int));
    accumulate<<<1, 32>>>(in, sums);
    cudaDeviceSynchronize();
    return 0;
}
