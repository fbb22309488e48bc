"""All loads below a block at its end: which go, in which order, what stays, and that both executors give what the original gives."""

from __future__ import annotations

import numpy as np
import pytest

from kernelwright.device.arena import Arena
from kernelwright.edits import Original, apply
from kernelwright.edits.kinds.loads.collect_loads import CollectLoads, collections
from kernelwright.ir import verify
from kernelwright.passes.llvm import check
from tests.edits.conftest import kernel, refusal
from tests.edits.test_hoist_loads import DECLARED, blocks_of, lines_of
from tests.simt.harness import Case

PARAMETERS = "ptr noalias %p, ptr noalias %q, i32 %n, ptr noalias %out"
# Two turns of a loop that was unrolled: an index is looked up, and where it is good, what stands there is added.
TURNS = """
head:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %first
first:
  %pa = getelementptr i32, ptr %p, i32 %t
  %a = load i32, ptr %pa, align 4
  %ina = icmp ult i32 %a, %n
  br i1 %ina, label %add, label %second
add:
  %qa = getelementptr i32, ptr %q, i32 %a
  %x = load i32, ptr %qa, align 4
  br label %second
second:
  %s = phi i32 [ 0, %first ], [ %x, %add ]
  %u = add i32 %t, 32
  %pb = getelementptr i32, ptr %p, i32 %u
  %b = load i32, ptr %pb, align 4
  %inb = icmp ult i32 %b, %n
  br i1 %inb, label %more, label %end
more:
  %qb = getelementptr i32, ptr %q, i32 %b
  %y = load i32, ptr %qb, align 4
  %r = add i32 %s, %y
  %o = getelementptr i32, ptr %out, i32 %t
  store i32 %r, ptr %o, align 4
  br label %end
end:
  ret void
"""
HEAD_END = 1


@pytest.fixture
def turns() -> Original:
    return kernel(TURNS, DECLARED, PARAMETERS)


def test_loads_that_wait_for_none_come_first(turns: Original) -> None:
    lines = lines_of(turns, CollectLoads(HEAD_END))
    at = {name: next(n for n, line in enumerate(lines) if line.startswith(f"%{name} = load")) for name in "abxy"}
    assert max(at["a"], at["b"]) < min(at["x"], at["y"])
    assert blocks_of(turns, CollectLoads(HEAD_END)) == {"%a": "head", "%b": "head", "%x": "head", "%y": "head"}
    selects = [line.partition(" = ")[2] for line in lines if "select" in line]
    assert selects == ["select i1 %ina, ptr %qa, ptr %q", "select i1 %inb, ptr %qb, ptr %q"]
    last = max(at.values())
    assert [line.startswith("call void asm sideeffect") for line in lines[last + 1 : last + 5]] == [True] * 4
    assert [str(guard) for guard in apply(turns, (CollectLoads(HEAD_END),)).guards] == ["bytes behind argument 1 >= 4"]


def test_it_is_listed_once_by_the_highest_block(turns: Original) -> None:
    assert list(collections(turns)) == [CollectLoads(HEAD_END)]


def test_both_executors_give_what_the_original_gives_and_read_nowhere_else(turns: Original, arena: Arena) -> None:
    indices = np.where(np.arange(64) % 3 == 0, 1 << 20, np.arange(64) % 8).astype(np.int32)
    inputs = (indices, np.arange(5, 13, dtype=np.int32), 8, np.zeros(32, np.int32))
    want = Case(apply(turns, ()).module, "k", 1, 32, *inputs).reference(arena)
    assert want.fault is None and want.arrays[2].any()
    moved = Case(apply(turns, (CollectLoads(HEAD_END),)).module, "k", 1, 32, *inputs)
    moved.same(want, moved.agree(arena), 0.0, "collected")


STORES = "store i32 7, ptr {}, align 4\n  br label %second"
HELD = [
    # Whoever may write there holds back what is read there, and what is made of that.
    (STORES.format("%out"), "abxy"),
    (STORES.format("%q"), "abx"),
    (STORES.format("%p"), "ax"),
    ("call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n  br label %second", "abxy"),
    ("call void @somewhere()\n  br label %second", "ax"),
    ("%v = load volatile i32, ptr %out, align 4\n  br label %second", "ax"),
]


