"""What the timing model is calibrated on: kernels, their inputs, and variants of each that take different times.

block shapes     the same code in other blocks
definitions      unrolling, tile sizes, padding of shared memory
deletions        one random instruction less, as evolution would try; only those that still run without a fault
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kernelwright.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

Triple = tuple[int, int, int]
Arrays = Mapping[str, "NDArray[Any]"]

SEED = 20260101
LINE_SHAPES: tuple[Triple, ...] = tuple((n, 1, 1) for n in (256, 64, 1024))
PLANE_SHAPES: tuple[Triple, ...] = ((16, 16, 1), (32, 8, 1), (64, 4, 1), (8, 32, 1), (128, 1, 1))
UNROLLED: tuple[tuple[str, ...], ...] = ((), ("UNROLL=2",), ("UNROLL=4",), ("UNROLL=8",))
TILED: tuple[tuple[str, ...], ...] = ((), ("TILE=8",), ("TILE=32",), ("PAD=0",), ("TILE=32", "PAD=0"))


@dataclass(frozen=True)
class Shape:
    """How one variant is launched, and with which definitions it is compiled."""

    grid: Triple
    block: Triple
    defines: tuple[str, ...] = ()
    fewer: int = 1
    """By how much the number of threads is divided."""

    @property
    def name(self) -> str:
        """The launch in words, as ``block 16x16 TILE=8 threads / 2``."""
        block = "x".join(str(n) for n in self.block if n > 1) or "1"
        threads = [f"threads / {self.fewer}"] if self.fewer > 1 else []
        return " ".join([f"block {block}", *self.defines, *threads])


@dataclass(frozen=True)
class Case:
    """A kernel with inputs of one size. ``shapes`` come with the size; the first is the original."""

    kernel: str
    arrays: Callable[[int], Arrays]
    """(size) -> the buffers in the kernel's order, by name."""
    scalars: Callable[[int], tuple[int | float, ...]]
    shapes: Callable[[int], Iterator[Shape]]
    size: int
    """For a GPU to work on for tens of microseconds."""
    small: int
    """For a first look, and for tests."""

    def pack(self, addresses: list[int], size: int) -> bytes:
        """The parameter buffer: pointers first, then the scalars; a float is C's, an int, too."""
        scalars = self.scalars(size)
        form = "".join("f" if isinstance(s, float) else "i" for s in scalars)
        return struct.pack(f"<{len(addresses)}Q{form}", *addresses, *scalars)


def _random(size: int, kind: str = "f4", top: int = 1 << 16) -> NDArray[Any]:
    import numpy as np

    draw = np.random.default_rng(SEED)
    return draw.random(size, dtype=np.float32) if kind == "f4" else draw.integers(0, top, size, dtype=np.int32)


def _empty(size: int, kind: str = "f4") -> NDArray[Any]:
    import numpy as np

    return np.zeros(size, kind)


def _lines(grid: int, variants: tuple[tuple[str, ...], ...] = UNROLLED) -> Callable[[int], Iterator[Shape]]:
    """Shapes of kernels that go through a line with a stride: the same number of threads in blocks of different sizes."""

    def shapes(size: int) -> Iterator[Shape]:
        threads = min(grid * 256, -(-size // 256) * 256)
        for defines in variants:
            for block in LINE_SHAPES if not defines else LINE_SHAPES[:1]:
                yield Shape((max(threads // block[0], 1), 1, 1), block, defines)
        # Fewer threads with more work each: the less there is to hide latency behind, the longer it takes.
        for divisor in (4, 16, 64, 256):
            if threads // divisor >= 256:
                yield Shape((threads // divisor // 256, 1, 1), (256, 1, 1), fewer=divisor)

    return shapes


def _tiles(size: int) -> Iterator[Shape]:
    for defines in TILED:
        tile = next((int(d[5:]) for d in defines if d.startswith("TILE=")), 16)
        yield Shape((size // tile, size // tile, 1), (tile, tile, 1), defines)


def _planes(size: int) -> Iterator[Shape]:
    for block in PLANE_SHAPES:
        yield Shape((-(-size // block[0]), -(-size // block[1]), 1), block)


def _just_size(size: int) -> tuple[int | float, ...]:
    return (size,)


MEGA = 1 << 20
WIDE = 4096
"""Blocks of 256 threads: several rounds of a large GPU."""

CASES: tuple[Case, ...] = (
    Case("saxpy", lambda n: {"x": _random(n), "y": _random(n)}, lambda n: (2.0, n), _lines(WIDE), 4 * MEGA, 4096),
    Case("polynomial", lambda n: {"x": _random(n), "y": _empty(n)}, _just_size, _lines(WIDE), MEGA, 2048),
    Case("total", lambda n: {"x": _random(n), "sums": _empty(n)}, _just_size, _lines(1024), 4 * MEGA, 4096),
    Case(
        "product",
        lambda n: {"a": _random(n * n), "b": _random(n * n), "c": _empty(n * n)},
        _just_size,
        lambda n: iter([*_tiles(n), *(Shape((n // 16, n // 16, 1), (16, 16, 1), d) for d in UNROLLED[1:])]),
        512,
        64,
    ),
    Case("transpose", lambda n: {"a": _random(n * n), "b": _empty(n * n)}, _just_size, _tiles, 2048, 64),
    Case("heat", lambda n: {"a": _random(n * n), "b": _empty(n * n)}, _just_size, _planes, 2048, 64),
    Case(
        "histogram",
        lambda n: {"x": _random(n, "i4"), "bins": _empty(256, "i4")},
        _just_size,
        _lines(1024),
        2 * MEGA,
        4096,
    ),
    Case(
        "gather",
        lambda n: {"from": _random(n, "i4", n), "x": _random(n), "y": _empty(n)},
        _just_size,
        _lines(WIDE),
        2 * MEGA,
        4096,
    ),
    Case("steps", lambda n: {"x": _random(n, "i4"), "y": _empty(n, "i4")}, _just_size, _lines(WIDE), MEGA // 2, 2048),
)
