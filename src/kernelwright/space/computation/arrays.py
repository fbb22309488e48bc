"""Loops as declared, and arrays that are indexed by affine functions of them: ``image[n, p + r]``."""

from __future__ import annotations

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.computation.sizes import is_below, is_dynamic, shown


class Named:
    """Equality and hash by name: two processes that declare the same computation mean the same objects."""

    name: str

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False)
class Loop(Named):
    """A loop of the computation as declared: ``extent`` iterations, strip-mined into at most ``len(tiles)`` tiles.

    ``tiles`` are upper limits of the tile sizes, outermost tile first; a tile's candidate sizes are the divisors of the
    extent and the powers of two, from 2 to its limit (``strip_mining.py``). What the tiles leave is the *rest*, the outermost level.
    """

    name: str
    extent: int
    """Where it is known only at launch: the number it is tuned at, with its formula (``sizes.py``)."""
    tiles: tuple[int, ...] = ()

    @property
    def may_repeat(self) -> bool:
        """Whether some launch has more than one iteration of it."""
        return self.extent > 1 or is_dynamic(self.extent)

    def __add__(self, other: Loop | Affine | int) -> Affine:
        return as_affine(self) + other

    __radd__ = __add__

    def __mul__(self, factor: int) -> Affine:
        return as_affine(self) * factor

    __rmul__ = __mul__


@dataclass(frozen=True)
class Affine:
    """``offset`` plus each loop's index times its factor."""

    factors: tuple[tuple[Loop, int], ...]
    offset: int = 0

    def __add__(self, other: Loop | Affine | int) -> Affine:
        more = as_affine(other)
        factors = dict(self.factors)
        for loop, factor in more.factors:
            factors[loop] = factors.get(loop, 0) + factor
        return Affine(tuple(factors.items()), self.offset + more.offset)

    __radd__ = __add__

    def __mul__(self, factor: int) -> Affine:
        return Affine(tuple((loop, f * factor) for loop, f in self.factors), self.offset * factor)

    __rmul__ = __mul__

    @property
    def range(self) -> tuple[int, int]:
        """The smallest and the largest value."""
        down, up = (
            sum(factor * (loop.extent - 1) for loop, factor in self.factors if (factor < 0) == negative)
            for negative in (True, False)
        )
        return self.offset + down, self.offset + up


def as_affine(thing: object) -> Affine:
    """A loop, a whole number or a sum of both, as an affine function. Raises ``Misuse`` for anything else."""
    if isinstance(thing, Affine):
        return thing
    if isinstance(thing, Loop):
        return Affine(((thing, 1),))
    if isinstance(thing, int) and not isinstance(thing, bool):
        return Affine((), thing)
    raise Misuse(
        f"{thing!r} cannot index an array: an index is a sum of loops times whole numbers",
        hint="a computation whose addresses depend on data has no space here; write it in CUDA and use `kw evolve`",
    )


@dataclass(frozen=True, eq=False)
class Array(Named):
    """An argument of the kernel in global memory, 32-bit floats: ``shape`` and ``strides`` in elements per dimension."""

    name: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    is_output: bool = False

    @property
    def elements(self) -> int:
        """Elements from the first to the last one, gaps included."""
        return 1 + sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True))

    def __getitem__(self, index: object) -> Access:
        """Raises ``Misuse`` for an index that is not affine, has the wrong number of dimensions or leaves the array."""
        indices = [as_affine(i) for i in (index if isinstance(index, tuple) else (index,))]
        if len(indices) != len(self.shape):
            raise Misuse(f"array {self.name} has {len(self.shape)} dimensions, not {len(indices)}")
        for number, (each, extent) in enumerate(zip(indices, self.shape, strict=True)):
            low, high = each.range
            if not (is_below(-1, low) and is_below(high, extent)):
                raise Misuse(
                    f"dimension {number} of array {self.name} has {shown(extent)} elements;"
                    f" its index is {shown(low)} to {shown(high)}"
                )
        address = sum((each * stride for each, stride in zip(indices, self.strides, strict=True)), Affine(()))
        return Access(self, tuple((loop, s) for loop, s in address.factors if s), address.offset)


@dataclass(frozen=True)
class Access:
    """An element of an array, in elements from its first: ``offset`` plus each loop's index times its stride."""

    array: Array
    strides: tuple[tuple[Loop, int], ...]
    offset: int = 0

    def stride(self, loop: Loop) -> int:
        """Elements that one more turn of the loop moves the access; 0 for a loop that it does not depend on."""
        return dict(self.strides).get(loop, 0)

    @property
    def loops(self) -> tuple[Loop, ...]:
        """Loops that the element depends on."""
        return tuple(loop for loop, _ in self.strides)
