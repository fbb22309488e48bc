"""How a bound reads a partial candidate: which values each decision still has."""

from __future__ import annotations

from typing import Protocol

from kernelwright.space.computation.objects import DimPair, Statement, Temporary

Thing = Statement | DimPair | Temporary


class Numbering(Protocol):
    """Where a space keeps the domains of its decisions: a state is an array of masks, one per variable.

    ``variable``: index of the decision's variable, and whether it holds the decision for the objects in the other order,
    so that BEFORE and AFTER, INNER and OUTER, OUT and IN change places. ``values``: the value of each bit. Asked for ``order``,
    ``dim_kind``, ``size``, ``thread_mapping``, ``mem_space`` and ``exists``.
    """

    def variable(self, choice: str, *objects: Thing) -> tuple[int, bool]:
        """The variable of a decision, -1 when there is none, and whether its values are those for the objects in the other order."""

    def values(self, choice: str, *objects: Thing) -> tuple[str | int, ...]:
        """What bit 0, 1, ... of the decision's mask stand for: names of values, or sizes."""
