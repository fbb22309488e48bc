"""Natural loops: what a back edge to a dominating header encloses."""

from __future__ import annotations

from dataclasses import dataclass, field

from kernelwright.ir.control_flow import Dominators, predecessors
from kernelwright.ir.module import BasicBlock, Function


@dataclass(eq=False)
class Loop:
    """All back edges to one header make one loop. ``blocks`` is in the function's order, inner loops included."""

    header: BasicBlock
    latches: list[BasicBlock]
    """The blocks that jump back to the header."""
    blocks: list[BasicBlock]
    parent: Loop | None = None
    children: list[Loop] = field(default_factory=list)

    def __contains__(self, block: BasicBlock) -> bool:
        return block in self._members

    def __post_init__(self) -> None:
        self._members = frozenset(self.blocks)

    @property
    def depth(self) -> int:
        """1 for a loop in no other loop."""
        return 1 if self.parent is None else self.parent.depth + 1

    @property
    def exits(self) -> list[tuple[BasicBlock, BasicBlock]]:
        """The edges that leave, as (block inside, block outside)."""
        return [(b, s) for b in self.blocks for s in dict.fromkeys(b.successors) if s not in self._members]

    @property
    def preheader(self) -> BasicBlock | None:
        """The one block outside that leads to the header and nowhere else, when there is one."""
        outside = [b for b in self.header.predecessors if b not in self._members]
        if len(outside) == 1 and set(outside[0].successors) == {self.header}:
            return outside[0]
        return None

    def __repr__(self) -> str:
        return f"<Loop of {len(self.blocks)} blocks, depth {self.depth}>"


def natural_loops(function: Function, dominators: Dominators | None = None) -> list[Loop]:
    """The natural loops of a function, outer loops before inner ones. Irreducible cycles make none."""
    tree = dominators if dominators is not None else Dominators(function)
    latches: dict[BasicBlock, list[BasicBlock]] = {}
    for block in tree.order:
        for successor in dict.fromkeys(block.successors):
            if tree.dominates(successor, block):
                latches.setdefault(successor, []).append(block)
    before = predecessors(function)
    loops = [Loop(header, ends, _body(function, tree, header, ends, before)) for header, ends in latches.items()]
    loops.sort(key=lambda loop: -len(loop.blocks))
    for i, loop in enumerate(loops):
        # Two natural loops are nested or apart (headers differ), so the smallest loop around the header is the parent.
        around = [other for other in loops[:i] if loop.header in other]
        if around:
            loop.parent = around[-1]
            loop.parent.children.append(loop)
    return loops


def _body(
    function: Function,
    tree: Dominators,
    header: BasicBlock,
    latches: list[BasicBlock],
    before: dict[BasicBlock, list[BasicBlock]],
) -> list[BasicBlock]:
    """The header and all blocks that reach a latch without passing it."""
    members = {header}
    work = list(latches)
    while work:
        block = work.pop()
        if block not in members:
            members.add(block)
            work += [b for b in before[block] if tree.is_reachable(b)]
    return [b for b in function.blocks if b in members]


def loop_depths(function: Function, loops: list[Loop] | None = None) -> dict[BasicBlock, int]:
    """How many natural loops each block is in."""
    depths = dict.fromkeys(function.blocks, 0)
    for loop in natural_loops(function) if loops is None else loops:
        for block in loop.blocks:
            depths[block] += 1
    return depths


def is_reducible(function: Function, dominators: Dominators | None = None) -> bool:
    """Whether every cycle is entered at one block: removing the edges to dominating headers leaves no cycle."""
    tree = dominators if dominators is not None else Dominators(function)
    waiting = dict.fromkeys(tree.order, 0)
    forward = {b: [s for s in dict.fromkeys(b.successors) if not tree.dominates(s, b)] for b in tree.order}
    for successors in forward.values():
        for successor in successors:
            waiting[successor] += 1
    ready = [block for block, count in waiting.items() if count == 0]
    done = 0
    while ready:
        block = ready.pop()
        done += 1
        for successor in forward[block]:
            waiting[successor] -= 1
            if waiting[successor] == 0:
                ready.append(successor)
    return done == len(tree.order)
