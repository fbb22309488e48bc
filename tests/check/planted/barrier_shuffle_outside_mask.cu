// finds: barrier at DEFECT: lanes take part in a shuffle whose mask does not name them
__global__ void add(const int *in, int *out, unsigned mask)
{
    int value = in[threadIdx.x];
    for (int other = 1; other < 16; other *= 2)
        value += __shfl_xor_sync(mask, value, other); // DEFECT
    out[threadIdx.x] = value;
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 32 * sizeof(int));
    cudaMemset(in, 0, 32 * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    add<<<1, 32>>>(in, out, 0x0000ffffu);
    cudaDeviceSynchronize();
    return 0;
}
