"""A complete decision vector, as code generation and bounds read it (``computation.objects.Leaf``)."""

from __future__ import annotations

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.engine.constraints import Masks
from kernelwright.space.lang.ground_space import GroundSpace


@dataclass(frozen=True)
class Decided:
    """A state of a space in which every choice of what exists has one value."""

    space: GroundSpace
    state: Masks

    def value(self, choice: str, *objects: object) -> str | int:
        """Raises ``Misuse`` when the space has no such choice, or when it is open."""
        left = self.space.values_for(self.state, choice, objects)
        if len(left) != 1:
            things = ", ".join(map(str, objects))
            found = "is open: " + ", ".join(map(str, left)) if left else "is of something that does not exist"
            raise Misuse(f"{choice}({things}) {found}")
        return left[0]

    def exists(self, thing: object) -> bool:
        """Whether an object is there in this implementation."""
        bits = self.space.presence_of(thing)
        return all(
            self.state[variable] == yes
            for group, (variable, yes) in enumerate(self.space.constraints.exists)
            if bits >> group & 1
        )
