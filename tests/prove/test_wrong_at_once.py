"""A variant of which nothing is of use once it is wrong on other data is told so by runs that nothing watches."""

from __future__ import annotations

import pytest

from kernelwright.prove import Prover
from kernelwright.prove.changed_inputs.changed_case import ChangedCase
from kernelwright.prove.checks import variant_runs
from kernelwright.prove.checks.known_runs import KnownRun
from kernelwright.prove.checks.runs_ahead import AskedRun
from kernelwright.prove.checks.variant_runs import VariantRuns
from kernelwright.prove.labels import Label
from tests.prove.planted import QUICK, planted


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each run on a changed input, whether it was watched."""
    found: list[bool] = []
    make = VariantRuns._made

    def told(runs: VariantRuns, asked: AskedRun, overread: int | None = None) -> KnownRun:
        found.extend([asked.watch] if isinstance(asked.one.case, ChangedCase) else [])
        return make(runs, asked, overread)

    monkeypatch.setattr(variant_runs.VariantRuns, "_made", told)
    return found


@pytest.mark.parametrize(("least", "is_short"), [(None, False), ("data-specific", False), ("clean", True)])
def test_it_is_watched_where_more_than_that_is_wanted(made: list[bool], least: Label | None, is_short: bool) -> None:
    square = planted("square")
    prover = Prover(square.workload(0), square.original, effort=QUICK)
    proof = prover.prove(square.variant, least=least)
    assert proof.label == "data-specific" and proof.is_whole is not is_short
    different = proof.check("different")
    assert different.status == "failed" and len(different.evidence) >= 1
    assert any(made) is not is_short and made


def test_one_that_is_right_is_watched_all_the_same(made: list[bool]) -> None:
    dead = planted("dead_store")
    proofs = [
        Prover(dead.workload(1), dead.original, seed=1, effort=QUICK).prove(dead.variant, least=least)
        for least in (None, "clean")
    ]
    assert proofs[0] == proofs[1] and proofs[0].label == "clean"
    half = len(made) // 2
    assert sorted(made[:half]) == sorted(made[half:]) and sum(made) == half
