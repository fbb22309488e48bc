"""Whole kernels: control flow, memory, calls, variables. Both executors must leave the same, whatever code path is taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.device.arena import Arena
from kernelwright.ir import Module
from tests.simt.harness import PRELUDE, Array, Case, ir

Compile = Callable[[str], Module]

CONTROL = """
extern "C" __global__ void switches(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = in[i], s = 0;
  while (v != 1 && s < 200) {
    switch (v % 5) {
      case 0: s += 1; break;
      case 1: s += 2; if (v & 2) s ^= 3; break;
      case 2: s += v & 7; break;
      case 3: s -= 1;
      default: s += 1;
    }
    v = (v & 1) ? 3 * v + 1 : v >> 1;
  }
  out[i] = s * 1000 + v;
}
extern "C" __global__ void nested(const int* in, int* out, int n) {
  int t = threadIdx.x + threadIdx.y * blockDim.x, s = 0;
  for (int i = 0; i < in[t] % 9; i++) {
    for (int j = 0; j < n; j++) {
      if ((i * j + t) % 5 == 0) continue;
      if (s > 500) goto out;
      s += i ^ j;
      int k = j;
      do { s += k & 1; k >>= 1; if (s % 97 == 0) break; } while (k);
    }
    if ((s & 15) == 3) break;
  }
out:
  out[t] = s;
}
extern "C" __global__ void carried(const int* in, int* out, int n) {
  // values that change with every round, and leave the loop with lanes at different times
  int t = threadIdx.x, a = 1, b = 2, last = 0, rounds = 0;
  for (int i = 0; i < n; i++) {
    int old = a;
    a = b + in[t]; b = old * 3; last = i * 7 + a; rounds = i;
    if (a % 11 == in[t] % 11) break;
  }
  out[t] = a + b * 3 + last * 5 + rounds * 1000003;
}
"""


def ints(rng: np.random.Generator, n: int, low: int = 0, high: int = 1000) -> Array:
    return rng.integers(low, high, n).astype(np.int32)


def zeros(n: int, type: Any = np.int32) -> Array:
    return np.zeros(n, type)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def test_divergent_control_flow(cuda: Compile, arena: Arena, rng: np.random.Generator) -> None:
    module = cuda(CONTROL)
    Case(module, "switches", 3, 64, ints(rng, 190, 1, 5000), zeros(192), 190).agree(arena)
    Case(module, "nested", 1, 64, ints(rng, 64), zeros(64), 7).agree(arena)
    Case(module, "nested", 1, (16, 4, 1), ints(rng, 64), zeros(64), 7).agree(arena)
    Case(module, "carried", 1, 48, ints(rng, 48), zeros(48), 30).agree(arena)


WIDE_LOOP = """
extern "C" __global__ void peak(const float *in, float *value, size_t *place, size_t n) {
  float best = 0; size_t found = 0;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += 96)
    if (fabsf(in[i]) > fabsf(best)) { best = in[i]; found = i; }
  __syncthreads();
  value[threadIdx.x] = best; place[threadIdx.x] = found;
}
"""


def test_a_wide_loop_variable_that_starts_as_a_narrow_number(
    cuda: Compile, arena: Arena, rng: np.random.Generator
) -> None:
    """The phi extends a number of the block before the loop, and is read in the loop's own block alone."""
    data = rng.standard_normal(1000).astype(np.float32)
    Case(cuda(WIDE_LOOP), "peak", 1, 96, data, zeros(96, np.float32), zeros(96, np.uint64), 1000).agree(arena)


def test_irreducible_control_flow(arena: Arena) -> None:
    from tests.simt.harness import ir

    module = ir("""
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @k(ptr %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %odd = and i32 %t, 1
  %c = icmp eq i32 %odd, 0
  br i1 %c, label %a, label %b
a:
  %x = phi i32 [ %t, %entry ], [ %y2, %b ]
  %x2 = add i32 %x, 3
  %ca = icmp slt i32 %x2, %n
  br i1 %ca, label %b, label %end
b:
  %y = phi i32 [ 5, %entry ], [ %x2, %a ]
  %y2 = mul i32 %y, 2
  %cb = icmp slt i32 %y2, %n
  br i1 %cb, label %a, label %end
end:
  %r = phi i32 [ %x2, %a ], [ %y2, %b ]
  %w = zext i32 %t to i64
  %p = getelementptr i32, ptr %out, i64 %w
  store i32 %r, ptr %p
  ret void
}
""")
    Case(module, "k", 1, 64, zeros(64), 500).agree(arena)


