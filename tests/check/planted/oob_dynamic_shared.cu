// finds: out-of-bounds at DEFECT: the launch gives less dynamic shared memory than the loop uses
__global__ void spread(int *out, int rounds)
{
    extern __shared__ int box[];
    for (int r = 0; r < rounds; r++)
        box[r * 32 + threadIdx.x] = r; // DEFECT
    out[threadIdx.x] = box[threadIdx.x];
}

int main()
{
    int *out;
    cudaMalloc(&out, 32 * sizeof(int));
    spread<<<1, 32, 3 * 32 * sizeof(int)>>>(out, 4);
    cudaDeviceSynchronize();
    return 0;
}
