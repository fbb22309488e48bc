"""Blocks whose warps wait at barriers for all of them: warps that end before others, barriers that are not one, what barriers count."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.device.arena import Arena
from kernelwright.ir import Module
from tests.simt.harness import Case

Compile = Callable[[str], Module]
SOURCE = """
#define W threadIdx.y
// A warp for each row of threads, so that what depends on the row alone keeps a warp together.
extern "C" __global__ void reduces(const int *a, int *o, int warps, int rounds) {
  if (W >= warps) return;
  int t = W * 32 + threadIdx.x, found = 0;
  for (int k = 0; k < rounds; k++) {
    int yes = a[(t + 37 * k) % 128];
    found = found * 5 + __syncthreads_count(yes) + (__syncthreads_and(yes) != 0) * 2 + (__syncthreads_or(yes) != 0);
  }
  o[t] = found;
}
extern "C" __global__ void hands_on(const int *a, int *o, int warps, int rounds) {
  __shared__ int turn[128];
  int t = W * 32 + threadIdx.x;
  turn[t] = a[t];
  __syncthreads();
  for (int k = 0; k < rounds + W * warps; k++) {
    int next = turn[(t + 32) % 128];
    __syncthreads();
    turn[t] = next + k;
    __syncthreads();
  }
  o[t] = turn[t];
}
extern "C" __global__ void apart(const int *a, int *o, int warps, int rounds) {
  if (W < warps) asm volatile("bar.sync 0; // one" ::: "memory");
  else { o[0] = 1; asm volatile("bar.sync 0; // another" ::: "memory"); }
  o[1] = rounds;
}
extern "C" __global__ void counted(const int *a, int *o, int warps, int rounds) {
  if (W < warps) asm volatile("bar.sync 1, %0;" :: "r"(96) : "memory");
  o[W] = rounds;
}
extern "C" __global__ void arrives(const int *a, int *o, int warps, int rounds) {
  if (W < warps) { o[W] = 1; asm volatile("bar.arrive 2, 128;" ::: "memory"); }
  else { asm volatile("bar.sync 2, 128;" ::: "memory"); o[4 + W] = o[0] + 1; }
  __syncthreads();
  o[8 + W] = o[3 - W];
}
extern "C" __global__ void arrives_for_all(const int *a, int *o, int warps, int rounds) {
  if (W < warps) { o[W] = 1; asm volatile("bar.arrive 0, 128;" ::: "memory"); }
  else { asm volatile("bar.sync 0;" ::: "memory"); o[4 + W] = o[0] + 1; }
}
"""
BLOCK = (32, 4, 1)


@pytest.fixture(scope="module")
def module(cuda: Compile) -> Module:
    return cuda(SOURCE)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(["reduces", "hands_on"]),
    bits=st.lists(st.sampled_from([0, 1, 1, 1]), min_size=4, max_size=4),
    odd=st.integers(0, 127),
    warps=st.integers(0, 4),
    rounds=st.integers(0, 3),
)
def test_rounds(module: Module, arena: Arena, name: str, bits: list[int], odd: int, warps: int, rounds: int) -> None:
    a = np.repeat(np.array(bits, np.int32), 32)
    a[odd] ^= 1
    Case(module, name, 2, BLOCK, a, np.zeros(128, np.int32), warps, rounds).agree(arena)


@pytest.mark.parametrize("warps", range(5))
@pytest.mark.parametrize("name", ["apart", "counted", "arrives", "arrives_for_all"])
def test_barriers_that_are_not_one(module: Module, arena: Arena, name: str, warps: int) -> None:
    case = Case(module, name, 3, BLOCK, np.zeros(128, np.int32), np.zeros(16, np.int32), warps, 1)
    want = case.agree(arena, faults=True)
    got = case.fast(arena, SimtOptions(block=BLOCK))
    if want.fault:
        assert (got.fault.block, got.fault.address) == (0, 0)
    assert got.launch.blocks_done == (0 if want.fault else 3)


def test_what_a_barrier_counts(module: Module, arena: Arena) -> None:
    a = np.ones(128, np.int32)
    a[70] = 0
    for warps in range(1, 5):
        case = Case(module, "reduces", 1, BLOCK, a, np.zeros(128, np.int32), warps, 1)
        yes = int(a[: 32 * warps].sum())
        expected = yes + 2 * (yes == 32 * warps) + 1
        found = case.fast(arena).arrays[1]
        assert found[: 32 * warps].tolist() == [expected] * (32 * warps)
        assert not found[32 * warps :].any()