LEAVING = (
    PRELUDE
    + """
define ptx_kernel void @k(ptr %out, i32 %x) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %a = phi i32 [ 0, %entry ], [ %n, %loop ]
  %b = phi i32 [ %x, %entry ], [ %a, %loop ]
  %n = add i32 %a, 1
  %s = add i32 %n, %t
  %m = and i32 %s, 7
  switch i32 %m, label %loop [ i32 3, label %one  i32 5, label %two ]
one:
  %p = phi i32 [ %b, %loop ]
  br label %end
two:
  %q = phi i32 [ %a, %loop ]
  br label %end
end:
  %r = phi i32 [ %p, %one ], [ %q, %two ]
  %w = zext i32 %t to i64
  %o = getelementptr i32, ptr %out, i64 %w
  store i32 %r, ptr %o
  ret void
}
"""
)


AGAIN = (
    PRELUDE
    + """
define ptx_kernel void @k(ptr %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i2, %inner ]
  %v = phi i32 [ 0, %entry ], [ %w, %inner ]
  %i2 = add i32 %i, 1
  %more = icmp sle i32 %i, %n
  br i1 %more, label %inner, label %end
inner:
  %j = phi i32 [ 0, %outer ], [ %j2, %step ]
  %w = phi i32 [ %v, %outer ], [ %u, %step ]
  %j2 = add i32 %j, 1
  %m = and i32 %t, 3
  %on = icmp slt i32 %j, %m
  br i1 %on, label %step, label %outer
step:
  %x = mul i32 %w, 3
  %u = add i32 %x, %t
  br label %inner
end:
  %a = zext i32 %t to i64
  %p = getelementptr i32, ptr %out, i64 %a
  store i32 %v, ptr %p
  ret void
}
"""
)


def test_an_inner_loop_that_is_left_into_the_next_round_of_the_outer(arena: Arena) -> None:
    Case(ir(AGAIN), "k", 1, (8, 4, 1), zeros(32), 3).agree(arena)
    Case(ir(AGAIN), "k", 1, 64, zeros(64), 5).agree(arena)


def test_what_lanes_take_along_when_they_leave_a_loop_apart(arena: Arena) -> None:
    Case(ir(LEAVING), "k", 1, 64, zeros(64), 7).agree(arena)


BARRIERS = """
extern "C" __global__ void reduction(const float* in, float* out) {
  __shared__ float s[128];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  for (int k = 64; k; k >>= 1) { if (t < k) s[t] += s[t + k]; __syncthreads(); }
  if (t == 0) out[blockIdx.x] = s[0];
}
extern "C" __global__ void early(int* out, int n) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = t;
  if (t >= n) return;
  __syncthreads();
  out[t] = s[(t + 1) % n];
  __syncthreads();
  s[t] = out[t] * 2;
  __syncthreads();
  out[t] += s[(t + 7) % n];
}
extern "C" __global__ void counted(const int* in, int* out) {
  int t = threadIdx.x + threadIdx.y * blockDim.x, v = in[t];
  int c = __syncthreads_count(v & 1), a = __syncthreads_and(v >= 0), o = __syncthreads_or(v > 995);
  out[t] = c * 100 + a * 10 + o;
}
extern "C" __global__ void in_a_loop(const int* in, int* out, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int i = 0; i < n; i++) {
    int x = s[(t + i) & 63];
    __syncthreads();
    if (x & 1) s[t] += x; else s[t] -= i;
    __syncthreads();
    if (s[0] == 123456) break;
  }
  out[t] = s[t];
}
extern "C" __global__ void dynamic(int* out, int n) {
  extern __shared__ int sh[];
  __shared__ int st[4];
  int t = threadIdx.x + threadIdx.y * blockDim.x, all = blockDim.x * blockDim.y;
  if (t < 4) st[t] = t * 7;
  sh[t] = t * n;
  __syncthreads();
  out[t] = sh[(t * 5 + 3) % all] + st[t & 3];
}
extern "C" __global__ void handed_over(int* o) {
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) { asm volatile("bar.sync 1, 64;" ::: "memory"); o[blockIdx.x * 32 + t] = s[t]; }
  else { s[t - 32] = t; asm volatile("bar.arrive 1, 64;" ::: "memory"); }
}
"""


