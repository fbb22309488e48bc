"""States of a space as code generation and the bound read them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kernelwright.errors import Misuse
from kernelwright.space.computation.objects import Dim, DimPair, Instruction, Statement, Temporary
from kernelwright.space.lang.ground_space import GroundSpace

Thing = Statement | DimPair | Temporary


class KernelLeaf:
    """A complete state (``space.computation.objects.Leaf``)."""

    def __init__(self, ground: GroundSpace, state: npt.NDArray[np.uint16]) -> None:
        self._ground, self._state = ground, state

    def value(self, choice: str, *objects: Thing) -> str | int:
        """Raises ``Misuse`` for a choice that is not decided."""
        left = self._ground.values_for(self._state, choice, objects)
        if len(left) != 1:
            raise Misuse(
                f"{choice}({', '.join(map(str, objects))}) is not decided: {', '.join(map(str, left))} are left"
            )
        (value,) = left
        return value

    def exists(self, thing: Thing) -> bool:
        if isinstance(thing, Temporary):
            return self._ground.values_for(self._state, "exists", (thing,)) == ["YES"]
        if isinstance(thing, Dim | Instruction | DimPair) and thing.temporary is not None:
            return self._is_there(thing.temporary)
        return True

    def _is_there(self, temporary: str) -> bool:
        known: dict[str, Any] = {str(each): each for each in self._ground.choices["exists"].ids}
        return self._ground.values_for(self._state, "exists", (known[temporary],)) == ["YES"]


class SpaceNumbering:
    """Where the space keeps the domains of its decisions (``space.bound.domains.Numbering``)."""

    def __init__(self, ground: GroundSpace) -> None:
        self._ground = ground

    def variable(self, choice: str, *objects: Thing) -> tuple[int, bool]:
        return self._ground.choices[choice].find(objects)

    def values(self, choice: str, *objects: Thing) -> tuple[str | int, ...]:
        return self._ground.choices[choice].values
