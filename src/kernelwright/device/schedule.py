"""The order in which an executor runs what a GPU runs at once. Both executors take the same schedules.

A kernel that is right gives the same result under every schedule; one that does not leans on an order that no GPU
promises. A schedule is a value: the same one gives the same run, bit for bit.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Literal

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass

WARP = 32
MASK = (1 << WARP) - 1

Kind = Literal["forward", "reverse", "random", "subwarp", "weak"]
KINDS: tuple[Kind, ...] = ("forward", "reverse", "random", "subwarp", "weak")
GROUPS = (2, 4, 8, 16, 32)


@dataclass(frozen=True)
class Schedule:
    """How blocks and warps follow each other, and whether the lanes of a warp run in step.

    ``forward``: by rising number. ``reverse``: by falling number. ``random``: blocks, and the warps of each block, in
    an order drawn from ``seed``. ``subwarp``: like ``random``, and each warp is split into ``groups`` groups of lanes
    that do not run in step: between two synchronisations of the warp one group is through before the next starts. ``weak``:
    like ``random``, and global memory is as weak as PTX's model has it (``codegen/simt/runtime/weak.c``): stores wait, and by
    every other four seeds plain loads are late, until a fence, a barrier or an atomic orders them. On the reference executor memory is
    never weak.
    """

    kind: Kind = "forward"
    seed: int = 0
    groups: int = 1

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise Misuse(f"There is no schedule '{self.kind}'.", hint=f"use one of {', '.join(KINDS)}")
        if (self.kind == "subwarp") != (self.groups != 1) or (self.groups != 1 and self.groups not in GROUPS):
            raise Misuse(
                f"A schedule of kind '{self.kind}' cannot split warps into {self.groups} groups.",
                hint=f"use Schedule.subwarp(groups, seed) with {', '.join(map(str, GROUPS))} groups",
            )

    @classmethod
    def forward(cls) -> Schedule:
        """Blocks and warps by rising number."""
        return cls("forward")

    @classmethod
    def reverse(cls) -> Schedule:
        """Blocks and warps by falling number."""
        return cls("reverse")

    @classmethod
    def random(cls, seed: int) -> Schedule:
        """Blocks and warps in an order drawn from ``seed``."""
        return cls("random", seed)

    @classmethod
    def subwarp(cls, groups: int, seed: int) -> Schedule:
        """As ``random``, each warp split into ``groups`` groups of lanes that do not run in step."""
        return cls("subwarp", seed, groups)

    @classmethod
    def weak(cls, seed: int) -> Schedule:
        """As ``random``, with global memory as weak as PTX's model has it."""
        return cls("weak", seed)

    def __str__(self) -> str:
        return {
            "random": f"random({self.seed})",
            "weak": f"weak({self.seed})",
            "subwarp": f"subwarp({self.groups}, {self.seed})",
        }.get(self.kind, self.kind)

    def blocks(self, count: int) -> list[int]:
        """The linear block numbers in the order they start."""
        return list(self.block_order(count))

    def block_order(self, count: int) -> Sequence[int]:
        """The same, without a list of all of them where the order is plain: a grid may have 2^31 blocks."""
        if self.kind == "forward":
            return range(count)
        return range(count - 1, -1, -1) if self.kind == "reverse" else self._order(count, "blocks")

    def warps(self, block: int, count: int) -> list[int]:
        """The warps of a block in the order they run between two barriers."""
        return self._order(count, f"warps of {block}")

    def lanes(self, block: int, warp: int) -> list[int]:
        """The lanes of a warp in the order an executor that runs one thread at a time takes them."""
        if self.kind == "reverse":
            return list(reversed(range(WARP)))
        return [lane for group in self.lane_groups(block, warp) for lane in _lanes_of(group)]

    def lane_groups(self, block: int, warp: int) -> list[int]:
        """Lane masks in the order the groups of a warp run; together they are all 32 lanes, one group runs in step."""
        if self.kind != "subwarp":
            return [MASK]
        shuffled = random.Random(f"{self.seed} lanes of {block} {warp}")
        lanes = list(range(WARP))
        shuffled.shuffle(lanes)
        size = WARP // self.groups
        groups = [sum(1 << lane for lane in lanes[i : i + size]) for i in range(0, WARP, size)]
        shuffled.shuffle(groups)
        return groups

    def _order(self, count: int, what: str) -> list[int]:
        order = list(range(count))
        if self.kind == "reverse":
            order.reverse()
        elif self.kind in ("random", "subwarp", "weak"):
            random.Random(f"{self.seed} {what}").shuffle(order)
        return order


def _lanes_of(mask: int) -> list[int]:
    return [lane for lane in range(WARP) if mask >> lane & 1]