def test_barriers_and_shared_memory(cuda: Compile, arena: Arena, rng: np.random.Generator) -> None:
    module = cuda(BARRIERS)
    Case(module, "reduction", 2, 128, rng.random(256).astype(np.float32), zeros(2, np.float32)).agree(arena)
    Case(module, "early", 1, 256, zeros(256), 200).agree(arena)
    Case(module, "early", 1, 96, zeros(96), 50).agree(arena)
    Case(module, "counted", 2, 96, ints(rng, 96), zeros(96)).agree(arena)
    Case(module, "counted", 2, (8, 3, 1), ints(rng, 96), zeros(96)).agree(arena)
    Case(module, "in_a_loop", 1, 64, ints(rng, 64), zeros(64), 9).agree(arena)
    Case(module, "dynamic", 1, 96, zeros(96), 3, shared=96 * 4).agree(arena)
    Case(module, "dynamic", 1, (16, 4, 1), zeros(96), 3, shared=96 * 4).agree(arena)
    Case(module, "handed_over", 2, 64, zeros(64)).agree(arena)


MEMORY = """
__device__ int counter;
__constant__ float table[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
__device__ int* where = &counter;
struct P { int a; float b[4]; short c; };
struct Big { int v[12]; };
__device__ __noinline__ float helper(float x, int d) { for (int i = 0; i < d; i++) x = x * 1.5f + sinf(x); return x; }
__device__ __noinline__ int sum(Big b, int k) {
  b.v[k % 12] += 100;
  int s = 0;
  for (int i = 0; i < 12; i++) s += b.v[i] * (i + 1);
  return s;
}
__device__ __noinline__ int turned(int x, int n) {
  int a[8]; for (int i = 0; i < 8; i++) a[i] = x * i; int s = 0; for (int i = 0; i < n; i++) s += a[(x + i) & 7]; return s; }
extern "C" __global__ void frames(int* out, int n) {
  int t = threadIdx.x, mine[8]; for (int i = 0; i < 8; i++) mine[i] = t + i;
  int s = turned(t, n) + turned(t + 1, n); for (int i = 0; i < n; i++) s = s * 3 + mine[(t + i) & 7]; out[t] = s; }
extern "C" __global__ void bytes(int* out, int n) {
  char l[24], m[24]; int t = threadIdx.x; for (int i = 0; i < 24; i++) l[i] = i, m[i] = 50 + i;
  memset(l + (t & 7), t, n); memcpy(m + (t % 5), l + (t % 3), n + 1); memmove(m + 1, m + (t & 3), n);
  int s = 0; for (int i = 0; i < 24; i++) s = s * 7 + l[i] * 3 + m[i]; out[t] = s; }
__device__ __noinline__ void fill(int* p, int n, int v) { for (int i = 0; i < n; i++) p[i] = v + i; }
extern "C" __global__ void variables(float* out, const int* in, int n, P p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = expf(in[i] * 0.01f) + helper(table[i & 15], in[i] & 3) + p.b[in[i] & 3] + p.c + p.a;
    atomicAdd(where, 1);
  }
}
extern "C" __global__ void by_value(int* out, const int* in, Big b) {
  int t = threadIdx.x, loc[20];
  out[t] = sum(b, in[t]);
  b.v[in[t] % 12] = 5;
  out[t] += b.v[(in[t] + 1) % 12] * 3 + b.v[in[t] % 12];
  fill(loc, 20, t);
  int* q = (in[t] & 1) ? loc : out + 64;
  out[t] += q[in[t] % 20];
}
extern "C" __global__ void local_array(const int* in, int* out) {
  int h[8], t = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
  for (int i = 0; i < 8; i++) h[i] = i;
  for (int i = 0; i < 10; i++) h[(in[t] + i) & 7] += i * t;
  for (int i = 0; i < 8; i++) s = s * 31 + h[(i + t) & 7];
  out[t] = s;
}
extern "C" __global__ void wide_local(const double* in, double* out) {
  double h[4]; char c[8]; short e[8]; int t = threadIdx.x;
  for (int i = 0; i < 4; i++) h[i] = in[t] * i;
  for (int i = 0; i < 8; i++) { c[(i + t) & 7] = i * t; e[(i * t) & 7] = i; }
  out[t] = h[(int)in[t] & 3] + c[(int)in[t] & 7] + e[t & 7] * 1000;
}
extern "C" __global__ void pointers(int* out, int* other, int n) {
  __shared__ int s[64];
  int t = threadIdx.x, mine[2] = {t, 2 * t};
  s[t] = t * 3;
  __syncthreads();
  int* p = t % 3 == 0 ? s + t : t % 3 == 1 ? other + t : mine + (t & 1);
  int* q = n > 5 ? s : other;
  out[t] = *p + q[(t + 1) & 63];
  *p = 7;
  __syncthreads();
  out[t] += s[t] + other[t] + mine[0];
}
extern "C" __global__ void vectors(const float4* a, float4* o, const int2* b, short4* c, double2* d) {
  int t = threadIdx.x;
  float4 v = a[t], w = a[t ^ 1];
  o[t] = make_float4(v.x + w.w, v.y * w.z, v.z - w.y, v.w / w.x);
  int2 q = b[t];
  c[t] = make_short4(q.x, q.y, q.x + q.y, q.x * q.y);
  d[t] = make_double2(v.x, w.y);
}
extern "C" __global__ void steps(const int* in, int* out, char* bytes, int n) {
  int t = threadIdx.x;
  out[3 * t] = in[5 * t + 1] + in[64 - t] + bytes[2 * t + 100];
  bytes[t * 3] = in[t];
  __shared__ int s[33 * 17];
  s[t * 16] = t; s[(31 - (t & 31)) * 17 + 1] = t;
  __syncthreads();
  if (t <= n) out[3 * t + 1] = s[(n - t) * 16 + t] + s[t * 2];
}
extern "C" __global__ void ends(int* out, unsigned n) {
  // indices that wrap around zero, in lanes that are masked off and in lanes that are not
  unsigned i = threadIdx.x - 3u;
  if (i < n) out[i] = 1;
  unsigned long long far = (unsigned long long)(threadIdx.x - 5u) * 3u;
  out[64 + threadIdx.x] = (int)(far >> 20);
}
"""


