"""Dominators and loop depths of control flow given as numbers: what PTX and machine code have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from kernelwright.ir.graph import DominatorTree, back_edges, loop_body, postorder


class Flow:
    """A graph of blocks 0, 1, ...; ``successors[n]`` are those that may come right after block ``n``. Block 0 is the entry."""

    def __init__(self, successors: Sequence[Sequence[int]]) -> None:
        self.successors = [list(dict.fromkeys(each)) for each in successors]

    @cached_property
    def order(self) -> list[int]:
        """The blocks that the entry reaches, in reverse postorder."""
        return postorder([0], self.successors.__getitem__)[::-1] if self.successors else []

    @cached_property
    def predecessors(self) -> list[list[int]]:
        """Per block, the blocks that may come right before it; only those that the entry reaches are listed."""
        found: list[list[int]] = [[] for _ in self.successors]
        for node in self.order:
            for target in self.successors[node]:
                found[target].append(node)
        return found

    @cached_property
    def _tree(self) -> DominatorTree[int]:
        return DominatorTree(self.order, self.predecessors.__getitem__)

    def dominates(self, a: int, b: int) -> bool:
        """Whether every path from the entry to ``b`` passes ``a``. False where either is unreachable."""
        return a in self._tree and b in self._tree and self._tree.dominates(a, b)

    def dominators(self, node: int) -> Iterator[int]:
        """The blocks that every path from the entry to a reachable ``node`` passes, itself left out; the nearest first."""
        while (parent := self._tree.parents[node]) != node:
            node = parent
            yield node

    @cached_property
    def headers(self) -> set[int]:
        """Blocks that a later block jumps back to: the heads of loops."""
        if not self.successors:
            return set()
        return {head for _, head in back_edges(0, self.successors.__getitem__)}

    @cached_property
    def loops(self) -> dict[int, frozenset[int]]:
        """The blocks of each natural loop, by its header."""
        found = {}
        for header in self.headers:
            latches = [n for n in self.predecessors[header] if self.dominates(header, n)]
            found[header] = frozenset(loop_body(header, latches, self.predecessors.__getitem__) if latches else ())
        return found

    @cached_property
    def depths(self) -> dict[int, int]:
        """How many natural loops each reachable block lies in."""
        found = dict.fromkeys(self.order, 0)
        for body in self.loops.values():
            for node in body:
                found[node] += 1
        return found
