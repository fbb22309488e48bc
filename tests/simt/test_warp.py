"""Shuffles, votes, matches, reductions: with all lanes, with some, and with lanes that come one after the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelwright.codegen.simt.emission.warp_cooperation import source_lane
from kernelwright.device.arena import Arena
from kernelwright.device.reference import warp as reference_warp
from kernelwright.ir import Module
from tests.simt.harness import Case
from tests.simt.test_kernels import ints, zeros

Compile = Callable[[str], Module]

TOGETHER = """
extern "C" __global__ void shuffles(const int* in, int* out) {
  int t = threadIdx.x, v = in[t];
  int a = __shfl_sync(~0u, v, 3), b = __shfl_up_sync(~0u, v, 2), c = __shfl_down_sync(~0u, v, 5, 16);
  int d = __shfl_xor_sync(~0u, v, 1, 8), e = __shfl_sync(~0u, v, in[t] & 31), f = __shfl_down_sync(~0u, v, in[0] & 7);
  long long g = __shfl_xor_sync(~0u, (long long)v << 33, 4);
  float h = __shfl_up_sync(~0u, v * 0.5f, 1, 4);
  out[t] = a + 3 * b + 5 * c + 7 * d + 11 * e + 13 * f + (int)(g >> 30) + (int)h;
}
extern "C" __global__ void votes(const int* in, int* out) {
  int t = threadIdx.x, p = in[t] & 1, q;
  long long wide = in[t] & 1;
  out[t] = __ballot_sync(~0u, p) + __any_sync(~0u, in[t] > 990) * 3 + __all_sync(~0u, in[t] >= 0) * 5;
  out[t] += __popc(__activemask()) * 7 + __uni_sync(~0u, p) + __match_any_sync(~0u, in[t] & 3) * 11;
  out[t] += __match_all_sync(~0u, 5, &q) + q + __match_all_sync(~0u, in[t], &q) + q + __match_any_sync(~0u, wide);
  out[t] += __reduce_add_sync(~0u, in[t]) * 13 + __reduce_max_sync(~0u, in[t]) + __reduce_min_sync(~0u, -in[t]);
  out[t] += __reduce_and_sync(~0u, in[t] | 6) + __reduce_or_sync(~0u, in[t]) + __reduce_xor_sync(~0u, in[t]);
}
extern "C" __global__ void lane_numbers(int* out) {
  unsigned eq, lt, le, gt, ge;
  asm("mov.u32 %0, %%lanemask_eq;" : "=r"(eq)); asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
  asm("mov.u32 %0, %%lanemask_le;" : "=r"(le)); asm("mov.u32 %0, %%lanemask_gt;" : "=r"(gt));
  asm("mov.u32 %0, %%lanemask_ge;" : "=r"(ge));
  int t = threadIdx.x + threadIdx.y * blockDim.x;
  out[t] = eq * 3 + lt * 5 + le * 7 + gt * 11 + ge * 13 + (t >> 5) + (t & 31) * (t < 32);
}
"""


@pytest.mark.parametrize("threads", [64, 32, 40, 16])
def test_all_lanes_together(cuda: Compile, arena: Arena, threads: int) -> None:
    module = cuda(TOGETHER)
    rng = np.random.default_rng(threads)
    Case(module, "shuffles", 1, threads, ints(rng, threads), zeros(threads)).agree(arena)
    Case(module, "votes", 1, threads, ints(rng, threads), zeros(threads)).agree(arena)
    Case(module, "lane_numbers", 1, (threads // 2, 2, 1), zeros(threads)).agree(arena)


APART = """
extern "C" __global__ void tiles(const int* in, int* out) {
  int t = threadIdx.x, lane = t & 31, v = in[t];
  unsigned m = lane < 16 ? 0xffffu : 0xffff0000u;
  for (int d = 8; d; d >>= 1) v += __shfl_xor_sync(m, v, d);
  out[t] = v;
  if (lane & 1) { v = __shfl_down_sync(0xAAAAAAAAu, v, 2); out[t] += v * 3; }
}
extern "C" __global__ void crossing(const int* in, int* out) {
  // lanes reach the same operation from different places, and in different rounds
  int t = threadIdx.x, v = in[t], r = 0;
  if (v & 1) { r = __shfl_sync(~0u, v, (t + 1) & 31); } else { v += 1000; r = __shfl_sync(~0u, v, (t + 3) & 31) * 2; }
  out[t] = r;
  for (int i = 0; i < 3; i++) {
    if ((v >> i) & 1) { __syncwarp(); r += i; } else { r *= 3; __syncwarp(); }
    if (v & 2) r += __popc(__ballot_sync(~0u, r & 1)); else r -= __popc(__ballot_sync(~0u, r & 4));
    r += __shfl_xor_sync(~0u, r, 1 << i);
  }
  out[t] += r;
}
extern "C" __global__ void aggregated(const int* in, int* count, int* out) {
  int t = threadIdx.x + blockIdx.x * blockDim.x;
  if (in[t] % 3 == 0) {
    unsigned m = __activemask();
    int lead = __ffs(m) - 1, base = 0;
    if ((t & 31) == lead) base = atomicAdd(count, __popc(m));
    base = __shfl_sync(m, base, lead);
    out[base + __popc(m & ((1u << (t & 31)) - 1))] = t;
  }
}
extern "C" __global__ void shrinking(const int* in, int* out) {
  int t = threadIdx.x, v = in[t], acc = 0, n = v % 7;
  for (int i = 0;; i++) {
    if (!__any_sync(~0u, i < n)) break;
    unsigned m = __ballot_sync(~0u, i < n);
    if (i < n) acc += __shfl_sync(m, v, __ffs(m) - 1) + i + __reduce_max_sync(m, v) + __match_any_sync(m, v & 1);
    __syncwarp();
  }
  out[t] = acc;
}
extern "C" __global__ void leaving(const int* in, int* out) {
  // lanes that have returned are not waited for
  int t = threadIdx.x;
  if (in[t] % 4 == 0) return;
  int v = __shfl_sync(~0u, in[t], 5) + __ballot_sync(~0u, in[t] & 1) + __popc(__ballot_sync(~0u, 1));
  if (in[t] % 4 == 1) { out[t] = v; return; }
  __syncwarp();
  out[t] = v + __reduce_add_sync(~0u, in[t]);
}
"""


def test_lanes_that_come_apart(cuda: Compile, arena: Arena) -> None:
    module = cuda(APART)
    rng = np.random.default_rng(1)
    Case(module, "tiles", 1, 64, ints(rng, 64), zeros(64)).agree(arena)
    Case(module, "crossing", 1, 64, ints(rng, 64), zeros(64)).agree(arena)
    Case(module, "aggregated", 1, 32, ints(rng, 32), zeros(1), zeros(64)).agree(arena)
    Case(module, "shrinking", 1, 64, ints(rng, 64), zeros(64)).agree(arena)
    Case(module, "leaving", 1, 64, ints(rng, 64), zeros(64)).agree(arena)


GROUPS = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void groups(const int* in, int* out) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  int v = in[block.thread_rank()];
  for (int d = 4; d; d >>= 1) v += tile.shfl_down(v, d);
  if (v & 1) {
    auto some = cg::coalesced_threads();
    v += some.size() * 100 + some.thread_rank() + some.shfl(v, 0);
  }
  block.sync();
  out[block.thread_rank()] = v + tile.any(v > 1500) + tile.meta_group_rank();
}
"""


