// finds: race at DEFECT, with OTHER: a counter without an atomic
__global__ void count(const int *in, int *total)
{
    if (in[blockIdx.x * blockDim.x + threadIdx.x] == 0)
        *total += 1; // DEFECT OTHER
}

int main()
{
    int *in, *total;
    cudaMalloc(&in, 128 * sizeof(int));
    cudaMemset(in, 0, 128 * sizeof(int));
    cudaMalloc(&total, sizeof(int));
    cudaMemset(total, 0, sizeof(int));
    count<<<2, 64>>>(in, total);
    cudaDeviceSynchronize();
    return 0;
}
