"""Loads before the branch that decides whether they are needed, masked: what they read, and that nothing depends on the address."""

from __future__ import annotations

import numpy as np
import pytest

from kernelwright.device.arena import Arena
from kernelwright.edits import Original, apply
from kernelwright.edits.kinds.constant_condition import ConstantCondition
from kernelwright.edits.kinds.loads.hoist_loads import HoistLoads, far_hoistings, hoistings
from kernelwright.edits.kinds.loads.hoist_masked_loads import HoistMaskedLoads, masked
from kernelwright.edits.memory.ways import Taken, way
from kernelwright.ir import verify
from kernelwright.passes.llvm import check
from tests.edits.conftest import kernel, refusal
from tests.edits.test_hoist_loads import DECLARED, blocks_of, lines_of
from tests.simt.harness import Case

PARAMETERS = "ptr %p, ptr %q, i32 %n, ptr %out"
# A thread whose index is negative, or whose flag is 0, reads nothing; the index of others is good.
LOOKUP = """
a:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %here = getelementptr i32, ptr %p, i32 %i
  %flag = load i32, ptr %here, align 4
  %odd = and i32 %i, 1
  %even = icmp eq i32 %odd, 0
  br i1 %even, label %b, label %end
b:
  %known = icmp slt i32 %i, %n
  br i1 %known, label %skip, label %c
c:
  %far = mul i32 %flag, 1000
  %in = icmp sgt i32 %far, -1
  br i1 %in, label %d, label %skip
d:
  %at = getelementptr inbounds i32, ptr %q, i32 %far
  %y = load i32, ptr %at, align 4
  %there = getelementptr i32, ptr %out, i32 %i
  store i32 %y, ptr %there, align 4
  br label %skip
skip:
  br label %end
end:
  ret void
"""
BRANCHES = (5, 7, 10, 15)
"""The instructions that end the first blocks."""
D_END = BRANCHES[3]


@pytest.fixture
def lookup() -> Original:
    return kernel(LOOKUP, DECLARED, PARAMETERS)


def test_a_select_for_each_branch_on_the_way(lookup: Original) -> None:
    lines = [line for line in lines_of(lookup, HoistMaskedLoads(D_END, 16)) if "%y" in line or "select" in line]
    inner, middle, outer = lines[:3]
    assert inner.endswith("= select i1 %in, ptr %at, ptr %q")
    assert middle.endswith(f"= select i1 %known, ptr %q, ptr {inner.split()[0]}")
    assert outer.endswith(f"= select i1 %even, ptr {middle.split()[0]}, ptr %q")
    assert lines[3].startswith(f"%y = load i32, ptr {outer.split()[0]}")
    assert [str(guard) for guard in apply(lookup, (HoistMaskedLoads(D_END),)).guards] == [
        "bytes behind argument 1 >= 4"
    ]


def test_each_level_is_a_place_of_its_own(lookup: Original) -> None:
    assert [blocks_of(lookup, HoistMaskedLoads(D_END, levels))["%y"] for levels in (1, 2, 4)] == ["c", "b", "a"]
    assert masked(HoistLoads(D_END, True, 2)) == HoistMaskedLoads(D_END, 2)


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_both_executors_give_what_the_original_gives_and_read_nowhere_else(
    lookup: Original, arena: Arena, levels: int
) -> None:
    flags = np.where(np.arange(64) % 4 == 0, 0, -1).astype(np.int32)
    inputs = (flags, np.array([7], np.int32), 32, np.zeros(64, np.int32))
    want = Case(apply(lookup, ()).module, "k", 1, 64, *inputs).reference(arena)
    moved = Case(apply(lookup, (HoistMaskedLoads(D_END, levels),)).module, "k", 1, 64, *inputs)
    moved.same(want, moved.agree(arena), 0.0, "masked")
    assert want.fault is None and (want.arrays[2] == 7).sum() == 8
    plain = Case(apply(lookup, (HoistLoads(D_END, levels=levels),)).module, "k", 1, 64, *inputs)
    assert plain.reference(arena).fault is not None


def test_where_it_is_refused(lookup: Original) -> None:
    def says(text: str, end: int = D_END) -> str:
        return refusal(kernel(text, DECLARED, PARAMETERS), HoistMaskedLoads(end))

    assert "ends no block" in refusal(lookup, HoistMaskedLoads(1))
    assert "no block leads to" in refusal(lookup, HoistMaskedLoads(BRANCHES[0]))
    assert "levels" in refusal(lookup, HoistMaskedLoads(D_END, 17))
    assert "no load that could be masked" in refusal(lookup, HoistMaskedLoads(D_END + 1))
    # The only arguments are written; the address comes from none; a block that is entered from two sides.
    assert "no load that could be masked" in says(
        LOOKUP.replace("store i32 %y, ptr %there", "store i32 %y, ptr %at").replace("ptr %p, i32 %i", "ptr %q, i32 %i")
        .replace("%there = getelementptr i32, ptr %out", "store i32 0, ptr %p\n  store i32 0, ptr %out\n  %there = getelementptr i32, ptr %out"),
        D_END + 2,
    )  # fmt: skip
    assert "no load that could be masked" in says(
        LOOKUP.replace("ptr %q, i32 %far", "ptr inttoptr (i64 4096 to ptr), i32 %far")
    )
    assert "no load that could be masked" in says(LOOKUP.replace("label %skip, label %c", "label %d, label %c"))


def test_another_argument_serves_where_its_own_is_written(lookup: Original) -> None:
    own = kernel(LOOKUP.replace("store i32 %y, ptr %there", "store i32 %y, ptr %at"), DECLARED, PARAMETERS)
    assert any(line.endswith("ptr %at, ptr %p") for line in lines_of(own, HoistMaskedLoads(D_END)))


def test_ways() -> None:
    looped = kernel(
        "a:\n  %t = icmp slt i32 %n, 3\n  br label %b\nb:\n  br i1 %t, label %c, label %d\nc:\n  br i1 %t, label %b, label %d\n"
        "d:\n  %u = icmp slt i32 %n, 9\n  br i1 %u, label %e, label %f\ne:\n  br label %f\nf:\n  ret void"
    )
    a, b, c, d, e, f = range(6)
    assert way(looped, a, b) == ()
    assert way(looped, b, c) == (Taken(2, True),)
    assert way(looped, b, d) is None  # it may come to b again before
    assert way(looped, d, e) == (Taken(5, True),)
    assert way(looped, d, f) == way(looped, e, f) == ()
    assert way(looped, c, d) is None and way(looped, f, a) is None


def test_together_with_an_edit_of_the_branch(lookup: Original) -> None:
    applied = apply(lookup, (ConstantCondition(BRANCHES[2], 0, True), HoistMaskedLoads(D_END)))
    assert "select i1 true, ptr %at, ptr %q" in applied.text
    verify(applied.module)


def test_all_of_the_suite_apply_alone_and_together(kernels: tuple[Original, ...]) -> None:
    count = 0
    for original in kernels:
        wanted = tuple(masked(edit) for edit in (*hoistings(original), *far_hoistings(original)))
        edits = tuple(dict.fromkeys(edit for edit in wanted if not apply(original, (edit,)).inert))
        for edit in edits:
            assert apply(original, (edit,)).repaired == {}
        together = apply(original, edits)
        assert together.repaired == {}
        verify(together.module)
        check(together.text)
        count += len(edits)
    assert count > 50
