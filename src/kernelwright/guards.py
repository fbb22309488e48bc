"""Guards: what must hold at a launch for a variant to mean what the original does. Together they are its domain of validity.

argument 3 == i32 1024        block == 16x16x1        block has at most 32 threads        grid == 64x1x1        argument 0 shares no memory

Each kind is a class here; what it asks and how it reads is its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from kernelwright.launch import Launch, Triple
from kernelwright.lazy_dataclasses import dataclass

WARP = 32


class Names(Protocol):
    """The names of the source, for a guard that is put into words."""

    def argument(self, index: int) -> str:
        """What the source calls the argument with this index, from 0."""

    def variable(self, name: str) -> str:
        """What the source calls a device variable, by its mangled name."""

    def constant(self, value: str) -> str:
        """A constant as people write it."""


@dataclass(frozen=True)
class LaunchFacts:
    """A launch with what guards ask about it besides."""

    launch: Launch
    arguments: tuple[bytes, ...]
    """By parameter: its bytes as the kernel finds them, little endian."""
    regions: tuple[range | None, ...] = ()
    """By parameter: the addresses of the allocation that a pointer points into; None for null and what is no pointer. Left
    out when it is unknown; then no pointer counts as one of its own."""
    variables: tuple[range, ...] = ()
    """The addresses of the module's device variables."""
    contents: tuple[tuple[str, bytes], ...] = ()
    """By name what they hold before the launch, as far as it is known; no guard on what is not known holds."""


class Guard(Protocol):
    """A frozen value; its text is what journals and proofs call it by."""

    def holds(self, facts: LaunchFacts) -> bool:
        """Whether a launch has what it asks; False where that is unknown."""

    def in_words(self, names: Names) -> str:
        """What it asks of a launch, for people, in the names of the source."""

    def as_python(self) -> str:
        """As a test of ``grid``, ``block`` and ``arguments``, with the functions of an exported ``load.py``."""

    def as_c(self) -> str:
        """As a test in C of the same, with the functions of an exported header (``stories/exported/dispatch.h.jinja``)."""


@dataclass(frozen=True)
class ArgumentIs:
    """Argument ``index`` has these bytes; ``value`` is how LLVM writes them (``i32 1024``)."""

    index: int
    value: str
    bits: bytes

    def holds(self, facts: LaunchFacts) -> bool:
        return self.index < len(facts.arguments) and facts.arguments[self.index] == self.bits

    def __str__(self) -> str:
        return f"argument {self.index} == {self.value}"

    def in_words(self, names: Names) -> str:
        return f"{names.argument(self.index)} == {names.constant(self.value)}"

    def as_python(self) -> str:
        return f"_bytes(arguments[{self.index}]) == bytes.fromhex({self.bits.hex()!r})"

    def as_c(self) -> str:
        text = "".join(f"\\{byte:03o}" for byte in self.bits)
        return f'!memcmp(arguments[{self.index}], "{text}", {len(self.bits)})'


@dataclass(frozen=True)
class BlockIs:
    """Blocks of this shape."""

    shape: Triple

    def holds(self, facts: LaunchFacts) -> bool:
        return facts.launch.block == self.shape

    def __str__(self) -> str:
        return f"block == {'x'.join(map(str, self.shape))}"

    def in_words(self, names: Names) -> str:
        return f"block == {' x '.join(map(str, self.shape))}"

    def as_python(self) -> str:
        return f"_triple(block) == {self.shape}"

    def as_c(self) -> str:
        return _extents_in_c("block", self.shape)


@dataclass(frozen=True)
class BlockIsWarp:
    """Blocks of no more threads than a warp has."""

    def holds(self, facts: LaunchFacts) -> bool:
        x, y, z = facts.launch.block
        return x * y * z <= WARP

    def __str__(self) -> str:
        return f"block has at most {WARP} threads"

    def in_words(self, names: Names) -> str:
        return str(self)

    def as_python(self) -> str:
        return f"math.prod(_triple(block)) <= {WARP}"

    def as_c(self) -> str:
        return f"(unsigned long long)block[0] * block[1] * block[2] <= {WARP}"


@dataclass(frozen=True)
class GridIs:
    """A grid of this shape."""

    shape: Triple

    def holds(self, facts: LaunchFacts) -> bool:
        return facts.launch.grid == self.shape

    def __str__(self) -> str:
        return f"grid == {'x'.join(map(str, self.shape))}"

    def in_words(self, names: Names) -> str:
        return f"grid == {' x '.join(map(str, self.shape))}"

    def as_python(self) -> str:
        return f"_triple(grid) == {self.shape}"

    def as_c(self) -> str:
        return _extents_in_c("grid", self.shape)


@dataclass(frozen=True)
class Apart:
    """No other argument points into the allocation of argument ``index``, and no device variable lies in it."""

    index: int

    def holds(self, facts: LaunchFacts) -> bool:
        own = facts.regions[self.index] if self.index < len(facts.regions) else None
        return own is not None and not any(_overlap(own, other) for other in self._others(facts))

    def _others(self, facts: LaunchFacts) -> Iterator[range]:
        for index, region in enumerate(facts.regions):
            if index != self.index and region is not None:
                yield region
        yield from facts.variables

    def __str__(self) -> str:
        return f"argument {self.index} shares no memory"

    def in_words(self, names: Names) -> str:
        return f"no other argument reaches the memory behind '{names.argument(self.index)}'"

    def as_python(self) -> str:
        return f"_apart(arguments, {self.index})"

    def as_c(self) -> str:
        return f"kw_apart(arguments, pointers, {self.index})"


def _extents_in_c(name: str, shape: Triple) -> str:
    return " && ".join(f"{name}[{axis}] == {extent}" for axis, extent in enumerate(shape))


@dataclass(frozen=True)
class AtStart:
    """Argument ``index`` points at the beginning of its allocation."""

    index: int

    def holds(self, facts: LaunchFacts) -> bool:
        own = facts.regions[self.index] if self.index < len(facts.regions) else None
        return own is not None and int.from_bytes(facts.arguments[self.index], "little") == own.start

    def __str__(self) -> str:
        return f"argument {self.index} points at the beginning of its memory"

    def in_words(self, names: Names) -> str:
        return f"'{names.argument(self.index)}' points at the beginning of its memory"

    def as_python(self) -> str:
        return f"_at_start(arguments[{self.index}])"

    def as_c(self) -> str:
        return f"kw_at_start(arguments[{self.index}])"


def _overlap(one: range, other: range) -> bool:
    return max(one.start, other.start) < min(one.stop, other.stop)
