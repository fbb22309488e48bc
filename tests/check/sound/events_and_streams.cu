// Two streams with an event between them, chunks of one buffer in two streams, pinned and managed memory waited for.
#include <cstdio>

__global__ void produce(int *data) { data[threadIdx.x] = threadIdx.x; }
__global__ void consume(const int *data, int *out) { out[threadIdx.x] = data[threadIdx.x]; }

int main()
{
    cudaStream_t first, second;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEvent_t ready;
    cudaEventCreate(&ready);
    int *data, *out, *host, *managed, values[32];
    cudaMalloc(&data, 64 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMallocHost(&host, 64 * sizeof(int));
    cudaMallocManaged(&managed, 64 * sizeof(int));
    produce<<<1, 32, 0, first>>>(data);
    cudaEventRecord(ready, first);
    cudaStreamWaitEvent(second, ready, 0);
    consume<<<1, 32, 0, second>>>(data, out);
    // The other half of both buffers is nobody else's business.
    produce<<<1, 32, 0, first>>>(data + 32);
    consume<<<1, 32, 0, first>>>(data + 32, out + 32);
    cudaMemcpyAsync(host, out, 32 * sizeof(int), cudaMemcpyDeviceToHost, second);
    cudaStreamSynchronize(second);
    int sum = host[31];
    cudaMemcpyAsync(host + 32, out + 32, 32 * sizeof(int), cudaMemcpyDeviceToHost, first);
    while (cudaStreamQuery(first) == cudaErrorNotReady)
        ;
    sum += host[63];
    managed[40] = 7;
    produce<<<1, 32>>>(managed);
    cudaDeviceSynchronize();
    sum += managed[31] + managed[40];
    produce<<<1, 32>>>(data);
    cudaMemcpy(values, data, sizeof values, cudaMemcpyDeviceToHost);
    printf("%d\n", sum + values[31]);
    cudaFree(data);
    return 0;
}
