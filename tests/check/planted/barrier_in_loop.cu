// finds: barrier at DEFECT: threads go through a loop with a barrier a different number of times
__global__ void rounds(int *out)
{
    __shared__ int tile[64];
    for (int r = 0; r <= (int)threadIdx.x / 32; r++) {
        tile[threadIdx.x] = r;
        __syncthreads(); // DEFECT
    }
    tile[threadIdx.x] += 1;
    __syncthreads(); // DEFECT
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

int main()
{
    int *out;
    cudaMalloc(&out, 64 * sizeof(int));
    rounds<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