@pytest.mark.parametrize(("end", "expected"), HELD)
def test_what_stays_behind_what_may_concern_it(end: str, expected: str) -> None:
    text = TURNS.replace("align 4\n  br label %second", f"align 4\n  {end}", 1)
    more = f"{DECLARED}declare void @somewhere()\ndeclare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n"
    original = kernel(text, more, PARAMETERS)
    found = blocks_of(original, CollectLoads(HEAD_END))
    assert {name for name, block in found.items() if block == "head"} == {f"%{name}" for name in expected}


def test_a_barrier_holds_back_what_the_kernel_writes() -> None:
    barrier = "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n  br label %second"
    text = TURNS.replace("br label %second", barrier, 1).replace("ptr %out, i32 %t", "ptr %q, i32 %t")
    original = kernel(text, f"{DECLARED}declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n", PARAMETERS)
    found = blocks_of(original, CollectLoads(HEAD_END))
    # %q is written, so that what is read there stays behind; before the barrier nothing was written yet.
    assert found == {"%a": "head", "%b": "head", "%x": "head", "%y": "more"}


LOOP = """
head:
  br label %loop
loop:
  %i = phi i32 [ 0, %head ], [ %j, %loop ]
  %a = load i32, ptr %p, align 4
  %j = add i32 %i, %a
  %on = icmp slt i32 %j, %n
  br i1 %on, label %loop, label %end
end:
  %z = load i32, ptr %q, align 4
  store i32 %z, ptr %out, align 4
  ret void
"""


def test_nothing_goes_out_of_a_loop_or_over_one() -> None:
    assert "no load below" in refusal(kernel(LOOP, DECLARED, PARAMETERS), CollectLoads(0))


def test_what_is_masked_is_no_address_of_another() -> None:
    text = TURNS.replace(
        "br label %second",
        "%qx = getelementptr i32, ptr %q, i32 %x\n  %w = load i32, ptr %qx, align 4\n  br label %second",
        1,
    )
    found = blocks_of(kernel(text, DECLARED, PARAMETERS), CollectLoads(HEAD_END))
    assert found["%x"] == "head" and found["%w"] == "add"


def test_where_it_is_refused(turns: Original) -> None:
    assert "ends no block" in refusal(turns, CollectLoads(0))
    assert "ends no block" in refusal(turns, CollectLoads(999))
    end = turns.order[-1][-1]
    assert "no load below" in refusal(turns, CollectLoads(end))
    assert "no load below" in refusal(turns, CollectLoads(HEAD_END), CollectLoads(HEAD_END))
    unreached = kernel("head:\n  ret void\nother:\n  br label %last\nlast:\n  ret void")
    assert "never reached" in refusal(unreached, CollectLoads(1))


def test_memory_that_may_be_less_aligned_is_not_read_instead() -> None:
    """The only other argument that is read holds bytes."""
    text = (
        TURNS.replace("store i32 %r, ptr %o", "store i32 %r, ptr %qb")
        .replace("%a = load i32, ptr %pa, align 4", "%c = load i8, ptr %pa, align 1\n  %a = zext i8 %c to i32")
        .replace("%b = load i32, ptr %pb, align 4", "%d = load i8, ptr %pb, align 1\n  %b = zext i8 %d to i32")
    )
    found = blocks_of(kernel(text, DECLARED, PARAMETERS), CollectLoads(HEAD_END))
    assert found == {"%c": "head", "%d": "head", "%x": "add", "%y": "more"}


def test_all_of_the_suite_apply_alone_and_together(kernels: tuple[Original, ...]) -> None:
    count = 0
    for original in kernels:
        edits = tuple(collections(original))
        for edit in edits:
            alone = apply(original, (edit,))
            assert not alone.inert and alone.repaired == {}
        together = apply(original, edits)
        assert together.repaired == {}
        verify(together.module)
        check(together.text)
        count += len(edits)
    assert count >= 40
