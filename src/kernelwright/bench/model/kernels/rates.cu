// Kernels that keep one part of a GPU busy, as those of published microbenchmarks do; microbenchmarks.py launches them.

// Each address is read from the one before, by one thread.
__global__ void chase(void **p, void **out, int steps) {
  if (threadIdx.x) return;
#pragma unroll 1
  for (int i = 0; i < steps; i += 16) {
#pragma unroll
    for (int j = 0; j < 16; ++j) p = (void **)*p;
  }
  *out = p;
}

__global__ void chase_shared(const unsigned *from, unsigned *out, int steps) {
  __shared__ unsigned next[64];
  for (int i = threadIdx.x; i < 64; i += blockDim.x) next[i] = from[i];
  __syncthreads();
  const char *base = (const char *)next;
  unsigned at = 0;
#pragma unroll 1
  for (int i = 0; i < steps; i += 16) {
#pragma unroll
    for (int j = 0; j < 16; ++j) at = *(const unsigned *)(base + at);
  }
  *out = at;
}

__constant__ unsigned table[64];
__global__ void chase_constant(unsigned *out, int steps) {
  const char *base = (const char *)table;
  unsigned at = *out;
#pragma unroll 1
  for (int i = 0; i < steps; i += 16) {
#pragma unroll
    for (int j = 0; j < 16; ++j) at = *(const unsigned *)(base + at);
  }
  *out = at;
}

#define CHAIN(name, type, step)                                                       \
  __global__ void name(type *to, int steps) {                                         \
    type x = to[threadIdx.x];                                                         \
    _Pragma("unroll 1") for (int i = 0; i < steps; i += 16) {                         \
      _Pragma("unroll") for (int j = 0; j < 16; ++j) x = step;                        \
    }                                                                                 \
    to[threadIdx.x] = x;                                                              \
  }
CHAIN(chain_fma, float, __fmaf_rn(x, x, x))
CHAIN(chain_dfma, double, __fma_rn(x, x, x))

// Every block reads the same 12,288 floats, again and again; step is 0, which the compiler does not know.
#define READ_AGAIN(threads)                                                           \
  __global__ void read_again##threads(const float *from, float *to, int times, int step) {\
    from += threadIdx.x;                                                              \
    float sum = 0;                                                                    \
    _Pragma("unroll 1") for (int i = 0; i < times; ++i) {                             \
      _Pragma("unroll") for (int j = 0; j < 12288; j += threads) sum += from[j];      \
      from += step, sum *= 1.3f;                                                      \
    }                                                                                 \
    if (sum == 1234.5f) to[threadIdx.x] = sum;                                        \
  }
READ_AGAIN(256)
READ_AGAIN(1024)

// Every block reads a part of its own, of a set that is gone through several times.
__global__ void read_set(const double *from, double *to, int parts, int each) {
  const double *mine = from + (size_t)(blockIdx.x % parts) * each * blockDim.x;
  double sum = 0;
#pragma unroll 4
  for (int i = 0; i < each; ++i) sum += mine[i * blockDim.x + threadIdx.x];
  if (sum == 1234.5) to[threadIdx.x] = sum;
}

// Streams.
__global__ void stream_init(double *a) { a[(size_t)blockIdx.x * blockDim.x + threadIdx.x] = 1.5; }
__global__ void stream_read(const double *b, double *a) {
  size_t t = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (b[t] == 1234.5) a[t] = 1;
}
__global__ void stream_scale(const double *b, double *a) {
  size_t t = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  a[t] = b[t] * 1.5;
}
__global__ void stream_triad(const double *b, const double *c, double *a) {
  size_t t = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  a[t] = b[t] + 1.5 * c[t];
}

// Lanes add to words of an array, so many apart in it.
__global__ void add(int *to, int words) {
  atomicAdd(&to[(unsigned)(blockIdx.x * blockDim.x + threadIdx.x) % (unsigned)words], 1);
}
