"""Structs that a kernel takes by value: read where they lie, copied for each thread only when somebody writes."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from kernelwright.codegen.simt.lower import lower
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.device.memory import Arena
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
