"""What orders the accesses of different threads in a kernel, and what lies between two places of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from kernelwright.edits.draft import Draft
from kernelwright.edits.original import Id, Node, Original
from kernelwright.ir import Function, InlineAsm
from kernelwright.ir.fences import orders_memory

_WAITS = re.compile(r"llvm\.nvvm\.(barrier|bar[.]|bar$)(?!.*cluster)")
_SIGNALS = re.compile(r"llvm\.nvvm\.(mbarrier|barrier\.cluster|cluster|griddepcontrol|cp\.async|atomic|.*bulk)")
SHARED = "addrspace(3)"


def waits(node: Node) -> bool:
    """Whether threads of a block or a warp wait there for each other."""
    callee = node.instruction.callee if node.instruction.opcode == "call" else None
    return isinstance(callee, Function) and _WAITS.match(callee.name) is not None


def signals(node: Node) -> bool:
    """Whether other threads may have gone on meanwhile, or go on after it, without a barrier: fences, accesses that acquire or
    release, volatile ones outside shared memory, assembly with effects, functions."""
    i = node.instruction
    if orders_memory(i):
        return True
    if i.opcode in ("load", "store", "atomicrmw", "cmpxchg"):
        return i.volatile and not any(type.endswith(SHARED) for type in node.operand_types)
    if i.opcode != "call":
        return False
    callee = i.callee
    if isinstance(callee, InlineAsm):
        return bool(callee.text) and ("sideeffect" in callee.flags or "memory" in callee.constraints)
    return not isinstance(callee, Function) or not callee.is_intrinsic or _SIGNALS.match(callee.name) is not None


def has_fences(original: Original) -> bool:
    """Whether the kernel has a fence, or an access that acquires or releases."""
    return bool(original.those(_orders))


def _orders(node: Node) -> bool:
    return orders_memory(node.instruction)


def crossing(draft: Draft, id: Id, place: int, *, copied: bool = False) -> str | None:
    """Why an access cannot go to block ``place``, or elsewhere in its own; None when it can.

    In a kernel with fences the virtual GPU's runs do not show every order that a GPU may have, so no access goes past one: there
    must be none in any block on a path between the two places. Of what is ``copied`` the original stays: one more barrier does no
    harm.
    """
    node = draft.known(id)
    if not node.touches_memory or (copied and waits(node)) or not has_fences(draft.original):
        return None
    fenced = {draft.block_of(fence) for fence in draft.original.those(_orders)}
    home = draft.block_of(id)
    if fenced & blocks_between(draft.original, home, place):
        return f"a fence may stand between instruction {id} and the place it is put to"
    return None


def blocks_between(original: Original, one: int, other: int) -> set[int]:
    """The blocks on paths from one block to the other, in both directions; both of them included."""
    after, before = successors(original).__getitem__, predecessors(original).__getitem__
    found = {one, other}
    for start, end in ((one, other), (other, one)):
        found |= reached(after, [start]) & reached(before, [end])
    return found


def reached(edges: Callable[[int], Iterable[int]], starts: Iterable[int]) -> set[int]:
    """What can be reached along ``edges``; the starts included."""
    seen, waiting = set(starts), list(starts)
    while waiting:
        for block in edges(waiting.pop()):
            if block not in seen:
                seen.add(block)
                waiting.append(block)
    return seen


def successors(original: Original) -> list[list[int]]:
    """By block, where control may go; edits change conditions, never targets."""
    blocks = original.function.blocks
    number = {block: n for n, block in enumerate(blocks)}
    return [[number[each] for each in block.successors] for block in blocks]


def predecessors(original: Original) -> list[list[int]]:
    """By block, where control may come from."""
    before: list[list[int]] = [[] for _ in original.order]
    for block, following in enumerate(successors(original)):
        for each in following:
            before[each].append(block)
    return before
