"""cuda::barrier, cuda::pipeline and copies of groups: both executors against NumPy, and what the checker says of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelwright.codegen.simt.launching.watching import Watch
from kernelwright.device.arena import Arena
from kernelwright.device.schedule import Schedule
from kernelwright.ir import Module
from tests.simt.harness import Array, Case

Compile = Callable[[str], Module]
THREADS = 96
SOURCE = r"""
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
#define T threadIdx.x
using block_barrier = cuda::barrier<cuda::thread_scope_block>;

// Phases: each thread reads what another one of another warp wrote in the phase before.
extern "C" __global__ void phases(const int *a, int *o, int n) {
  __shared__ block_barrier bar;
  __shared__ int s[96];
  if (T == 0) init(&bar, blockDim.x);
  __syncthreads();
  int value = a[T];
  for (int k = 0; k < n; k++) {
    s[T] = value;
    auto token = bar.arrive();
    int mine = value * k;
    bar.wait(std::move(token));
    value = s[(T + 33) % 96] + mine;
    bar.arrive_and_wait();
  }
  o[T] = value;
}
// Some leave early; parities.
extern "C" __global__ void drops(const int *a, int *o, int n) {
  __shared__ block_barrier bar;
  __shared__ int s[96];
  if (T == 0) init(&bar, blockDim.x);
  __syncthreads();
  s[T] = a[T];
  if (T % 3 == 0) { bar.arrive_and_drop(); return; }
  bar.arrive_and_wait();
  int value = s[T - T % 3];
  (void)bar.arrive(1);
  bar.wait_parity(true);
  o[T] = value + (bar.try_wait(bar.arrive()) ? 0 : 0);
}
// One warp fills the stages, the others use them.
extern "C" __global__ void roles(const int *a, int *o, int n) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 3> state;
  __shared__ int stage[3][64];
  auto block = cg::this_thread_block();
  auto role = T < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(block, &state, role);
  int sum = 0;
  for (int k = 0; k < n; k++) {
    if (T < 32) {
      pipe.producer_acquire();
      for (int i = T; i < 64; i += 32) cuda::memcpy_async(&stage[k % 3][i], &a[k * 64 + i], sizeof(int), pipe);
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      sum += stage[k % 3][T - 32] * (k + 1);
      pipe.consumer_release();
    }
  }
  o[T] = sum;
}
// All fill and use; a thread's own pipeline; copies of a whole group.
extern "C" __global__ void together(const int *a, int *o, int n) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ int stage[2][96];
  __shared__ alignas(16) int own[96 * 4], whole[100];
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int sum = 0;
  for (int k = 0; k < n + 1; k++) {
    if (k < n) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, stage[k % 2], a + k * 96, cuda::aligned_size_t<4>(96 * sizeof(int)), pipe);
      pipe.producer_commit();
    }
    if (k > 0) {
      pipe.consumer_wait();
      sum += stage[(k - 1) % 2][95 - T] * k;
      pipe.consumer_release();
    }
  }
  cuda::pipeline<cuda::thread_scope_thread> mine = cuda::make_pipeline();
  mine.producer_acquire();
  cuda::memcpy_async(&own[4 * T], &a[4 * (T % 16)], cuda::aligned_size_t<16>(16), mine);
  mine.producer_commit();
  cuda::pipeline_consumer_wait_prior<0>(mine);
  mine.consumer_release();
  cg::memcpy_async(block, whole, 100, a, 99);
  cg::wait(block);
  o[T] = sum + own[4 * T + 3] + whole[98 - T];
}
extern "C" __global__ void racing(const int *a, int *o, int n) {
  __shared__ block_barrier bar;
  __shared__ int s[96];
  if (T == 0) init(&bar, blockDim.x);
  __syncthreads();
  s[T] = a[T];
  (void)bar.arrive();
  o[T] = s[(T + 33) % 96];
}
"""


def case(cuda: Compile, name: str, n: int) -> Case:
    values = np.random.default_rng(2).integers(0, 100, THREADS * 8).astype(np.int32)
    return Case(cuda(SOURCE), name, 1, THREADS, values, np.zeros(THREADS, np.int32), n, budget=1 << 24)


def phases(a: Array, n: int) -> Array:
    value = a[:THREADS].copy()
    for k in range(n):
        value = np.roll(value, -33) + value * k
    return value


def drops(a: Array, n: int) -> Array:
    t = np.arange(THREADS)
    return np.where(t % 3 == 0, 0, a[t - t % 3])


def roles(a: Array, n: int) -> Array:
    sums = sum(a[k * 64 : k * 64 + 64] * (k + 1) for k in range(n))
    return np.concatenate([np.zeros(32, np.int32), np.asarray(sums)])


def together(a: Array, n: int) -> Array:
    t = np.arange(THREADS)
    sums = sum(a[k * 96 : k * 96 + 96][::-1] * (k + 1) for k in range(n))
    return np.asarray(sums) + a[4 * (t % 16) + 3] + a[98 - t]


@pytest.mark.parametrize(("name", "n"), [("phases", 4), ("drops", 0), ("roles", 7), ("together", 5)])
def test_what_they_compute(cuda: Compile, arena: Arena, name: str, n: int) -> None:
    made = case(cuda, name, n)
    want = globals()[name](made.arguments[0], n)
    assert np.array_equal(made.agree(arena).arrays[1], want)
    for schedule in (Schedule.reverse(), Schedule.random(5), Schedule.weak(1)):
        done = made.fast(arena, schedule=schedule)
        assert done.launch.fault is None and np.array_equal(done.arrays[1], want), schedule


@pytest.mark.parametrize("name", ["phases", "drops", "roles", "together", "racing"])
def test_they_order_accesses(cuda: Compile, arena: Arena, name: str) -> None:
    found = case(cuda, name, 3).fast(arena, watch=Watch(races=True, unwritten=True)).launch
    assert [f.kind for f in found.found] == (["uninitialised", "race"] if name == "racing" else [])
