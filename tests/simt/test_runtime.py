"""The runtime's own functions, against the same said in a line of Python; and better code for what runs long."""

from __future__ import annotations

import ctypes
from collections import Counter

import numpy as np
import pytest

from kernelwright.codegen.simt.launching.runtime_library import runtime
from kernelwright.device.arena import Arena
from kernelwright.ir import Module
from kernelwright.launch import Launch
from tests.simt.harness import PRELUDE, Array, Case, ir
from tests.simt.test_kernels import zeros


def offsets(rng: np.random.Generator, kind: int, size: int) -> Array:
    """Offsets of 32 lanes as kernels have them: scattered near or far, a row, a few places."""
    rules = (
        rng.integers(0, 64, 32), rng.integers(0, 1 << 20, 32), np.arange(32) + rng.integers(0, 999),
        rng.integers(0, 4, 32) * 1000, np.arange(32)[::-1] * int(rng.integers(1, 40)), np.arange(32) * 16,
    )  # fmt: skip
    return (rules[kind] * size).astype(np.uint32)


def masks(rng: np.random.Generator) -> list[int]:
    some = [int(rng.integers(1, 1 << 32)) & int(rng.integers(1, 1 << 32)) or 1 for _ in range(3)]
    return [0xFFFFFFFF, 1, 1 << 31, 0xFF00, *some]


@pytest.mark.parametrize("kind", range(6))
def test_costs_of_one_access(kind: int) -> None:
    library, rng = runtime(), np.random.default_rng(kind)
    for size in (1, 2, 4, 8):
        for mask in masks(rng):
            places = offsets(rng, kind, size)
            where = places.ctypes.data_as(ctypes.c_void_p)
            lanes = [int(p) for i, p in enumerate(places) if mask >> i & 1]
            for skew in (0, 8, 24):
                got = library.simt_sectors(where, skew, mask)
                assert got == len({(p + skew) // 32 for p in lanes}), (size, hex(mask), skew)
            assert library.simt_turns(where, mask) == max(Counter(lanes).values()) - 1
            words = (size + 3) // 4
            part = 32 // words
            turns = 0
            for first in range(0, 32, part):
                asked = {
                    int(places[i]) // 4 + k for i in range(first, first + part) if mask >> i & 1 for k in range(words)
                }
                turns += max(Counter(w % 32 for w in asked).values(), default=0)
            assert library.simt_waves(where, mask, size) == turns, (size, hex(mask))


SUM = (
    PRELUDE
    + """
define ptx_kernel void @k(ptr %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i2, %loop ]
  %s = phi i32 [ %t, %entry ], [ %s2, %loop ]
  %m = mul i32 %s, 3
  %s2 = add i32 %m, %i
  %i2 = add i32 %i, 1
  %more = icmp slt i32 %i2, %n
  br i1 %more, label %loop, label %end
end:
  %a = zext i32 %t to i64
  %p = getelementptr i32, ptr %out, i64 %a
  store i32 %s2, ptr %p
  ret void
}
"""
)


def test_what_runs_long_gets_better_code_and_the_same_results(arena: Arena) -> None:
    module: Module = ir(SUM)
    case = Case(module, "k", 1, 64, zeros(64), 1000)
    kernel = case.compiled()
    packed, buffers, _, _ = case._memory(arena)
    code, results = [], []
    for patience in (10.0, -1.0, 10.0):
        kernel._patience = patience
        result = kernel.launch(arena, Launch(case.kernel, case.grid, case.block, packed))
        code.append(kernel._launch.kernel)
        results.append((arena.view(buffers[0][0], np.int32).tolist(), result.raw_counts))
        arena.view(buffers[0][0], np.int32)[:] = 0
    assert code[0] != code[1] == code[2]
    assert results[0] == results[1] == results[2] and any(results[0][0])
