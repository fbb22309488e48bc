// Kernels whose variants (compiled with -DVARIANT) do less work and give the same results on the training cases, and are
// wrong all the same. One kernel for each way in which that can be.
#include <float.h>

// A barrier between warps is gone. Warps that run in rising order do not notice.
extern "C" __global__ void earlier_warp(const float *in, float *out) {
  __shared__ float s[128];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  s[t] = in[i] * 2.0f;
#ifndef VARIANT
  __syncthreads();
#endif
  out[i] = s[t >= 32 ? t - 32 : t] + in[i];
}

// The barrier that keeps a tile from being overwritten too early is gone.
extern "C" __global__ void tile_reused(const float *in, float *out, int tiles) {
  __shared__ float s[128];
  int t = threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < tiles; ++k) {
    s[t] = in[(blockIdx.x * tiles + k) * 128 + t];
    __syncthreads();
    sum += s[t < 96 ? t + 32 : t];
#ifndef VARIANT
    __syncthreads();
#endif
  }
  out[blockIdx.x * 128 + t] = sum;
}

// The atomic is gone. Warps that run one after another never meet: only the accesses show the race.
extern "C" __global__ void largest(const int *in, int *best) {
  int v = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int d = 16; d; d /= 2) v = max(v, __shfl_xor_sync(0xffffffffu, v, d));
  if (threadIdx.x % 32 == 0) {
#ifdef VARIANT
    if (v > *best) *best = v;
#else
    atomicMax(best, v);
#endif
  }
}

// Every block also writes the first element of the next one. Blocks that run in rising order put that right again.
extern "C" __global__ void halo_written(const float *in, float *out, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
#ifdef VARIANT
  if (i < n) {
    out[i] = in[i] * in[blockIdx.x];
    if (threadIdx.x == 63 && i + 1 < n) out[i + 1] = in[i + 1];
  }
#else
  if (i < n) out[i] = in[i] * in[blockIdx.x];
#endif
}

// The accumulators in shared memory are not set to begin with. What lies there happens to be a large negative number.
extern "C" __global__ void never_set(const float *in, float *out, int per) {
  __shared__ float most[64];
  int t = threadIdx.x;
#ifndef VARIANT
  most[t] = -FLT_MAX;
#endif
  __syncthreads();
  for (int k = 0; k < per; ++k) most[t] = fmaxf(most[t], in[(blockIdx.x * per + k) * 64 + t]);
  __syncthreads();
  out[blockIdx.x * 64 + t] = most[t];
}

// A reduction within a warp without __syncwarp().
extern "C" __global__ void warp_sum(const float *in, float *out) {
  __shared__ volatile float s[32];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 32 + t];
  for (int d = 16; d; d /= 2) {
#ifndef VARIANT
    __syncwarp();
#endif
    float other = s[(t + d) % 32];
#ifndef VARIANT
    __syncwarp();
#endif
    s[t] = s[t] + other;
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// The block is one warp, and its barrier is gone.
extern "C" __global__ void one_warp(const int *in, int *out) {
  __shared__ int s[32];
  int t = threadIdx.x, i = blockIdx.x * 32 + t;
  s[t] = in[i];
#ifndef VARIANT
  __syncthreads();
#endif
  out[i] = s[31 - t];
}

// The table holds at each key the key itself.
extern "C" __global__ void value_is_key(const int *keys, const int *table, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef VARIANT
  if (i < n) out[i] = keys[i];
#else
  if (i < n) out[i] = table[keys[i]];
#endif
}

// No key comes twice.
extern "C" __global__ void dense_keys(const int *keys, int *count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef VARIANT
  if (i < n) count[keys[i]] = 1;
#else
  if (i < n) atomicAdd(&count[keys[i]], 1);
#endif
}

// The image is as wide as it is high.
extern "C" __global__ void square(const float *in, float *out, int width, int height) {
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
#ifdef VARIANT
  if (x < height && y < height) out[y * height + x] = in[y * height + x] + 1.0f;
#else
  if (x < width && y < height) out[y * width + x] = in[y * width + x] + 1.0f;
#endif
}

// There are as many elements as threads.
extern "C" __global__ void whole_blocks(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifndef VARIANT
  if (i >= n) return;
#endif
  out[i] = in[i] * 3.0f;
}

// The values rise, so the first is the least.
extern "C" __global__ void sorted(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef VARIANT
  out[i] = in[i * n];
#else
  int least = in[i * n];
  for (int k = 1; k < n; ++k) least = min(least, in[i * n + k]);
  out[i] = least;
#endif
}

// No value is negative.
extern "C" __global__ void positive(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef VARIANT
  if (i < n) out[i] = sqrtf(in[i]);
#else
  if (i < n) out[i] = in[i] < 0.0f ? -sqrtf(-in[i]) : sqrtf(in[i]);
#endif
}

// All values fit into sixteen bits.
extern "C" __global__ void small(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef VARIANT
  if (i < n) out[i] = (short)in[i] * 5;
#else
  if (i < n) out[i] = in[i] * 5;
#endif
}

// The matrix is symmetric, so a row can be read for a column.
extern "C" __global__ void symmetric(const float *a, const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
#ifdef VARIANT
  for (int k = 0; k < n; ++k) sum += a[i * n + k] * x[k];
#else
  for (int k = 0; k < n; ++k) sum += a[k * n + i] * x[k];
#endif
  y[i] = sum;
}

// The element behind the last one is there, and is zero.
extern "C" __global__ void padded(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
#ifdef VARIANT
  out[i] = in[i] + in[i + 1];
#else
  out[i] = in[i] + (i + 1 < n ? in[i + 1] : 0.0f);
#endif
}

// Every list has four elements.
extern "C" __global__ void four_each(const int *lengths, const int *lists, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
#ifdef VARIANT
  for (int k = 0; k < 4; ++k) sum += lists[i * 8 + k];
#else
  for (int k = 0; k < lengths[i] && k < 8; ++k) sum += lists[i * 8 + k];
#endif
  out[i] = sum;
}

// The work flag of every element is set.
extern "C" __global__ void always_taken(const int *flags, const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef VARIANT
  if (i < n) out[i] = in[i] * in[i];
#else
  if (i < n && flags[i]) out[i] = in[i] * in[i];
#endif
}
