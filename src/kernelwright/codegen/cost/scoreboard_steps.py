"""One instruction as a scoreboard sees it, and what a run of them is."""

from __future__ import annotations

from collections.abc import Sequence

from kernelwright.codegen.ptx_text import Position
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """``kind`` is the instruction's class (of ``sass.OPCODES`` or ``ptx_counts.CLASSES``).

    ``pipes``: where it is done and how many turns it takes there; the empty name stands for a turn of the scheduler
    alone. ``stall``: cycles until the next step may start. ``waits``: results that must be there before it starts;
    ``sets``: the result it makes, ``frees``: what is done with when its operands have been read; -1 for none.
    ``block``: the IR block it was made from, which need not be the one that issues it. ``bytes``: what each lane asks memory
    for, 0 for what is no load or store; ``guarded``: whether it may be issued for no lane. ``turns``: how many of its pipe each
    of its turns is; ``counts_lanes``: an atomic for which lanes that meet take no further turns; ``spins``: one that compares and swaps
    until it has won.
    """

    kind: str
    pipes: tuple[tuple[str, float], ...]
    stall: int
    waits: tuple[int, ...]
    sets: int
    frees: int
    barrier: bool
    block: str
    position: Position | None
    bytes: int = 0
    guarded: bool = False
    turns: float = 1.0
    counts_lanes: bool = False
    spins: bool = False

    @property
    def issues(self) -> float:
        """Warp instructions."""
        return sum(n for _, n in self.pipes)


Segments = tuple[tuple[Step, ...], ...]
"""Steps of a block, cut behind each barrier: a warp runs the first, waits, runs the next."""


def split_at_barriers(steps: Sequence[Step]) -> Segments:
    """Runs of steps, each up to a barrier and with it."""
    found: list[list[Step]] = [[]]
    for each in steps:
        found[-1].append(each)
        if each.barrier:
            found.append([])
    return tuple(tuple(part) for part in found)
