"""Blocks that only some lanes may run are written twice, once for warps whose lanes all do: the same results, counts and faults."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from kernelwright.codegen.simt.emission.emitter import MOST_TWICE
from kernelwright.codegen.simt.lower import lower
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.device.arena import Arena
from kernelwright.ir import Module
from tests.simt.harness import Array, Case

Compile = Callable[[str], Module]

SOURCE = """
#define I (blockIdx.x * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x)
#define K(name, type) extern "C" __global__ void name(const type *x, type *y, int n, int from, int to) { \\
  int i = I; if (i < n) y[i + to] = x[i + from]; }
K(bytes, char) K(words, float) K(doubles, double) K(fours, float4)
extern "C" __global__ void apart(const float *x, float *y, int n, int from, int to) {
  int i = I; if (i < n) y[3 * i + to] = x[2 * i + from]; }
extern "C" __global__ void tiles(const float *x, float *y, int n, int from, int to) {
  if (threadIdx.y < n) y[threadIdx.y * 40 + threadIdx.x + to] = x[threadIdx.y * 24 + threadIdx.x + from]; }
extern "C" __global__ void waits(const float *x, float *y, int n, int from, int to) {
  int i = I; if (i < n) { y[i] = x[i]; __syncwarp(__activemask()); y[i + 1] = 2; } }
extern "C" __global__ void ends(const float *x, float *y, int n, int from, int to) {
  int i = I; if (i >= n) return; float s = x[i + from]; if (s > 0) { y[i + to] = s; return; } y[i + to] = -s; }
"""


@pytest.fixture(scope="module")
def module(cuda: Compile) -> Module:
    """The kernels above, compiled."""
    return cuda(SOURCE)


def case(module: Module, kernel: str, block: tuple[int, int, int], n: int, start: int, to: int, size: int) -> Case:
    """Two blocks of a kernel on two arrays of so many elements."""
    type, each = {"bytes": (np.int8, 1), "doubles": (np.float64, 1), "fours": (np.float32, 4)}.get(
        kernel, (np.float32, 1)
    )
    values: Array = (np.arange(size * each) % 97 - 40).astype(type)
    return Case(module, kernel, 2, block, values, np.zeros_like(values), n, start, to)


def inline(block: tuple[int, int, int]) -> SimtOptions:
    """The options with which blocks are written twice."""
    return SimtOptions(block=block, inline=True)


@pytest.mark.parametrize("kernel", ["bytes", "words", "doubles", "fours"])
@pytest.mark.parametrize("block", [(64, 1, 1), (16, 1, 1), (16, 4, 1), (40, 1, 1)])
def test_rows_at_the_ends_of_a_buffer(module: Module, arena: Arena, kernel: str, block: tuple[int, int, int]) -> None:
    """The last lanes of a whole warp may have no place where the first have one: that is a fault, and of nothing else."""
    threads = 2 * block[0] * block[1]
    faults = 0
    for beyond in (-33, -2, -1, 0, 1, 2, 3, 31, 40):
        for start, to in ((beyond, 0), (0, beyond)):
            one = case(module, kernel, block, threads, start, to, threads)
            faults += one.agree(arena, options=[inline(block)], faults=True).fault is not None
    assert faults == 16


@pytest.mark.parametrize("kernel", ["apart", "tiles", "ends", "words"])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 31, 32, 33, 64, 100, 128])
def test_results_and_lanes(module: Module, arena: Arena, kernel: str, n: int) -> None:
    block = (16, 4, 1) if kernel == "tiles" else (64, 1, 1)
    one = case(module, kernel, block, n, 3, 5, 640)
    want = one.agree(arena, options=[inline(block)]).reference.block_counts[kernel]
    got = one.fast(arena, inline(block)).launch
    assert one.lanes(got) == want
    for other in (SimtOptions(block=block), SimtOptions(block=block, level=0)):
        plain = one.fast(arena, other).launch
        for field in ("executions", "lanes", "sectors", "wavefronts", "serial"):
            np.testing.assert_array_equal(getattr(plain, field), getattr(got, field))


def test_what_is_written_twice(cuda: Compile, module: Module) -> None:
    def twice(kernel: str, options: SimtOptions, of: Module = module) -> int:
        return lower(of, kernel, options).text.count("\nwhole")

    options = inline((64, 1, 1))
    assert twice("words", options) == 1
    assert twice("words", replace(options, inline=False)) == 0, "code that must be ready soon"
    assert twice("words", replace(options, split=True)) == 0, "groups of lanes are rarely whole"
    assert twice("waits", options) == 1, "behind the place where lanes wait, not before it"
    sums = "".join(f"s = s * s + {i}.0f; " for i in range(MOST_TWICE))
    text = f'extern "C" __global__ void k(float *x, int n) {{ if (threadIdx.x < n) {{ float s = x[threadIdx.x]; {sums} x[threadIdx.x] = s; }} }}'
    assert twice("k", options, cuda(text)) == 0, "long code takes long to make"


def test_a_warp_of_sixteen_lanes_is_whole(module: Module) -> None:
    text = lower(module, "words", inline((16, 1, 1))).text
    assert re.search(r"icmp eq i32 %\w+, 65535\n  br i1 %\w+, label %whole", text)
