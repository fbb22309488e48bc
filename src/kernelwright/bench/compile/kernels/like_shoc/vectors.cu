// Vectors: a triad, a reduction, a scan, and a sparse product by rows and by warps; for float and double.
template <class T> __global__ void triad(const T *a, const T *b, T *c, T s, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) c[i] = a[i] + s * b[i];
}
template <class T, int threads> __global__ void reduce(const T *in, T *out, unsigned n) {
    __shared__ T part[threads];
    T sum = 0;
    for (unsigned i = blockIdx.x * 2 * threads + threadIdx.x; i < n; i += 2 * threads * gridDim.x)
        sum += in[i] + (i + threads < n ? in[i + threads] : T(0));
    part[threadIdx.x] = sum;
    __syncthreads();
#pragma unroll
    for (int half = threads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
template <class T, int threads> __device__ T scan_of_block(T value, T *room) {
    int at = threadIdx.x;
    room[at] = 0;
    at += threads;
    room[at] = value;
    __syncthreads();
#pragma unroll
    for (int step = 1; step < threads; step *= 2) {
        T before = room[at - step];
        __syncthreads();
        room[at] += before;
        __syncthreads();
    }
    return room[at - 1];
}
template <class T, int threads> __global__ void scan(const T *in, T *out, const T *before, int n) {
    __shared__ T room[2 * threads];
    int i = blockIdx.x * threads + threadIdx.x;
    T value = i < n ? in[i] : T(0), first = scan_of_block<T, threads>(value, room);
    if (i < n) out[i] = before[blockIdx.x] + first;
}
template <class T> __global__ void rows(const T *value, const int *column, const int *start, const T *x, T *y, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    T sum = 0;
    for (int j = start[row]; j < start[row + 1]; j++) sum += value[j] * x[column[j]];
    y[row] = sum;
}
template <class T> __global__ void warps(const T *value, const int *column, const int *start, const T *x, T *y, int n) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= n) return;
    T sum = 0;
    for (int j = start[row] + lane; j < start[row + 1]; j += 32) sum += value[j] * x[column[j]];
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (lane == 0) y[row] = sum;
}
#define OF(T)                                                                               \
    template __global__ void triad<T>(const T *, const T *, T *, T, int);                    \
    template __global__ void reduce<T, 256>(const T *, T *, unsigned);                       \
    template __global__ void scan<T, 256>(const T *, T *, const T *, int);                   \
    template __global__ void rows<T>(const T *, const int *, const int *, const T *, T *, int); \
    template __global__ void warps<T>(const T *, const int *, const int *, const T *, T *, int);
OF(float)
OF(double)
