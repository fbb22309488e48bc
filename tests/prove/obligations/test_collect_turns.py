"""The loads of several turns of a loop hold by construction, in two steps, for all that their guards admit; and what only looks so does not."""

from __future__ import annotations

import pytest

from kernelwright.edits import Original, apply
from kernelwright.edits.edit_kind import Edit
from kernelwright.edits.genome import Applied
from kernelwright.edits.kinds.delete import Delete
from kernelwright.edits.kinds.loads.collect_turns import CollectTurns
from kernelwright.edits.kinds.replace_operand import ReplaceOperand
from kernelwright.prove.obligations import owed as owed_module
from kernelwright.prove.obligations.obligation import all_hold
from kernelwright.prove.obligations.owed import owed, provable_part
from kernelwright.prove.obligations.solver import Budget
from tests.edits.test_collect_turns import BARRIER, PARAMETERS, ROWS, latch, rows
from tests.prove.obligations.test_bounds import facts

MEETING = PARAMETERS.replace("noalias ", "").replace("i32 %n, ptr %out", "ptr %out, i32 %n")


def is_proven(original: Original, *edits: Edit) -> bool:
    """By construction alone: the solver may not be asked."""
    assert not apply(original, edits).inert
    return all_hold(owed(original, edits, budget=Budget(0)))


@pytest.mark.parametrize("count", [2, 4])
def test_it_is_proven_over_barriers_where_nobody_writes_what_is_read(count: int) -> None:
    original = rows()
    assert is_proven(original, CollectTurns(latch(original), count))


def test_both_steps_are_told() -> None:
    original = rows()
    claims = [one.claim for one in owed(original, [CollectTurns(latch(original), 4)])]
    assert sum("instructions are the original's" in claim for claim in claims) == 2
    assert "4 turns of a loop stand one after the other" in claims
    assert {one.kernel for one in owed(original, [CollectTurns(latch(original), 4)])} == {original.kernel}


def test_pointers_that_may_meet_take_a_guard() -> None:
    original = rows(parameters=MEETING)
    edit = CollectTurns(latch(original), 4)
    assert not all_hold(owed(original, [edit]))
    kept = provable_part(original, [edit], [facts(3), facts(9)])
    assert edit in kept and len(kept) > 1 and all_hold(owed(original, kept))
    assert {str(guard) for guard in apply(original, kept).guards} == {
        "bytes behind argument 0 >= 4",
        "argument 0 shares no memory",
    }


def test_what_another_edit_owes_is_still_owed() -> None:
    original = rows()
    turns = CollectTurns(latch(original), 4)
    barrier = next(id for id, node in original.nodes.items() if BARRIER in original.lines[id])
    assert not is_proven(original, turns, Delete(barrier, None))
    sum_ = next(id for id, node in original.nodes.items() if node.result == "%sum")
    assert not is_proven(original, turns, ReplaceOperand(sum_, 1, "i32 %x"))


# A product of one turn meets its sum in the next.
CARRIED = (
    ROWS.replace("%s = phi i32 [ 0, %entry ], [ %sum, %loop ]", "%s = phi float [ 0.0, %entry ], [ %sum, %loop ]")
    .replace(
        "%sum = add i32 %s, %y",
        "%f = sitofp i32 %y to float\n  %sum = fadd contract float %s, %last\n  %now = fmul contract float %f, %f",
    )
    .replace("  %row =", "  %last = phi float [ 0.0, %entry ], [ %now, %loop ]\n  %row =")
    .replace("%r = phi i32 [ 0, %entry ]", "%r = phi float [ 0.0, %entry ]")
    .replace("store i32 %r", "store float %r")
)


def test_sums_and_products_of_different_turns_are_not_fused() -> None:
    """A way out lies between them; but where the number of turns is known, LLVM closes it, and rounds once what was rounded twice."""
    original = rows(CARRIED)
    assert is_proven(original, CollectTurns(latch(original), 2))
    known = rows(CARRIED.replace("icmp slt i32 %j, %n", "icmp slt i32 %j, 8"))
    assert not is_proven(known, CollectTurns(latch(known), 2))


def test_a_step_that_lost_its_guard_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The prover looks at the second step itself, not at what is said of it."""
    original = rows()
    made = owed_module.apply

    def unguarded(kernel: Original, edits: object) -> Applied:
        applied = made(kernel, edits)  # type: ignore[arg-type]
        for step in applied.steps:
            object.__setattr__(step.applied, "guards", ())
        return applied

    monkeypatch.setattr(owed_module, "apply", unguarded)
    assert not all_hold(owed(original, [CollectTurns(latch(original), 4)]))
