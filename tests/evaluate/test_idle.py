"""Tolerances that doing nothing would pass are told."""

from __future__ import annotations

import numpy as np

from kernelwright.evaluate.judging.idle_check import idle_warnings
from kernelwright.evaluate.workload.rule_text import parse_rules

HOT = np.linspace(320, 345, 64)
AFTER = HOT * 1.0006


def warned(rules: str, expected: np.ndarray, before: np.ndarray | None, **inputs: np.ndarray) -> list[str]:
    return idle_warnings(parse_rules(rules), {"out": expected}, {} if before is None else {"out": before}, inputs)


def test_leaving_a_buffer_as_it_was() -> None:
    (said,) = warned("gevo 1%", AFTER, HOT)
    assert "'out': leaving it as it was would pass under 'gevo 0.01' (error 0.0006)" in said
    assert warned("change 1%", AFTER, HOT) == []


def test_copying_an_input() -> None:
    (said,) = warned("gevo 1%", AFTER, np.zeros(64), temp_in=HOT, power=np.full(64, 1e-3), other=np.zeros(3))
    assert "copying 'temp_in' to it" in said
    assert warned("change 1%", AFTER, np.zeros(64), temp_in=HOT) == []


def test_zeros() -> None:
    small = np.full(10, 1e-4)
    (said,) = warned("absolute 1e-2", small, None)
    assert "zeros" in said
    assert warned("relative 1e-2", small, None) == []


def test_what_is_expected_to_be_so_is_no_warning() -> None:
    assert warned("gevo 1%", HOT, HOT) == []  # read only
    assert warned("exact", np.zeros(4), np.ones(4)) == []  # to be cleared
    assert warned("gevo 1%", HOT, np.zeros(64), source=HOT) == []  # a copy is the work


def test_nan_holes_do_not_hide_it() -> None:
    before, after = HOT.copy(), AFTER.copy()
    before[3] = after[3] = np.nan
    assert len(warned("gevo 1%", after, before)) == 1
