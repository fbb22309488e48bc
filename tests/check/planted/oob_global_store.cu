// finds: out-of-bounds at DEFECT: the last block goes past the end of a global buffer
__global__ void fill(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = n; // DEFECT
}

int main()
{
    int *out;
    cudaMalloc(&out, 100 * sizeof(int));
    fill<<<4, 32>>>(out, 100);
    cudaDeviceSynchronize();
    return 0;
}
