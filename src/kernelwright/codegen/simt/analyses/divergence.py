"""Control flow that lanes of one warp do not share: where they part, where they may meet, which loops they leave apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from kernelwright.codegen.simt.program.control_flow import post_dominators
from kernelwright.codegen.simt.program.program import Block, Loop, Program, Var


class Divergence:
    """Filled one divergent branch at a time.

    ``partial``: blocks that run with some lanes of the warp missing, perhaps. ``joins``: blocks where lanes that took
    different ways meet, so that a phi there differs from lane to lane.
    """

    def __init__(self, program: Program, split: bool = False) -> None:
        self.program = program
        self.divergent: set[Block] = set()
        self.partial: set[Block] = set()
        self.joins: set[Block] = set()
        self.kept: frozenset[Var] = frozenset()
        """Values that waiting lanes must find as they were: see ``program/warp_gathers.py``."""
        self._ends: dict[Block, Block | None] | None = None
        self._ways: dict[tuple[Block, Block], object] = {}
        # Where lanes have waited for each other some may be missing from then on.
        self._miss(reachable(t for b in program.blocks if b.term.code == "gather" for t in b.succs))
        if split or not program.reducible:
            self.partial |= set(program.blocks)

    def diverge(self, block: Block) -> None:
        """Take note that the branch at the end of ``block`` may send lanes different ways."""
        if block in self.divergent:
            return
        self.divergent.add(block)
        if self._ends is None:
            self._ends = post_dominators(self.program.blocks)
        end = self._ends[block]
        region = self._region(block, end)
        self._miss(region)
        if not self.program.reducible:
            self.joins |= set(self.program.blocks)
            return
        for loop in _around(block):
            if any(t not in loop.blocks for b in (block, *region) if b in loop.blocks for t in b.succs):
                loop.divergent = True
        self._find_joins(block, region, end)

    def _miss(self, blocks: set[Block]) -> None:
        """Lanes may be missing in these blocks; and, where some of them wait, in all that follows."""
        while blocks:
            new = blocks - self.partial
            self.partial |= new
            blocks = reachable(t for b in new if b.term.code == "barrier" for t in b.succs) - self.partial

    def _region(self, block: Block, end: Block | None) -> set[Block]:
        """What can run between the branch and the place where all lanes are together again."""
        return reachable(block.succs, end)

    def _find_joins(self, block: Block, region: set[Block], end: Block | None) -> None:
        """Blocks that two different ways from the branch reach: labels are passed along, where two meet is a join.

        Lanes that go round a loop come out later than those that left at once: each edge out of a loop that the branch
        is in, and that not all lanes leave together, is a way of its own. Where there is none, and the ways only go forward to ``end``,
        no two ways meet behind it.
        """
        last = len(self.program.blocks)
        if (
            end is not None
            and not any(loop.divergent for loop in _around(block))
            and all(b.id < end.id for b in region)
        ):
            last = end.id
        label: dict[Block, object] = {}
        latches = {loop.latch: loop for loop in self.program.loops}

        def reach(target: Block, way: object) -> None:
            if target in label and label[target] is not way:
                self.joins.add(target)
                label[target] = target
            else:
                label.setdefault(target, way)

        for target in block.succs:
            if target.id > block.id:
                reach(target, target)
            else:
                self._go_round(block, target, reach)
        for b in self.program.blocks[block.id + 1 : last]:
            if b not in label:
                continue
            way = label[b]
            for target in b.succs:
                if target.id > b.id:
                    reach(target, way)
            loop = latches.get(b)
            if loop is not None and block in loop.blocks:
                self._go_round(block, loop.header, reach)

    def _go_round(self, block: Block, header: Block, reach: Callable[[Block, object], None]) -> None:
        """Lanes that continue the loop leave it later, by any of its ways out."""
        loop = next((lp for lp in self.program.loops if lp.header is header), None)
        if loop is None or not loop.divergent:
            return
        for b in sorted(loop.blocks, key=lambda x: x.id):
            for target in b.succs:
                if target not in loop.blocks:
                    reach(target, self._ways.setdefault((header, b), object()))


def _around(block: Block) -> Iterator[Loop]:
    """The loops that a block is in, the innermost first."""
    loop = block.loop
    while loop is not None:
        yield loop
        loop = loop.parent


def reachable(starts: Iterable[Block], end: Block | None = None) -> set[Block]:
    """Every block that can be reached from ``starts`` without going through ``end``."""
    found: set[Block] = set()
    waiting = list(starts)
    while waiting:
        block = waiting.pop()
        if block is not end and block not in found:
            found.add(block)
            waiting += block.succs
    return found
