// Every part is one conversation with a worker: test_live.py says what must be said.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

struct Pair { char tag; double value; };
struct Empty {};
__constant__ float table[16];
__device__ int counter;
__managed__ int level = 42;
__managed__ double pad[3] = {1, 2, 3};
texture<float, cudaTextureType1D> reference;

__global__ void add(const float *a, const float *b, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i] + table[0] + counter + tex1Dfetch(reference, i);
}
__global__ void mixed(char a, Pair pair, bool b, short c, Empty e, float4 v, long long d, int *p) {}
__global__ void __launch_bounds__(64) small(int *out) { __shared__ int room[256]; room[0] = 1; *out = room[0] + level; }

#define CHECK(call) do { cudaError_t e_ = (call); if (e_) { printf("%s: %s\n", #call, cudaGetErrorName(e_)); exit(9); } } while (0)
#define SAY(call) printf("%s\n", cudaGetErrorName(call))

static void add_vectors() {
    const int n = 1000;
    std::vector<float> a(n), b(n), out(n);
    for (int i = 0; i < n; i++) { a[i] = i; b[i] = 2 * i; }
    float *da, *db, *dout;
    CHECK(cudaMalloc(&da, 4 * n)); CHECK(cudaMalloc(&db, 4 * n)); CHECK(cudaMalloc(&dout, 4 * n));
    CHECK(cudaMemcpy(da, a.data(), 4 * n, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b.data(), 4 * n, cudaMemcpyHostToDevice));
    add<<<(n + 255) / 256, 256, 32>>>(da, db, dout, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out.data(), dout, 4 * n, cudaMemcpyDeviceToHost));
    printf("%g %g\n", out[1], out[n - 1]);
    CHECK(cudaFree(da)); CHECK(cudaFree(db)); CHECK(cudaFree(dout));
}

static void arguments() {
    mixed<<<dim3(7, 2, 3), dim3(4, 5, 6)>>>('a', Pair{'b', 1.5}, true, -2, Empty{}, make_float4(1, 2, 3, 4), 1LL << 40, nullptr);
    SAY(cudaGetLastError());
    SAY(cudaDeviceSynchronize());
}

static void configurations() {
    small<<<1, 2000>>>(nullptr); SAY(cudaGetLastError());
    small<<<1, dim3(1, 1, 65)>>>(nullptr); SAY(cudaGetLastError());
    small<<<0, 32>>>(nullptr); SAY(cudaGetLastError());
    small<<<dim3(1, 65536), 32>>>(nullptr); SAY(cudaGetLastError());
    small<<<1, 65>>>(nullptr); SAY(cudaGetLastError());
    small<<<1, 64, 60000>>>(nullptr); SAY(cudaGetLastError());
    SAY(cudaFuncSetAttribute(small, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
    small<<<1, 64, 60000>>>(nullptr); SAY(cudaGetLastError());
    SAY(cudaFuncSetAttribute(small, cudaFuncAttributeMaxDynamicSharedMemorySize, 200000));
    int host; SAY(cudaLaunchKernel((const void *)&host, dim3(1), dim3(1), nullptr, 0, nullptr));
    cudaFuncAttributes attributes; SAY(cudaFuncGetAttributes(&attributes, small));
    int blocks; SAY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, small, 64, 0));
    printf("%d %d %d\n", attributes.numRegs, attributes.maxThreadsPerBlock, blocks);
}

static void symbols() {
    float host[16]; for (int i = 0; i < 16; i++) host[i] = i + 1;
    int value = 5, back = 0; void *address = nullptr; size_t size = 0;
    CHECK(cudaMemcpyToSymbol(table, host, sizeof host));
    CHECK(cudaMemcpyToSymbol(table, host, 4, 8));
    CHECK(cudaMemcpyToSymbol(counter, &value, 4));
    CHECK(cudaMemcpyFromSymbol(&back, counter, 4));
    CHECK(cudaGetSymbolAddress(&address, counter)); CHECK(cudaGetSymbolSize(&size, table));
    CHECK(cudaMemset(address, 7, 4));
    int now = 0; CHECK(cudaMemcpy(&now, address, 4, cudaMemcpyDeviceToHost));
    printf("%d %zu %x\n", back, size, now);
    SAY(cudaMemcpyToSymbol(table, host, 64, 4));
    SAY(cudaMemcpyToSymbol(table, host, 4, 0, cudaMemcpyDeviceToHost));
    SAY(cudaGetSymbolAddress(&address, value));
    SAY(cudaFree(address));
}

