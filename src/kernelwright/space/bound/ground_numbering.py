"""A ground space as a bound reads it."""

from __future__ import annotations

from kernelwright.space.bound.domains import Thing
from kernelwright.space.lang.ground_space import GroundSpace


class GroundNumbering:
    """The ``Numbering`` of a ``GroundSpace``."""

    def __init__(self, space: GroundSpace) -> None:
        self._choices = space.choices

    def variable(self, choice: str, *objects: Thing) -> tuple[int, bool]:
        """The variable of a decision, -1 when there is none, and whether its values are those for the objects in the other order."""
        return self._choices[choice].find(objects)

    def values(self, choice: str, *objects: Thing) -> tuple[str | int, ...]:
        """The values of a choice in the order of their bits; the same for all objects."""
        return tuple(v if isinstance(v, str) else int(v) for v in self._choices[choice].values)
