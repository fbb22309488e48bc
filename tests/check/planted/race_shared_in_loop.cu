// finds: race at DEFECT, with OTHER: one barrier per step of a reduction, where the read and the write need one each
__global__ void scan(int *data)
{
    __shared__ int tile[128];
    int t = threadIdx.x;
    tile[t] = data[t];
    __syncthreads();
    for (int step = 1; step < 128; step *= 2) {
        int left = t >= step ? tile[t - step] : 0; // DEFECT
        tile[t] += left + 1; // OTHER
        __syncthreads();
    }
    data[t] = tile[t];
}

int main()
{
    int *data;
    cudaMalloc(&data, 128 * sizeof(int));
    cudaMemset(data, 0, 128 * sizeof(int));
    scan<<<1, 128>>>(data);
    cudaDeviceSynchronize();
    return 0;
}
