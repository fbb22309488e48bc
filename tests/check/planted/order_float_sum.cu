// finds: order-dependent at KERNEL, with --schedules: floats are added in the order in which threads come
__global__ void sum(const float *in, float *total) // KERNEL
{
    atomicAdd(total, in[blockIdx.x * blockDim.x + threadIdx.x]);
}

int main()
{
    float values[256], *in, *total;
    for (int i = 0; i < 256; i++)
        values[i] = 1.0f / (1 + i * i);
    cudaMalloc(&in, sizeof values);
    cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice);
    cudaMalloc(&total, sizeof(float));
    cudaMemset(total, 0, sizeof(float));
    sum<<<4, 64>>>(in, total);
    cudaDeviceSynchronize();
    return 0;
}
