// What calls of CUDA cost on the device that is there. Prints "what: microseconds", medians; see run.py.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

__global__ void empty(int *, int) {}

using Clock = std::chrono::steady_clock;

static double since(Clock::time_point start)
{
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// The median of what `work` takes, divided by how many calls it makes.
template <class Work> static void say(const char *what, int rounds, int calls, Work work)
{
    std::vector<double> taken(rounds);
    for (double &each : taken) {
        auto start = Clock::now();
        work();
        each = since(start) / calls;
    }
    std::nth_element(taken.begin(), taken.begin() + rounds / 2, taken.end());
    printf("%s: %.3f\n", what, taken[rounds / 2]);
}

static void calls()
{
    const int rounds = 500, batch = 50;
    int *data, *host = new int[1024]();
    cudaMalloc(&data, 4096);
    empty<<<1, 32>>>(data, 0);
    cudaDeviceSynchronize();
    auto launch_and_wait = [&] {
        empty<<<1, 32>>>(data, 0);
        cudaDeviceSynchronize();
    };
    auto launch_many = [&] {
        for (int i = 0; i < batch; i++)
            empty<<<1, 32>>>(data, i);
        cudaDeviceSynchronize();
    };

    say("launch of an empty kernel, and wait for it", rounds, 1, launch_and_wait);
    say("launch of an empty kernel, one of 50 behind each other", rounds / batch * 5, batch, launch_many);
    say("the call alone that launches", rounds, 1, [&] { empty<<<1, 32>>>(data, 0); });
    cudaDeviceSynchronize();
    say("wait for nothing", rounds, 1, [&] { cudaStreamQuery(0); });
    say("copy of 4 KiB to the device", rounds, 1, [&] { cudaMemcpy(data, host, 4096, cudaMemcpyHostToDevice); });
    say("allocate and free 4 KiB", rounds, 1, [&] {
        int *more;
        cudaMalloc(&more, 4096);
        cudaFree(more);
    });

    cudaEvent_t first, last;
    cudaEventCreate(&first);
    cudaEventCreate(&last);
    launch_and_wait();
    say("launch of an empty kernel with its time estimated, and wait for it", rounds, 1, launch_and_wait);
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
