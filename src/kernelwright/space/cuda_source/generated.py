"""A kernel made from decisions: its text, how it is launched and what it is called with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import Any

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.computation.sizes import LaunchSize, formula_of, is_dynamic, known_divisor, value_at

GRID_LIMIT = 2**31 - 1


@dataclass(frozen=True)
class Iterations:
    """Of what the tiles of a loop leave: its extent over the product of their sizes, rounded up."""

    extent: int
    tile: int = 1

    @property
    def is_dynamic(self) -> bool:
        """Whether the extent is given at launch."""
        return is_dynamic(self.extent)

    @property
    def tuned(self) -> int:
        """At the sizes that are tuned on."""
        return -(-int(self.extent) // self.tile)

    def at(self, sizes: Mapping[str, int]) -> int:
        """How many there are, with sizes by name, the last one perhaps only partly there."""
        return -(-value_at(self.extent, sizes) // self.tile)

    def whole_text(self) -> str:
        """In C, how many of them are there as a whole: ``n / 64``."""
        formula = formula_of(self.extent)
        return f"{f'({formula.text()})' if len(formula.terms) > 1 else formula.text()} / {self.tile}"

    def text(self) -> str:
        """In C, to stand in a product or behind a comparison: ``n``, ``(n + 63) / 64``."""
        if not self.is_dynamic:
            return str(self.tuned)
        formula = formula_of(self.extent)
        if self.tile == 1:
            return f"({formula.text()})" if len(formula.terms) > 1 else formula.text()
        if known_divisor(self.extent) % self.tile == 0:
            return self.whole_text()
        return f"({(formula + formula_of(self.tile - 1)).text()}) / {self.tile}"


@dataclass(frozen=True)
class Scratch:
    """A temporary in global memory: a parameter of the kernel behind its arrays. A block's part has ``tile`` elements for each of
    ``iterations``."""

    name: str
    tile: int
    iterations: tuple[Iterations, ...] = ()

    def of_a_block(self, sizes: Mapping[str, int]) -> int:
        """Elements. ``sizes``: those of the launch."""
        return self.tile * prod(each.at(sizes) for each in self.iterations)

    @property
    def text(self) -> str:
        """The same in C, of sizes by their names."""
        known = self.tile * prod(each.tuned for each in self.iterations if not each.is_dynamic)
        return " * ".join([str(known), *_dynamic_texts(self.iterations)])


def _dynamic_texts(iterations: tuple[Iterations, ...]) -> list[str]:
    return [f"({each.text()})" if " / " in each.text() else each.text() for each in iterations if each.is_dynamic]


@dataclass(frozen=True)
class GeneratedKernel:
    """``source`` is CUDA C with one kernel, ``name``; it computes everything with this ``grid`` and ``block`` alone."""

    name: str
    source: str
    grid: tuple[int, int, int]
    """Of sizes that are given at launch: at those that are tuned on."""
    block: tuple[int, int, int]
    shared_bytes: int
    """Of each block, static."""
    barriers: int
    """Places in the text where threads wait for one another."""
    registers: int
    """32-bit registers that hold values between instructions, at most."""
    arrays: tuple[str, ...]
    scalars: tuple[str, ...]
    sizes: tuple[LaunchSize, ...] = ()
    """Given at launch, after the scalars."""
    blocks: tuple[Iterations, ...] = ()
    """The number of blocks is their product."""
    scratch: tuple[Scratch, ...] = ()
    """Buffers that a launch brings besides the arrays, after them: what is in them before and afterwards means nothing."""

    @property
    def threads(self) -> int:
        """Threads of a block: the product of its three extents."""
        x, y, z = self.block
        return x * y * z

    @property
    def grid_text(self) -> str:
        """The number of blocks in C, of sizes by their names."""
        known = prod(each.tuned for each in self.blocks if not each.is_dynamic)
        texts = _dynamic_texts(self.blocks)
        return " * ".join([*([str(known)] if known > 1 or not texts else []), *texts])

    def at(self, sizes: Mapping[str, int]) -> GeneratedKernel:
        """The same kernel with the grid for other sizes. Raises ``Misuse`` for sizes that it is not made for."""
        for size in self.sizes:
            if sizes[size.name] < 1 or sizes[size.name] % size.multiple:
                raise Misuse(
                    f"{size.name} = {sizes[size.name]}, and kernel {self.name} is made for multiples of {size.multiple}"
                )
        number = prod(each.at(sizes) for each in self.blocks)
        if number > GRID_LIMIT:
            raise Misuse(f"a grid of {number} blocks: at most {GRID_LIMIT}")
        return replace(self, grid=(number, 1, 1))

    def scratch_elements(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """Of each buffer, by its name: each block has a part of it."""
        return {each.name: self.grid[0] * each.of_a_block(sizes) for each in self.scratch}

    def arguments(
        self, memory: Mapping[str, Any], scalars: Mapping[str, float], sizes: Mapping[str, int] | None = None
    ) -> tuple[Any, ...]:
        """In the order of the kernel's parameters: arrays, temporaries in global memory, scalars, sizes. ``memory``: of the arrays and
        the temporaries, by name."""
        return (
            *(memory[name] for name in self.arrays),
            *(memory[each.name] for each in self.scratch),
            *(float(scalars[name]) for name in self.scalars),
            *(int((sizes or {})[size.name]) for size in self.sizes),
        )
