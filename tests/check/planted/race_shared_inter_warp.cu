// finds: race at DEFECT, with OTHER: no barrier between writing and reading a tile
__global__ void reverse(int *data)
{
    __shared__ int tile[128];
    tile[threadIdx.x] = data[threadIdx.x]; // OTHER DEFECT
    data[threadIdx.x] = tile[127 - threadIdx.x]; // DEFECT OTHER
}

int main()
{
    int *data;
    cudaMalloc(&data, 128 * sizeof(int));
    cudaMemset(data, 0, 128 * sizeof(int));
    reverse<<<1, 128>>>(data);
    cudaDeviceSynchronize();
    return 0;
}
