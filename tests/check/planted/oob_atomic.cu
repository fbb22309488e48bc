// finds: out-of-bounds at DEFECT: a histogram without a bin for the largest value
__global__ void count(const int *in, int *bins)
{
    atomicAdd(&bins[in[threadIdx.x]], 1); // DEFECT
}

int main()
{
    int values[32], *in, *bins;
    for (int i = 0; i < 32; i++)
        values[i] = i < 31 ? i % 8 : 8;
    cudaMalloc(&in, sizeof values);
    cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice);
    cudaMalloc(&bins, 8 * sizeof(int));
    cudaMemset(bins, 0, 8 * sizeof(int));
    count<<<1, 32>>>(in, bins);
    cudaDeviceSynchronize();
    return 0;
}
