"""The loops of a leaf as a tree of what is executed in sequence: LOOP and UNROLL loops, and instructions.

BLOCK, THREAD and VECTOR loops and loops of one iteration are no nodes: their body stands in their place, since every thread
executes the whole text. Behind the outermost loop of a reduction that threads share, its parts are joined.
"""

from __future__ import annotations

from dataclasses import field
from functools import cmp_to_key

from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.computation.objects import Instruction, Reduction, Statement
from kernelwright.space.cuda_source.fused_loops import FusedLoop, FusedLoops
from kernelwright.space.cuda_source.joined_threads import shared_reductions


@dataclass(eq=False)
class Barrier:
    """All threads of the block wait for one another."""


@dataclass(eq=False)
class Join:
    """The threads that share a reduction put their parts together."""

    reduction: Reduction


@dataclass(eq=False)
class Sequence:
    """The body of a loop, or of the kernel where ``loop`` is None."""

    loop: FusedLoop | None
    body: list[Sequence | Instruction | Barrier | Join] = field(default_factory=list)


def loop_tree(loops: FusedLoops) -> Sequence:
    """The tree of a leaf, outermost loops first."""
    leaf, shared = loops.leaf, shared_reductions(loops)
    nodes: list[FusedLoop | Instruction] = [*loops.all, *loops.instructions]

    # A loop is where its first dim is.
    def statement(node: FusedLoop | Instruction) -> Statement:
        return node.dims[0] if isinstance(node, FusedLoop) else node

    outer = {
        node: [f for f in loops.all if f is not node and leaf.value("order", statement(node), f.dims[0]) == "INNER"]
        for node in nodes
    }
    children: dict[FusedLoop | None, list[FusedLoop | Instruction]] = {None: []}
    for node in nodes:
        parent = max(outer[node], key=lambda f: len(outer[f]), default=None)
        children.setdefault(parent, []).append(node)

    def precedes(a: FusedLoop | Instruction, b: FusedLoop | Instruction) -> int:
        return -1 if leaf.value("order", statement(a), statement(b)) == "BEFORE" else 1

    def fill(sequence: Sequence, parent: FusedLoop | None) -> Sequence:
        for node in sorted(children.get(parent, []), key=cmp_to_key(precedes)):
            if isinstance(node, Instruction):
                sequence.body.append(node)
                continue
            if node.kind in ("LOOP", "UNROLL") and node.varies:
                sequence.body.append(fill(Sequence(node), node))
            else:
                fill(sequence, node)
            sequence.body += [Join(reduction) for reduction in shared.get(node, ())]
        return sequence

    return fill(Sequence(None), None)
