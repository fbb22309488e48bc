// What the programs of this folder need of CUDA, so that they compile alone: see README.md.
#pragma once
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
#define INLINE static inline __attribute__((device, always_inline))

typedef unsigned int uint;
typedef unsigned long long ulong64;
struct alignas(16) float4 { float x, y, z, w; };

INLINE int thread() { return __nvvm_read_ptx_sreg_tid_x(); }
INLINE int block() { return __nvvm_read_ptx_sreg_ctaid_x(); }
INLINE int threads() { return __nvvm_read_ptx_sreg_ntid_x(); }
INLINE int position() { return block() * threads() + thread(); }
INLINE void barrier() { __syncthreads(); }
INLINE float shuffle_down(float x, int by) { return __nvvm_shfl_sync_down_f32(0xffffffffu, x, by, 31); }
INLINE uint ballot(bool p) { return __nvvm_vote_ballot_sync(0xffffffffu, p); }
INLINE int lane_mask() { int m; asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(m)); return m; }
template <typename T> INLINE T least(T a, T b) { return a < b ? a : b; }
template <typename T> INLINE T most(T a, T b) { return a > b ? a : b; }
template <typename T> INLINE T atomic_add(T *p, T v) {
  return __scoped_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
