// finds: race at DEFECT, with OTHER: blocks write the halo cells of their neighbours
__global__ void spread(int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = blockIdx.x; // DEFECT OTHER
    if (threadIdx.x == blockDim.x - 1)
        out[i + 1] = 100 + blockIdx.x; // DEFECT OTHER
}

int main()
{
    int *out;
    cudaMalloc(&out, 129 * sizeof(int));
    spread<<<4, 32>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
