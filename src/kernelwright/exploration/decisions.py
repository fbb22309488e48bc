"""Candidates of an exploration: decisions as text, in the order in which they were taken.

    ("size(x.n1) = 32", "dim_kind(x.n1) = THREAD", ...)

Decisions that follow from others by propagation are not listed.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass

Decisions: TypeAlias = tuple[str, ...]
_DECISION = re.compile(r"(\w+)\(([^()]*)\) = (\w+)")


@dataclass(frozen=True)
class DecisionVectors:
    """The kind of candidate that exploring asks about (``evaluate.candidate.Codec``)."""

    name: str = "explore"

    def to_json(self, candidate: Decisions) -> list[str]:
        return list(candidate)

    def from_json(self, value: Any) -> Decisions:
        """Decisions that were written as JSON. Raises ``Misuse`` for anything else."""
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise Misuse(f"these are no decisions: {str(value)[:80]}", hint='a list of texts such as "size(x.n1) = 32"')
        for each in value:
            parts_of(each)
        return tuple(value)


DECISIONS = DecisionVectors()


def parts_of(decision: str) -> tuple[str, tuple[str, ...], str | int]:
    """The choice, the names of its objects, and the value. Raises ``Misuse``."""
    found = _DECISION.fullmatch(decision.strip())
    if found is None:
        raise Misuse(f"{decision[:80]!r} is no decision", hint="one reads size(x.n1) = 32 or order(a, b) = BEFORE")
    choice, objects, value = found.groups()
    names = tuple(name.strip() for name in objects.split(","))
    return choice, names, int(value) if value.isdigit() else value


def decision_text(choice: str, objects: tuple[object, ...], value: object) -> str:
    """``size(mad.m1) = 16``."""
    return f"{choice}({', '.join(map(str, objects))}) = {value}"
