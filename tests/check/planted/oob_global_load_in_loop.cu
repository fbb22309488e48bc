// finds: out-of-bounds at DEFECT: a loop reads one element too many
__global__ void sum(const float *in, float *out, int n)
{
    float total = 0;
    for (int i = threadIdx.x; i <= n; i += 32)
        total += in[i]; // DEFECT
    out[threadIdx.x] = total;
}

int main()
{
    float *in, *out;
    cudaMalloc(&in, 256 * sizeof(float));
    cudaMemset(in, 0, 256 * sizeof(float));
    cudaMalloc(&out, 32 * sizeof(float));
    sum<<<1, 32>>>(in, out, 256);
    cudaDeviceSynchronize();
    return 0;
}
