// Everything that takes another way on a real GPU: copies through the staging area, pinned memory, streams, events, symbols.
#include <cstdio>
#include <cstdlib>
#include <cstring>

__device__ float table[16];

extern "C" __global__ void add_one(float *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += table[0] + 1.0f;
}

extern "C" __global__ void bounds() { *(int *)1 = 0; }

extern "C" __global__ void forever() {}

extern "C" __global__ void talk() { printf("a kernel speaks\n"); }

static void check(const char *what, cudaError_t error)
{
    if (error)
        printf("%s: %s\n", what, cudaGetErrorName(error));
}

int main(int argc, char **argv)
{
    const int n = 5 << 20;  // 20 MiB: more than the staging area
    const char *part = argc > 1 ? argv[1] : "run";
    float *host = (float *)malloc(n * sizeof(float)), *data, *pinned;
    for (int i = 0; i < n; i++)
        host[i] = (float)(i % 1000);
    check("malloc", cudaMalloc(&data, n * sizeof(float)));
    check("to device", cudaMemcpy(data, host, n * sizeof(float), cudaMemcpyHostToDevice));
    if (!strcmp(part, "fault")) {
        bounds<<<1, 1>>>();
        check("fault", cudaDeviceSynchronize());
        check("afterwards", cudaMemcpy(host, data, 4, cudaMemcpyDeviceToHost));
        return 0;
    }
    if (!strcmp(part, "endless")) {
        forever<<<1, 1>>>();
        check("endless", cudaDeviceSynchronize());
        check("afterwards", cudaFree(data));
        return 5;
    }
    if (!strcmp(part, "wide")) {
        add_one<<<1, 2048>>>(data, n);
        check("wide", cudaGetLastError());
        check("later", cudaDeviceSynchronize());
        check("then", cudaDeviceSynchronize());
        return 0;
    }
    cudaEvent_t begin, end;
    cudaStream_t stream;
    check("events", cudaEventCreate(&begin));
    check("events", cudaEventCreate(&end));
    check("stream", cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    check("record", cudaEventRecord(begin, stream));
    add_one<<<n / 256, 256, 0, stream>>>(data, n);
    check("record", cudaEventRecord(end, stream));
    check("wait", cudaStreamSynchronize(stream));
    float ms = 0;
    check("elapsed", cudaEventElapsedTime(&ms, begin, end));
    check("to host", cudaMemcpy(host, data, n * sizeof(float), cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += host[i] != (float)(i % 1000 + 1);
    printf("%d wrong, %.3f ms\n", wrong, ms);

    check("pinned", cudaMallocHost(&pinned, 4096));
    pinned[0] = 41;
    add_one<<<1, 1>>>(pinned, 1);
    check("wait", cudaDeviceSynchronize());
    printf("pinned %g\n", pinned[0]);
    check("fill", cudaMemset(data, 0, 64));
    check("pinned copy", cudaMemcpy(pinned, data, 64, cudaMemcpyDeviceToHost));
    printf("filled %g\n", pinned[3]);

    float values[16] = {2.5f}, back[16] = {};
    check("symbol", cudaMemcpyToSymbol(table, values, sizeof values));
    check("symbol", cudaMemcpyFromSymbol(back, table, sizeof back));
    printf("symbol %g\n", back[0]);

    float box[4][4] = {}, part_of[2][2] = {{1, 2}, {3, 4}};
    check("box", cudaMemset2D(data, 16, 0, 16, 4));
    check("box", cudaMemcpy2D(data + 5, 16, part_of, 8, 8, 2, cudaMemcpyHostToDevice));
    check("box", cudaMemcpy(box, data, sizeof box, cudaMemcpyDeviceToHost));
    printf("box %g %g %g %g %g\n", box[1][1], box[1][2], box[2][1], box[2][2], box[3][3]);

    cudaFuncAttributes facts;
    check("attributes", cudaFuncGetAttributes(&facts, add_one));
    int blocks = 0;
    check("occupancy", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_one, 256, 0));
    cudaDeviceProp prop;
    check("properties", cudaGetDeviceProperties(&prop, 0));
    printf("%d registers, %d blocks, %s with %d\n", facts.numRegs, blocks, prop.name, prop.multiProcessorCount);
    talk<<<1, 1>>>();
    check("wait", cudaDeviceSynchronize());
    check("free", cudaFreeHost(pinned));
    check("free", cudaFree(data));
    check("reset", cudaDeviceReset());
    check("malloc again", cudaMalloc(&data, 64));
    free(host);
    printf("done\n");
    return 0;
}
