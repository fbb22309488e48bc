"""The tie rule: gains under half a per cent are ties; then fewer instructions win, then fewer genes.

A tie is no equivalence (0.3 % three times is 0.9 %), so chains of ties would let a search lose what it had gained step
by step. Both forms here are safe from that: ``Best`` compares with the smallest value ever seen, and ``cell`` rounds
values to a grid, on which equality is an equivalence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

TIE = 0.005
"""A relative difference of the first objective that counts as none."""


class Comparable(Protocol):
    @property
    def objectives(self) -> tuple[float, ...] | None:
        """What is made small, the first one deciding; None for what was rejected."""

    @property
    def instructions(self) -> float:
        """How many the kernels have, which decides between ties."""

    @property
    def genes(self) -> int:
        """How many edits it has, which decides where instructions are equal, too."""


R = TypeVar("R", bound=Comparable)


def is_gain(value: float, over: float, tie: float = TIE) -> bool:
    """``value`` is smaller than ``over`` by more than a tie."""
    return value < over - tie * abs(over)


def preferred(results: Sequence[R], tie: float = TIE) -> R:
    """Among those within a tie of the smallest first objective: fewest instructions, fewest genes, smallest objectives.

    Independent of the order of the results but for complete equals, where the earlier one stays. All must be accepted.
    """
    least = min(_first(result) for result in results)
    close = [result for result in results if not is_gain(least, _first(result), tie)]
    return min(close, key=lambda r: (r.instructions, r.genes, r.objectives or ()))


def cell(objectives: Sequence[float], tie: float = TIE) -> tuple[float, ...]:
    """The cell of a grid of relative width ``tie`` that the objectives lie in; 0 has a cell of its own. ``tie`` 0: exact."""
    if not tie:
        return tuple(objectives)
    step = math.log1p(tie)
    above = 1000 / step  # so that what is positive lies above 0 and what is negative below, however small it is
    return tuple(
        math.copysign(above + math.floor(math.log(max(abs(x), 1e-300)) / step), x) if x else 0.0 for x in objectives
    )


class Best(Generic[R]):
    """The preferred of all results offered so far. Keeps only those that could still become it."""

    def __init__(self, tie: float = TIE) -> None:
        self._tie = tie
        self._close: list[R] = []
        self.result: R | None = None

    def offer(self, result: R) -> None:
        """Adds an accepted result; ``result`` is the preferred one afterwards. Raises ``ValueError`` for a rejected one."""
        facts = _facts(result)
        if any(all(x <= y for x, y in zip(_facts(kept), facts, strict=True)) for kept in self._close):
            return
        kept = [r for r in self._close if not all(x <= y for x, y in zip(facts, _facts(r), strict=True))]
        least = min(_first(r) for r in [*kept, result])
        self._close = [r for r in [*kept, result] if not is_gain(least, _first(r), self._tie)]
        self.result = preferred(self._close, self._tie)


def _facts(result: Comparable) -> tuple[float, float, int]:
    return _first(result), result.instructions, result.genes


def _first(result: Comparable) -> float:
    if result.objectives is None:
        raise ValueError("a rejected candidate cannot be compared")
    return result.objectives[0]
