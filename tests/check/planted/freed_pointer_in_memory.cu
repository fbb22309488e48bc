// finds: use-after-free at DEFECT: a row of a table of pointers is freed too early
__global__ void sum(int *const *rows, int *out, int n)
{
    int total = 0;
    for (int r = 0; r < n; r++)
        total += rows[r][threadIdx.x]; // DEFECT
    out[threadIdx.x] = total;
}

int main()
{
    int *rows[4], **table, *out;
    for (int r = 0; r < 4; r++) {
        cudaMalloc(&rows[r], 32 * sizeof(int));
        cudaMemset(rows[r], 0, 32 * sizeof(int));
    }
    cudaMalloc(&table, sizeof rows);
    cudaMemcpy(table, rows, sizeof rows, cudaMemcpyHostToDevice);
    cudaMalloc(&out, 32 * sizeof(int));
    cudaFree(rows[2]);
    sum<<<1, 32>>>(table, out, 4);
    cudaDeviceSynchronize();
    return 0;
}
