"""``kw bench prove``: its rows by label, and what it promises of the solver."""

from __future__ import annotations

from dataclasses import replace

from kernelwright.bench.prove.drawn_edits import DrawnEdit, as_drawn
from kernelwright.bench.prove.measure import SOLVER_SECONDS, label_rows, promise_drawn
from kernelwright.bench.result import Measured
from kernelwright.prove.checks.table import CHECKS
from kernelwright.prove.evidence import Check
from kernelwright.prove.obligations.obligation import Obligation
from kernelwright.prove.proof import Proof

HELD = Obligation("a", "solver", "b", seconds=1.5)
OPEN = Obligation("c", "tested", "d", seconds=0.25)


def proof(*failed: str) -> Proof:
    return Proof(tuple(Check(name, "failed" if name in failed else "passed", "", ()) for name in CHECKS))


def test_a_label_has_its_members_and_the_time_of_the_solver() -> None:
    drawn = [DrawnEdit("proven", 0.5), DrawnEdit("proven", 4.0), DrawnEdit("proven", 1.0), DrawnEdit("wrong", None)]
    assert label_rows({"clean": 7, "proven": 0}, drawn) == [
        {"label": "proven", "planted variants": 0, "drawn edits": 3, "median solver s": 1.0, "maximal solver s": 4.0},
        {"label": "clean", "planted variants": 7, "drawn edits": 0, "median solver s": None, "maximal solver s": None},
        {"label": "wrong", "planted variants": 0, "drawn edits": 1, "median solver s": None, "maximal solver s": None},
    ]


def test_what_is_promised_of_the_solver() -> None:
    def promised(*drawn: DrawnEdit) -> list[tuple[float | None, bool | None]]:
        result = Measured("prove")
        promise_drawn(result, drawn)
        return [(one.value, one.holds) for one in result.promises]

    slow = SOLVER_SECONDS + 1
    fast, by_construction = DrawnEdit("proven", 1.0), DrawnEdit("proven", 0.0)
    assert promised(DrawnEdit("clean", slow), fast, DrawnEdit("clean", 2.0)) == [(0, True), (2.0, True)]
    assert promised(DrawnEdit("clean", slow), by_construction, by_construction) == [(0, True), (slow, False)]
    assert promised(DrawnEdit("clean", slow), DrawnEdit("wrong", None)) == [(0, True), (slow, False)]
    assert promised(DrawnEdit("data-specific", None, "a wrong one")) == [(1, False), (None, None)]


def test_the_time_is_what_the_proof_has_recorded() -> None:
    owing = replace(proof(), obligations=(HELD, OPEN))
    assert as_drawn(owing, "e") == DrawnEdit("clean", 1.75)
    assert as_drawn(replace(owing, obligations=(HELD,)), "e") == DrawnEdit("proven", 1.5)


def test_a_proof_beside_a_test_that_failed_is_a_contradiction() -> None:
    wrong = proof("different")
    assert as_drawn(replace(wrong, obligations=(HELD,)), "e").contradiction == "e data-specific"
    assert as_drawn(replace(wrong, obligations=(HELD, OPEN)), "e") == DrawnEdit("data-specific", None)
    assert as_drawn(replace(proof("inherited"), obligations=(HELD,)), "e").contradiction == ""