def test_memory_of_every_kind(cuda: Compile, arena: Arena, rng: np.random.Generator) -> None:
    module = cuda(MEMORY)
    p = np.zeros(1, np.dtype([("a", "i4"), ("b", "f4", 4), ("c", "i2"), ("pad", "i2")]))
    p["a"], p["b"], p["c"] = 3, [1, 2, 3, 4], 9
    Case(module, "variables", 2, 64, zeros(128, np.float32), ints(rng, 128, 0, 90), 120, p.tobytes()).agree(arena, 1e-6)
    big = np.arange(12, dtype=np.int32).tobytes()
    Case(module, "by_value", 1, 64, zeros(256), ints(rng, 64), big).agree(arena)
    Case(module, "local_array", 2, 48, ints(rng, 96), zeros(96)).agree(arena)
    Case(module, "wide_local", 1, 40, rng.random(40) * 100, zeros(40, np.float64)).agree(arena)
    Case(module, "pointers", 1, 64, zeros(64), ints(rng, 64), 3).agree(arena)
    Case(module, "pointers", 1, 64, zeros(64), ints(rng, 64), 9).agree(arena)
    f = (rng.standard_normal(256) * 8).astype(np.float32)
    doubles = zeros(128, np.float64)
    Case(module, "vectors", 1, 64, f, zeros(256, np.float32), ints(rng, 128), zeros(256, np.int16), doubles).agree(
        arena
    )
    Case(module, "steps", 1, 32, ints(rng, 400), zeros(200), ints(rng, 200).astype(np.int8), 20).agree(arena)
    Case(module, "steps", 1, (16, 1, 1), ints(rng, 400), zeros(200), ints(rng, 200).astype(np.int8), 9).agree(arena)
    Case(module, "ends", 1, 64, zeros(128), 40).agree(arena)
    Case(module, "frames", 1, 48, zeros(48), 5).agree(arena)
    for n in (0, 3, 9, 14):
        Case(module, "bytes", 1, 40, zeros(40), n).agree(arena)


