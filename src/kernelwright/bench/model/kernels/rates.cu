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

// Several doubles for each thread.
#define STREAM_SUM(each)                                                              \
  __global__ void stream_sum##each(const double *b, double *a) {                      \
    size_t t = (size_t)blockIdx.x * blockDim.x * each + threadIdx.x;                  \
    double sum = 0;                                                                   \
    _Pragma("unroll") for (int j = 0; j < each; ++j) sum += b[t + j * blockDim.x];    \
    if (sum == 1234.5) a[t] = sum;                                                    \
  }
STREAM_SUM(2)
STREAM_SUM(4)
STREAM_SUM(8)

// Lanes add to words of an array, so many apart in it.
__global__ void add(int *to, int words) {
  atomicAdd(&to[(unsigned)(blockIdx.x * blockDim.x + threadIdx.x) % (unsigned)words], 1);
}
__global__ void add_apart(int *to, int words, int apart) {
  atomicAdd(&to[(unsigned)(blockIdx.x * blockDim.x + threadIdx.x) % (unsigned)words * apart], 1);
}
__global__ void add_float(float *to, int words) {
  atomicAdd(&to[(unsigned)(blockIdx.x * blockDim.x + threadIdx.x) % (unsigned)words], 1.0f);
}
__global__ void add_read(int *to, int words, int *out) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  if (atomicAdd(&to[t % (unsigned)words], 1) == -5) *out = 1;
}
#define ADD_SHARED(name, type, value)                                                 \
  __global__ void name(type *out, int words, int times) {                             \
    __shared__ type bins[1024];                                                       \
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) bins[i] = 0;                 \
    __syncthreads();                                                                  \
    unsigned at = threadIdx.x % (unsigned)words;                                      \
    _Pragma("unroll 4") for (int i = 0; i < times; ++i) atomicAdd(&bins[at], value);  \
    __syncthreads();                                                                  \
    if (bins[threadIdx.x] == -5) *out = 1;                                            \
  }
ADD_SHARED(add_shared, int, 1)
ADD_SHARED(add_shared_value, int, i)
ADD_SHARED(add_shared_float, float, 1.5f)

// Blocks that do nothing, and blocks that only meet.
__global__ void nothing(int *to) {}
__global__ void meet(int *to, int times) {
#pragma unroll 1
  for (int i = 0; i < times; i += 8) {
#pragma unroll
    for (int j = 0; j < 8; ++j) __syncthreads();
  }
}

// Lanes read words of shared memory, so many apart; step is 0, which the compiler does not know.
__global__ void read_shared(float *to, int times, int apart, int step) {
  __shared__ float words[9216];
  for (int i = threadIdx.x; i < 9216; i += blockDim.x) words[i] = i;
  __syncthreads();
  const float *from = words + threadIdx.x * apart % 1024;
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < times; i += 8) {
#pragma unroll
    for (int j = 0; j < 8; ++j) sum += from[j * 1024];
    from += step, sum *= 1.3f;
  }
  if (sum == 1234.5f) to[threadIdx.x] = sum;
}

// The same, words of 8 and 16 bytes: `group` neighbouring lanes read the same one, and so do lanes that are `period` groups apart.
#define READ_WIDE(name, type, components)                                                     \
  __global__ void name(float *to, int times, int group, int period, int step) {               \
    __shared__ type words[256];                                                               \
    for (int i = threadIdx.x; i < 256 * components; i += blockDim.x) ((float *)words)[i] = i; \
    __syncthreads();                                                                          \
    const type *from = words + threadIdx.x % 32 / group % period;                             \
    float sum = 0;                                                                            \
    _Pragma("unroll 1") for (int i = 0; i < times; i += 8) {                                  \
      _Pragma("unroll") for (int j = 0; j < 8; ++j) {                                         \
        type word = from[j * 32];                                                             \
        sum += ADD##components(word);                                                         \
      }                                                                                       \
      from += step, sum *= 1.3f;                                                              \
    }                                                                                         \
    if (sum == 1234.5f) to[threadIdx.x] = sum;                                                \
  }
#define ADD2(word) word.x + word.y
#define ADD4(word) word.x + word.y + word.z + word.w
READ_WIDE(read_shared_2, float2, 2)
READ_WIDE(read_shared_4, float4, 4)