def test_cooperative_groups(cuda: Compile, arena: Arena) -> None:
    rng = np.random.default_rng(4)
    Case(cuda(GROUPS), "groups", 1, 64, ints(rng, 64), zeros(64)).agree(arena)


def test_the_source_lane_of_a_shuffle_is_that_of_the_manual() -> None:
    for mode in ("up", "down", "bfly", "idx"):
        for lane in range(32):
            for step in (0, 1, 5, 16, 31):
                for clamp in (31, 0, 0x1000, 0x181F, 0x1C00, 0x1C1F, 7):
                    assert source_lane(mode, lane, step, clamp) == reference_warp._source(mode, lane, step, clamp)


def test_operations_that_nobody_can_complete_are_faults(cuda: Compile, arena: Arena) -> None:
    module = cuda("""
extern "C" __global__ void crossed(int* o, int n) {
  int t = threadIdx.x;
  if (t < n) __syncwarp(0xff); else __syncthreads();
  o[t] = t;
}
extern "C" __global__ void stranger(int* o, int n) { int t = threadIdx.x; if (t < n) __syncwarp(0x7f); o[t] = t; }
""")
    for n, fault in ((8, None), (7, "barrier")):
        want = Case(module, "crossed", 1, 32, zeros(64), n).agree(arena, faults=True)
        assert (want.fault.kind if want.fault else None) == (fault or None), n
    for n, fault in ((7, None), (8, "barrier")):
        want = Case(module, "stranger", 1, 32, zeros(64), n).agree(arena, faults=True)
        assert (want.fault.kind if want.fault else None) == fault
