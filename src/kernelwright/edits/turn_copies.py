"""What ``collect-turns`` asks for, done on a variant that has all its other edits: turns copied, their loads collected.

The result is a variant of a kernel of its own, the one with the copies. So what holds of edits holds of each of the two steps.
"""

from __future__ import annotations

from kernelwright.edits.draft import Draft
from kernelwright.edits.kinds.loads.collect_loads import CollectLoads
from kernelwright.edits.memory.ordering import successors
from kernelwright.edits.original import Id, Original
from kernelwright.edits.repair import repair
from kernelwright.ir import parse_module
from kernelwright.ir.loop_copies import copy_turns
from kernelwright.lazy_dataclasses import dataclass


def collected_turns(draft: Draft) -> tuple[Original, Draft, dict[Id, str]]:
    """The variant with its loops copied, a draft of it in which loads are collected, and why that could not be done, by the branch that
    closes a loop. Such a loop is as it was."""
    reasons: dict[Id, str] = {}
    while True:
        copied, loops = _copied(draft, {id: n for id, n in draft.collected.items() if id not in reasons}, reasons)
        made = Draft(copied)
        refused = {id: reason for id, loop in loops.items() if (reason := _collect(made, loop)) is not None}
        if not refused:
            repair(made)
            return copied, made, reasons
        reasons |= refused


def ends_of(original: Original, latch: Id) -> tuple[int, int]:
    """The block that a branch back to a loop's header ends, and the header."""
    end = original.nodes[latch].block
    following = successors(original)[end]
    return end, next(block for block in original.above[end] if block in following)


@dataclass(frozen=True)
class _Loop:
    """A loop with its turns copied."""

    edit: CollectLoads
    second: int
    """The block with which the second turn begins."""


def _copied(draft: Draft, wanted: dict[Id, int], reasons: dict[Id, str]) -> tuple[Original, dict[Id, _Loop]]:
    """The variant with some of its loops copied."""
    kernel = draft.original.kernel
    module = parse_module(draft.text())
    function = module.functions[kernel]
    blocks = list(function.blocks)
    turns = {}
    for id, count in wanted.items():
        # Edits leave the blocks as they are, so their numbers are those of the original.
        end, begin = ends_of(draft.original, id)
        try:
            turns[id] = blocks[begin], copy_turns(blocks[end], blocks[begin], count)[1]
        except ValueError as error:
            reasons[id] = str(error)
    place = {block: n for n, block in enumerate(function.blocks)}
    copied = Original(module, kernel)
    return copied, {
        id: _Loop(CollectLoads(copied.order[place[header]][-1]), place[second])
        for id, (header, second) in turns.items()
    }


def _collect(made: Draft, loop: _Loop) -> str | None:
    """Collects the loads of a loop's turns, or says why that is nothing."""
    reason = loop.edit.apply(made)
    if reason is not None:
        return reason
    original = made.original
    further = (id for id in made.moved if loop.second in original.dominated_by[original.nodes[id].block])
    if not any(original.nodes[id].instruction.opcode == "load" for id in further):
        return "no load of a further turn could stand before the first"
    made.applied.add(loop.edit)
    return None
