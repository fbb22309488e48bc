// Kernels for the calibration of the timing model: each leans on another part of a GPU. UNROLL, TILE and PAD make variants.
#ifndef UNROLL
#define UNROLL 1
#endif
#ifndef TILE
#define TILE 16
#endif
#ifndef PAD
#define PAD 1
#endif

#define FIRST (blockIdx.x * blockDim.x + threadIdx.x)
#define STRIDE (gridDim.x * blockDim.x)

extern "C" __global__ void saxpy(const float *x, float *y, float a, int n)
{
#pragma unroll UNROLL
    for (int i = FIRST; i < n; i += STRIDE)
        y[i] = a * x[i] + y[i];
}

extern "C" __global__ void polynomial(const float *x, float *y, int n)
{
    for (int i = FIRST; i < n; i += STRIDE) {
        float v = x[i], sum = 1.0f;
#pragma unroll UNROLL
        for (int k = 0; k < 128; k++)
            sum = sum * v + 0.5f;
        y[i] = sum;
    }
}

extern "C" __global__ void total(const float *x, float *sums, int n)
{
    __shared__ float part[32];
    float sum = 0.0f;
#pragma unroll UNROLL
    for (int i = FIRST; i < n; i += STRIDE)
        sum += x[i];
    for (int k = 16; k; k /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, k);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < blockDim.x / 32; k++)
            sum += part[k];
        sums[blockIdx.x] = sum;
    }
}

extern "C" __global__ void product(const float *a, const float *b, float *c, int n)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE + PAD];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    float sum = 0.0f;
    for (int k = 0; k < n; k += TILE) {
        left[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
        __syncthreads();
#pragma unroll UNROLL
        for (int j = 0; j < TILE; j++)
            sum += left[threadIdx.y][j] * right[j][threadIdx.x];
        __syncthreads();
    }
    c[y * n + x] = sum;
}

extern "C" __global__ void transpose(const float *a, float *b, int n)
{
    __shared__ float tile[TILE][TILE + PAD];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = a[y * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    b[y * n + x] = tile[threadIdx.x][threadIdx.y];
}

extern "C" __global__ void heat(const float *a, float *b, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1) {
        int i = y * n + x;
        b[i] = a[i] + 0.2f * (a[i - 1] + a[i + 1] + a[i - n] + a[i + n] - 4.0f * a[i]);
    }
}

extern "C" __global__ void histogram(const int *x, int *bins, int n)
{
    __shared__ int part[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x)
        part[k] = 0;
    __syncthreads();
#pragma unroll UNROLL
    for (int i = FIRST; i < n; i += STRIDE)
        atomicAdd(&part[x[i] & 255], 1);
    __syncthreads();
    for (int k = threadIdx.x; k < 256; k += blockDim.x)
        atomicAdd(&bins[k], part[k]);
}

extern "C" __global__ void gather(const int *from, const float *x, float *y, int n)
{
#pragma unroll UNROLL
    for (int i = FIRST; i < n; i += STRIDE)
        y[i] = x[from[i]] * 2.0f + 1.0f;
}

// Threads of a warp go on for different numbers of rounds.
extern "C" __global__ void steps(const int *x, int *y, int n)
{
    for (int i = FIRST; i < n; i += STRIDE) {
        unsigned v = x[i] & 0xffff, count = 0;
        while (v > 1 && count < 200) {
            v = v % 2 ? 3 * v + 1 : v / 2;
            count++;
        }
        y[i] = count;
    }
}
