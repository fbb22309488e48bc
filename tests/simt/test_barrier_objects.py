"""``mbarrier`` and ``cp.async.bulk`` in inline PTX: phases, bytes that are expected, copies that report to a barrier."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelwright.codegen.simt.launching.watching import Watch
from kernelwright.codegen.simt.lower import lower
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.device.arena import Arena
from kernelwright.errors import CompileError
from kernelwright.ir import Module
from tests.simt.harness import Case

Compile = Callable[[str], Module]

PRELUDE = r"""
typedef unsigned long long u64;
__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void begin(u64 *bar, int count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(at(bar)), "r"(count) : "memory"); }
__device__ u64 arrive(u64 *bar) {
  u64 s; asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(s) : "r"(at(bar)) : "memory"); return s; }
__device__ void expect(u64 *bar, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" :: "r"(at(bar)), "r"(bytes) : "memory"); }
__device__ bool passed(u64 *bar, int parity) {
  int done;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
               : "=r"(done) : "r"(at(bar)), "r"(parity) : "memory");
  return done; }
__device__ bool over(u64 *bar, u64 state) {
  int done;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
               : "=r"(done) : "r"(at(bar)), "l"(state) : "memory");
  return done; }
__device__ void copy(void *to, const void *from, int bytes, u64 *bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               :: "r"(at(to)), "l"(from), "r"(bytes), "r"(at(bar)) : "memory"); }
"""


def test_copies_in_rounds(cuda: Compile, arena: Arena) -> None:
    """The bytes may come before they are expected, or after; a barrier serves one round after the other."""
    module = cuda(
        PRELUDE
        + r"""
extern "C" __global__ void k(const int *in, int *out, int rounds, int late) {
  __shared__ __align__(16) int tile[2][64];
  __shared__ u64 bar;
  int t = threadIdx.x;
  if (t == 0) { begin(&bar, 1); asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
  __syncthreads();
  for (int r = 0; r < rounds; r++) {
    if (t == 0) {
      if (late) expect(&bar, 512);
      copy(tile[0], in + 128 * r, 256, &bar);
      copy(tile[1], in + 128 * r + 64, 256, &bar);
      if (!late) expect(&bar, 512);
    }
    while (!passed(&bar, r & 1)) ;
    out[128 * r + t] = tile[0][t] + 1000 * tile[1][63 - t];
    out[128 * r + 64 + t] = passed(&bar, r & 1) + 2 * passed(&bar, (r + 1) & 1);
    __syncthreads();
  }
}"""
    )
    data = np.arange(5 * 128, dtype=np.int32)
    for late in (0, 1):
        case = Case(module, "k", 1, 64, data, np.zeros(5 * 128, np.int32), 5, late)
        out = case.agree(arena).arrays[1].reshape(5, 2, 64)
        rows = data.reshape(5, 2, 64)
        assert np.array_equal(out[:, 0], rows[:, 0] + 1000 * rows[:, 1, ::-1])
        assert np.all(out[:, 1] == 1), "this phase is over, the next is not"


def test_one_warp_waits_for_another(cuda: Compile, arena: Arena) -> None:
    module = cuda(
        PRELUDE
        + r"""
extern "C" __global__ void k(int *out, int rounds) {
  __shared__ u64 full, empty;
  __shared__ int box[32];
  int t = threadIdx.x, lane = t % 32, sum = 0;
  if (t == 0) { begin(&full, 32); begin(&empty, 32); }
  __syncthreads();
  for (int r = 0; r < rounds; r++) {
    if (t < 32) {
      while (!passed(&full, r & 1)) ;
      sum += box[31 - lane] * (r + 1);
      arrive(&empty);
    } else {
      if (r) while (!passed(&empty, (r - 1) & 1)) ;
      box[lane] = 100 * r + lane;
      arrive(&full);
    }
  }
  if (t < 32) out[t] = sum;
}"""
    )
    case = Case(module, "k", 1, 64, np.zeros(32, np.int32), 4)
    out = case.agree(arena).arrays[0]
    lanes = 31 - np.arange(32)
    assert np.array_equal(out, sum((100 * r + lanes) * (r + 1) for r in range(4)))
    found = case.fast(arena, SimtOptions(block=(64, 1, 1), checked=True), watch=Watch(races=True)).launch.found
    assert not found, "what is written before an arrival is read behind the wait"


def test_states_drops_and_counts(cuda: Compile, arena: Arena) -> None:
    module = cuda(
        PRELUDE
        + r"""
extern "C" __global__ void k(int *out) {
  __shared__ u64 bar;
  int t = threadIdx.x;
  if (t == 0) begin(&bar, 64);
  __syncthreads();
  u64 state = arrive(&bar);
  if (t == 0) {
    unsigned left;
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(left) : "l"(state));
    out[0] = left;
  }
  __syncthreads();
  if (t == 5) out[1] = over(&bar, state);
  __syncthreads();
  if (t >= 16) asm volatile("mbarrier.arrive_drop.shared.b64 _, [%0];" :: "r"(at(&bar)) : "memory");
  else if (t) state = arrive(&bar);
  __syncthreads();
  if (t == 1) out[2] = over(&bar, state);
  __syncthreads();
  if (t == 0) state = arrive(&bar);
  __syncthreads();
  if (t <= 1) out[3 + t] = over(&bar, state);
  __syncthreads();
  if (t < 8) asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0], %1;" :: "r"(at(&bar)), "r"(2) : "memory");
  __syncthreads();
  if (t == 0) {
    out[5] = passed(&bar, 0);
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" :: "r"(at(&bar)) : "memory");
    for (int i = 0; i < 16; i++) {
      out[6] = passed(&bar, 1);
      asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" :: "r"(at(&bar)) : "memory");
    }
    out[7] = passed(&bar, 1);
    asm volatile("mbarrier.inval.shared.b64 [%0];" :: "r"(at(&bar)) : "memory");
  }
}"""
    )
    out = Case(module, "k", 1, 64, np.full(8, -1, np.int32)).agree(arena).arrays[0]
    assert out.tolist() == [64, 1, 0, 1, 1, 1, 0, 1]


def test_hundreds_of_phases(cuda: Compile, arena: Arena) -> None:
    module = cuda(
        PRELUDE
        + r"""
