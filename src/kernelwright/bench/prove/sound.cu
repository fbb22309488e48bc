// Kernels whose variants (compiled with -DVARIANT) do less work and mean the same on all data, in all orders. The pointers of
// a launch point to memory that does not overlap.

// Two barriers in a row.
extern "C" __global__ void barrier_twice(const float *in, float *out) {
  __shared__ float s[128];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  s[t] = in[i];
  __syncthreads();
#ifndef VARIANT
  __syncthreads();
#endif
  out[i] = s[127 - t];
}

// A barrier between accesses of each thread to its own element.
extern "C" __global__ void barrier_of_nothing(const float *in, float *out) {
  __shared__ float s[64];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  s[t] = in[i];
#ifndef VARIANT
  __syncthreads();
#endif
  out[i] = s[t] * s[t];
}

// What is stored first is overwritten, and nothing reads it: the input is read before, so the buffers may be one.
extern "C" __global__ void dead_store(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = i < n ? in[i] : 0.0f;
#ifndef VARIANT
  if (i < n) out[i] = 0.0f;
#endif
  __syncthreads();
  if (i < n) out[i] = x + 1.0f;
}

// The same element is loaded twice, with a barrier between and no store, so the buffers may be one.
extern "C" __global__ void repeated_load(const float *in, float *out, float *twice, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i < n ? i : 0], again = x;
  __syncthreads();
  if (i >= n) return;
#ifndef VARIANT
  again = in[i];
#endif
  out[i] = x * x;
  twice[i] = again + again;
}

// No thread's number reaches the size of its block.
extern "C" __global__ void clamp_never_binds(const int *in, int *out) {
  int t = threadIdx.x;
#ifndef VARIANT
  t = min(t, (int)blockDim.x - 1);
#endif
  out[blockIdx.x * blockDim.x + t] = in[blockIdx.x * blockDim.x + t] ^ 3;
}

// What does not change in the loop is loaded before it.
extern "C" __global__ void hoisted(const float *in, const float *scale, float *out, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
#ifdef VARIANT
  float s = scale[0];
  for (int k = 0; k < rounds; ++k) out[k * all + i] = in[k * all + i] * s;
#else
  for (int k = 0; k < rounds; ++k) out[k * all + i] = in[k * all + i] * scale[0];
#endif
}

// A division by a power of two is a multiplication.
extern "C" __global__ void power_of_two(const float *in, float *out, float by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef VARIANT
  if (i < n) out[i] = (in[i] + by) * 0.125f;
#else
  if (i < n) out[i] = __fdiv_rn(in[i] + by, 8.0f);
#endif
}

// The same product twice, with a barrier between and no store, so the buffers may be one.
extern "C" __global__ void same_product(const float *a, const float *b, float *sum, float *difference) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = a[i], y = b[i], product = __fmul_rn(x, y), added = product + x;
  __syncthreads();
#ifndef VARIANT
  product = __fmul_rn(a[i], b[i]);
#endif
  sum[i] = added;
  difference[i] = product - y;
}

// Every thread has an address of its own and needs no atomic: in one row of blocks of one row of threads.
extern "C" __global__ void own_address(const int *in, int *out) {
  if (blockIdx.y + blockIdx.z + threadIdx.y + threadIdx.z) return;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef VARIANT
  out[i] += in[i];
#else
  atomicAdd(&out[i], in[i]);
#endif
}

// Lanes of one warp exchange values; the others need not wait.
extern "C" __global__ void only_the_warp(const int *in, int *out) {
  __shared__ int s[128];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  s[t] = in[i];
#ifdef VARIANT
  __syncwarp();
#else
  __syncthreads();
#endif
  out[i] = s[t ^ 1];
}

// The running sum is stored once, not in every round.
extern "C" __global__ void stored_once(const int *in, int *out, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x, sum = 0;
  for (int k = 0; k < rounds; ++k) {
    sum += in[k * all + i];
#ifndef VARIANT
    out[i] = sum;
#endif
  }
#ifdef VARIANT
  if (rounds > 0) out[i] = sum;
#endif
}

// An element that only its own thread uses needs no shared memory.
extern "C" __global__ void in_a_register(const float *in, float *out, int rounds) {
  __shared__ volatile float s[64];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
#ifdef VARIANT
  float own = in[i];
  for (int k = 0; k < rounds; ++k) own = own * own - 0.5f;
  out[i] = own;
#else
  s[t] = in[i];
  for (int k = 0; k < rounds; ++k) s[t] = s[t] * s[t] - 0.5f;
  out[i] = s[t];
#endif
}

// A position that grows by a step needs no multiplication.
extern "C" __global__ void no_multiplication(const int *in, int *out, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x, sum = 0;
#ifdef VARIANT
  for (int k = 0, at = i; k < rounds; ++k, at += all) sum ^= in[at] + k;
#else
  for (int k = 0; k < rounds; ++k) sum ^= in[k * all + i] + k;
#endif
  out[i] = sum;
}

// Elements in pairs, added in another order: whole numbers do not mind.
extern "C" __global__ void other_order(const unsigned *in, unsigned *out, int pairs) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned even = 0, odd = 0;
#ifdef VARIANT
  for (int k = 0; k < pairs; ++k) even += in[i * 2 * pairs + k], odd += in[(i * 2 + 1) * pairs + k];
#else
  for (int k = 0; k < pairs; ++k) even += in[i * 2 * pairs + 2 * k], odd += in[i * 2 * pairs + 2 * k + 1];
#endif
  out[i] = even + odd;
}