ATOMICS = """
#include <cuda_fp16.h>
extern "C" __global__ void integers(int* c, const int* in) {
  int t = threadIdx.x;
  atomicAdd(&c[in[t] & 3], t); atomicMax(&c[4], in[t]); atomicCAS(&c[5], 0, t + 1);
  atomicInc((unsigned*)&c[6], 5); atomicExch(&c[7], t); atomicXor(&c[8], in[t]);
  atomicMin(&c[10], -in[t]); atomicDec((unsigned*)&c[11], 40); atomicOr(&c[12], in[t]); atomicSub(&c[13], 3);
  c[16 + t] = atomicAdd(&c[9], 1);
}
extern "C" __global__ void others(float* f, double* d, unsigned long long* u, __half2* h, const float* in) {
  __shared__ float s;
  __shared__ unsigned long long w;
  int t = threadIdx.x;
  if (t == 0) { s = 0; w = 1ull << 40; }
  __syncthreads();
  atomicAdd(f, in[t]); atomicAdd(d, (double)in[t]); atomicAdd(u, 1ull << 33); atomicMax(&u[1], (unsigned long long)t << 35);
  atomicAdd(&s, in[t]); atomicCAS(&w, 1ull << 40, (unsigned long long)t); atomicAdd(h, __floats2half2_rn(1.f, 0.5f));
  __syncthreads();
  if (t == 0) { f[1] = s; u[2] = w; }
}
extern "C" __global__ void maximum(int* m, const float* in) {
  int old = *m, assumed;
  do { assumed = old; if (__int_as_float(assumed) >= in[threadIdx.x]) break;
    old = atomicCAS(m, assumed, __float_as_int(in[threadIdx.x])); } while (assumed != old);
}
extern "C" __global__ void lock(int* o) {
  bool done = false;
  while (!done) {
    if (atomicCAS(&o[0], 0, 1) == 0) { o[1] += threadIdx.x; __threadfence(); atomicExch(&o[0], 0); done = true; }
  }
}
extern "C" __global__ void handshake(volatile int* flag, int* o) {
  // one warp waits for another without a barrier
  if (threadIdx.x < 32) { while (!flag[0]); o[threadIdx.x] = flag[1]; }
  else if (threadIdx.x == 32) { flag[1] = 77; __threadfence(); flag[0] = 1; }
}
"""


def test_atomics(cuda: Compile, arena: Arena, rng: np.random.Generator) -> None:
    module = cuda(ATOMICS)
    f = rng.random(64).astype(np.float32)
    step = [SimtOptions(block=(64, 1, 1)), SimtOptions(block=None), SimtOptions(block=(64, 1, 1), uniform=False)]
    Case(module, "integers", 1, 64, zeros(100), ints(rng, 64)).agree(arena, options=step)
    case = Case(
        module, "others", 1, 64, zeros(2, np.float32), zeros(1, np.float64), zeros(3, np.int64), zeros(2, np.float16), f
    )
    case.agree(arena, options=step)
    Case(module, "maximum", 1, 64, zeros(1), f).agree(arena)
    Case(module, "lock", 2, 64, zeros(2)).agree(arena)
    Case(module, "handshake", 1, 64, zeros(2), zeros(32)).agree(arena)


def test_printf(cuda: Compile, arena: Arena, rng: np.random.Generator) -> None:
    module = cuda("""
#include <stdio.h>
extern "C" __global__ void k(const int* in, int* out) {
  int t = threadIdx.x;
  if (in[t] % 5 == 0)
    out[t] = printf("t %d in %5d f %.3f %s %c%% %lld %x|%-6s|%*d %p\\n", t, in[t], in[t] * 0.5, "text", 'a' + t % 26,
                    (long long)in[t] << 33, in[t], "ab", 6, t, (void*)0);
  if (t == 3) printf("plain\\n");
}""")
    case = Case(module, "k", 1, 64, ints(rng, 64), zeros(64))
    want, got = case.reference(arena), case.fast(arena, SimtOptions(block=(64, 1, 1)))
    lines = sorted(line.replace("(nil)", "0x0") for line in got.launch.printed.decode().splitlines())
    assert lines == sorted(line.replace("(nil)", "0x0") for line in want.reference.text.splitlines())
    assert len(lines) > 5
    np.testing.assert_array_equal(got.arrays[1], want.arrays[1])
