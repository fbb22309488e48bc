// finds: out-of-bounds at DEFECT: a pointer that nobody allocated
__global__ void store(int *out)
{
    out[threadIdx.x] = 1; // DEFECT
}

int main()
{
    store<<<1, 32>>>(nullptr);
    cudaDeviceSynchronize();
    return 0;
}
