"""Structs that a kernel takes by value: read where they lie, copied for each thread only when somebody writes."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from kernelwright.codegen.simt.lower import lower
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.device.arena import Arena
from tests.simt.harness import PRELUDE, Case, ir

KERNEL = (
    PRELUDE
    + """
%pair = type { i32, i32 }
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define ptx_kernel void @k(ptr %out, ptr readonly byval(%pair) align 4 captures(none) %in) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = zext i32 %t to i64
  %to = getelementptr i32, ptr %out, i64 %w
  %second = getelementptr i8, ptr %in, i64 4
  WHAT
  %found = load i32, ptr %second, align 4
  store i32 %found, ptr %to, align 4
  ret void
}
"""
)
ODD = "%odd = and i64 %w, 1\n  %place = getelementptr i32, ptr %in, i64 %odd\n  "
USES = {
    "reads": ("", False),
    "copies from it": ("call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %in, i64 4, i1 false)", False),
    "writes, whatever its attributes say": (ODD + "store i32 %t, ptr %place, align 4", True),
    "copies to it": ("call void @llvm.memcpy.p0.p0.i64(ptr %second, ptr %out, i64 4, i1 false)", True),
    "lets it out of sight": (
        "%n = ptrtoint ptr %in to i64\n  %p = inttoptr i64 %n to ptr\n  store i32 %t, ptr %p",
        True,
    ),
}


@pytest.mark.parametrize("use", USES)
def test_a_struct_by_value_is_each_threads_own(arena: Arena, use: str) -> None:
    code, is_written = USES[use]
    module = ir(KERNEL.replace("WHAT", code))
    Case(module, "k", 1, 32, np.arange(32, dtype=np.int32), struct.pack("<2i", 11, 12)).agree(arena)
    assert (lower(module, "k", SimtOptions(block=(32, 1, 1))).local_bytes > 0) == is_written


BEYOND = """
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
%pair = type { i32, i32 }
define ptx_kernel void @k(ptr byval(%pair) align 4 %in, ptr %out, i32 %n) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = add i32 %t, %n
  %from = getelementptr i32, ptr %in, i32 %i
  %found = load i32, ptr %from, align 4
  %to = getelementptr i32, ptr %out, i32 %t
  store i32 %found, ptr %to, align 4
  ret void
}
"""


@pytest.mark.parametrize(("first", "inside"), [(0, True), (1, False), (2, False), (-1, False), (40, False)])
def test_a_struct_by_value_ends_where_it_ends(arena: Arena, first: int, inside: bool) -> None:
    """Not at the next parameter, nor at the last."""
    case = Case(ir(BEYOND), "k", 1, 2, struct.pack("<2i", 11, 12), np.zeros(32, np.int32), first)
    want = case.agree(arena, faults=True)
    assert (want.fault is None) == inside
    if not inside:
        got = case.fast(arena).fault
        assert (got.kind, got.address >> 40) == ("out-of-bounds", 2)


ALIGNED = """
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
%four = type { i32, i32, i32, i32 }
define ptx_kernel void @k(i32 %n, ptr byval(%four) align 4 %first, ptr byval(%four) align 4 %second, ptr %out) {
  %from = getelementptr i8, ptr %WHICH, i32 %n
  %found = load i64, ptr %from, align 8
  store i64 %found, ptr %out, align 8
  ret void
}
"""


@pytest.mark.parametrize("which", ["first", "second"])
@pytest.mark.parametrize("offset", [0, 4, 8])
def test_a_struct_by_value_is_aligned_as_in_local_memory(arena: Arena, which: str, offset: int) -> None:
    """However its place among the parameters is."""
    structs = [struct.pack("<4i", *range(first, first + 4)) for first in (1, 5)]
    case = Case(ir(ALIGNED.replace("WHICH", which)), "k", 1, 32, offset, *structs, np.zeros(2, np.int32))
    want = case.agree(arena, faults=True)
    assert (want.fault.kind if want.fault else "") == ("" if offset % 8 == 0 else "misaligned")


CALLED = (
    PRELUDE
    + """
%pair = type { i32, i32 }
define i32 @take(ptr byval(%pair) align 4 %s, i32 %n) noinline {
  %second = getelementptr i8, ptr %s, i64 4
  %old = load i32, ptr %second, align 4
  %new = add i32 %old, %n
  store i32 %new, ptr %second, align 4
  %first = load i32, ptr %s, align 4
  %sum = add i32 %first, %new
  ret i32 %sum
}
define ptx_kernel void @k(ptr %out, ptr %in) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = zext i32 %t to i64
  %to = getelementptr i32, ptr %out, i64 %w
  %a = call i32 @take(ptr byval(%pair) align 4 %in, i32 100)
  %b = call i32 @take(ptr byval(%pair) align 4 %in, i32 %t)
  %c = shl i32 %b, 10
  %found = add i32 %a, %c
  store i32 %found, ptr %to, align 4
  ret void
}
"""
)


def test_a_function_that_takes_a_struct_by_value_has_its_own(arena: Arena) -> None:
    """What it writes does not reach whoever called it: here global memory, as LLVM leaves out the caller's copy."""
    out, given = np.zeros(32, np.int32), np.array([11, 12], np.int32)
    Case(ir(CALLED), "k", 1, 32, out, given).agree(arena)
    assert lower(ir(CALLED), "k", SimtOptions(block=(32, 1, 1))).local_bytes == 8, (
        "one place for the copies of both calls"
    )
