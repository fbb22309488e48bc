"""Loads that were collected hold by construction, for all that their guards admit; and what only looks so does not."""

from __future__ import annotations

import pytest

from kernelwright.edits import Original, apply
from kernelwright.edits.edit_kind import Edit
from kernelwright.edits.kinds.constant_condition import ConstantCondition
from kernelwright.edits.kinds.delete import Delete
from kernelwright.edits.kinds.loads.collect_loads import CollectLoads
from kernelwright.edits.kinds.move import Move
from kernelwright.edits.kinds.replace_operand import ReplaceOperand
from kernelwright.prove.obligations import differences
from kernelwright.prove.obligations.obligation import all_hold
from kernelwright.prove.obligations.owed import owed, provable_part
from kernelwright.prove.obligations.solver import Budget
from tests.edits.conftest import kernel
from tests.edits.test_collect_loads import HEAD_END, PARAMETERS, TURNS
from tests.edits.test_hoist_loads import DECLARED
from tests.prove.obligations.test_bounds import facts

COLLECT = CollectLoads(HEAD_END)
BARRIERS = f"{DECLARED}declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n"


def turns(text: str = TURNS, parameters: str = PARAMETERS) -> Original:
    return kernel(text, BARRIERS, parameters)


def named(original: Original, name: str) -> int:
    return next(id for id, node in original.nodes.items() if node.result == f"%{name}")


def is_proven(original: Original, *edits: Edit) -> bool:
    """By construction alone: the solver may not be asked."""
    assert not apply(original, edits).inert
    return all_hold(owed(original, edits, budget=Budget(0)))


def test_it_is_proven_whatever_is_loaded() -> None:
    assert is_proven(turns(), COLLECT)


def test_over_stores_to_other_memory_and_barriers_of_what_is_only_read() -> None:
    stores = TURNS.replace("br label %second", "store i32 7, ptr %out, align 4\n  br label %second", 1)
    assert is_proven(turns(stores), COLLECT)
    barrier = "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n  br label %second"
    assert is_proven(turns(TURNS.replace("br label %second", barrier, 1)), COLLECT)


def test_pointers_that_may_meet_take_a_guard() -> None:
    stores = TURNS.replace("br label %second", "store i32 7, ptr %out, align 4\n  br label %second", 1)
    original = turns(stores, PARAMETERS.replace("noalias ", "").replace("i32 %n, ptr %out", "ptr %out, i32 %n"))
    assert not all_hold(owed(original, [COLLECT]))
    kept = provable_part(original, [COLLECT], [facts(3), facts(9)])
    assert COLLECT in kept and len(kept) > 1 and all_hold(owed(original, kept))


@pytest.mark.parametrize("name", ["x", "y"])
def test_a_value_that_is_used_where_it_was_not_read(name: str) -> None:
    """``%r`` made of it, in a block that threads come to which never read it."""
    text = TURNS.replace("end:\n", "end:\n  %after = add i32 %t, 1\n  store i32 %after, ptr %out, align 4\n")
    original = turns(text)
    assert is_proven(original, COLLECT)
    assert not all_hold(owed(original, [COLLECT, ReplaceOperand(named(original, "after"), 0, f"i32 %{name}")]))


def test_a_branch_that_goes_otherwise_or_a_load_that_moves_on() -> None:
    original = turns()
    branch = original.order[1][-1]
    for more in (
        ConstantCondition(branch, 0, True),
        Move(named(original, "x"), HEAD_END - 1),
    ):
        for edits in ([COLLECT, more], [more, COLLECT]):
            made = apply(original, edits)
            assert made.inert or not all_hold(owed(original, edits)), edits


def test_what_lies_between_may_not_go() -> None:
    """A store that is deleted besides owes what it owes alone."""
    stores = TURNS.replace("br label %second", "store i32 7, ptr %out, align 4\n  br label %second", 1)
    original = turns(stores)
    store = next(id for id, n in original.nodes.items() if n.instruction.opcode == "store")
    assert (
        not all_hold(owed(original, [COLLECT, Delete(store, "i32 0")]))
        or apply(original, [COLLECT, Delete(store, "i32 0")]).inert
    )


def test_what_part_is_proven_takes_no_counterexamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are looked for where somebody tries them: of the proof as a whole."""
    stores = TURNS.replace("br label %second", "store i32 7, ptr %out, align 4\n  br label %second", 1)
    original = turns(stores)
    edits = [COLLECT, ReplaceOperand(named(original, "r"), 0, "i32 7")]
    asked: list[object] = []
    monkeypatch.setattr(differences, "nearest", lambda *given: asked.append(given) or ())
    assert provable_part(original, edits, [facts(3), facts(9)]) == [COLLECT] and not asked
    assert not all_hold(owed(original, edits, [facts(3), facts(9)])) and asked
