// finds: launch at DEFECT: a buffer is freed twice
int main()
{
    int *buffer;
    cudaMalloc(&buffer, 100);
    cudaFree(buffer);
    cudaFree(buffer); // DEFECT
    return 0;
}
