"""The pool under attack, as ``kw bench chaos`` has it."""

from __future__ import annotations

import pytest

from kernelwright.bench import chaos
from kernelwright.bench.result import Measured


def _holds(result: Measured) -> None:
    assert [(p.name, p.value) for p in result.promises if not p.holds] == [], result.notes
    assert all(row["planted"] == row["right"] > 0 for row in result.rows)


def test_a_few_batches() -> None:
    _holds(chaos.measure(True, lambda _: None))


@pytest.mark.slow
def test_five_hundred_batches() -> None:
    _holds(chaos.measure(False, lambda _: None))
