"""How much a check compared: nothing is not run, held-out data that show nothing new are said to, and the label follows."""

from __future__ import annotations

import numpy as np
import pytest

from kernelwright.evaluate.workload.case import Case
from kernelwright.evaluate.workload.rule_text import parse_rules
from kernelwright.prove import Effort, Proof, prove
from kernelwright.prove.checks.table import CHECKS
from kernelwright.prove.evidence import Check
from tests.prove.planted import floats, planted, workload, zeros


def proven(kernel: str, **more: object) -> Proof:
    one = planted(kernel)
    return prove(one.workload(0), one.original, one.variant, **more)  # type: ignore[arg-type]


def test_a_check_says_how_much_it_compared() -> None:
    found = proven("dead_store")
    assert found.label == "clean"
    assert "2 cases (2 launches, 960 bytes of output compared)" in found.check("training").detail
    assert "bytes of output compared" in found.check("held-out").detail
    assert "sizes" in found.check("different").detail and "sides of conditions seen" in found.check("different").detail


def test_with_nothing_compared_nothing_is_known() -> None:
    one = planted("dead_store")
    given = one.workload(0)
    blind = type(given)(given.source, given.kernel, given.cases, parse_rules("out: ignore"), generator=given.generator)
    found = prove(blind, one.original, one.variant)
    assert found.check("training").status == "not run" and "nothing" in found.check("training").detail
    assert found.label == "wrong"


def test_held_out_data_that_are_the_training_data_again() -> None:
    one = planted("positive")
    case = one.case(0)
    found = prove(
        workload("positive", case), one.original, one.variant, held_out=[one.case(0)], effort=Effort(draws=0, changes=0)
    )
    assert found.check("held-out").status == "not run"
    assert "1 of 1 differ from the training data in nothing that matters" in found.check("held-out").detail
    assert found.label == "data-specific"


def test_without_held_out_data_values_are_drawn_anew() -> None:
    one = planted("dead_store")
    found = prove(workload("dead_store", one.case(0)), one.original, one.variant)
    assert found.check("held-out").status == "passed" and found.label == "clean"
    assert "with values drawn anew from the training data" in found.check("held-out").detail


def test_values_drawn_anew_can_show_a_wrong_variant() -> None:
    one = planted("sorted")
    found = prove(workload("sorted", one.case(0)), one.original, one.variant, effort=Effort(draws=0))
    assert found.check("held-out").status == "failed" and found.label == "data-specific"


@pytest.mark.parametrize(
    ("check", "label"), [("held-out", "data-specific"), ("training", "wrong"), ("orders", "clean")]
)
def test_labels_of_checks_that_were_not_made(check: str, label: str) -> None:
    checks = tuple(Check(name, "not run" if name == check else "passed", "") for name in CHECKS)
    assert Proof(checks).label == label


def test_an_output_that_nothing_changes_is_not_compared() -> None:
    """A kernel that writes what was there already has shown nothing."""
    one = planted("positive")
    case = Case((2,), (64,), {"in": floats(128), "out": zeros(128), "n": np.int32(0)})
    found = prove(workload("positive", case), one.original, one.variant, effort=Effort(draws=0, changes=0))
    assert found.check("training").status == "not run" and found.label == "wrong"
