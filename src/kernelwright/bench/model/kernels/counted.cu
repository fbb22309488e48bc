// Kernels whose requests, sectors, wavefronts and instructions can be reckoned: exact_counts.py has the formulas.

// What is copied as it is may become a copy of bytes; these are loads and stores.
__device__ unsigned char changed(unsigned char x) { return x + 1; }
__device__ unsigned short changed(unsigned short x) { return x + 1; }
__device__ float changed(float x) { return x + 1; }
__device__ float2 changed(float2 x) { return make_float2(x.x + 1, x.y); }
__device__ float4 changed(float4 x) { return make_float4(x.x + 1, x.y, x.z, x.w); }

// A warp reads words of one width, so many apart, from somewhere on.
#define COPY(name, type)                                                              \
  __global__ void name(const type *from, type *to, int stride, int offset) {          \
    int t = blockIdx.x * blockDim.x + threadIdx.x;                                    \
    to[t] = changed(from[t * stride + offset]);                                       \
  }
COPY(copy1, unsigned char)
COPY(copy2, unsigned short)
COPY(copy4, float)
COPY(copy8, float2)
COPY(copy16, float4)

// The first lanes of each warp alone.
__global__ void first_lanes(const float *from, float *to, int lanes) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if ((t & 31) < lanes) to[t] = from[t];
}

// Lane l goes round l times.
__global__ void ragged(const float *from, float *to) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, lane = t & 31;
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < lane; ++i) sum += from[32 * i + lane];
  to[t] = sum;
}

// A warp stores words of one width, so many apart, and reads them in the other order.
#define BANKS(name, type)                                                             \
  __global__ void name(const type *from, type *to, int stride) {                      \
    __shared__ type tile[32 * 33];                                                    \
    int t = threadIdx.x;                                                              \
    tile[t * stride] = changed(from[t]);                                              \
    __syncthreads();                                                                  \
    to[t] = changed(tile[(31 - t) * stride]);                                         \
  }
BANKS(banks1, unsigned char)
BANKS(banks2, unsigned short)
BANKS(banks4, float)
BANKS(banks8, float2)
BANKS(banks16, float4)

// Lanes of a warp add to mask + 1 words.
__global__ void add(int *to, int mask) { atomicAdd(&to[threadIdx.x & mask], 1); }
// (Adding 1 would count lanes: one turn, whatever they meet.)
__global__ void add_shared(int *to, int mask) {
  __shared__ int sums[32];
  sums[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&sums[threadIdx.x & mask], 2);
  __syncthreads();
  to[threadIdx.x] = sums[threadIdx.x];
}

// Lanes of a warp read mask + 1 constants.
__constant__ float table[64];
__global__ void constants(float *to, int mask) { to[threadIdx.x] = table[threadIdx.x & mask]; }

// So many instructions of one class to a turn.
#define PER_TURN 16
#define CHAIN(name, type, step)                                                       \
  __global__ void name(type *to, int turns) {                                         \
    int t = blockIdx.x * blockDim.x + threadIdx.x;                                    \
    type x = to[t];                                                                   \
    _Pragma("unroll 1") for (int i = 0; i < turns; ++i) {                             \
      _Pragma("unroll") for (int j = 0; j < PER_TURN; ++j) x = step;                  \
    }                                                                                 \
    to[t] = x;                                                                        \
  }
CHAIN(multiply_adds, float, __fmaf_rn(x, x, x))
CHAIN(double_multiply_adds, double, __fma_rn(x, x, x))

// Not in a loop, around which Turing's code votes.
__global__ void shuffles(int *to) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, x = to[t];
#pragma unroll
  for (int j = 0; j < PER_TURN; ++j) x = __shfl_xor_sync(0xffffffff, x, j + 1);
  to[t] = x;
}

// Every second warp.
__global__ void every_second_warp(float *to, int turns) {
  float x = to[threadIdx.x];
  if (threadIdx.x & 32) {
#pragma unroll 1
    for (int i = 0; i < turns; ++i) {
#pragma unroll
      for (int j = 0; j < PER_TURN; ++j) x = __fmaf_rn(x, x, x);
    }
  }
  to[threadIdx.x] = x;
}

__global__ void barriers(float *to, int turns) {
  __shared__ float tile[64];
  float x = to[threadIdx.x];
#pragma unroll 1
  for (int i = 0; i < turns; ++i) {
    tile[threadIdx.x] = x;
    __syncthreads();
    x = tile[threadIdx.x ^ 1];
    __syncthreads();
  }
  to[threadIdx.x] = x;
}
