"""Masked loads hold by construction, for all that their guard admits; and what only looks like one is asked about as ever."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from kernelwright.edits import Original, apply
from kernelwright.edits.draft import Draft
from kernelwright.edits.edit_kind import Edit
from kernelwright.edits.kinds.constant_condition import ConstantCondition
from kernelwright.edits.kinds.loads.hoist_loads import HoistLoads
from kernelwright.edits.kinds.loads.hoist_masked_loads import HoistMaskedLoads
from kernelwright.edits.kinds.move import Move
from kernelwright.edits.kinds.replace_operand import ReplaceOperand
from kernelwright.prove.obligations.obligation import all_hold
from kernelwright.prove.obligations.owed import owed, provable_part
from kernelwright.prove.obligations.solver import Budget
from tests.edits.conftest import kernel
from tests.edits.test_hoist_loads import DECLARED
from tests.edits.test_hoist_masked_loads import D_END, LOOKUP, PARAMETERS
from tests.prove.obligations.test_bounds import facts

APART = PARAMETERS.replace("ptr ", "ptr noalias ")


def lookup(text: str = LOOKUP) -> Original:
    return kernel(text, DECLARED, APART)


def named(original: Original, name: str) -> int:
    return next(id for id, node in original.nodes.items() if node.result == f"%{name}")


def is_proven(original: Original, *edits: Edit) -> bool:
    """By construction alone: the solver may not be asked."""
    return all_hold(owed(original, edits, budget=Budget(0)))


@pytest.mark.parametrize("levels", [1, 2, 16])
def test_it_is_proven_whatever_the_address_is(levels: int) -> None:
    assert is_proven(lookup(), HoistMaskedLoads(D_END, levels))
    assert not all_hold(owed(lookup(), [HoistLoads(D_END, levels=levels)]))


def test_the_provable_part_has_it_in_place_of_the_plain_one() -> None:
    kept = provable_part(lookup(), [HoistLoads(D_END)], [facts(3), facts(9)])
    assert kept == [HoistMaskedLoads(D_END)]


def test_a_value_that_is_used_elsewhere_is_not_masked() -> None:
    """``%flag`` read by another branch becomes ``%y``, which such a thread never read in the original."""
    text = LOOKUP.replace("skip:\n", "skip:\n  %more = add i32 %flag, 1\n  store i32 %more, ptr %out\n")
    original = lookup(text)
    use = ReplaceOperand(named(original, "more"), 0, "i32 %y")
    assert is_proven(original, HoistMaskedLoads(D_END, 2))
    assert not is_proven(original, HoistMaskedLoads(D_END, 2), use)


@dataclass(frozen=True)
class WrongMask:
    """A masked load whose select has another operand than it has to have."""

    operand: int
    value: str

    def apply(self, draft: Draft) -> str | None:
        """Changes the draft."""
        before = set(draft.clones)
        HoistMaskedLoads(D_END).apply(draft)
        (select,) = (id for id in draft.clones if id not in before and draft.clones[id].instruction.opcode == "select")
        draft.set_operand((select, self.operand), self.value)
        return None


def test_an_address_or_a_select_that_is_another_one_is_not_masked() -> None:
    original = lookup()
    assert is_proven(original, WrongMask(0, "%in"))
    for operand, value in ((0, "true"), (0, "%known"), (1, "%here"), (1, "%q"), (2, "%at"), (2, "%here")):
        assert not is_proven(original, WrongMask(operand, value)), value
    load = named(original, "y")
    assert not is_proven(original, HoistMaskedLoads(D_END), ReplaceOperand(load, 0, "ptr %here"))


def test_a_load_that_was_moved_on_is_not_masked() -> None:
    original = lookup()
    on = Move(named(original, "y"), original.order[0][-1])
    assert not is_proven(original, HoistMaskedLoads(D_END), on)


def test_what_it_crosses_is_asked_about() -> None:
    """A store between the two places, to memory that may be the same."""
    text = LOOKUP.replace("  %at = getelementptr inbounds", "  store i32 5, ptr %q\n  %at = getelementptr inbounds")
    original = lookup(text)
    end = next(id for id, n in original.nodes.items() if n.block == 3 and n.instruction.is_terminator)
    assert apply(original, [HoistMaskedLoads(end)]).inert == ()
    assert not is_proven(original, HoistMaskedLoads(end))


def test_a_branch_that_is_decided_otherwise_owes_that_itself() -> None:
    original = lookup()
    inner = original.order[2][-1]
    assert not is_proven(original, ConstantCondition(inner, 0, True), HoistMaskedLoads(D_END))


def test_a_pointer_that_asks_for_more_than_its_memory_is_presupposed_to_have() -> None:
    original = lookup(LOOKUP.replace("%y = load i32, ptr %at, align 4", "%y = load i32, ptr %at, align 16"))
    assert is_proven(original, HoistMaskedLoads(D_END)) is False


JOINED = """
a:
  %far = mul i32 %n, 1000
  %t = icmp sgt i32 %n, 9
  br i1 %t, label %b, label %c
b:
  BETWEEN
c:
  %at = getelementptr inbounds i32, ptr %q, i32 %far
  %y = load i32, ptr %at, align 4
  store i32 %y, ptr %out, align 4
  ret void
"""


@pytest.mark.parametrize(
    ("between", "plain", "with_mask"),
    [
        ("store i32 1, ptr %out\n  br label %c", True, True),
        ("store i32 1, ptr %q\n  br label %c", False, False),
        ("ret void", False, True),
        ("call void @llvm.trap()\n  br label %c", False, False),
        ("call void @somewhere()\n  br label %c", False, False),
        ("br label %a2", False, True),
    ],
)
def test_a_load_that_is_always_made_may_be_made_before(between: str, plain: bool, with_mask: bool) -> None:
    """By construction, however its address is made; not where a thread may end, leave, or come by again on the way."""
    again = "a:\n  br label %a2\na2:" if "a2" in between else "a:"
    declared = DECLARED + "declare void @llvm.trap()\ndeclare void @somewhere()\n"
    original = kernel(JOINED.replace("BETWEEN", between).replace("a:", again, 1), declared, APART)
    end = original.order[-1][-1]
    assert is_proven(original, HoistLoads(end)) is plain
    careful = HoistMaskedLoads(end)
    assert is_proven(original, careful) is with_mask or apply(original, [careful]).inert
