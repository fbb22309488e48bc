"""What an edit relies on, observed on the original: conditions, values, stores, barriers; counts are exact."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from kernelwright.edits import Draft, Gene, Original, draw, edits_in_order
from kernelwright.edits.kinds.copy import Copy
from kernelwright.edits.kinds.delete import Delete
from kernelwright.edits.kinds.fix_launch import FixArgument
from kernelwright.edits.kinds.move import Move
from kernelwright.edits.kinds.replace_operand import ReplaceOperand
from kernelwright.errors import Misuse
from kernelwright.evaluate.workload.case import Case, Launcher
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.prove.invariants import Invariant, invariant_from_json, invariants
from tests.prove.planted import planted


def original(name: str) -> Original:
    return Original(planted(name).original[name], name)


def observed(name: str, *edits: object) -> Sequence[Invariant]:
    genes = [Gene(name, edit) for edit in edits]  # type: ignore[arg-type]
    return invariants(planted(name).workload(0), {name: original(name)}, edits_in_order(genes))


def lines(kernel: Original, text: str) -> list[int]:
    return [id for id, line in kernel.lines.items() if text in line and isinstance(id, int)]


def test_a_condition_that_always_held() -> None:
    kernel = original("always_taken")
    user, index = kernel.slots["i1"][-1]
    always, never = (observed("always_taken", ReplaceOperand(user, index, f"i1 {v}"))[0] for v in ("true", "false"))
    if always.held != always.executions:
        always, never = never, always
    # Two data sets of 128 threads; LLVM may have turned the condition round.
    assert (always.executions, always.held, always.data_sets, always.alone) == (256, 256, 2, "right")
    assert "in all 256 executions on 2 data sets" in always.sentence and "unsafe.cu:212" in always.sentence
    assert (never.executions, never.held, never.alone, never.holds) == (256, 0, "wrong", False)


def test_a_condition_that_held_sometimes() -> None:
    kernel = original("dead_store")
    user, index = kernel.slots["i1"][0]
    found = {v: observed("dead_store", ReplaceOperand(user, index, f"i1 {v}"))[0] for v in ("true", "false")}
    assert {one.held for one in found.values()} == {240, 16} and {one.executions for one in found.values()} == {256}
    assert "240 of 256" in found["true"].sentence + found["false"].sentence


def test_a_store_of_what_was_there() -> None:
    kernel = original("dead_store")
    first, last = lines(kernel, "store float")
    dead, alive = observed("dead_store", Delete(first), Delete(last))
    assert (dead.executions, dead.held, dead.alone) == (240, 240, "right")
    assert "wrote what was there already in all 240 executions" in dead.sentence and dead.place == "sound.cu:32"
    assert (alive.executions, alive.held, alive.alone) == (240, 0, "wrong")


def test_a_store_that_is_overwritten() -> None:
    kernel = original("stored_once")
    stores = lines(kernel, "store i32")
    found = observed("stored_once", *(Delete(id) for id in stores))
    # Of the stores of a loop all but the last are overwritten; loops that never run store nothing.
    assert all(one.alone == "right" for one in found if not one.executions)
    assert any(one.executions and one.held < one.executions for one in found)


def test_barriers() -> None:
    for name, holds, says in (
        ("barrier_of_nothing", True, "separated no conflicting accesses in 256 executions on 2 data sets"),
        ("earlier_warp", False, "is needed: it separates a read at unsafe.cu:13 from a write at unsafe.cu:9"),
        ("one_warp", False, "by lanes of one warp"),
    ):
        (barrier,) = lines(original(name), "@llvm.nvvm.barrier")
        (found,) = observed(name, Delete(barrier))
        assert found.holds is holds and says in found.sentence, found.sentence


def test_values_that_are_equal() -> None:
    kernel = original("repeated_load")
    first, second = lines(kernel, "load float")
    result = kernel.nodes[first].result
    (same,) = observed("repeated_load", Delete(second, f"float {result}"))
    assert (same.executions, same.held, same.alone) == (240, 240, "right")
    assert "was equal to the value that takes its place" in same.sentence and "made by 'load'" in same.sentence
    (zero,) = observed("repeated_load", Delete(second, "float 0.000000e+00"))
    assert zero.held == 0 and zero.alone == "wrong"


def test_a_copy() -> None:
    kernel = original("repeated_load")
    first, second = lines(kernel, "load float")
    (user,) = [id for id, node in kernel.nodes.items() if kernel.nodes[second].result in node.operands][:1]
    (found,) = observed("repeated_load", Copy("c0123456789", first, user, (user, 0)))
    assert (found.executions, found.held, found.alone) == (240, 240, "right")
    assert "copied by 'load'" in found.sentence


def test_a_move() -> None:
    kernel = original("repeated_load")
    _, second = lines(kernel, "load float")
    (store,) = lines(kernel, "store float")[:1]
    found = observed("repeated_load", Move(second, store))
    assert all(one.holds and one.alone == "right" for one in found)
    assert any("moved by 'load'" in one.sentence and one.executions == 240 for one in found), found


DIAMOND = """
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @diamond(ptr %out) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %few = icmp ult i32 %t, 5
  br i1 %few, label %body, label %done
