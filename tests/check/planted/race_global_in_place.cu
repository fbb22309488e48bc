// finds: race at DEFECT, with OTHER: a stencil in place, across warps and in a loop
__global__ void relax(float *cells, int rounds)
{
    int i = threadIdx.x + 1;
    for (int r = 0; r < rounds; r++) {
        float mean = 0.5f * (cells[i - 1] + cells[i + 1]) + 1; // DEFECT OTHER
        cells[i] = mean; // OTHER DEFECT
        __syncthreads();
    }
}

int main()
{
    float *cells;
    cudaMalloc(&cells, 130 * sizeof(float));
    cudaMemset(cells, 0, 130 * sizeof(float));
    relax<<<1, 128>>>(cells, 3);
    cudaDeviceSynchronize();
    return 0;
}
