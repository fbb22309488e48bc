// finds: launch at DEFECT, with OTHER: a size that divides to nothing gives a grid without blocks
__global__ void store(int *out) // OTHER
{
    out[threadIdx.x] = 1;
}

int main(int count, char **)
{
    int *out, n = 10 * count;
    cudaMalloc(&out, 32 * sizeof(int));
    store<<<n / 32, 32>>>(out); // DEFECT
    cudaDeviceSynchronize();
    return 0;
}
