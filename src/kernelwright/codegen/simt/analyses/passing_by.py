"""Where a thread has passed a barrier, or an operation of its warp, by: for ``kw check``.

    if (x) __syncthreads();     the threads without x are at "out" while the others wait: they have gone on behind the point
    out[i] = 1;                 where both ways meet

A block does so for a point when every way from the point leads through it, none leads from it to the point, and it can be
reached without the point, or after fewer rounds of a loop. A thread that returns early does not come through such a block: the
ways of those meet at the end of the kernel, which is nothing that a thread does. The optimiser may put a store that both ways end
with there; such a store has no line, since it has two.
"""

from __future__ import annotations

from kernelwright.codegen.simt.program.control_flow import dominators, post_dominators
from kernelwright.codegen.simt.program.program import Block, Op, Program
from kernelwright.ir.debug import source_location
from kernelwright.ir.module import Instruction

_EFFECTS = frozenset(["store", "atomic", "copy", "fill", "print", "warp", "arrive", "trap"])


def passing_by(program: Program) -> dict[Block, tuple[Block, Instruction]]:
    """By the block that ends with a barrier or a gather: the block behind it that says so, and its first instruction with a line."""
    points = [b for b in program.blocks if _is_point(b)]
    if not points:
        return {}
    above, below = dominators(program.blocks), post_dominators(program.blocks)
    found = {}
    for point in points:
        # Who leaves a loop has been at the points in it, but not as often as others, perhaps.
        in_loop = point in _reachable_from(point)
        block = below[point]
        while block is not None:
            if point not in _reachable_from(block) and (in_loop or not _dominates(above, point, block)):
                place = _does_something(block)
                if place is not None:
                    found[point] = block, place
                    break
            block = below[block]
    return found


def _is_point(block: Block) -> bool:
    detail = block.term.detail
    if block.term.code == "gather":
        return str(detail.name) != "yield"
    return block.term.code == "barrier" and not detail.threads


def _does_something(block: Block) -> Instruction | None:
    """The first instruction with a line of a block that a thread does not only end in."""
    ops = [*block.ops, block.term]
    lines = [op.origin for op in ops if op.origin is not None and _has_line(op)]
    if not lines:
        return None
    goes_on = block.term.code in ("branch", "switch", "barrier", "gather")
    return lines[0] if goes_on or any(op.code in _EFFECTS and _has_line(op) for op in block.ops) else None


def _has_line(op: Op) -> bool:
    place = source_location(op.origin) if op.origin is not None else None
    return place is not None and place.line > 0


def _reachable_from(block: Block) -> set[Block]:
    """The blocks that a way of one step or more leads to."""
    found: set[Block] = set()
    waiting = list(block.succs)
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += one.succs
    return found


def _dominates(above: dict[Block, Block], one: Block, other: Block) -> bool:
    while other is not one:
        if above[other] is other:
            return False
        other = above[other]
    return True
