// finds: order-dependent at KERNEL, with --schedules: the place of each element is first come, first served
__global__ void compact(const int *in, int *out, int *used) // KERNEL
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] >= 0)
        out[atomicAdd(used, 1)] = i;
}

int main()
{
    int *in, *out, *used;
    cudaMalloc(&in, 256 * sizeof(int));
    cudaMemset(in, 0, 256 * sizeof(int));
    cudaMalloc(&out, 256 * sizeof(int));
    cudaMalloc(&used, sizeof(int));
    cudaMemset(used, 0, sizeof(int));
    compact<<<4, 64>>>(in, out, used);
    cudaDeviceSynchronize();
    return 0;
}
