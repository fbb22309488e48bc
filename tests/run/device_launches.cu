// Kernels that launch kernels: arguments of all kinds, levels, order within a block, streams, a launch behind everything else.
#include <cstdio>

struct both {
    char c;
    double d;
};

static __device__ int steps;
__constant__ int scale = 2;

template <class T> __global__ void add(T *to, both b, short s)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] += (T)(b.d * scale + b.c + s);
}

__global__ void twice(int *to) { to[threadIdx.x] *= 2; }

__global__ void last(int *seen, int what) { *seen = *seen * 10 + what; }

__global__ void tree(int *sums, int node, int depth)
{
    atomicAdd(&sums[depth], node);
    steps += 1;
    if (depth == 4) return;
    tree<<<1, 1>>>(sums, 2 * node, depth + 1);
    tree<<<1, 1>>>(sums, 2 * node + 1, depth + 1);
}

__global__ void parent(int *data, int *seen)
{
    if (threadIdx.x == 0) {
        both b = {1, blockIdx.x + 0.5};
        last<<<1, 1, 0, cudaStreamTailLaunch>>>(seen, 3);
        add<int><<<2, 16>>>(data + 32 * blockIdx.x, b, 7);
        twice<<<1, dim3(32)>>>(data + 32 * blockIdx.x);  // behind it: the same stream of the same block
        if (blockIdx.x == 0) {
            cudaStream_t stream;
            cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
            last<<<1, 1, 0, stream>>>(seen, 1);
            last<<<1, 1, 0, stream>>>(seen, 2);
            cudaStreamDestroy(stream);
        }
    }
}

__global__ void wild(int *data) { data[1 << 28] = 1; }
__global__ void bad(int *data, int threads) { wild<<<1, threads>>>(data); }

int main(int argc, char **argv)
{
    int *data, *seen, sums[5], taken = 0;
    cudaMallocManaged(&data, 64 * sizeof(int));
    cudaMallocManaged(&seen, sizeof(int));
    *seen = 0;
    for (int i = 0; i < 64; i++) data[i] = i;
    if (argc > 1) {
        bad<<<1, 1>>>(data, argc > 2 ? 5000 : 1);
        printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
        return 0;
    }
    for (int turn = 0; turn < 2; turn++) {
        parent<<<2, 32>>>(data, seen);
        printf("%d: ", cudaDeviceSynchronize());
        printf("%d %d %d %d, seen %d\n", data[0], data[31], data[32], data[63], *seen);
        *seen = 0;
    }
    int *of;
    cudaMalloc(&of, sizeof sums);
    cudaMemset(of, 0, sizeof sums);
    tree<<<1, 1>>>(of, 1, 0);
    cudaMemcpy(sums, of, sizeof sums, cudaMemcpyDeviceToHost);
    cudaMemcpyFromSymbol(&taken, steps, sizeof taken);
    printf("%d %d %d %d %d, %d grids\n", sums[0], sums[1], sums[2], sums[3], sums[4], taken);
    return 0;
}
