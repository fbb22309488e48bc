// finds: launch: a buffer is freed twice
int main()
{
    int *buffer;
    cudaMalloc(&buffer, 100);
    cudaFree(buffer);
    cudaFree(buffer);
    return 0;
}
