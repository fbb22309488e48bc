// What a program with several GPUs does: memory, variables, streams and events of each, copies between them, peers, a reset.
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call) say(#call, call)

__device__ int counter = 100;
__managed__ int total;

static void say(const char *call, cudaError_t result)
{
    if (result != cudaSuccess)
        printf("%.40s: %s\n", call, cudaGetErrorName(result));
}

__global__ void fill(int *to, int n, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = value + i;
    if (i == 0) atomicAdd(&counter, value);
}

__global__ void gather(int *to, const int *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] += from[i];
    if (i == 0) atomicAdd(&total, from[0]);
}

enum { N = 1000, BYTES = N * sizeof(int), MOST = 3 };

static int sum(const int *of)
{
    static int values[N];
    int all = 0;
    CHECK(cudaMemcpy(values, of, BYTES, cudaMemcpyDefault));
    for (int i = 0; i < N; i++) all += values[i];
    return all;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "all";
    int count = 0, *data[MOST];
    cudaStream_t stream[MOST];
    cudaEvent_t begun[MOST], done[MOST];
    CHECK(cudaGetDeviceCount(&count));
    printf("%d devices\n", count);
    if (count < MOST) {
        CHECK(cudaSetDevice(1));
        return 0;
    }
    for (int d = 0; d < MOST; d++) {
        cudaDeviceProp properties;
        cudaPointerAttributes attributes;
        CHECK(cudaSetDevice(d));
        CHECK(cudaGetDeviceProperties(&properties, d));
        CHECK(cudaMalloc(&data[d], BYTES));
        CHECK(cudaStreamCreate(&stream[d]));
        CHECK(cudaEventCreate(&begun[d]));
        CHECK(cudaEventCreate(&done[d]));
        CHECK(cudaEventRecord(begun[d], stream[d]));
        fill<<<4, 256, 0, stream[d]>>>(data[d], N, 10 * d);
        CHECK(cudaEventRecord(done[d], stream[d]));
        CHECK(cudaPointerGetAttributes(&attributes, data[d]));
        printf("bus %d, memory of device %d\n", properties.pciBusID, attributes.device);
    }
    if (!strcmp(what, "race")) { // device 1 reads what device 0 may still write
        CHECK(cudaSetDevice(1));
        CHECK(cudaDeviceEnablePeerAccess(0, 0));
        if (argc > 2) CHECK(cudaStreamWaitEvent(stream[1], done[0], 0));
        gather<<<4, 256, 0, stream[1]>>>(data[1], data[0], N);
        CHECK(cudaDeviceSynchronize());
        printf("sum %d\n", sum(data[1]));
        return 0;
    }
    for (int d = MOST - 1; d >= 0; d--) {
        float ms = 0;
        CHECK(cudaSetDevice(d));
        CHECK(cudaStreamSynchronize(stream[d]));
        CHECK(cudaEventElapsedTime(&ms, begun[d], done[d]));
        int mine;
        CHECK(cudaMemcpyFromSymbol(&mine, counter, sizeof mine));
        printf("device %d: counter %d, sum %d, %s\n", d, mine, sum(data[d]), ms > 0 ? "timed" : "no time");
    }
    float ms;
    CHECK(cudaEventElapsedTime(&ms, begun[0], done[1]));             // of two devices
    fill<<<1, 1, 0, stream[1]>>>(data[0], 1, 0);                     // into another device's stream
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(done[0], stream[1]));
    CHECK(cudaMemcpyAsync(data[0], data[1], BYTES, cudaMemcpyDefault, stream[1])); // that is allowed
    CHECK(cudaStreamSynchronize(stream[1]));
    printf("copied by default: %d\n", sum(data[0]));
    CHECK(cudaMemcpyPeer(data[0], 0, data[2], 2, BYTES));
    printf("copied from a peer: %d\n", sum(data[0]));
    CHECK(cudaMemcpyPeerAsync(data[2], 2, data[1], 1, BYTES, stream[2]));
    CHECK(cudaStreamSynchronize(stream[2]));
    printf("copied between peers: %d\n", sum(data[2]));
    CHECK(cudaMemcpyPeer(data[0], 0, data[2], 7, BYTES));

    int can = 2, same = 2;
    CHECK(cudaDeviceCanAccessPeer(&can, 0, 1));
    CHECK(cudaDeviceCanAccessPeer(&same, 1, 1));
    printf("can %d, same %d\n", can, same);
    CHECK(cudaDeviceDisablePeerAccess(1));
    CHECK(cudaDeviceEnablePeerAccess(0, 0)); // it is itself
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
    gather<<<4, 256>>>(data[0], data[1], N);
    CHECK(cudaDeviceSynchronize());
    printf("gathered: %d, total %d\n", sum(data[0]), total);
    CHECK(cudaSetDevice(1)); // peer access has a direction
    if (!strcmp(what, "fault")) {
        gather<<<4, 256>>>(data[1], data[0], N);
        CHECK(cudaDeviceSynchronize());
        return 0;
    }
    CHECK(cudaDeviceReset());
    int mine = 0;
    CHECK(cudaMemcpyFromSymbol(&mine, counter, sizeof mine));
    printf("reset: counter %d, total %d\n", mine, total);
    CHECK(cudaFree(data[1]));
    CHECK(cudaMalloc(&data[1], BYTES));
    fill<<<4, 256>>>(data[1], N, 5);
    printf("again: %d, and of device 0: %d\n", sum(data[1]), sum(data[0]));
    CHECK(cudaSetDevice(0));
    total = 1;
    CHECK(cudaDeviceEnablePeerAccess(1, 0)); // the reset has ended it
    gather<<<4, 256>>>(data[0], data[1], N);
    CHECK(cudaDeviceSynchronize());
    printf("total %d\n", total);
    for (int d = 0; d < MOST; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaDeviceReset());
    }
    return 0;
}
