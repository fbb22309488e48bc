// Kernels whose traffic is known before they run.
extern "C" __global__ void saxpy(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void strided(int stride, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i * stride];
}

extern "C" __global__ void conflicts(int stride, float *y) {
  __shared__ float tile[32 * 32];
  tile[threadIdx.x * stride] = 1.0f;
  __syncthreads();
  y[blockIdx.x * blockDim.x + threadIdx.x] = tile[(31 - threadIdx.x) * stride];
}

extern "C" __global__ void count_all(int *sum) { atomicAdd(sum, (int)threadIdx.x); }

extern "C" __global__ void again(int times, const float *x, float *y) {
  const volatile float *v = x;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float total = 0.0f;
  for (int k = 0; k < times; k++) total += v[i];
  y[i] = total;
}

extern "C" __global__ void uneven(int most, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float total = x[i];
  for (int k = 0; k < most * (threadIdx.x / 32); k++) total = total * 1.5f + x[k];
  __syncthreads();
  y[i] = total;
}

extern "C" __global__ void half_warp(float *y) {
  if (threadIdx.x % 2) y[threadIdx.x] = sqrtf(y[threadIdx.x]) / 3.0f;
}

extern "C" __global__ void too_far(float *y) { y[threadIdx.x + 1000000] = 1.0f; }

extern "C" __global__ void exchange(float *y) {
  float v = y[threadIdx.x];
  if (threadIdx.x % 2) {
    v = v * 2.0f + __shfl_xor_sync(0xAAAAAAAA, v, 2);
    y[threadIdx.x] = v * v;
  }
}

extern "C" __global__ void copy4(float4 *to, const float4 *from) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i];
}

extern "C" __global__ void along(int n, const float *x, float *y) {
  float total = 0.0f;
  for (int k = threadIdx.x; k < n; k += 128) total += x[k];
  y[blockIdx.x * blockDim.x + threadIdx.x] = total;
}

/* Each block walks through a part of x of its own. */
extern "C" __global__ void sums(int times, const float *x, float *y) {
  const float *own = x + blockIdx.x * times * 64;
  float sum = 0;
  for (int i = 0; i < times; i++) sum += own[i * 64 + threadIdx.x];
  y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