extern "C" __global__ void k(int *out, int rounds) {
  __shared__ u64 bar;
  if (threadIdx.x == 0) begin(&bar, 32);
  __syncthreads();
  int wrong = 0;
  for (int r = 0; r < rounds; r++) {
    wrong += passed(&bar, r & 1);
    u64 state = arrive(&bar);
    wrong += !passed(&bar, r & 1) + !over(&bar, state);
  }
  out[threadIdx.x] = wrong;
}"""
    )
    for options in (SimtOptions(block=(32, 1, 1)), SimtOptions(block=(32, 1, 1), inline=True)):
        assert not Case(module, "k", 1, 32, np.ones(32, np.int32), 600).fast(arena, options).arrays[0].any()


def test_copies_back_and_past_a_buffer(cuda: Compile, arena: Arena) -> None:
    module = cuda(
        PRELUDE
        + r"""
extern "C" __global__ void k(int *out, int bytes) {
  __shared__ __align__(16) int tile[64];
  tile[threadIdx.x] = 3 * threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0)
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2; cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;"
                 :: "l"(out), "r"(at(tile)), "r"(bytes) : "memory");
}"""
    )
    case = Case(module, "k", 1, 64, np.zeros(64, np.int32), 128)
    assert np.array_equal(case.agree(arena).arrays[0], np.where(np.arange(64) < 32, 3 * np.arange(64), 0))
    ran = Case(module, "k", 1, 64, np.zeros(16, np.int32), 128).agree(arena, faults=True)
    assert ran.fault.kind == "out-of-bounds"


@pytest.mark.parametrize(
    "text",
    [
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 16, [%0], %2;",
        "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%0];",
        "mbarrier.fly.shared.b64 [%0];",
    ],
)
def test_what_is_not_there_is_refused_by_its_text(cuda: Compile, text: str) -> None:
    code = f'asm volatile("{text}" :: "r"(1), "l"(p), "r"(threadIdx.x));'
    module = cuda(f'extern "C" __global__ void k(int *p) {{ {code} }}')
    with pytest.raises(CompileError, match="cannot run this inline PTX"):
        lower(module, "k", SimtOptions(block=(32, 1, 1)))
