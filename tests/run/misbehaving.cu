// Everything a program can do wrong, by the name of its first argument. Says what CUDA answered.
#include <cassert>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#define SAY(call) printf("%s\n", cudaGetErrorName(call))

__device__ int counter = 41;
__device__ int table[8];

__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

__global__ void store(int *where, long offset, int value) { where[offset] = value; }
__global__ void load_misaligned(char *where, int *out) { *out = *(int *)(where + 1); }
__global__ void endless(volatile int *flag) { while (*flag == 0) clock64(); }
__global__ void awaits(volatile int *flag) { while (*flag == 0) ; }
__global__ void works(float *out, int turns)
{
    float x = threadIdx.x;
    for (int k = 0; k < turns; k++) x = x * 0.999f + 1;
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
__global__ void nothing() {}
__global__ void trap() { if (threadIdx.x == 3) __trap(); }
__global__ void fails(int limit) { assert((int)threadIdx.x < limit); }
__global__ void diverges(int *p)
{
    if (threadIdx.x < 40) {
        __syncthreads();
        p[0] = 1;
    } else {
        p[1] = 2;
        __syncthreads();
        p[2] = 3;
    }
}
__global__ void shared_overrun(int n)
{
    __shared__ int box[32];
    box[threadIdx.x + n] = 1;
    __syncthreads();
    counter = box[0];
}
__global__ void table_overrun(int n) { table[threadIdx.x + n] = 1; }
__global__ void count() { atomicAdd(&counter, 1); }

static void overrun()
{
    float *a, *b, *c;
    const int n = 1000;
    cudaMalloc(&a, n * 4); cudaMalloc(&b, n * 4); cudaMalloc(&c, n * 4);
    add<<<4, 256>>>(a, b, c, n + 1);
    SAY(cudaGetLastError());
    SAY(cudaDeviceSynchronize());
    SAY(cudaGetLastError());
    // The device is lost for this process.
    SAY(cudaMalloc(&a, 4));
    SAY(cudaMemcpy(a, b, 4, cudaMemcpyDeviceToDevice));
}

static void null() { store<<<1, 1>>>(nullptr, 0, 1); SAY(cudaDeviceSynchronize()); }
static void freed()
{
    int *p;
    cudaMalloc(&p, 400);
    cudaFree(p);
    store<<<1, 1>>>(p, 5, 1);
    SAY(cudaDeviceSynchronize());
}
static void misaligned()
{
    char *p; int *out;
    cudaMalloc(&p, 8); cudaMalloc(&out, 4);
    load_misaligned<<<1, 1>>>(p, out);
    SAY(cudaDeviceSynchronize());
}
static void never_ends()
{
    int *flag;
    cudaMalloc(&flag, 4); cudaMemset(flag, 0, 4);
    endless<<<1, 32>>>(flag);
    SAY(cudaDeviceSynchronize());
}
static void waits_for_ever()
{
    int *flag;
    cudaMalloc(&flag, 4); cudaMemset(flag, 0, 4);
    awaits<<<2, 64>>>(flag);
    SAY(cudaDeviceSynchronize());
}
static void traps() { trap<<<1, 32>>>(); SAY(cudaDeviceSynchronize()); }
static void asserts() { fails<<<2, 64>>>(40); SAY(cudaDeviceSynchronize()); }
static void barrier()
{
    int *p;
    cudaMalloc(&p, 12);
    diverges<<<1, 64>>>(p);
    SAY(cudaDeviceSynchronize());
}
static void shared() { shared_overrun<<<1, 32>>>(8); SAY(cudaDeviceSynchronize()); }
static void variable() { table_overrun<<<1, 8>>>(1); SAY(cudaDeviceSynchronize()); }

static void too_much()
{
    void *p; size_t free_bytes, total;
    SAY(cudaMemGetInfo(&free_bytes, &total));
    SAY(cudaMalloc(&p, (size_t)1 << 50));
    SAY(cudaGetLastError());
    SAY(cudaMalloc(&p, free_bytes + 1));
    SAY(cudaMalloc(&p, 1000));
    SAY(cudaFree(p));
}

static void geometry()
{
    nothing<<<1, 2000>>>(); SAY(cudaGetLastError());
    nothing<<<dim3(1, 1u << 31), 32>>>(); SAY(cudaGetLastError());
    nothing<<<0, 32>>>(); SAY(cudaGetLastError());
    nothing<<<1, 32, 1 << 20>>>(); SAY(cudaGetLastError());
    nothing<<<1, 32>>>(); SAY(cudaDeviceSynchronize());
}
static void many_blocks() { nothing<<<0x7fffffff, 32>>>(); SAY(cudaDeviceSynchronize()); }

static void frees_twice()
{
    int *p; int host;
    cudaMalloc(&p, 400);
    SAY(cudaFree(p));
    SAY(cudaFree(p));
    SAY(cudaFree(&host));
    cudaMalloc(&p, 400);
    SAY(cudaFree(p + 1));
    SAY(cudaFree(p));
    SAY(cudaGetLastError());
    SAY(cudaDeviceSynchronize());
}

static void devices()
{
    int count_of, now;
    SAY(cudaGetDeviceCount(&count_of));
    SAY(cudaSetDevice(3));
    SAY(cudaGetDevice(&now));
    printf("%d %d\n", count_of, now);
    SAY(cudaSetDevice(0));
}

static void reset()
{
    int value = 0;
    store<<<1, 1>>>(nullptr, 0, 1);
    SAY(cudaDeviceSynchronize());
    SAY(cudaDeviceReset());
    count<<<1, 32>>>();
    SAY(cudaMemcpyFromSymbol(&value, counter, 4));
    printf("%d\n", value);
}

// Nobody asks about the error.
static void silent() { store<<<1, 1>>>(nullptr, 0, 1); usleep(300000); }

static void crashes() { nothing<<<1, 32>>>(); raise(SIGSEGV); }
static void exits() { exit(42); }
static void waits() { nothing<<<1, 32>>>(); SAY(cudaDeviceSynchronize()); fflush(stdout); pause(); }
static void hangs() { puts("started"); fflush(stdout); never_ends(); }

static volatile sig_atomic_t signals;
static void note(int) { signals = 1; }
static void minds()
{
    int value = 0;
    for (int each : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
        signal(each, note);
    nothing<<<1, 32>>>();
    SAY(cudaDeviceSynchronize());
    fflush(stdout);
    while (!signals)
        usleep(1000);
    count<<<1, 32>>>();
    SAY(cudaMemcpyFromSymbol(&value, counter, 4));
    printf("%d\n", value);
}
static void works_long()
{
    float *out;
    cudaMalloc(&out, 4 << 22);
    works<<<1 << 16, 64>>>(out, 1 << 20);
    printf("here\n"), fflush(stdout);
    cudaDeviceSynchronize();
}
static void leaves() { int *flag; cudaMalloc(&flag, 4); cudaMemset(flag, 0, 4); endless<<<1, 32>>>(flag); }

int main(int argc, char **argv)
{
    static const struct { const char *name; void (*run)(); } parts[] = {
        {"overrun", overrun}, {"null", null}, {"freed", freed}, {"misaligned", misaligned}, {"endless", never_ends},
        {"waits-for-ever", waits_for_ever},
        {"trap", traps}, {"assert", asserts}, {"barrier", barrier}, {"shared", shared}, {"variable", variable},
        {"too-much", too_much}, {"geometry", geometry}, {"many-blocks", many_blocks}, {"frees-twice", frees_twice},
        {"devices", devices}, {"reset", reset}, {"silent", silent}, {"crashes", crashes}, {"exits", exits},
        {"waits", waits}, {"hangs", hangs}, {"works", works_long}, {"minds", minds}, {"leaves", leaves}};
    for (auto &part : parts)
        if (argc > 1 && !strcmp(part.name, argv[1])) {
            part.run();
            return 7;
        }
    return 1;
}
