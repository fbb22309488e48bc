// finds: misaligned at DEFECT: doubles in shared memory behind an odd number of floats
__global__ void sum(double *out, int floats)
{
    extern __shared__ float words[];
    words[threadIdx.x] = threadIdx.x;
    __syncthreads();
    double *behind = (double *)(words + floats);
    double total = 0;
    for (int i = 0; i < 4; i++)
        total += behind[i]; // DEFECT
    out[threadIdx.x] = total;
}

int main()
{
    double *out;
    cudaMalloc(&out, 32 * sizeof(double));
    sum<<<1, 32, 32 * sizeof(float)>>>(out, 5);
    cudaDeviceSynchronize();
    return 0;
}
