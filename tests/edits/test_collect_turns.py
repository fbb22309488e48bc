"""The loads of several turns together: what the text is, that both executors give what the original gives, and what is left as it is."""

from __future__ import annotations

import random

import numpy as np
import pytest

from kernelwright.device.arena import Arena
from kernelwright.edits import Original, apply
from kernelwright.edits.json_form import as_json, from_json
from kernelwright.edits.kinds.delete import Delete
from kernelwright.edits.kinds.loads.collect_turns import FIRST, OTHERS, CollectTurns, more_turns, turns
from kernelwright.edits.kinds.unroll import Unroll
from kernelwright.ir import parse_module, verify
from kernelwright.passes.llvm import check
from kernelwright.passes.recipe import optimise_with
from tests.edits.conftest import kernel
from tests.simt.harness import Case

PARAMETERS = "ptr noalias %p, ptr noalias %q, i32 %n, ptr noalias %out"
BARRIER = "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)"
DECLARED = """
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
@tile = internal addrspace(3) global [32 x i32] undef
"""
# Each turn a row is read, threads wait for each other, and each adds its neighbour's.
ROWS = f"""
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %own = getelementptr [32 x i32], ptr addrspace(3) @tile, i32 0, i32 %t
  %u = xor i32 %t, 1
  %next = getelementptr [32 x i32], ptr addrspace(3) @tile, i32 0, i32 %u
  %some = icmp sgt i32 %n, 0
  br i1 %some, label %loop, label %end
loop:
  %i = phi i32 [ 0, %entry ], [ %j, %loop ]
  %s = phi i32 [ 0, %entry ], [ %sum, %loop ]
  %row = shl i32 %i, 5
  %cell = add i32 %row, %t
  %at = getelementptr i32, ptr %p, i32 %cell
  %x = load i32, ptr %at, align 4
  store i32 %x, ptr addrspace(3) %own, align 4
  {BARRIER}
  %y = load i32, ptr addrspace(3) %next, align 4
  %sum = add i32 %s, %y
  {BARRIER}
  %j = add i32 %i, 1
  %more = icmp slt i32 %j, %n
  br i1 %more, label %loop, label %end
end:
  %r = phi i32 [ 0, %entry ], [ %sum, %loop ]
  %o = getelementptr i32, ptr %out, i32 %t
  store i32 %r, ptr %o, align 4
  ret void
"""


def rows(text: str = ROWS, parameters: str = PARAMETERS) -> Original:
    return kernel(text, DECLARED, parameters)


def latch(original: Original) -> int:
    (found,) = original.latches
    assert isinstance(found, int)
    return found


def lines_of(original: Original, *edits: CollectTurns | Unroll | Delete) -> list[str]:
    text = apply(original, edits).text
    return [line.strip() for line in text[text.index("define") : text.index("\n}")].splitlines()]


@pytest.mark.parametrize("count", [2, 3, 4, 8])
def test_the_loads_stand_before_the_first_barrier(count: int) -> None:
    original = rows()
    applied = apply(original, (CollectTurns(latch(original), count),))
    assert not applied.inert and [str(guard) for guard in applied.guards] == ["bytes behind argument 0 >= 4"]
    verify(applied.module)
    check(applied.text)
    lines = lines_of(original, CollectTurns(latch(original), count))
    loads = [n for n, line in enumerate(lines) if "= load i32, ptr %" in line]
    barriers = [n for n, line in enumerate(lines) if BARRIER in line]
    assert len(loads) == count and len(barriers) == 2 * count
    assert max(loads) < min(barriers)
    # A turn that may not come reads the first element.
    selects = [line for line in lines if "= select" in line and line.endswith(", ptr %p")]
    assert len(selects) == count * (count - 1) // 2


@pytest.mark.parametrize("count", [2, 4])
def test_both_executors_give_what_the_original_gives_and_read_nowhere_else(count: int, arena: Arena) -> None:
    original = rows()
    applied = apply(original, (CollectTurns(latch(original), count),))
    text = optimise_with(applied.text, applied.recipe, "sm_90")
    for n in (0, 1, 2, 3, 4, 5, 7):
        inputs = (np.arange(32 * max(n, 1), dtype=np.int32) * 7 % 101, np.zeros(1, np.int32), n, np.zeros(32, np.int32))
        want = Case(apply(original, ()).module, "k", 1, 32, *inputs).reference(arena)
        assert want.fault is None
        for what in (applied.module, parse_module(text)):
            moved = Case(what, "k", 1, 32, *inputs)
            moved.same(want, moved.agree(arena), 0.0, f"{n} turns")


