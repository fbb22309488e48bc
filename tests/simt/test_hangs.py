"""Blocks that wait for what nobody brings are noticed at once; those that wait for something are not disturbed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from kernelwright.codegen.simt.launching import compiled_kernel
from kernelwright.codegen.simt.launching.runtime_structs import WAITS
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.device.arena import Arena
from kernelwright.ir import Module
from tests.simt.harness import Case, Run

Compile = Callable[[str], Module]
SOURCE = """
#define T threadIdx.x
extern "C" __global__ void reads(volatile int *a, int n) { while (a[0] == 0) ; a[1] = 1; }
extern "C" __global__ void locks(int *a, int n) { while (atomicCAS(a, 0, 1) != 0) ; a[1] = 1; }
extern "C" __global__ void stores(volatile int *a, int n) { a[2] = 5; while (a[0] == 0) a[2] = 5; a[1] = 1; }
extern "C" __global__ void blocks(int *a, int n) {
  __syncthreads();
  if (T == 0) { atomicAdd(a, 1); while (atomicAdd(a, 0) < n) __nanosleep(100); }
  __syncthreads();
  a[1 + blockIdx.x] = 1;
}
extern "C" __global__ void inside(int *a, int n) {
  __shared__ volatile int flag;
  if (T == 0) flag = 0;
  __syncthreads();
  if (T == 0) while (flag == 0) ;
  __syncthreads();
  a[1] = 1;
}
extern "C" __global__ void later(volatile int *a, int n) { if (T < 32) { while (a[0] == 0) ; } else if (T == 32) a[0] = 1; a[1] = 1; }
extern "C" __global__ void turns(volatile int *a, int n) {
  if (T % 32 == 0) for (int k = 0; k < n; k++) { while (a[0] != (int)(2 * k + T / 32)) ; a[0] = a[0] + 1; }
}
extern "C" __global__ void counts(volatile int *a, int n) { int k = 0; while (a[0] == 0 && k < n) k++; a[1] = k; }
extern "C" __global__ void timed(volatile int *a, int n) { long long t = clock64(); while (a[0] == 0 && clock64() - t < n) ; a[1] = 1; }
extern "C" __global__ void grows(volatile int *a, int n) { while (a[0] < n) atomicAdd((int *)a, 1); a[1] = 1; }
extern "C" __global__ void local(volatile int *a, int n) {
  volatile int mine[4] = {0, 0, 0, 0};
  while (a[0] == 0 && mine[T & 3] < n) mine[T & 3] = mine[T & 3] + 1;
  a[1] = 1;
}
extern "C" __global__ void block_s(volatile int *a, int n) {
  __shared__ volatile int turn;
  if (T == 0) turn = 0;
  __syncthreads();
  while (a[0] == 0 && turn < n) if (T == 0) turn = turn + 1;
  a[1] = 1;
}
"""


def run(arena: Arena, cuda: Compile, name: str, n: int, grid: int = 1, options: SimtOptions | None = None) -> Run:
    case = Case(cuda(SOURCE), name, grid, 64, np.zeros(8, np.int32), n, budget=1 << 40)
    return case.fast(arena, options)


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("name", ["reads", "locks", "stores", "blocks", "inside"])
def test_a_wait_without_end_is_noticed_at_once(arena: Arena, cuda: Compile, name: str, split: bool) -> None:
    run(arena, cuda, "counts", 1)  # the runtime is there
    begin = time.monotonic()
    options = SimtOptions(block=(64, 1, 1), split=split)
    fault = run(arena, cuda, name, 3, 2, options).launch.fault
    assert fault is not None and fault.kind == "endless" and fault.block == 0
    assert fault.note is not None and fault.note[0] == WAITS and fault.note[1] is not None
    assert time.monotonic() - begin < 5


@pytest.mark.parametrize(
    ("name", "n"),
    [
        ("later", 0), ("turns", 3000), ("counts", 100_000), ("timed", 100_000), ("grows", 20_000), ("local", 20_000),
        ("block_s", 20_000),
    ],
)  # fmt: skip
def test_a_wait_that_ends_is_let_be(arena: Arena, cuda: Compile, name: str, n: int) -> None:
    done = run(arena, cuda, name, n)
    assert done.launch.fault is None
    assert done.arrays[0][0] == 2 * n if name == "turns" else done.arrays[0][1] != 0


def test_the_host_may_bring_it(arena: Arena, cuda: Compile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_kernel, "HOST_NS", 1_500_000_000)
    case = Case(cuda(SOURCE), "reads", 1, 64, np.zeros(8, np.int32), 0, budget=1 << 40)
    arena.host_writes = True
    try:
        threading.Timer(0.5, lambda: arena.view(arena.buffers[0], np.int32).__setitem__(0, 1)).start()
        assert case.fast(arena).launch.fault is None
        begin = time.monotonic()
        fault = case.fast(arena).launch.fault
        assert fault is not None and fault.kind == "endless" and 1.4 < time.monotonic() - begin < 10
    finally:
        arena.host_writes = False
