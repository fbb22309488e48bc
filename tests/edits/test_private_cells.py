"""Shared arrays as variables of each thread: where, for which launches, that it means the same, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.device.arena import Arena
from kernelwright.edits import LaunchFacts, Original, apply, known_edits
from kernelwright.edits.kinds.arrays.private_cells import PrivateCells, in_words, own_arrays
from kernelwright.edits.kinds.copy import Copy
from kernelwright.edits.kinds.move import Move
from kernelwright.edits.kinds.replace_operand import ReplaceOperand
from kernelwright.edits.memory.thread_cells import Linear, _apart
from kernelwright.launch import Launch
from kernelwright.passes.recipe import optimise_with
from kernelwright.prove.obligations.owed import owed
from tests.edits.conftest import kernel, refusal
from tests.simt.harness import Case

ARRAYS = """
@own = internal addrspace(3) global [8 x [8 x i32]] undef, align 4
@shared = internal addrspace(3) global [8 x [8 x i32]] undef, align 4
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
"""
OWN = "addrspacecast (ptr addrspace(3) @own to ptr)"
SHARED = "addrspacecast (ptr addrspace(3) @shared to ptr)"
BODY = f"""
  %x32 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y32 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %tx = zext nneg i32 %x32 to i64
  %ty = zext nneg i32 %y32 to i64
  %row = getelementptr [8 x i32], ptr {OWN}, i64 %ty
  %mine = getelementptr i32, ptr %row, i64 %tx
  %line = mul i32 %y32, 8
  %at32 = add i32 %line, %x32
  %at = zext i32 %at32 to i64
  %from = getelementptr i32, ptr %p, i64 %at
  %value = load i32, ptr %from, align 4
  store i32 %value, ptr %mine, align 4
  %srow = getelementptr [8 x i32], ptr {SHARED}, i64 %tx
  %slot = getelementptr i32, ptr %srow, i64 %ty
  store i32 %value, ptr %slot, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %orow = getelementptr [8 x i32], ptr {SHARED}, i64 %ty
  %other = getelementptr i32, ptr %orow, i64 %tx
  %turned = load i32, ptr %other, align 4
  %again = getelementptr i32, ptr {OWN}, i64 %at
  %kept = load i32, ptr %again, align 4
  %sum = add i32 %turned, %kept
  store i32 %sum, ptr %from, align 4
  ret void
