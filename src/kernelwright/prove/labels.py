"""What a variant is called. ``docs/proof.md`` says what each label means.

The worst evidence wins: a variant has the last of ``LABELS`` that one of its failed checks (``prove/checks``) stands for, or one
that was not made and without which nothing better is earned. Without such a check it is ``clean``; ``proven`` takes obligations
that hold as well, and no check alone makes a variant that.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

Label = Literal[
    "proven",
    "clean",
    "as safe as the original",
    "benign",
    "lock-step only",
    "data-specific",
    "schedule-dependent",
    "wrong",
]

LABELS: tuple[Label, ...] = get_args(Label)
"""From best to worst."""

REJECTED: frozenset[Label] = frozenset({"schedule-dependent", "wrong"})
"""What cannot be used, on whatever terms."""

MEANING: dict[Label, str] = {
    "proven": "no check found anything, and whatever it relies on holds for all launches that its guards admit",
    "clean": "no check found anything, and nothing undefined happened in any run",
    "as safe as the original": "something undefined happens, but nothing that the original does not do in the same places",
    "benign": "something undefined happens that the original does not do, but no value differed in any run",
    "lock-step only": "right only if the lanes of a warp run in step, which no GPU since Volta promises",
    "data-specific": "right on data like the training cases; wrong on others that the original accepts, or on others unknown",
    "schedule-dependent": "the result depends on the order of threads, or on memory that is unwritten or in no buffer",
    "wrong": "it does not compute what the original does on the training cases, or in the whole program, or nothing was compared",
}


def worst(labels: Iterable[Label]) -> Label:
    """What a variant is called whose checks stand for ``labels``; ``clean`` when there are none."""
    return max(labels, key=LABELS.index, default="clean")


def of_failed(labels: Iterable[Label]) -> list[Label]:
    """``labels`` of failed checks, with what they come to together.

    What is right on the training cases alone, and there only in step, is not right on the training cases of a GPU: neither of the
    two labels would hold. One of a search's best had both, and gave other results on an H200 (docs/gpu.md).
    """
    found = list(labels)
    return [*found, "schedule-dependent"] if {"lock-step only", "data-specific"} <= set(found) else found
