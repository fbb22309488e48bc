"""Loops without a way out that some lanes of a warp enter and others do not."""

from __future__ import annotations

import numpy as np
import pytest

from kernelwright.device.arena import Arena
from tests.simt.harness import PRELUDE, Case, ir

ROUND_FOR_EVER = (
    PRELUDE
    + """
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.trap()
define ptx_kernel void @k(ptr %out, ptr %in, i32 %some, i32 %never) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %inside = icmp slt i32 %t, %some
  br i1 %inside, label %loop, label %on
on:
  %to = getelementptr i32, ptr %out, i32 %t
  store i32 %t, ptr %to, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store i32 1, ptr %to, align 4
  ret void
loop:
  %i = phi i32 [ %t, %entry ], [ %next, BACK ]
  %from = getelementptr i32, ptr %in, i32 %i
  %read = load i32, ptr %from, align 4
  %next = add i32 %i, STEP
  BRANCH
}
"""
)
WAYS = {
    "no way out": ("%loop", "br label %loop"),
    "a trap that nobody takes": (
        "%round",
        "%bad = icmp eq i32 %read, %never\n  br i1 %bad, label %stop, label %round\n"
        "round:\n  br label %loop\nstop:\n  call void @llvm.trap()\n  unreachable",
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("step", [0, 32])
@pytest.mark.parametrize("some", [0, 2, 32])
def test_lanes_that_never_come_back_are_missed(arena: Arena, way: str, step: int, some: int) -> None:
    """They run out of the buffer or of iterations; the others wait for them at the barrier."""
    back, branch = WAYS[way]
    text = ROUND_FOR_EVER.replace("BACK", back).replace("BRANCH", branch).replace("STEP", str(step))
    zeros = np.zeros(64, np.int32)
    case = Case(ir(text), "k", 1, 64, zeros, zeros, some, 7, budget=3000)
    want = case.agree(arena, faults=True)
    kind = want.fault.kind if want.fault else None
    assert kind == (None if not some else "out-of-bounds" if step else "endless")
