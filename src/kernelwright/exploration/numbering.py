"""Where a space keeps the domains of its decisions, as the bound asks for it (``space.bound.domains.Numbering``)."""

from __future__ import annotations

from dataclasses import dataclass

from kernelwright.space.bound.domains import Thing
from kernelwright.space.lang.ground_space import GroundSpace


@dataclass(frozen=True)
class SpaceNumbering:
    space: GroundSpace

    def variable(self, choice: str, *objects: Thing) -> tuple[int, bool]:
        return self.space.choices[choice].find(objects)

    def values(self, choice: str, *objects: Thing) -> tuple[str | int, ...]:
        return self.space.choices[choice].values
