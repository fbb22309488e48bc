// finds: out-of-bounds at DEFECT: the left neighbour of the first element
__global__ void difference(const int *in, int *out)
{
    int i = threadIdx.x;
    out[i] = in[i] - in[i - 1]; // DEFECT
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 32 * sizeof(int));
    cudaMemset(in, 0, 32 * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    difference<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
