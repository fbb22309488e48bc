"""Loads before the branch that decides whether they are needed: which go, which stay, and what it means."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from kernelwright.codegen.ptx import emit_ptx
from kernelwright.device.arena import Arena
from kernelwright.edits import Edit, Original, apply, draw
from kernelwright.edits.kinds.copy import Copy
from kernelwright.edits.kinds.delete import Delete
from kernelwright.edits.kinds.loads.hoist_loads import LEVELS, HoistLoads, far_hoistings, hoistings
from kernelwright.edits.kinds.recipe import Recipe
from kernelwright.ir import verify
from kernelwright.passes.llvm import check
from kernelwright.passes.recipe import optimise_with
from tests.edits.conftest import body, kernel, refusal
from tests.simt.harness import Case

CLONE = "c0000000000"
DECLARED = "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\ndeclare i32 @llvm.umin.i32(i32, i32)\n"
GUARDED = """
head:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %here = getelementptr i32, ptr %p, i32 %i
  %flag = load i32, ptr %here, align 4
  %in = icmp ne i32 %flag, 0
  br i1 %in, label %then, label %end
then:
  store i32 0, ptr %here, align 4
  %low = call i32 @llvm.umin.i32(i32 %i, i32 63)
  %at = getelementptr inbounds i32, ptr %q, i32 %low
  %y = load i32, ptr %at, align 4
  %chain = getelementptr i32, ptr %q, i32 %y
  %z = load i32, ptr %chain, align 4
  %seen = load volatile i32, ptr %at, align 4
  %share = udiv i32 %n, %flag
  %far = getelementptr i32, ptr %q, i32 %share
  %w = load i32, ptr %far, align 4
  %sum = add i32 %y, %z
  store i32 %sum, ptr %at, align 4
  br label %end
end:
  ret void
"""
HEAD_END, STORE, LOAD, THEN_END, END = 4, 5, 8, 17, 18


@pytest.fixture
def guarded() -> Original:
    return kernel(GUARDED, DECLARED)


def names_before_the_branch(original: Original, *edits: Edit) -> list[str]:
    lines = lines_of(original, *edits)
    end = next(n for n, line in enumerate(lines) if line.startswith("br"))
    return [line.split(" = ")[0] for line in lines[:end] if " = " in line]


def test_the_loads_go_with_their_addresses_and_nothing_else_does(guarded: Original) -> None:
    assert names_before_the_branch(guarded, HoistLoads(THEN_END)) == [
        "%i",
        "%here",
        "%flag",
        "%in",
        "%low",
        "%at",
        "%y",
    ]
    assert (
        "getelementptr i32, ptr %q" in apply(guarded, (HoistLoads(THEN_END),)).text
    )  # in bounds only where it is needed


def test_chains_go_too_when_asked(guarded: Original) -> None:
    with_chains = names_before_the_branch(guarded, HoistLoads(THEN_END, chains=True))
    assert with_chains == ["%i", "%here", "%flag", "%in", "%low", "%at", "%y", "%chain", "%z"]


def test_what_is_copied_or_gone_counts(guarded: Original) -> None:
    copied = names_before_the_branch(guarded, Copy(CLONE, LOAD, THEN_END), HoistLoads(THEN_END))
    assert copied[-3:] == ["%at", "%y", f"%{CLONE}"]
    applied = apply(guarded, (Delete(LOAD, "i32 0"), HoistLoads(THEN_END, chains=True)))
    assert applied.inert == ()
    assert "getelementptr i32, ptr %q, i32 0" in applied.text.partition("then:")[0]  # %chain, from what took %y's place


def test_where_it_is_refused(guarded: Original) -> None:
    assert "ends no block" in refusal(guarded, HoistLoads(LOAD))
    assert "ends no block" in refusal(guarded, HoistLoads(99))
    assert "no block leads to" in refusal(guarded, HoistLoads(HEAD_END))
    assert "no load that could stand" in refusal(guarded, HoistLoads(END))
    phi = "a:\n  br label %b\nb:\n  %i = phi i32 [ 0, %a ], [ %k, %b ]\n  %at = getelementptr i32, ptr %p, i32 %i\n"
    phi += "  %k = load i32, ptr %at\n  %on = icmp slt i32 %k, %n\n  br i1 %on, label %b, label %c\nc:\n  ret void"
    loop = kernel(phi)
    assert list(hoistings(loop)) == []
    assert "no load that could stand" in refusal(loop, HoistLoads(5))


def test_what_is_listed_is_what_can_be_drawn(guarded: Original) -> None:
    listed = list(hoistings(guarded))
    assert listed == [HoistLoads(THEN_END), HoistLoads(THEN_END, chains=True)]
    dice = random.Random(0)
    drawn = {draw(guarded, dice, operators={"hoist-loads": 1.0}) for _ in range(60)} - {None}
    assert drawn == {HoistLoads(THEN_END, chains, levels) for chains in (False, True) for levels in LEVELS}


def test_llvm_leaves_them_there(guarded: Original) -> None:
    """A recipe that sinks would put a load back behind the branch, where its only user is."""
    pinned = apply(guarded, (HoistLoads(THEN_END),)).text
    loose = "\n".join(line for line in pinned.splitlines() if "asm" not in line)
    before = [optimise_with(text, Recipe(passes=("sink",)), "sm_80").partition("br i1")[0] for text in (pinned, loose)]
    assert ["load i32, ptr %at" in text for text in before] == [True, False]
    ptx = emit_ptx(optimise_with(pinned, None, "sm_80"), "sm_80")
    assert ptx.index("bra") > [m.start() for m in re.finditer("ld.global", ptx)][1]


NESTED = """
a:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %near = icmp slt i32 %i, %n
  br i1 %near, label %b, label %end