static void memory() {
    char *device, *pinned, *managed, host[64]; void *mapped; cudaPointerAttributes about; size_t pitch, free, total;
    CHECK(cudaMalloc(&device, 64)); CHECK(cudaHostAlloc(&pinned, 64, cudaHostAllocMapped));
    CHECK(cudaMallocManaged(&managed, 64));
    memset(host, 1, 64); memset(pinned, 2, 64); memset(managed, 3, 64);
    CHECK(cudaMemcpy(device, host, 64, cudaMemcpyDefault));
    CHECK(cudaMemcpy(device + 8, pinned, 8, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device + 16, managed, 8, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemset(device + 24, 9, 8));
    CHECK(cudaMemcpy(host, device, 64, cudaMemcpyDeviceToHost));
    printf("%d %d %d %d %d\n", host[0], host[8], host[16], host[24], host[32]);
    CHECK(cudaMemcpy(device + 32, device + 16, 8, cudaMemcpyHostToDevice));   /* the addresses say where it goes */
    CHECK(cudaMemcpy(device + 40, device + 24, 8, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(device + 48, pinned, 8, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(pinned + 8, device + 24, 8, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(host, device, 64, cudaMemcpyDeviceToHost));
    printf("%d %d %d %d\n", host[32], host[40], host[48], pinned[8]);
    SAY(cudaMemcpy(host, device, 8, cudaMemcpyDeviceToDevice));
    SAY(cudaMemcpy(device, host, 8, cudaMemcpyDeviceToHost));
    SAY(cudaMemcpy(device, device + 8, 8, cudaMemcpyHostToHost));
    CHECK(cudaPointerGetAttributes(&about, device + 3)); printf("%d ", about.type);
    CHECK(cudaPointerGetAttributes(&about, pinned)); printf("%d ", about.type);
    CHECK(cudaPointerGetAttributes(&about, managed)); printf("%d ", about.type);
    CHECK(cudaPointerGetAttributes(&about, host)); printf("%d\n", about.type);
    CHECK(cudaHostGetDevicePointer(&mapped, pinned, 0)); printf("%d\n", mapped == pinned);
    CHECK(cudaMemGetInfo(&free, &total)); printf("%zu %zu\n", free >> 30, total >> 30);
    SAY(cudaMemcpy(device, host, 65, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy(host, device, 8, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy(host, host + 8, 8, cudaMemcpyDeviceToHost));
    SAY(cudaMemcpy(device, host, 8, (cudaMemcpyKind)9));
    SAY(cudaMemset(host, 0, 8));
    SAY(cudaFree(device + 8)); SAY(cudaFree(pinned)); SAY(cudaFreeHost(device));
    SAY(cudaFree(nullptr)); SAY(cudaFree(device)); SAY(cudaFree(device)); SAY(cudaFreeHost(pinned)); SAY(cudaFree(managed));
    CHECK(cudaMallocPitch(&device, &pitch, 100, 3)); printf("%zu\n", pitch);
    char rows[3][20]; for (int i = 0; i < 60; i++) ((char *)rows)[i] = i;
    CHECK(cudaMemcpy2D(device, pitch, rows, 20, 20, 3, cudaMemcpyHostToDevice));
    CHECK(cudaMemset2D(device + 1, pitch, 77, 1, 3));
    memset(rows, 0, 60);
    CHECK(cudaMemcpy2D(rows, 20, device, pitch, 20, 3, cudaMemcpyDeviceToHost));
    printf("%d %d %d %d\n", rows[0][0], rows[1][1], rows[2][1], rows[2][19]);
    SAY(cudaMemcpy2D(rows, 10, device, pitch, 20, 3, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device));
    CHECK(cudaHostRegister(host, 64, 0)); SAY(cudaHostRegister(host, 4, 0)); SAY(cudaHostGetDevicePointer(&mapped, host, 0));
    CHECK(cudaHostUnregister(host)); SAY(cudaHostUnregister(host));
}

static void large() {
    const int n = 10000;  /* several times the staging area */
    std::vector<int> host(n), back(n);
    int *device; CHECK(cudaMalloc(&device, 4 * n));
    for (int i = 0; i < n; i++) host[i] = i * 7;
    CHECK(cudaMemcpy(device, host.data(), 4 * n, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(back.data(), device, 4 * n, cudaMemcpyDeviceToHost));
    printf("%d\n", memcmp(host.data(), back.data(), 4 * n));
    CHECK(cudaMemcpy2D(back.data(), 40, device, 80, 40, 100, cudaMemcpyDeviceToHost));
    printf("%d %d\n", back[10], back[999]);
}

static void streams() {
    cudaStream_t s, t; cudaEvent_t a, b, plain; float ms; unsigned flags; int priority;
    CHECK(cudaStreamCreate(&s)); CHECK(cudaStreamCreateWithPriority(&t, cudaStreamNonBlocking, -9));
    CHECK(cudaEventCreate(&a)); CHECK(cudaEventCreate(&b)); CHECK(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming));
    SAY(cudaEventElapsedTime(&ms, a, b)); SAY(cudaEventQuery(a));
    CHECK(cudaEventRecord(a, s));
    small<<<1, 32, 0, s>>>(nullptr);
    small<<<1, 32, 0, cudaStreamPerThread>>>(nullptr);
    CHECK(cudaEventRecord(b, s)); CHECK(cudaStreamWaitEvent(t, b, 0)); CHECK(cudaEventRecord(plain));
    CHECK(cudaEventSynchronize(b)); SAY(cudaEventQuery(b)); SAY(cudaStreamQuery(s));
    CHECK(cudaEventElapsedTime(&ms, a, b)); printf("%g\n", ms);
    SAY(cudaEventElapsedTime(&ms, a, plain));
    CHECK(cudaStreamGetFlags(t, &flags)); CHECK(cudaStreamGetPriority(t, &priority)); printf("%u %d\n", flags, priority);
    CHECK(cudaLaunchHostFunc(s, [](void *p) { puts((const char *)p); }, (void *)"called"));
    CHECK(cudaStreamSynchronize(s)); CHECK(cudaStreamDestroy(s)); SAY(cudaStreamSynchronize(s));
    CHECK(cudaEventDestroy(a)); SAY(cudaEventDestroy(a)); CHECK(cudaStreamSynchronize(0));
}

static void managed() {
    printf("%d %g\n", level, pad[2]);
    CHECK(cudaFree(0));
    printf("%d %g\n", level, pad[2]);
    level = 50;
    small<<<1, 1>>>(&level);
    CHECK(cudaDeviceSynchronize());
    cudaPointerAttributes about; CHECK(cudaPointerGetAttributes(&about, &level));
    int back; CHECK(cudaMemcpy(&back, &level, 4, cudaMemcpyDefault));
    printf("%d %d %d %d\n", level, about.type, about.hostPointer == &level, back);
}

static void textures() {
    float *device; CHECK(cudaMalloc(&device, 64));
    size_t offset = 1; CHECK(cudaBindTexture(&offset, reference, device, 64)); printf("%zu\n", offset);
    cudaChannelFormatDesc format = cudaCreateChannelDesc(8, 8, 8, 8, cudaChannelFormatKindUnsigned);
    cudaArray_t array; CHECK(cudaMallocArray(&array, &format, 10, 3));
    unsigned pixels[3][10]; for (int i = 0; i < 30; i++) ((unsigned *)pixels)[i] = 100 + i;
    CHECK(cudaMemcpy2DToArray(array, 0, 0, pixels, 40, 40, 3, cudaMemcpyHostToDevice));
    unsigned one[12]; CHECK(cudaMemcpyFromArray(one, array, 32, 0, 48, cudaMemcpyDeviceToHost)); printf("%u %u\n", one[0], one[11]);
    SAY(cudaMemcpy2DToArray(array, 4, 0, pixels, 40, 40, 3, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy2DToArray(array, 0, 0, pixels, 20, 40, 3, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {}; resource.resType = cudaResourceTypeArray; resource.res.array.array = array;
    cudaTextureDesc description = {}; description.addressMode[0] = cudaAddressModeWrap; description.addressMode[1] = cudaAddressModeBorder;
    description.readMode = cudaReadModeNormalizedFloat; description.filterMode = cudaFilterModeLinear;
    description.normalizedCoords = 1; description.borderColor[2] = 0.5f;
    cudaTextureObject_t object; CHECK(cudaCreateTextureObject(&object, &resource, &description, nullptr));
    printf("%llu\n", object);
    description.readMode = cudaReadModeElementType; cudaTextureObject_t other;
    SAY(cudaCreateTextureObject(&other, &resource, &description, nullptr));
    format.x = 7; cudaArray_t odd; SAY(cudaMallocArray(&odd, &format, 10, 3));
    CHECK(cudaDestroyTextureObject(object)); SAY(cudaDestroyTextureObject(object));
    CHECK(cudaUnbindTexture(reference)); SAY(cudaGetTextureAlignmentOffset(&offset, reference));
    CHECK(cudaFreeArray(array)); SAY(cudaFreeArray(array));
}

static void failing() {
    small<<<1, 1>>>(nullptr);
    SAY(cudaGetLastError());
    SAY(cudaDeviceSynchronize());
    void *p; SAY(cudaMalloc(&p, 4));
    SAY(cudaGetLastError()); SAY(cudaGetLastError());
    SAY(cudaDeviceReset());
    SAY(cudaMalloc(&p, 4)); SAY(cudaGetLastError());
}

static void describe() {
    cudaDeviceProp p; int count, value, chosen; char bus[20];
    CHECK(cudaGetDeviceCount(&count)); CHECK(cudaGetDeviceProperties(&p, 0));
    printf("%d %s %d.%d %zu %d %d\n", count, p.name, p.major, p.minor, p.totalGlobalMem >> 30, p.multiProcessorCount, p.maxGridSize[1]);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0)); printf("%d ", value);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxBlockDimZ, 0)); printf("%d ", value);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrUnifiedAddressing, 0)); printf("%d\n", value);
    CHECK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0)); CHECK(cudaDeviceGetByPCIBusId(&chosen, bus)); printf("%s %d\n", bus, chosen);
    SAY(cudaGetDeviceProperties(&p, 1)); SAY(cudaSetDevice(3)); SAY(cudaSetDevice(0)); SAY(cudaDeviceEnablePeerAccess(1, 0));
    CHECK(cudaDriverGetVersion(&value)); printf("%d\n", value);
    size_t bytes = 0; SAY(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, small, 2, 64)); printf("%zu\n", bytes);
}

