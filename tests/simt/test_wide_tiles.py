"""Tiles of several warps: both executors against NumPy, and what the checker says of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelwright.codegen.simt.launching.watching import Watch
from kernelwright.device.arena import Arena
from kernelwright.device.schedule import Schedule
from kernelwright.ir import Module
from tests.simt.harness import Case

Compile = Callable[[str], Module]
SOURCE = r"""
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
template <unsigned size> __device__ void work(const int *a, int *o, int n) {
  __shared__ cg::block_tile_memory<256> memory;
  __shared__ int s[256];
  auto block = cg::this_thread_block(memory);
  auto tile = cg::tiled_partition<size>(block);
  int value = a[threadIdx.x];
  for (int k = 0; k < n; k++) {
    // Tiles do not go round equally often.
    if (k > (int)tile.meta_group_rank() + 1) break;
    s[threadIdx.x] = value;
    tile.sync();
    value += s[tile.meta_group_rank() * size + (tile.thread_rank() + 33) % size];
    tile.sync();
  }
  o[threadIdx.x] = cg::reduce(tile, value, cg::plus<int>()) + 1000000 * tile.any(value == a[0]) + 2000000 * tile.all(value > 40);
}
extern "C" __global__ void k64(const int *a, int *o, int n) { work<64>(a, o, n); }
extern "C" __global__ void k128(const int *a, int *o, int n) { work<128>(a, o, n); }
"""


@pytest.mark.parametrize("size", [64, 128])
def test_wide_tiles(cuda: Compile, arena: Arena, size: int) -> None:
    a = np.random.default_rng(8).integers(20, 100, 256).astype(np.int32)
    want = np.zeros(256, np.int64)
    for tile in range(256 // size):
        part = slice(tile * size, (tile + 1) * size)
        value = a[part].astype(np.int64)
        for _ in range(min(3, tile + 2)):
            value = value + np.roll(value, -33)
        want[part] = value.sum() + 1000000 * (value == a[0]).any() + 2000000 * (value > 40).all()
    made = Case(cuda(SOURCE), f"k{size}", 1, 256, a, np.zeros(256, np.int32), 3, budget=1 << 24)
    assert np.array_equal(made.agree(arena).arrays[1], want)
    for schedule in (Schedule.reverse(), Schedule.random(2), Schedule.weak(3)):
        assert np.array_equal(made.fast(arena, schedule=schedule).arrays[1], want)
    assert not made.fast(arena, watch=Watch(races=True, unwritten=True)).launch.found
