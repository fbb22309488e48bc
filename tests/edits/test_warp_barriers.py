"""Barriers of a block that is one warp: which are changed, for which launches, and that a warp's barrier does."""

from __future__ import annotations

import numpy as np
import pytest

from kernelwright.codegen.ptx import emit_ptx
from kernelwright.codegen.simt.launching.watching import Watch
from kernelwright.device.arena import Arena
from kernelwright.device.reference.race_watch import Watch as ReferenceWatch
from kernelwright.device.schedule import Schedule
from kernelwright.edits import BlockIsWarp, Edit, LaunchFacts, Original, apply, known_edits
from kernelwright.edits.kinds.copy import Copy
from kernelwright.edits.kinds.delete import Delete
from kernelwright.edits.kinds.delete_barrier import DeleteBarrier
from kernelwright.edits.kinds.warp_barriers import WarpBarriers, of_one_warp
from kernelwright.launch import Launch
from kernelwright.passes.recipe import optimise_with
from tests.edits.conftest import after, kernel, refusal
from tests.simt.harness import Case

CLONE = "c0000000000"
DECLARED = """
@tile = internal addrspace(3) global [32 x i32] undef, align 4
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.barrier.cta.sync.aligned.count(i32, i32)
"""
REVERSE = """
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr i32, ptr %p, i32 %t
  %value = load i32, ptr %mine, align 4
  %slot = getelementptr i32, ptr addrspace(3) @tile, i32 %t
  store i32 %value, ptr addrspace(3) %slot, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %last = sub i32 %n, 1
  %other = sub i32 %last, %t
  %from = getelementptr i32, ptr addrspace(3) @tile, i32 %other
  %found = load i32, ptr addrspace(3) %from, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store i32 %found, ptr %mine, align 4
  ret void
"""
FIRST, SECOND, STORE = 5, 10, 11
WARP = "call void @llvm.nvvm.bar.warp.sync(i32 -1)"


@pytest.fixture
def reverse() -> Original:
    return kernel(REVERSE, DECLARED)


def test_all_barriers_of_the_block_become_those_of_the_warp(reverse: Original) -> None:
    made = after(reverse, WarpBarriers())
    assert made.count(WARP) == 2 and not any("barrier.cta" in line for line in made)
    applied = apply(reverse, (WarpBarriers(),))
    assert applied.guards == (BlockIsWarp(),)
    ptx = emit_ptx(optimise_with(applied.text, None, "sm_80"), "sm_80")
    assert ptx.count("bar.warp.sync") == 2 and "barrier" not in ptx and "bar.sync" not in ptx


def test_it_goes_with_other_edits_in_any_order(reverse: Original) -> None:
    assert after(reverse, DeleteBarrier(FIRST), WarpBarriers()).count(WARP) == 1
    assert after(reverse, WarpBarriers(), DeleteBarrier(FIRST)).count(WARP) == 1
    assert after(reverse, Copy(CLONE, FIRST, STORE), WarpBarriers()).count(WARP) == 3
    assert after(reverse, WarpBarriers(), Copy(CLONE, FIRST, STORE)).count(WARP) == 3


def test_where_there_is_nothing_to_change(reverse: Original) -> None:
    assert "already" in refusal(reverse, WarpBarriers(), WarpBarriers())
    assert "no barrier of the block" in refusal(reverse, Delete(FIRST), Delete(SECOND), WarpBarriers())
    counting = REVERSE.replace("aligned.all(i32 0)", "aligned.count(i32 0, i32 32)")
    assert "no barrier of the block" in refusal(kernel(counting, DECLARED), WarpBarriers())


def test_it_is_known_of_kernels_that_only_ran_with_one_warp(reverse: Original) -> None:
    def launch(*block: int) -> LaunchFacts:
        return LaunchFacts(Launch("k", (4, 1, 1), (block[0], block[1], block[2])), ())

    assert list(of_one_warp(reverse, [launch(32, 1, 1), launch(4, 4, 2)])) == [WarpBarriers()]
    assert list(of_one_warp(reverse, [launch(32, 1, 1), launch(33, 1, 1)])) == []
    assert list(of_one_warp(reverse, [])) == []
    assert list(of_one_warp(kernel("  ret void"), [launch(16, 1, 1)])) == []
    assert WarpBarriers() in known_edits({"k": reverse}, {"k": [launch(16, 1, 1)]})["k"]
    assert WarpBarriers() not in known_edits({"k": reverse}, {"k": [launch(64, 1, 1)]})["k"]


@pytest.mark.parametrize("threads", [32, 16, 5])
def test_the_lanes_still_wait_for_each_other(reverse: Original, arena: Arena, threads: int) -> None:
    """Under lanes in step, lanes apart, and with the races watched; without barriers they do not."""
    numbers = np.arange(threads, dtype=np.int32)

    def case(*edits: Edit) -> Case:
        return Case(apply(reverse, edits).module, "k", 1, threads, numbers, numbers, threads, 0.0)

    of_warp, none = case(WarpBarriers()), case(DeleteBarrier(FIRST), DeleteBarrier(SECOND))
    apart = Schedule.subwarp(4, 1)
    runs = [
        of_warp.agree(arena),
        of_warp.fast(arena, of_warp.variants()[-1], schedule=apart),
        of_warp.reference(arena, apart),
    ]
    for run in runs:
        assert run.fault is None
        np.testing.assert_array_equal(run.arrays[0], numbers[::-1])
    assert not any(f.kind == "race" for f in of_warp.fast(arena, watch=Watch(races=True)).launch.found)
    assert not any(f.kind == "race" for f in of_warp.reference(arena, watch=ReferenceWatch()).reference.findings)
    if threads > 4:
        assert any(f.kind == "race" for f in none.reference(arena, watch=ReferenceWatch()).reference.findings)


def test_needleman_wunsch_and_the_pivot_kernels_of_lu_are_such_kernels(kernels: tuple[Original, ...]) -> None:
    one = [LaunchFacts(Launch("k", (1, 1, 1), (32, 1, 1)), ())]
    with_barriers = {k.kernel for k in kernels if list(of_one_warp(k, one))}
    assert any("score_upper_left" in name for name in with_barriers)
    assert any("factor_diagonal" in name for name in with_barriers)
    assert not any("settle_reached" in name for name in with_barriers)