b:
  %flag = load i32, ptr %p, align 4
  %in = icmp ne i32 %flag, 0
  br i1 %in, label %c, label %end
c:
  %at = getelementptr i32, ptr %q, i32 %i
  %y = load i32, ptr %at, align 4
  %low = getelementptr i32, ptr %q, i32 %flag
  %z = load i32, ptr %low, align 4
  %sum = add i32 %y, %z
  store i32 %sum, ptr %at, align 4
  br label %end
end:
  ret void
"""
MIDDLE, INNER = 5, 12


def blocks_of(original: Original, edit: Edit) -> dict[str, str]:
    """By load: the block it stands in."""
    found, block = {}, ""
    for line in with_labels(original, edit):
        block = line[:-1] if line.endswith(":") else block
        if " = load" in line:
            found[line.split(" = ")[0]] = block
    return found


def lines_of(original: Original, *edits: Edit) -> list[str]:
    applied = apply(original, edits)
    assert applied.inert == () and applied.repaired == {}
    verify(applied.module)
    check(applied.text)
    return body(applied.text)


def with_labels(original: Original, *edits: Edit) -> list[str]:
    lines_of(original, *edits)
    return [line.strip() for line in apply(original, edits).text.partition("define")[2].splitlines()]


def test_each_goes_as_far_up_as_it_can() -> None:
    nested = kernel(NESTED, DECLARED)
    assert blocks_of(nested, HoistLoads(INNER)) == {"%flag": "b", "%y": "b", "%z": "b"}
    assert blocks_of(nested, HoistLoads(INNER, levels=2)) == {"%y": "a", "%flag": "b", "%z": "b"}
    assert blocks_of(nested, HoistLoads(INNER, levels=16)) == blocks_of(nested, HoistLoads(INNER, levels=2))
    assert HoistLoads(INNER, levels=2) in set(far_hoistings(nested))
    assert HoistLoads(INNER, levels=4) not in set(far_hoistings(nested))
    assert "levels" in refusal(nested, HoistLoads(INNER, levels=17))
    assert "levels" in refusal(nested, HoistLoads(INNER, levels=0))


def test_what_went_up_goes_on_and_takes_its_pin_along() -> None:
    nested = kernel(NESTED, DECLARED)
    twice = with_labels(nested, HoistLoads(INNER), HoistLoads(MIDDLE))
    assert twice.index("b:") > next(
        n for n, line in enumerate(twice) if line.startswith("call void asm") and "%y" in line
    )
    assert sum(line.startswith("call void asm") for line in twice) == 3


def test_all_of_the_suite_apply_alone_and_together_without_repair(kernels: tuple[Original, ...]) -> None:
    count = 0
    for original in kernels:
        edits = (*hoistings(original), *far_hoistings(original))
        for edit in edits:
            applied = apply(original, (edit,))
            assert applied.inert == () and applied.repaired == {}
            check(applied.text)
        together = apply(original, edits)
        assert together.repaired == {}
        verify(together.module)
        count += len(edits)
    assert count > 100


@pytest.mark.parametrize("chains", [False, True])
def test_both_executors_give_what_the_original_gives(guarded: Original, arena: Arena, chains: bool) -> None:
    rng = np.random.default_rng(0)
    inputs = (rng.integers(0, 2, 64).astype(np.int32), rng.integers(0, 64, 64).astype(np.int32), 50, 0.0)
    plain = GUARDED.replace("store i32 %sum, ptr %at, align 4", "")
    # Chained loads read what other lanes write: without the second store there is one right answer.
    source = kernel(plain.replace("store i32 0", "store i32 %n"), DECLARED)
    ends = next(edit.subject for edit in hoistings(source))
    want = Case(apply(source, ()).module, "k", 1, 64, *inputs).reference(arena)
    moved = Case(apply(source, (HoistLoads(ends, chains),)).module, "k", 1, 64, *inputs)
    moved.same(want, moved.agree(arena), 0.0, "hoisted")
    assert (want.arrays[0] == 50).any()


def test_where_the_guard_kept_an_address_good_it_faults(arena: Arena) -> None:
    text = GUARDED.replace("ptr %q, i32 %low", "ptr %q, i32 %flag").replace("ne i32 %flag, 0", "slt i32 %flag, 0")
    original = kernel(text, DECLARED)
    far = (np.full(64, 1 << 20, np.int32), np.zeros(4, np.int32), 50, 0.0)
    faults = [
        Case(apply(original, e).module, "k", 1, 64, *far).reference(arena).fault for e in ((), (HoistLoads(THEN_END),))
    ]
    assert faults[0] is None and faults[1] is not None
