#include "device.h"
// Reductions and histograms: shuffles, votes, atomics in every width and scope, inline assembly.
__device__ uint finished = 0;
__device__ double totals[4];

__device__ __attribute__((noinline)) float warp_sum(float x) {
  for (int by = 16; by > 0; by >>= 1) x += shuffle_down(x, by);
  return x;
}

__global__ void sum(const float *in, float *out, int n) {
  __shared__ float parts[32];
  __shared__ bool last;
  float x = 0;
  for (int i = position(); i < n; i += 1024) x += in[i];
  x = warp_sum(x);
  if ((thread() & 31) == 0) parts[thread() >> 5] = x;
  barrier();
  if (thread() < 32) {
    x = warp_sum(thread() < threads() / 32 ? parts[thread()] : 0.0f);
    if (thread() == 0) {
      out[block()] = x;
      __scoped_atomic_thread_fence(__ATOMIC_SEQ_CST, __MEMORY_SCOPE_DEVICE);
      last = atomic_add(&finished, 1u) == 63;
    }
  }
  barrier();
  if (last && thread() == 0) atomic_add(&totals[0], (double)x);
}

__global__ void histogram(const unsigned char *bytes, uint *bins, ulong64 *wide, int n) {
  __shared__ uint local[256];
  local[thread()] = 0;
  barrier();
  for (int i = position(); i < n; i += threads()) {
    uint mask = ballot(bytes[i] > 127);
    __scoped_atomic_fetch_add(&local[bytes[i]], 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
    if (__builtin_popcount(mask & lane_mask()) == 0) __scoped_atomic_fetch_max(wide, (ulong64)i, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  }
  barrier();
  __scoped_atomic_fetch_xor(&bins[thread()], local[thread()], __ATOMIC_ACQ_REL, __MEMORY_SCOPE_SYSTEM);
}

__global__ void lock(int *mutex, volatile int *flag, float *shared_sum, double *d) {
  int free = 0;
  while (!__scoped_atomic_compare_exchange_n(mutex, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)) free = 0;
  *shared_sum += 1.0f;
  *flag = *flag + 1;
  int old;
  int one = 1;
  __scoped_atomic_exchange(mutex, &one, &old, __ATOMIC_RELEASE, __MEMORY_SCOPE_DEVICE);
  float r;
  asm("{ .reg .f32 t; mul.f32 t, %1, %1; add.f32 %0, t, %1; }" : "=f"(r) : "f"(*shared_sum));
  *d = __builtin_sqrt(*d) + r;
  uint lo, hi;
  asm volatile("mov.b64 {%0, %1}, %2; // \"odd\", !dbg text" : "=r"(lo), "=r"(hi) : "d"(*d) : "memory");
  flag[1] = lo ^ hi;
}
