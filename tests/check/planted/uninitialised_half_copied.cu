// finds: uninitialised at DEFECT: the host copies elements where it should copy bytes
__global__ void scale(const float *in, float *out, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = 2 * in[i]; // DEFECT
}

int main()
{
    float values[256] = {}, *in, *out;
    cudaMalloc(&in, sizeof values);
    cudaMalloc(&out, sizeof values);
    cudaMemcpy(in, values, 256, cudaMemcpyHostToDevice);
    scale<<<1, 64>>>(in, out, 256);
    cudaDeviceSynchronize();
    return 0;
}
