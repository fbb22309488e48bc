// finds: uninitialised at DEFECT: the halo of a tile is never loaded
__global__ void smooth(const float *in, float *out)
{
    __shared__ float tile[66];
    int i = threadIdx.x + 1;
    tile[i] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[i - 1] + tile[i + 1]; // DEFECT
}

int main()
{
    float *in, *out;
    cudaMalloc(&in, 64 * sizeof(float));
    cudaMemset(in, 0, 64 * sizeof(float));
    cudaMalloc(&out, 64 * sizeof(float));
    smooth<<<1, 64>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
