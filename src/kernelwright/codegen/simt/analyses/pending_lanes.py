"""Which blocks may have lanes waiting while a block runs: what reconvergence has to look for, and what it need not.

A warp runs the pending block with the smallest number. ``body[k]`` holds the other blocks that may be pending when block k
runs; ``check[k]`` those that may be when it is asked whether k is pending. Where a block is certain to be next, control
goes there at once and nothing is asked.
"""

from __future__ import annotations

from kernelwright.codegen.simt.analyses.divergence import Divergence
from kernelwright.codegen.simt.program.program import Block, Program

Ids = frozenset[int]


class Pending:
    def __init__(self, program: Program, control: Divergence, starts: list[Ids]) -> None:
        """``starts``: for each way a warp can begin or go on, the blocks that are then pending."""
        self.control = control
        self.blocks = program.blocks
        self.body: dict[int, Ids] = {}
        self.check: dict[int, Ids] = {}
        self._waiting: list[tuple[bool, int]] = []
        for start in starts:
            self._flow(start, None)
        while self._waiting:
            is_body, k = self._waiting.pop()
            if is_body:
                for targets in self.ways(self.blocks[k]):
                    self._flow(self.body[k] | frozenset(targets), targets or None)
            else:
                state = self.check[k]
                self._into_body(k, state - {k})
                if not self.certain(k):
                    self._flow(state - {k}, None)

    def ways(self, block: Block) -> list[list[int]]:
        """The sets of blocks that lanes go to together: one per target where all lanes agree, else all at once."""
        targets = [t.id for t in dict.fromkeys(block.succs)]
        if block.term.code == "stop":
            return []
        if block.term.code == "barrier":
            return [[]]
        if block.term.code == "gather":
            return [targets, []]
        if block in self.control.divergent:
            return [targets]
        return [[t] for t in targets] or [[]]

    def certain(self, k: int) -> bool:
        """Whether block k is pending for sure when it is asked for: all lanes come through it."""
        return self.blocks[k] not in self.control.partial

    def next(self, state: Ids, targets: list[int] | None) -> tuple[str, int]:
        """Where control goes when the blocks of ``state`` may be pending: ("body" | "check" | "done", block)."""
        if not state:
            return "done", -1
        k = min(state)
        if (
            (targets is not None and len(targets) == 1 and targets[0] == k)
            or self.certain(k)
            or (len(state) == 1 and targets is not None)
        ):
            return "body", k
        return "check", k

    def _flow(self, state: Ids, targets: list[int] | None) -> None:
        kind, k = self.next(state, targets)
        if kind == "body":
            self._into_body(k, state - {k})
        elif kind == "check":
            old = self.check.get(k)
            if old is None or not state <= old:
                self.check[k] = (old or frozenset()) | state
                self._waiting.append((False, k))

    def _into_body(self, k: int, rest: Ids) -> None:
        old = self.body.get(k)
        if old is None or not rest <= old:
            self.body[k] = (old or frozenset()) | rest
            self._waiting.append((True, k))
