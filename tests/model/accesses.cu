// Kernels whose loads and stores are known one by one: what the source says, and what the machine makes of it.

__constant__ float table[64];

struct Pair {
  float scale[2];
  int shift;
};

// Four neighbouring words of each thread: one load of 128 bits.
__global__ void joined(float* out) {
  __shared__ __align__(16) float tile[128];
  int t = threadIdx.x;
  for (int i = 0; i < 4; ++i) tile[t + 32 * i] = out[t + 32 * i];
  __syncthreads();
  out[t] = tile[4 * t] + tile[4 * t + 1] * tile[4 * t + 2] - tile[4 * t + 3];
}

// Two of them, 16 bytes apart from thread to thread: loads of 64 bits, two lanes on each bank.
__global__ void strided(float* out) {
  __shared__ __align__(16) float tile[128];
  int t = threadIdx.x;
  for (int i = 0; i < 4; ++i) tile[t + 32 * i] = out[t + 32 * i];
  __syncthreads();
  out[t] = tile[4 * t] * tile[4 * t + 1];
}

// Sums of rows that overlap: what they have in common is found behind the arithmetic of addresses, and loaded once.
__global__ void shared_rows(float* out) {
  __shared__ float tile[24][33];
  int t = threadIdx.x, from = threadIdx.y;
  for (int row = from; row < 24; row += blockDim.y) tile[row][t] = out[32 * row + t];
  __syncthreads();
  float sum[3] = {0, 0, 0};
#pragma unroll
  for (int row = 0; row < 15; ++row)
#pragma unroll
    for (int column = 0; column < 1; ++column)
#pragma unroll
      for (int first = 0; first < 3; ++first) sum[first] += tile[from + 4 * first + row][t + column] * table[row];
#pragma unroll
  for (int first = 0; first < 3; ++first) out[32 * first + t] = sum[first];
}

// Neighbouring words of global memory.
__global__ void wide(const float2* __restrict__ in, float* out) {
  out[threadIdx.x] = in[threadIdx.x].x * in[threadIdx.x].y;
}

// Constants at fixed addresses are operands.
__global__ void operands(float* out) { out[threadIdx.x] = out[threadIdx.x] * table[3] + table[5]; }

// One address for the warp, ``n`` times.
__global__ void uniform_constants(float* out, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum = sum * 2 + table[i];
  out[threadIdx.x] = sum;
}

// As many addresses as ``mask`` lets through.
__global__ void scattered_constants(float* out, int mask) { out[threadIdx.x] = table[threadIdx.x & mask]; }

// A struct passed by value is in constant memory, too.
__global__ void by_value(float* out, Pair pair) { out[threadIdx.x] = out[threadIdx.x] * pair.scale[1] + pair.shift; }

// Lanes below ``n`` load: a short branch, which becomes a guard. Whole warps have none.
__global__ void guarded(const float* in, float* out, int n) {
  float x = 1;
  if (threadIdx.x < n) x = in[threadIdx.x];
  out[threadIdx.x] = x;
}

// More values than registers: some go to local memory and come back.
__global__ void __launch_bounds__(1024, 1) spilled(float* out, int n) {
  float held[96];
#pragma unroll
  for (int i = 0; i < 96; ++i) held[i] = out[1024 * i + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 96; ++i) out[1024 * (95 - i) + threadIdx.x + n] = held[i];
}
