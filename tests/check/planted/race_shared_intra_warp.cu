// finds: race at DEFECT, with OTHER: the last steps of a reduction lean on lanes that run in step
__global__ void reduce(const int *in, int *out)
{
    __shared__ volatile int tile[64];
    int t = threadIdx.x;
    tile[t] = in[t];
    tile[t + 32] = in[t + 32];
    __syncwarp();
    tile[t] += tile[t + 32]; // OTHER
    tile[t] += t < 16 ? tile[t + 16] : 0; // DEFECT OTHER
    if (t == 0)
        *out = tile[0];
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMemset(in, 1, 64 * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    reduce<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
