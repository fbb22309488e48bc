// finds: barrier at DEFECT: some threads wait at a barrier of one branch, others at that of the other
__global__ void halves(int *out)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 32) {
        __syncthreads(); // DEFECT
        out[threadIdx.x] = tile[threadIdx.x + 32];
    } else {
        __syncthreads(); // DEFECT
        out[threadIdx.x] = tile[threadIdx.x - 32] + 1;
    }
}

int main()
{
    int *out;
    cudaMalloc(&out, 64 * sizeof(int));
    halves<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