def test_it_is_listed_for_loops_with_a_load_that_they_do_not_write() -> None:
    original = rows()
    assert list(turns(original)) == [CollectTurns(latch(original), FIRST)]
    assert list(more_turns(original)) == [CollectTurns(latch(original), count) for count in OTHERS]
    written = ROWS.replace("ptr %p, i32 %cell", "ptr %out, i32 %cell").replace(
        f"  {BARRIER}\n", "  store i32 1, ptr %at\n", 1
    )
    assert not list(turns(rows(written)))
    assert not list(
        turns(rows(ROWS.replace("%x = load i32, ptr %at, align 4", "%x = load volatile i32, ptr %at, align 4")))
    )


HELD = {
    "a store to where it reads": (
        ROWS.replace(BARRIER, "store i32 3, ptr %at, align 4", 1),
        "no load of a further turn",
    ),
    "a fence": (ROWS.replace(BARRIER, "fence seq_cst", 1), "no load below the block"),
    "a stack slot": (ROWS.replace("  %row =", "  %slot = alloca i32, align 4\n  %row ="), "cannot be made twice"),
}


@pytest.mark.parametrize("what", HELD)
def test_where_it_cannot_be_the_kernel_is_as_it_was(what: str) -> None:
    text, reason = HELD[what]
    original = rows(text)
    applied = apply(original, (CollectTurns(latch(original), 4),))
    assert [one.index for one in applied.inert] == [0] and reason in applied.inert[0].reason
    assert applied.text == apply(original, ()).text and not applied.steps and not applied.guards


def test_what_is_no_loop_and_what_no_count() -> None:
    original = rows()
    for edit in (
        CollectTurns(0, 4),
        CollectTurns(999, 4),
        CollectTurns(latch(original), 1),
        CollectTurns(latch(original), 17),
    ):
        (inert,) = apply(original, (edit,)).inert
        assert inert.reason
    twice = apply(original, (CollectTurns(latch(original), 4), CollectTurns(latch(original), 4)))
    assert [one.index for one in twice.inert] == [1]


def test_the_last_one_of_a_loop_is_in_effect() -> None:
    original = rows()
    both = lines_of(original, CollectTurns(latch(original), 4), CollectTurns(latch(original), 2))
    assert both == lines_of(original, CollectTurns(latch(original), 2))


def test_it_comes_after_all_other_edits() -> None:
    original = rows()
    barrier = next(id for id, node in original.nodes.items() if "barrier" in str(node.instruction))
    edits = (CollectTurns(latch(original), 2), Delete(barrier, None))
    one, other = lines_of(original, *edits), lines_of(original, *reversed(edits))
    assert one == other and sum(BARRIER in line for line in one) == 2


def test_as_json() -> None:
    edit = CollectTurns(17, 4)
    assert from_json(as_json(edit)) == edit


def test_two_loops_of_a_kernel(arena: Arena) -> None:
    second = ROWS[ROWS.index("loop:") : ROWS.index("end:")]
    for name in ("loop", "i", "s", "row", "cell", "at", "x", "y", "sum", "j", "more"):
        second = (
            second.replace(f"%{name} ", f"%{name}2 ")
            .replace(f"%{name},", f"%{name}2,")
            .replace(f"%{name}\n", f"%{name}2\n")
        )
    second = second.replace("loop:", "loop2:").replace("%entry", "%mid").replace("ptr %p", "ptr %q")
    text = (
        ROWS.replace("label %loop, label %end\nloop", "label %loop, label %stop\nloop")
        .replace(
            "br i1 %more, label %loop, label %end\nend:",
            f"br i1 %more, label %loop, label %mid\nmid:\n  br label %loop2\n{second}stop:\n  ret void\nend:",
        )
        .replace("[ 0, %entry ], [ %sum, %loop ]\n  %o", "[ %sum2, %loop2 ]\n  %o")
    )
    original = rows(text)
    edits = [CollectTurns(id, count) for id, count in zip(original.latches, (2, 3), strict=True)]
    applied = apply(original, edits)
    assert not applied.inert
    verify(applied.module)
    check(applied.text)
    inputs = (np.arange(160, dtype=np.int32) % 13, np.arange(160, dtype=np.int32) % 17, 5, np.zeros(32, np.int32))
    want = Case(apply(original, ()).module, "k", 1, 32, *inputs).reference(arena)
    moved = Case(applied.module, "k", 1, 32, *inputs)
    assert want.fault is None and want.arrays[2].any()
    moved.same(want, moved.agree(arena), 0.0, "two loops")


def test_loops_of_the_suite(kernels: tuple[Original, ...]) -> None:
    numbers = random.Random(1)
    done = 0
    for original in kernels:
        listed = [*turns(original), *more_turns(original)]
        for edit in numbers.sample(listed, min(2, len(listed))):
            applied = apply(original, (edit,))
            verify(applied.module)
            check(applied.text)
            assert not applied.inert and [step.original.kernel for step in applied.steps] == [original.kernel] * 2
            done += 1
    assert done >= 12
