"""Barriers that some lanes of a warp pass by on their way round a loop: those that wait find what they had.

CUDA leaves it undefined, and GPUs since Volta do what each thread's own program says, as the reference executor does.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.codegen.simt.program.flatten import flatten
from kernelwright.codegen.simt.program.warp_gathers import settle
from kernelwright.device.arena import Arena
from kernelwright.ir import Module
from tests.simt.harness import Case
from tests.simt.harness import cuda as compiled

Compile = Callable[[str], Module]

# n: rounds; w: threads that take part. Each place of a[] is one thread's, so that the order of threads changes nothing.
SOURCE = """
#define T threadIdx.x
#define K(name) extern "C" __global__ void name(int *a, const int *trips, int n, int w)
K(in_a_branch) { for (int i = 0; i < n; i++) if (T < w) { a[i * 64 + T] = i + 1; __syncthreads(); a[i * 64 + T] += 10 * (i + 1); } }
K(kept) { int s = T; for (int i = 0; i < n; i++) { int v = trips[i] * 3; s += v; if (T < w) { __syncthreads(); a[i * 64 + T] = s + v; } } a[n * 64 + T] = s; }
K(by_turns) { for (int i = 0; i < n; i++) if ((T & 1) == (i & 1)) { __syncthreads(); a[i * 64 + T] = 100 * i + T; } }
K(after_a_continue) { for (int i = 0; i < n; i++) { if (T >= w) continue; a[i * 64 + T] = trips[i]; __syncthreads(); a[i * 64 + T] += i; } }
K(in_an_inner_loop) { for (int i = 0; i < n; i++) { int j = 0; do { a[(i * 3 + j) * 64 + T] = i; __syncthreads(); a[(i * 3 + j) * 64 + T] += 5 * j + i; } while (++j < (T < w ? n - 1 : 1)); } }
K(in_two_branches) { for (int i = 0; i < n; i++) { if (T < w) { if (T & 1) { __syncthreads(); a[i * 64 + T] = i; } a[(i + n) * 64 + T] = 2 * i; } } }
K(summed) { for (int i = 0; i < n; i++) if (T < w) { int c = __syncthreads_count(trips[T] > i); a[i * 64 + T] = c + i; } }
"""
NAMES = ("in_a_branch", "kept", "by_turns", "after_a_continue", "in_an_inner_loop", "in_two_branches", "summed")

# None of these can be passed by: all lanes that live come to the barrier in each round.
TOGETHER = """
#define T threadIdx.x
#define K(name) extern "C" __global__ void name(int *a, const int *trips, int n, int w)
K(after_a_return) { if (T >= w) return; for (int i = 0; i < n; i++) { a[T] += a[T + 1]; __syncthreads(); } }
K(left_early) { for (int i = 0; i < trips[T]; i++) { a[T] += i * n; __syncthreads(); } }
K(asked_by_all) { for (int i = 0; i < n; i++) if (i < w) { a[T] += i; __syncthreads(); } }
K(beside_it) { for (int i = 0; i < n; i++) { if (T < w) a[T] += i; __syncthreads(); } }
"""


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("threads", [16, 32, 64])
@pytest.mark.parametrize("name", NAMES)
def test_lanes_that_wait_keep_what_they_have(
    name: str, threads: int, level: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    module = compiled(SOURCE, str(tmp_path_factory.getbasetemp()), level)
    trips = np.arange(64, dtype=np.int32) % 7
    with Arena() as arena:
        Case(module, name, 1, threads, np.zeros(64 * 14, np.int32), trips, 4, 9).agree(arena)


def test_what_is_written_is_what_each_thread_says(cuda: Compile) -> None:
    """By NumPy: so that both executors are not wrong alike."""
    module, trips = cuda(SOURCE), np.arange(64, dtype=np.int32) % 7
    with Arena() as arena:
        ran = Case(module, "in_a_branch", 1, 16, np.zeros(64 * 14, np.int32), trips, 4, 9).agree(arena)
        wanted = np.zeros((14, 64), np.int32)
        wanted[:4, :9] = 11 * np.arange(1, 5)[:, None]
        assert np.array_equal(ran.arrays[0].reshape(14, 64), wanted)
        ran = Case(module, "kept", 1, 16, np.zeros(64 * 14, np.int32), trips, 4, 9).agree(arena)
        sums = np.arange(16) + 3 * np.cumsum(trips[:4])[:, None]
        wanted = np.zeros((14, 64), np.int32)
        wanted[:4, :9] = (sums + 3 * trips[:4, None])[:, :9]
        wanted[4, :16] = sums[-1]
        assert np.array_equal(ran.arrays[0].reshape(14, 64), wanted)


@pytest.mark.parametrize("name", ["after_a_return", "left_early", "asked_by_all", "beside_it"])
def test_nothing_is_kept_where_no_barrier_is_passed_by(name: str, cuda: Compile) -> None:
    """It would cost every loop with a barrier in it."""
    program = flatten(cuda(TOGETHER).functions[name])
    assert not settle(program, SimtOptions((32, 1, 1))).kept
