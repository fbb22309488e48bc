"""Blocks that wait for each other: by what they write to memory, and at barriers of the grid."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelwright.codegen.simt.launching.runtime_structs import NOT_ALL, NOT_COOPERATIVE
from kernelwright.codegen.simt.launching.watching import Watch
from kernelwright.device.arena import Arena
from kernelwright.device.reference.race_watch import Watch as ReferenceWatch
from kernelwright.device.schedule import Schedule
from kernelwright.ir import Module
from tests.simt.harness import Array, Case

Compile = Callable[[str], Module]
SOURCE = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define T threadIdx.x
#define I (blockIdx.x * blockDim.x + T)

// Each element becomes the sum of its neighbours, n times: what other blocks wrote is read behind the barrier.
extern "C" __global__ void smooth(int *a, int *b, int n) {
  __shared__ int kept[64];
  int mine[2] = {(int)I, 7};
  kept[T] = 3 * T;
  for (int k = 0; k < n; k++) {
    int size = gridDim.x * blockDim.x;
    b[I] = a[(I + 1) % size] + a[(I + size - 1) % size];
    cg::this_grid().sync();
    a[I] = b[I] + mine[k & 1] - mine[k & 1] + kept[T] - 3 * T;
    cg::this_grid().sync();
  }
}
// A reduction of all blocks in one launch; some threads have ended.
extern "C" __global__ void total(int *a, int *b, int n) {
  cg::grid_group grid = cg::this_grid();
  if (T >= 40) return;
  int sum = 0;
  for (unsigned long long i = grid.thread_rank(); i < n; i += grid.size()) sum += a[i];
  atomicAdd(&b[1 + blockIdx.x], sum);
  grid.sync();
  if (I == 0) for (int i = 0; i < gridDim.x; i++) b[0] += b[1 + i];
}
extern "C" __global__ void racing(int *a, int *b, int n) {
  b[I] = a[I];
  if (n) cg::this_grid().sync(); else __syncthreads();
  a[I] = b[(I + blockDim.x) % (gridDim.x * blockDim.x)];
}
extern "C" __global__ void valid(int *a, int *b, int n) { b[I] = cg::this_grid().is_valid(); }
extern "C" __global__ void leaves(int *a, int *b, int n) { if (blockIdx.x == 1) return; cg::this_grid().sync(); }
extern "C" __global__ void apart(int *a, int *b, int n) {
  if (T < 32) cg::this_grid().sync(); else __syncthreads();
}
// A barrier of the grid that a program makes itself, and a chain in which each block waits for the next.
extern "C" __global__ void own(int *a, int *b, int n) {
  __shared__ int s[64];
  s[T] = T;
  for (int k = 1; k <= n; k++) {
    a[I] += k;
    __threadfence();
    __syncthreads();
    if (T == 0) { atomicAdd(b, 1); while (*(volatile int *)b < k * (int)gridDim.x) ; __threadfence(); }
    __syncthreads();
    a[I] += a[(I + blockDim.x) % (gridDim.x * blockDim.x)] - a[(I + blockDim.x) % (gridDim.x * blockDim.x)] + s[T] - (int)T;
  }
}
extern "C" __global__ void chain(int *a, volatile int *b, int n) {
  if (blockIdx.x + 1 < gridDim.x && T == 0) while (b[blockIdx.x + 1] == 0) ;
  if (T == 0) b[blockIdx.x] = blockIdx.x + 1 < gridDim.x ? b[blockIdx.x + 1] + 1 : 1;
}
extern "C" __global__ void never(int *a, volatile int *b, int n) {
  if (T == 0) while (b[(blockIdx.x + 1) % gridDim.x] == 0) ;
  __syncthreads();
  if (T == 0) b[blockIdx.x] = 1;
}
"""
SCHEDULES = [Schedule.reverse(), Schedule.random(3), Schedule.subwarp(4, 1), Schedule.weak(2), Schedule.weak(7)]


def case(cuda: Compile, name: str, n: int, grid: int = 5, *, cooperative: bool = True) -> Case:
    values = np.random.default_rng(1).integers(0, 100, grid * 64).astype(np.int32)
    return Case(cuda(SOURCE), name, grid, 64, values, np.zeros_like(values), n, cooperative=cooperative, budget=1 << 22)


