"""The nouns of cooperation: what lanes of a warp, and threads of a block, do together."""

from __future__ import annotations

from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class WarpOp:
    """An operation that lanes of a warp do together. ``mode`` tells kinds of one name apart."""

    name: str
    mode: str = ""
    pair: bool = False
    """Whether it returns a predicate beside its value."""

    def __str__(self) -> str:
        return f"{self.name} {self.mode}".strip()


@dataclass(frozen=True)
class Barrier:
    """Barrier ``number`` of the block, for ``threads`` threads, 0: all. ``reduce``: what each gets, popc, and, or, none. ``is_grid``: for
    all threads of all blocks."""

    reduce: str = ""
    number: int = 0
    threads: int = 0
    is_grid: bool = False

    def __str__(self) -> str:
        whom = " of the grid" if self.is_grid else f" for {self.threads}" if self.threads else ""
        return f"{self.reduce or 'sync'} {self.number}{whom}"
