// finds: out-of-bounds at DEFECT: an index from the input leaves a thread's own array
__global__ void pick(const int *in, int *out, int n)
{
    int own[8];
    for (int i = 0; i < 8; i++)
        own[in[i] & 7] = i;
    out[threadIdx.x] = own[in[threadIdx.x] + n]; // DEFECT
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 32 * sizeof(int));
    cudaMemset(in, 0, 32 * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    pick<<<1, 32>>>(in, out, 100);
    cudaDeviceSynchronize();
    return 0;
}
