// finds: async at DEFECT: the program reads pinned memory before the copy into it has been waited for
#include <cstdio>

int main()
{
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    int *data, *host;
    cudaMalloc(&data, 32 * sizeof(int));
    cudaMemset(data, 0, 32 * sizeof(int));
    cudaMallocHost(&host, 32 * sizeof(int));
    cudaDeviceSynchronize();
    cudaMemcpyAsync(host, data, 32 * sizeof(int), cudaMemcpyDeviceToHost, stream);
    printf("%d\n", host[3]); // DEFECT
    cudaStreamSynchronize(stream);
    return 0;
}
