// finds: use-after-free at DEFECT: the buffer is freed before the kernel that writes it
__global__ void store(int *out)
{
    out[threadIdx.x] = 1; // DEFECT
}

int main()
{
    int *out;
    cudaMalloc(&out, 32 * sizeof(int));
    cudaFree(out);
    store<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
