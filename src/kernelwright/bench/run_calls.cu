// What calls of CUDA cost on the device that is there. Prints "what: microseconds"; see run.py.
#include <chrono>
#include <cstdio>
#include <cstring>

__global__ void empty(int *, int) {}

using Clock = std::chrono::steady_clock;

static double since(Clock::time_point start)
{
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

static void say(const char *what, double microseconds) { printf("%s: %.3f\n", what, microseconds); }

static void calls()
{
    const int many = 5000, some = 500;
    int *data, *host = new int[1024]();
    cudaMalloc(&data, 4096);
    empty<<<1, 32>>>(data, 0);
    cudaDeviceSynchronize();

    auto start = Clock::now();
    for (int i = 0; i < many; i++)
        empty<<<1, 32>>>(data, i);
    double issued = since(start);
    cudaDeviceSynchronize();
    say("launch of an empty kernel, until the call returns", issued / many);
    say("launch of an empty kernel, until it has ended", since(start) / many);

    start = Clock::now();
    for (int i = 0; i < some; i++) {
        empty<<<1, 32>>>(data, i);
        cudaDeviceSynchronize();
    }
    say("launch and wait", since(start) / some);

    start = Clock::now();
    for (int i = 0; i < some; i++)
        cudaMemcpy(data, host, 4096, cudaMemcpyHostToDevice);
    say("copy of 4 KiB to the device", since(start) / some);

    start = Clock::now();
    for (int i = 0; i < some; i++) {
        int *more;
        cudaMalloc(&more, 4096);
        cudaFree(more);
    }
    say("allocate and free 4 KiB", since(start) / some);

    cudaEvent_t first, last;
    cudaEventCreate(&first);
    cudaEventCreate(&last);
    empty<<<1, 32>>>(data, 0);
    cudaDeviceSynchronize();
    start = Clock::now();
    for (int i = 0; i < some; i++)
        empty<<<1, 32>>>(data, i);
    cudaDeviceSynchronize();
    say("launch of an empty kernel with its time estimated", since(start) / some);
}

int main(int argc, char **argv)
{
    if (argc < 2 || !strcmp(argv[1], "nothing"))
        return 0;
    if (!strcmp(argv[1], "first")) {
        empty<<<1, 32>>>(nullptr, 0);
        return cudaDeviceSynchronize();
    }
    calls();
    return cudaGetLastError();
}
