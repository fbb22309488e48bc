"""Warps whose lanes lie in several rows of the block, some of them without active lanes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.device.arena import Arena
from kernelwright.ir import Module
from tests.examples import few
from tests.simt.harness import Array, Case, ir
from tests.simt.test_scattered import masks, turns, warps

Compile = Callable[[str], Module]

ONE_ROW = """
@tile = internal addrspace(3) global [16 x float] undef, align 4
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
define ptx_kernel void @k(ptr %out, ptr %in, i32 %row) {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %here = icmp eq i32 %y, %row
  br i1 %here, label %then, label %end
then:
  %one = getelementptr float, ptr %in, i64 4
  %number = load float, ptr %one, align 4
  %place = getelementptr float, ptr addrspace(3) @tile, i32 %x
  store float %number, ptr addrspace(3) %place, align 4
  br label %end
end:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %from = getelementptr float, ptr addrspace(3) @tile, i32 %x
  %found = load float, ptr addrspace(3) %from, align 4
  %to = getelementptr float, ptr %out, i32 %x
  store float %found, ptr %to, align 4
  ret void
}
"""


@pytest.mark.parametrize("row", [0, 3])
@pytest.mark.parametrize("width", [8, 16])
def test_one_number_for_the_warp_is_read_by_whichever_row_is_active(arena: Arena, width: int, row: int) -> None:
    numbers = np.arange(8, dtype=np.float32)
    case = Case(ir(ONE_ROW), "k", 1, (width, 4, 1), np.zeros(16, np.float32), numbers, row)
    want = case.agree(arena)
    np.testing.assert_array_equal(want.arrays[0][:width], 4)


UNEVEN = """
extern "C" __global__ void rows(float* o, const float4* wide, const short* narrow, const double* parts, int n) {
  __shared__ double2 kept[4];
  int t = threadIdx.y * blockDim.x + threadIdx.x;
  if (t < 4) kept[t] = make_double2(parts[t], parts[t] * 2);
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < n; i++)
    if (threadIdx.y == i % blockDim.y) {
      float4 w = wide[i];
      sum += w.x * w.y - w.z + w.w * narrow[n - i] + (float)(kept[i % 4].x - kept[(i + 1) % 4].y);
      if (threadIdx.x > i) sum += wide[1].y + (float)parts[threadIdx.y];
    }
  o[t] = sum;
}
"""


@pytest.mark.parametrize("block", [(8, 8, 1), (16, 16, 1), (16, 3, 1), (8, 3, 1), (12, 5, 1)])
def test_numbers_of_every_size_under_uneven_masks(cuda: Compile, arena: Arena, block: tuple[int, int, int]) -> None:
    random, size = np.random.default_rng(4), block[0] * block[1]
    wide, parts = random.integers(0, 9, 4 * 32).astype(np.float32), random.integers(0, 9, 32).astype(np.float64)
    narrow = random.integers(-9, 9, 32).astype(np.int16)
    Case(cuda(UNEVEN), "rows", 1, block, np.zeros(size, np.float32), wide, narrow, parts, 21).agree(arena)


NUMBER_PER_ROW = """
extern "C" __global__ void rows(float* o, const float* a, int n) {
  __shared__ float s[64];
  s[threadIdx.y * 16 + threadIdx.x] = a[threadIdx.y * 16 + threadIdx.x + 1];
  __syncthreads();
  for (int i = 0; i < n; i++) {
    float v = a[threadIdx.y * 16 + i];
    if (threadIdx.x == 0) o[threadIdx.y * 16 + i] = v + s[threadIdx.y * 16 + i];
  }
}
"""


@pytest.mark.parametrize("block", [(8, 2, 1), (4, 2, 1), (16, 2, 1), (8, 4, 1)])
def test_two_rows_that_are_not_halves_of_a_warp(cuda: Compile, arena: Arena, block: tuple[int, int, int]) -> None:
    """The runtime's calls for two rows take rows of 16 lanes."""
    case = Case(cuda(NUMBER_PER_ROW), "rows", 1, block, np.zeros(64, np.float32), np.arange(96, dtype=np.float32), 4)
    want = case.agree(arena)
    assert want.arrays[0][16] == 16 + 17