// Four chains beside each other in every thread: what a unit does when nothing waits.
#define UNIT(name, type, step)                                                        \
  __global__ void name(type *to, int steps) {                                         \
    type a = to[0], b = to[1], c = to[2], d = to[3], k = to[4];                       \
    _Pragma("unroll 1") for (int i = 0; i < steps; i += 16) {                         \
      _Pragma("unroll") for (int j = 0; j < 16; ++j) {                                \
        { type x = a; a = step; }                                                     \
        { type x = b; b = step; }                                                     \
        { type x = c; c = step; }                                                     \
        { type x = d; d = step; }                                                     \
      }                                                                               \
    }                                                                                 \
    if (a + b + c + d == 1234) to[threadIdx.x] = a;                                   \
  }
UNIT(unit_fma, float, __fmaf_rn(x, k, k))
UNIT(unit_add, float, __fadd_rn(x, k))
UNIT(unit_imad, int, x * k + k)
UNIT(unit_xor, int, (x ^ k) + 1)
UNIT(unit_dfma, double, __fma_rn(x, k, k))
UNIT(unit_rsqrt, float, rsqrtf(x))
UNIT(unit_exp, float, __expf(x))
UNIT(unit_sqrt, float, sqrtf(x))
UNIT(unit_div, float, __fdiv_rn(k, x))
UNIT(unit_idiv, int, k / (x | 1))
UNIT(unit_long, long long, x * k + k)
UNIT(unit_shuffle, int, __shfl_xor_sync(0xffffffffu, x, 1) + k)
UNIT(unit_convert, float, (float)((int)x + 1))
UNIT(unit_popc, int, __popc(x) + k)

// Of nothing: x - x is 0 of every number. These take the slow paths of their operations (docs/decisions/0043).
UNIT(unit_div_zero, float, __fdiv_rn(x - x, k))
UNIT(unit_sqrt_zero, float, sqrtf(x - x) + k)
UNIT(unit_rcp, float, __frcp_rn(x))
UNIT(unit_rcp_large, float, __frcp_rn(x * 0 + 3e38f) + k)
UNIT(unit_ddiv, double, __ddiv_rn(k, x))
UNIT(unit_ddiv_zero, double, __ddiv_rn(x - x, k))

// A branch that is never taken, around what is no guarded instruction, and an addition.
__device__ float skipped(float x, float k) {
  if (x < -k) {
#pragma unroll 1
    for (int i = 0; i < (int)x; ++i) x = x * x - k;
  }
  return x + 1;
}
UNIT(unit_branch, float, skipped(x, k))

// All lanes read one float of constant memory, of a set that is gone through; its size in floats is a power of two.
__constant__ float numbers[8192];
__global__ void read_constants(float *to, int times, int set) {
  float sum = 0;
  int at = 0;
#pragma unroll 1
  for (int i = 0; i < times; i += 8) {
#pragma unroll
    for (int j = 0; j < 8; ++j) sum += numbers[at + j];
    at = (at + 8) & (set - 1);
  }
  if (sum == 1234.5f) to[threadIdx.x] = sum;
}

// Four values that go round: nothing folds, and each step is one instruction.
#define ROUND(name, type, step)                                                       \
  __global__ void name(type *to, int steps) {                                         \
    type a = to[0], b = to[1], c = to[2], d = to[3], k = to[4];                       \
    _Pragma("unroll 1") for (int i = 0; i < steps; i += 16) {                         \
      _Pragma("unroll") for (int j = 0; j < 16; ++j) {                                \
        { type x = a, y = b; a = step; }                                              \
        { type x = b, y = c; b = step; }                                              \
        { type x = c, y = d; c = step; }                                              \
        { type x = d, y = a; d = step; }                                              \
      }                                                                               \
    }                                                                                 \
    if (a + b + c + d == 1234) to[threadIdx.x] = a + k;                               \
  }
ROUND(round_add, int, x + y)
ROUND(round_and, int, (x & y) ^ k)
ROUND(round_shift, int, x << (y & 31))
ROUND(round_min, int, min(x, y))
ROUND(round_less, int, x < y ? k : y)
ROUND(round_fadd, float, x + y)
ROUND(round_fmin, float, fminf(x, y))
ROUND(round_fless, float, x < y ? k : y)
ROUND(round_mixed, int, (j & 1) ? x + y : (x & y) ^ k)
ROUND(round_half, float, (j & 1) ? x + y : fmaf(x, y, k))