static void *launch_many(void *) {
    for (int i = 0; i < 200; i++) small<<<1, 32>>>(nullptr);
    return nullptr;
}
static void threads() {
    pthread_t thread[4];
    CHECK(cudaFree(0));
    for (auto &t : thread) pthread_create(&t, nullptr, launch_many, nullptr);
    for (auto &t : thread) pthread_join(t, nullptr);
    SAY(cudaDeviceSynchronize());
}

static void forks() {
    CHECK(cudaFree(0));
    fflush(stdout);
    pid_t child = fork();
    if (!child) { SAY(cudaDeviceSynchronize()); fflush(stdout); exit(0); }
    waitpid(child, nullptr, 0);
    SAY(cudaDeviceSynchronize());
}

static void children() {
    CHECK(cudaFree(0));
    printf("%d\n", wait(nullptr));
}

static void two_kernels_after_each_other() {
    CHECK(cudaFree(0));
    for (int i = 0; i < 3; i++) small<<<1, 1>>>((int *)(long)i);
    char host[4], *device; CHECK(cudaMalloc(&device, 4));
    CHECK(cudaMemcpy(device, host, 4, cudaMemcpyHostToDevice));   /* waits: kernels are under way */
    CHECK(cudaMemcpy(device, host, 4, cudaMemcpyHostToDevice));   /* does not: nothing happened since */
}

int main(int argc, char **argv) {
    static const struct { const char *name; void (*run)(); } parts[] = {
        {"add", add_vectors}, {"arguments", arguments}, {"configurations", configurations}, {"symbols", symbols},
        {"memory", memory}, {"large", large}, {"streams", streams}, {"managed", managed}, {"textures", textures},
        {"failing", failing}, {"describe", describe}, {"threads", threads}, {"forks", forks}, {"children", children},
        {"order", two_kernels_after_each_other}};
    for (auto &part : parts) if (!strcmp(part.name, argv[1])) part.run();
    return 0;
}