def smoothed(values: Array, n: int) -> Array:
    for _ in range(n):
        values = np.roll(values, 1) + np.roll(values, -1)
    return values


def scheduled(made: Case, arena: Arena, schedule: Schedule) -> list[Array]:
    options = made.variants()[4 if schedule.kind == "subwarp" else 0]
    done = made.fast(arena, options, schedule)
    assert done.launch.fault is None
    return done.arrays


def test_a_barrier_of_the_grid(cuda: Compile, arena: Arena) -> None:
    made = case(cuda, "smooth", 4)
    want = smoothed(made.arguments[0], 4)
    assert np.array_equal(made.agree(arena).arrays[0], want)
    for schedule in SCHEDULES:
        assert np.array_equal(scheduled(made, arena, schedule)[0], want), schedule


def test_threads_that_have_ended_are_not_waited_for(cuda: Compile, arena: Arena) -> None:
    made = case(cuda, "total", 300)
    assert made.agree(arena).arrays[1][0] == made.arguments[0][:300][np.arange(300) % 64 < 40].sum()


def test_more_blocks_than_run_beside_each_other_without_it(cuda: Compile, arena: Arena) -> None:
    made = case(cuda, "smooth", 1, grid=4500)
    assert np.array_equal(made.fast(arena).arrays[0], smoothed(made.arguments[0], 1))


def test_whether_a_launch_is_cooperative(cuda: Compile, arena: Arena) -> None:
    for cooperative in (False, True):
        made = case(cuda, "valid", 0, cooperative=cooperative)
        assert made.agree(arena).arrays[1].tolist() == [int(cooperative)] * 320


@pytest.mark.parametrize(
    ("name", "cooperative", "message"),
    [("smooth", False, NOT_COOPERATIVE), ("leaves", True, NOT_ALL), ("apart", True, "")],
)
def test_what_does_not_meet_is_a_fault(cuda: Compile, arena: Arena, name: str, cooperative: bool, message: str) -> None:
    made = case(cuda, name, 1, cooperative=cooperative)
    assert made.agree(arena, faults=True).fault.kind == "barrier"
    fault = made.fast(arena).launch.fault
    assert fault is not None and fault.kind == "barrier" and fault.note is not None and fault.note[1] is not None
    assert fault.note[0] == message and fault.block == 0


def test_the_barrier_orders_blocks(cuda: Compile, arena: Arena) -> None:
    for n, raced in ((1, False), (0, True)):
        made = case(cuda, "racing", n)
        found = made.fast(arena, watch=Watch(races=True)).launch
        assert [f.scope for f in found.found if not f.benign] == (["grid"] if raced else [])
        assert not found.incomplete
        watched = made.reference(arena, watch=ReferenceWatch()).reference
        assert bool([f for f in watched.findings if not f.benign]) == raced


def test_shared_memory_of_blocks_that_take_turns_is_told_apart(cuda: Compile, arena: Arena) -> None:
    for name, cooperative in (("smooth", True), ("own", False)):
        made = case(cuda, name, 3, cooperative=cooperative)
        found = made.fast(arena, watch=Watch(races=True, unwritten=True)).launch
        assert not [f for f in found.found if f.scope != "grid"], name


def test_a_program_s_own_barrier(cuda: Compile, arena: Arena) -> None:
    made = case(cuda, "own", 3, cooperative=False)
    want = made.arguments[0] + 6
    assert np.array_equal(made.agree(arena).arrays[0], want)
    for schedule in SCHEDULES:
        assert np.array_equal(scheduled(made, arena, schedule)[0], want), schedule


def test_a_block_may_wait_for_a_later_one(cuda: Compile, arena: Arena) -> None:
    for grid, run in ((8, Case.agree), (300, Case.fast)):
        made = case(cuda, "chain", 0, grid=grid, cooperative=False)
        assert run(made, arena).arrays[1][:grid].tolist() == list(range(grid, 0, -1))


def test_blocks_that_wait_in_a_circle(cuda: Compile, arena: Arena) -> None:
    fault = case(cuda, "never", 0, grid=100, cooperative=False).fast(arena).launch.fault
    assert fault is not None and fault.kind == "endless" and fault.block == 0
