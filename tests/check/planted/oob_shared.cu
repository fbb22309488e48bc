// finds: out-of-bounds at DEFECT: a shared array is one element too short for its halo
__global__ void shift(int *out)
{
    __shared__ int tile[64];
    tile[threadIdx.x + 1] = threadIdx.x; // DEFECT
    __syncthreads();
    out[threadIdx.x] = threadIdx.x ? tile[threadIdx.x] : 0;
}

int main()
{
    int *out;
    cudaMalloc(&out, 64 * sizeof(int));
    shift<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
