// finds: misaligned at DEFECT: an int at an odd address
__global__ void load(const char *in, int *out)
{
    out[threadIdx.x] = *(const int *)(in + 4 * threadIdx.x + 1); // DEFECT
}

int main()
{
    char *in;
    int *out;
    cudaMalloc(&in, 256);
    cudaMemset(in, 0, 256);
    cudaMalloc(&out, 32 * sizeof(int));
    load<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