ODD_WIDTH = """
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @k(ptr %out, ptr %in) {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %from = getelementptr i64, ptr %in, i32 %x
  %word = load i64, ptr %from, align 8
  %first = trunc i64 %word to iN
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi iN [ %first, %entry ], [ %more, %loop ]
  %turn = trunc i32 %i to i3
  %wide = zext i3 %turn to iN
  %more = mul iN %sum, 5
  %next = add i32 %i, 1
  %again = icmp ult i32 %next, %x
  br i1 %again, label %loop, label %end
end:
  %result = add iN %more, %wide
  %to = getelementptr i64, ptr %out, i32 %x
  %stored = zext iN %result to i64
  store i64 %stored, ptr %to, align 8
  ret void
}
"""


@pytest.mark.parametrize("threads", [32, 21])
@pytest.mark.parametrize("bits", [24, 40, 56, 20, 4])
def test_padding_that_is_copied_with_its_struct(arena: Arena, bits: int, threads: int) -> None:
    """LLVM keeps it as a number of three, five or seven bytes."""
    values = np.arange(threads, dtype=np.int64) * 7919 % (1 << bits)
    case = Case(ir(ODD_WIDTH.replace("iN", f"i{bits}")), "k", 1, (threads, 1, 1), np.zeros(threads, np.int64), values)
    want = case.agree(arena).arrays[0]
    turns = np.maximum(np.arange(threads), 1)
    expected = [(int(v) * 5 ** int(n) + int(n - 1) % 8) % (1 << bits) for v, n in zip(values, turns, strict=True)]
    assert want.tolist() == expected


THE_SAME_ROW = """
extern "C" __global__ void alike(const float* a, const int* on, float* o, int k, int n) {
  __shared__ float s[128]; __shared__ double d[64];
  int t = threadIdx.y * blockDim.x + threadIdx.x, x = threadIdx.x;
  for (int i = t; i < 128; i += 64) s[i] = a[i], d[i / 2] = a[i / 2];
  __syncthreads();
  int place = k + 2 * n;
  float sum = 0;
  #pragma unroll 1
  for (int i = 0; i < n; i++) {
    int at = k + i;
    if (on[t]) sum += a[at + x] * s[at + x] + (float)d[x] - a[at] * s[at];
    if (on[63 - t] || i > 1) sum = 2 * sum + a[place + x] + a[threadIdx.z + at];
  }
  o[t] = sum + a[place + x] - s[x + k];
}
"""


SOME_ROWS = [
    (np.arange(64) % 3 == 0),
    (np.arange(64) % 32 >= 16),
    (np.arange(64) % 16 > 11),
    (np.arange(64) // 8 % 3 == 1),
]


@settings(max_examples=few(80), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example((16, 4, 1), SOME_ROWS[0], 3, 3)
@example((16, 4, 1), SOME_ROWS[1], 0, 3)
@example((16, 4, 1), SOME_ROWS[2], 5, 2)
@example((8, 8, 1), SOME_ROWS[0], 1, 3)
@example((8, 8, 1), SOME_ROWS[3], 2, 3)
@given(
    st.sampled_from([(16, 4, 1), (8, 8, 1), (16, 1, 1), (8, 4, 1), (4, 16, 1)]),
    masks(),
    st.integers(0, 20),
    st.integers(0, 4),
)
def test_rows_that_read_the_same(
    cuda: Compile, arena: Arena, shape: tuple[int, int, int], on: Array, k: int, n: int
) -> None:
    on = on.astype(np.int32)
    numbers = np.arange(128, dtype=np.float32)
    case = Case(cuda(THE_SAME_ROW), "alike", 1, shape, numbers, on, np.zeros(64, np.float32), k, n)
    case.agree(arena)
    threads = shape[0] * shape[1]
    x, taken = np.arange(64) % shape[0], list(warps(on, threads))
    for option in (SimtOptions(block=shape), SimtOptions(block=shape, inline=True)):
        launch = case.fast(arena, option).launch
        start = arena.buffers[0].address
        loads = [a for a in launch.kernel.accesses if a.kind == "load"]
        row, tile, _, one, word = (a.index for a in loads[4:9])  # those of the first condition in the loop
        asked = [(k + i + x[w]) for i in range(n) for w in taken]
        sectors = {row: sum(len(set((start + 4 * p) // 32)) for p in asked), one: n * len(taken)}
        assert {a: int(launch.sectors[a]) for a in sectors} == sectors, option
        wavefronts = {tile: sum(map(turns, asked)), word: n * len(taken)}
        assert {a: int(launch.wavefronts[a]) for a in wavefronts} == wavefronts, option