"""
FIRST, SECOND, SHARED_STORE, TURNED, ADD = 11, 20, 14, 18, 21
CLONE = "c0000000000"
INTO_OWN = ReplaceOperand(TURNED, 0, "ptr %mine")


@pytest.fixture
def transpose() -> Original:
    return kernel(BODY, ARRAYS)


def launch(*block: int) -> LaunchFacts:
    return LaunchFacts(Launch("k", (1, 1, 1), (block[0], block[1], block[2])), ())


def test_the_array_is_gone_and_the_launch_is_asked(transpose: Original) -> None:
    made = apply(transpose, (PrivateCells(FIRST),))
    assert not made.inert
    assert [str(guard) for guard in made.guards] == ["block.x <= 8", "block.y <= 8", "block.z <= 1"]
    text = optimise_with(made.text, None, "sm_80")
    assert "@own" not in text and "@shared" in text and "alloca" not in text
    assert apply(transpose, (PrivateCells(SECOND),)).text == made.text, "whichever access names it"


def test_it_is_known_for_blocks_that_fit(transpose: Original) -> None:
    assert list(own_arrays(transpose, [launch(8, 8, 1), launch(4, 2, 1)])) == [PrivateCells(FIRST)]
    assert list(own_arrays(transpose, [launch(8, 8, 1), launch(16, 4, 1)])) == []
    assert list(own_arrays(transpose, [])) == []
    (known,) = known_edits({"k": transpose}, {"k": [launch(8, 8, 1)]}).values()
    assert PrivateCells(FIRST) in known


@pytest.mark.parametrize("block", [(8, 8, 1), (8, 3, 1), (1, 8, 1)])
def test_both_executors_give_what_the_original_gives(
    transpose: Original, arena: Arena, block: tuple[int, int, int]
) -> None:
    values = np.random.default_rng(1).integers(-99, 99, 64).astype(np.int32)
    inputs = (values, np.zeros(4, np.int32), 0, 0.0)
    want = Case(apply(transpose, ()).module, "k", 1, block, *inputs).reference(arena)
    assert want.fault is None and not np.array_equal(want.arrays[0], values)
    private = Case(apply(transpose, (PrivateCells(FIRST),)).module, "k", 1, block, *inputs)
    private.same(want, private.agree(arena), 0.0, "private")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("i64 %at\n  %kept", "i64 %ty\n  %kept", "not all to one cell"),
        ("%kept = load i32, ptr %again", "%kept = load volatile i32, ptr %again", "something else"),
        (
            "%kept = load i32, ptr %again, align 4",
            "%kept = atomicrmw add ptr %again, i32 1 monotonic",
            "something else",
        ),
        ("store i32 %sum, ptr %from", "store ptr %again, ptr %from", "something else"),
        ("%kept = load i32, ptr %again, align 4", "%kept = call i32 @f(ptr %again)", "something else"),
        ("mul i32 %y32, 8", "mul i32 %n, 8", "something else"),
    ],
)
def test_what_is_no_cell_of_the_threads_own(old: str, new: str, why: str) -> None:
    assert old in BODY
    other = kernel(BODY.replace(old, new), ARRAYS + "declare i32 @f(ptr)\n")
    assert why in refusal(other, PrivateCells(FIRST))


def test_arrays_that_others_reach(transpose: Original) -> None:
    used = "define void @g() {\n  store i32 0, ptr addrspace(3) @own\n  ret void\n}\n"
    assert "function g uses" in refusal(kernel(BODY, ARRAYS + used), PrivateCells(FIRST))
    outside = ARRAYS.replace(
        "@own = internal addrspace(3) global [8 x [8 x i32]] undef",
        "@own = external addrspace(3) global [8 x [8 x i32]]",
    )
    assert "no array of the kernel's own" in refusal(kernel(BODY, outside), PrivateCells(FIRST))
    assert "not all to one cell" in refusal(transpose, PrivateCells(SHARED_STORE))
    assert "no plain access" in refusal(transpose, PrivateCells(ADD))
    assert "private already" in refusal(transpose, PrivateCells(FIRST), INTO_OWN, PrivateCells(TURNED))


def test_its_proof_is_its_guard_unless_another_edit_uses_the_array(transpose: Original) -> None:
    assert all(one.holds for one in owed(transpose, [PrivateCells(FIRST)]))
    for more in (INTO_OWN, Copy(CLONE, SECOND, ADD), Move(FIRST, 0)):
        edits = [PrivateCells(FIRST), more]
        if not apply(transpose, edits).inert:
            assert not all(one.holds for one in owed(transpose, edits)), more
    reasons = [one.reason for one in owed(transpose, [PrivateCells(FIRST), INTO_OWN])]
    assert "another edit uses the array, or what took its place" in reasons
    assert in_words(transpose, PrivateCells(FIRST)).sentence == "the shared array own is a variable of each thread"


steps = st.tuples(*[st.integers(0, 80)] * 3)


@given(steps, st.integers(0, 40), st.sampled_from([1, 4, 8]), st.integers(1, 400))
def test_under_the_guards_no_two_threads_have_one_byte(
    steps: tuple[int, int, int], base: int, size: int, bytes: int
) -> None:
    """By counting: every block that the guards admit has its cells apart and in the array."""
    guards = _apart(Linear(base, steps), size, bytes)
    for block in ((1, 1, 1), (2, 1, 1), (3, 2, 1), (2, 3, 2), (1, 5, 1), (4, 4, 1), (9, 1, 1), (1, 1, 4)):
        if not guards or not all(guard.holds(launch(*block)) for guard in guards):
            continue
        cells = [
            base + x * steps[0] + y * steps[1] + z * steps[2] + byte
            for x in range(block[0]) for y in range(block[1]) for z in range(block[2]) for byte in range(size)
        ]  # fmt: skip
        assert len(set(cells)) == len(cells) and max(cells) < bytes
