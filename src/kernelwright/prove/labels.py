"""What a variant is called. ``docs/proof.md`` says what each label means.

The worst evidence wins: a variant has the last of ``LABELS`` that one of its failed checks (``prove/checks``) stands for.
"""

from __future__ import annotations

from collections.abc import Iterable
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


def worst(labels: Iterable[Label]) -> Label:
    """What a variant is called whose failed checks stand for ``labels``; ``clean`` when none failed."""
    return max(labels, key=LABELS.index, default="clean")
