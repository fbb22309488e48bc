"""What a variant is called, and which failed check makes it that. ``docs/proof.md`` says what each label means.

The worst evidence wins: a variant has the last of ``LABELS`` that one of its failed checks stands for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Label = Literal["clean", "benign", "lock-step only", "data-specific", "schedule-dependent", "wrong"]

LABELS: tuple[Label, ...] = ("clean", "benign", "lock-step only", "data-specific", "schedule-dependent", "wrong")
"""From best to worst."""

REJECTED: frozenset[Label] = frozenset({"schedule-dependent", "wrong"})
"""What nobody can use, on whatever terms."""

MEANING: dict[Label, str] = {
    "clean": "no check found anything, and nothing undefined happened in any run",
    "benign": "something undefined happens that the original does too, or that changed no value in any run",
    "lock-step only": "right only if the lanes of a warp run in step, which no GPU since Volta promises",
    "data-specific": "right on data like the training cases; wrong on others that the original accepts",
    "schedule-dependent": "the result depends on the order of threads, or on memory that nobody wrote or owns",
    "wrong": "it does not compute what the original does on the training cases, or in the whole program",
}


@dataclass(frozen=True)
class CheckKind:
    """A kind of check: what a failure of it makes of a variant, and what it asks."""

    label: Label
    asks: str


CHECKS: dict[str, CheckKind] = {
    "training": CheckKind("wrong", "Are the outputs right on the workload's own cases?"),
    "held-out": CheckKind("data-specific", "... on further cases of the same kind?"),
    "different": CheckKind("data-specific", "... on other sizes, shapes, extreme and degenerate values?"),
    "orders": CheckKind("schedule-dependent", "... in other orders of blocks and warps?"),
    "sub-warps": CheckKind("lock-step only", "... when the lanes of a warp do not run in step?"),
    "races": CheckKind("schedule-dependent", "Are there races between warps or blocks that the original has not?"),
    "warp races": CheckKind("lock-step only", "Are there races between lanes of a warp that the original has not?"),
    "bounds": CheckKind("schedule-dependent", "Are there accesses past the end of a buffer that the original has not?"),
    "initialisation": CheckKind("schedule-dependent", "Is memory read that nobody wrote, where the original does not?"),
    "fences": CheckKind("schedule-dependent", "Does it execute all the memory fences that the original does?"),
    "undefined": CheckKind("benign", "Does nothing undefined happen, not even what the original does too?"),
    "too good": CheckKind("data-specific", "Is the speed-up one that the same work can have?"),
    "whole program": CheckKind("wrong", "Does the whole program still give its results?"),
    "compute-sanitizer": CheckKind("schedule-dependent", "Does NVIDIA's checker find nothing on a real GPU?"),
}
"""The one table from failed check to label, in the order checks are made and shown."""


def label_of(failed: Iterable[str]) -> Label:
    """The label of a variant that failed these checks."""
    return max((CHECKS[name].label for name in failed), key=LABELS.index, default="clean")
