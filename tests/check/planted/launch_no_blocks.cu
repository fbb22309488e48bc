// finds: launch at KERNEL: a size that divides to nothing gives a grid without blocks
__global__ void store(int *out) // KERNEL
{
    out[threadIdx.x] = 1;
}

int main(int count, char **)
{
    int *out, n = 10 * count;
    cudaMalloc(&out, 32 * sizeof(int));
    store<<<n / 32, 32>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
