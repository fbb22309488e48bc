#include <cstdio>
#include <cstdlib>
#include <kernelwright_threshold.h>

/* With KW_TIMED, a number of runs, what one takes on the device, copies and launches included, is printed as `kw tune --exec` reads
 * it: the median, without a first run. Each begins with the inputs copied again. Else nothing is repeated. */
#ifdef KW_TIMED
struct Timed {
    cudaEvent_t begin, end;
    float us[KW_TIMED];
    int run;
    void *outputs = 0;
    void *room(size_t bytes) { return outputs = realloc(outputs, bytes); }
    Timed() : run(-2) { cudaEventCreate(&begin), cudaEventCreate(&end); }
    bool next()
    {
        if (run > -2) {
            float ms = 0;
            cudaEventRecord(end);
            cudaEventSynchronize(end);
            cudaEventElapsedTime(&ms, begin, end);
            int place = run;
            for (; place > 0 && us[place - 1] > ms * 1000; place--)
                us[place] = us[place - 1];
            if (run >= 0)
                us[place] = ms * 1000;
        }
        if (++run == KW_TIMED) {
            fprintf(stderr, "Took %.3f us.\n", us[KW_TIMED / 2]);
            return false;
        }
        cudaEventRecord(begin);
        return true;
    }
};
#define TIMED for (Timed timed; timed.next();)
#define COPY_IN(array, host, bytes) cudaMemcpy(array, host, bytes, cudaMemcpyHostToDevice)
#define COPY_OUT(array, bytes) cudaMemcpy(timed.room(bytes), array, bytes, cudaMemcpyDeviceToHost)
#else
#define TIMED
#define COPY_IN(array, host, bytes)
#define COPY_OUT(array, bytes)
#endif

/* An element of each of many arrays side by side, so that neighbouring threads read neighbouring places. */
template <class T> struct Strided {
    T *first;
    int stride;
    __device__ T &operator[](int i) const { return first[(size_t)i * stride]; }
};

static __device__ float add(float a, float b) { return a + b; }
static __device__ float smaller(float a, float b) { return a < b ? a : b; }

/* The arrays of a block, one after the other in its shared memory. */
template <class T> static __device__ T *take(char *&unused, int length)
{
    T *taken = (T *)unused;
    unused += (length * sizeof(T) + 15) / 16 * 16;
    return taken;
}

template <class T, T (*combine)(T, T)> static __device__ T block_scan(T own, int size)
{
    __shared__ T part[1024];
    int i = threadIdx.x;
    if (i < size)
        part[i] = own;
    __syncthreads();
    for (int step = 1; step < size; step *= 2) {
        T other;
        if (i >= step && i < size)
            other = part[i - step];
        __syncthreads();
        if (i >= step && i < size)
            part[i] = own = combine(other, own);
        __syncthreads();
    }
    return own;
}

/* The first thread gets the result. */
template <class T, T (*combine)(T, T)> static __device__ T block_fold(T own, int size)
{
    __shared__ T part[1024];
    int i = threadIdx.x, step = 1;
    part[i] = own;
    __syncthreads();
    while (step * 2 < size)
        step *= 2;
    for (; step > 0; step /= 2) {
        if (i < step && i + step < size)
            part[i] = combine(part[i], part[i + step]);
        __syncthreads();
    }
    return part[0];
}

static int blocks(int count) { return (count + 127) / 128; }
static int whole_warps(int width) { return (width + 31) / 32 * 32; }
static int rounded(size_t bytes) { return (int)((bytes + 15) / 16 * 16); }
static int larger(int a, int b) { return a > b ? a : b; }
static int fits(int width, int bytes) { return width <= 1024 && bytes <= 24576; }

static void *reserve(int number, size_t bytes)
{
    static struct {
        void *memory;
        size_t bytes;
    } all[64];
    if (all[number].bytes < bytes) {
        cudaFree(all[number].memory);
        if (cudaMalloc(&all[number].memory, bytes) != cudaSuccess) {
            fprintf(stderr, "out of memory\n");
            exit(1);
        }
        all[number].bytes = bytes;
    }
    return all[number].memory;
}

/* Device memory for a purpose; what it held is kept while it is large enough. */
template <class T> static T *buffer(int number, size_t length) { return (T *)reserve(number, length * sizeof(T)); }

template <class T, T (*combine)(T, T)> __global__ void fold_step(const T *from, T *to, int segments, int size, int left)
{
    int element = blockIdx.x * blockDim.x + threadIdx.x;
    if (element >= segments * left)
        return;
    int segment = element / left, i = element % left;
    T sum = from[segment * size + i];
    for (int j = i + left; j < size; j += left)
        sum = combine(sum, from[segment * size + j]);
    to[element] = sum;
}

/* Each segment's fold, in steps that leave a sixteenth. For operators whose operands may change places. */
template <class T, T (*combine)(T, T)> static void fold_segments(T *terms, T *target, int segments, int size)
{
    T *from = terms, *other = buffer<T>(62, (size_t)segments * ((size + 15) / 16));
    while (size > 1) {
        int left = (size + 15) / 16;
        T *to = left == 1 ? target : from == terms ? other : terms;
        fold_step<T, combine><<<blocks(segments * left), 128>>>(from, to, segments, size, left);
        from = to;
        size = left;
    }
    if (from == terms)
        cudaMemcpy(target, terms, segments * sizeof(T), cudaMemcpyDeviceToDevice);
}

template <class T, T (*combine)(T, T)> __global__ void scan_step(const T *from, T *to, int count, int size, int step)
{
    int element = blockIdx.x * blockDim.x + threadIdx.x;
    if (element >= count)
        return;
    T own = from[element];
    to[element] = element % size >= step ? combine(from[element - step], own) : own;
}

/* Each segment's prefixes, in place: logarithmically many steps. */
template <class T, T (*combine)(T, T)> static void scan_segments(T *terms, int segments, int size)
{
    int count = segments * size;
    T *from = terms, *to = buffer<T>(63, count);
    for (int step = 1; step < size; step *= 2) {
        scan_step<T, combine><<<blocks(count), 128>>>(from, to, count, size, step);
        T *written = to;
        to = from;
        from = written;
    }
    if (from != terms)
        cudaMemcpy(terms, from, count * sizeof(T), cudaMemcpyDeviceToDevice);
}

/* Numbers from 0 up to 1, evenly spread. */
static float noise(unsigned i) { return (i * 2654435761u >> 8) / 16777216.0f; }

/* An array, or 256 elements of a longer one. */
template <class T> static void show(const char *name, const T *device, int length)
{
    T *host = (T *)malloc(length * sizeof(T));
    if (cudaMemcpy(host, device, length * sizeof(T), cudaMemcpyDeviceToHost) != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", name, cudaGetErrorString(cudaGetLastError()));
        exit(1);
    }
    printf("%s", name);
    for (int k = 0; k < length && k < 256; k++)
        printf(" %.7g", (double)host[length > 256 ? (long long)k * length / 256 : k]);
    printf("\n");
}
