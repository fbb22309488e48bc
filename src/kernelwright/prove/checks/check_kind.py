"""A check of a proof, as one row: what it asks, what a failure makes of the variant, and how it is made.

Each check is a row beside its function in ``prove/checks``, and a line in ``prove/checks/table.py``. Nothing else names it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from enum import IntEnum

from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.checks.variant_runs import VariantRuns
from kernelwright.prove.evidence import Evidence, Status
from kernelwright.prove.labels import Label


class Turn(IntEnum):
    """When a check is made. Those of one turn are made in the order of the table."""

    TRAINING = 0
    """Before all others, which are not made where it fails."""
    SCHEDULES = 1
    HELD_OUT = 2
    SEEN = 3
    """What the runs so far have shown."""
    DIFFERENT = 4
    """On other data. What it does undefined there counts only if it was not seen before."""
    WHOLE = 5
    LARGER = 6
    """The dearest: only of a variant in which all the others have found nothing."""


@dataclass(frozen=True)
class Answer:
    """What came of a check. ``detail`` says what was done, found, or why it was not run."""

    status: Status
    detail: str
    evidence: Sequence[Evidence] = ()
    also: Mapping[str, Answer] = field(default_factory=dict)
    """What it found out about checks of earlier turns, which are failed by it unless they were already."""


@dataclass(frozen=True)
class CheckKind:
    """A row."""

    name: str
    label: Label
    """What a failure makes of a variant."""
    asks: str
    turn: Turn
    make: Callable[[VariantRuns], Answer]
    not_run: Label = "clean"
    """The best that a variant can be called where the check was not made."""


def passed(detail: str) -> Answer:
    """A check that found nothing wrong."""
    return Answer("passed", detail)


def failed(detail: str, evidence: Sequence[Evidence] = ()) -> Answer:
    """A check that found something, with what it saw."""
    return Answer("failed", detail, evidence)


def not_run(why: str) -> Answer:
    """A check that was not made, and why."""
    return Answer("not run", why)


def judged(wrong: Sequence[Evidence | None], right: str) -> Answer:
    """The answer of a check that ran cases, with what was wrong on each; ``right``: what it says if nothing was."""
    found = [one for one in wrong if one is not None]
    if not found:
        return passed(right)
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return failed(f"{found[0]}{more}", found)
