"""Which edits of a variant are kept as its provable part, and how often that is asked."""

from __future__ import annotations

import math
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.edits.gene_draw import listed
from kernelwright.prove.obligations import differences
from kernelwright.prove.obligations import owed as module
from kernelwright.prove.obligations.obligation import all_hold
from kernelwright.prove.obligations.solver import Budget
from tests.edits.test_genes import program

LETTERS = (*"abcdefghijklmnopqrstuvwxyz",)


@given(st.sets(st.sampled_from(LETTERS), max_size=4), st.sets(st.sampled_from(LETTERS[:9]), max_size=3))
def test_most_are_asked_about_together(faults: set[str], pair: set[str]) -> None:
    """Edits that cannot be proven alone, and some that cannot be together: nothing that could be added is left out."""
    asked: list[frozenset[str]] = []

    def holds(edits: frozenset[str]) -> bool:
        return not faults & edits and not (len(pair) > 1 and pair <= edits)

    def with_guards(original: object, edits: list[str], *rest: object) -> list[str] | None:
        asked.append(frozenset(edits))
        return edits if holds(frozenset(edits)) else None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_with_guards", with_guards)
        patch.setattr(module, "_holds_by_construction", lambda *given: True)
        kept = frozenset(cast(Any, module.provable_part(cast(Any, None), cast(Any, LETTERS), [])))
    assert holds(kept) and all(not holds(kept | {letter}) for letter in LETTERS if letter not in kept)
    assert len(asked) <= 1 + 2 * (len(LETTERS) - len(kept)) * math.ceil(math.log2(len(LETTERS)))


def test_a_spent_budget_keeps_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def with_guards(original: object, edits: list[str], launches: object, spent: Budget, arch: str) -> list[str] | None:
        asked.append(len(edits))
        if len(asked) == 3:
            spent.used = spent.units
        return edits if len(edits) <= 13 else None

    monkeypatch.setattr(module, "_with_guards", with_guards)
    monkeypatch.setattr(module, "_holds_by_construction", lambda *given: True)
    assert len(module.provable_part(cast(Any, None), cast(Any, LETTERS), [])) == 13
    assert asked == [26, 13, 20]


def test_what_holds_by_construction_takes_no_more_than_one_answer_that_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same as without any work of the solver, whatever an edit owes besides."""
    originals = program()
    genes = list(listed(originals))[::3]
    asked: list[str] = []
    timed = differences._timed

    def counted(*given: Any) -> Any:
        found = timed(*given)
        asked.append(found.answer)
        return found

    monkeypatch.setattr(differences, "_timed", counted)
    seen = set()
    for gene in genes:
        original = originals[gene.kernel]
        asked.clear()
        holds = module._holds_by_construction(original, gene.edit, "sm_80")
        assert sum(answer != "proven" for answer in asked) <= 1
        assert holds == all_hold(module.owed(original, [gene.edit], budget=Budget(0)))
        seen.add(holds)
    assert seen == {True, False}