body:
  %v = mul i32 %t, 3
  br label %done
done:
  %r = phi i32 [ 7, %entry ], [ %v, %body ]
  %w = zext i32 %t to i64
  %p = getelementptr i32, ptr %out, i64 %w
  store i32 %r, ptr %p, align 4
  ret void
}
"""


def test_values_on_the_edges_of_a_phi(tmp_path: Path) -> None:
    (tmp_path / "diamond.ll").write_text(DIAMOND)
    given = Workload(tmp_path / "diamond.ll", "diamond", (Case((1,), (32,), {"out": np.zeros(32, np.int32)}),))
    kernel = Original(given.modules()["diamond"], "diamond")
    (phi,) = lines(kernel, "phi i32")
    edits = [ReplaceOperand(phi, 0, "i32 0"), ReplaceOperand(phi, 1, "i32 0")]
    found = invariants(given, {"diamond": kernel}, [("diamond", edit) for edit in edits])
    # 27 threads pass by the body with a 7; of the five that pass through it, one has a zero.
    assert [(one.executions, one.held) for one in found] == [(27, 0), (5, 1)]


def test_guards_are_counted_in_launches() -> None:
    (found, *_) = observed("whole_blocks", FixArgument(2, "i32 128"))
    assert (found.executions, found.held) == (2, 2) and "argument 2 == i32 128 in all 2 launches" in found.sentence


def test_several_launches_on_one_data_set_are_told_apart() -> None:
    """Twice the executions, and still one set of data."""
    one, kernel = planted("always_taken"), original("always_taken")
    user, index = kernel.slots["i1"][-1]
    case = one.workload(0).in_process[0]
    assert isinstance(case, Case)

    def twice(launch: Launcher) -> dict[str, np.ndarray]:
        assert isinstance(case.arguments, dict)
        arguments = {name: np.copy(v) if isinstance(v, np.ndarray) else v for name, v in case.arguments.items()}
        for _ in range(2):
            launch("always_taken", case.grid, case.block, *arguments.values())
        return {name: value for name, value in arguments.items() if isinstance(value, np.ndarray)}

    given = one.workload(0)
    hosted = Workload(given.source, given.kernel, (Case(host=twice),))
    edits = [ReplaceOperand(user, index, f"i1 {value}") for value in ("true", "false")]
    found = invariants(hosted, {"always_taken": kernel}, [("always_taken", edit) for edit in edits])
    assert {(each.executions, each.launches, each.data_sets) for each in found} == {(256, 2, 1)}
    assert any("in all 256 executions in 2 launches on 1 data set" in each.sentence for each in found)


def test_an_edit_that_changes_nothing() -> None:
    (found,) = observed("small", Delete(9999))
    assert found.sentence.startswith("it changes nothing: there is no instruction")


def test_an_unknown_kernel() -> None:
    with pytest.raises(Misuse, match="there is no kernel 'other'"):
        invariants(planted("small").workload(0), {}, [("other", Delete(0))])


def test_json_both_ways() -> None:
    (found,) = observed("small", Delete(9999))
    assert invariant_from_json(found.as_json()) == found
    with pytest.raises(Misuse):
        invariant_from_json({"what": 1})


@pytest.mark.parametrize("name", ["sorted", "tile_reused", "four_each", "only_the_warp", "largest"])
def test_any_edit_can_be_observed(name: str) -> None:
    """Random edits of every kind: a sentence for each, and what held in all executions with no other effect is right."""
    kernel, dice = original(name), random.Random(f"edits of {name}")
    edits = [edit for _ in range(12) if (edit := draw(Draft(kernel), dice)) is not None]
    found = observed(name, *edits)
    assert {one.gene for one in found} == set(range(len(edits)))
    for one in found:
        assert one.sentence and "{count}" not in one.sentence
        assert 0 <= one.held <= one.executions
    assert found == observed(name, *edits)
