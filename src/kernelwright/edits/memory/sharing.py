"""Whether a pointer argument can be said to share nothing, other threads of the launch included.

``noalias`` says more than that buffers do not overlap: while the kernel runs, no other thread changes what is accessed through the
pointer, nor sees it change (LLVM's language reference). LLVM then takes loads from before a barrier for loads behind it:

    %x = load i32, ptr %own          ; %p is noalias
    call void @llvm.nvvm.barrier0()  ; other threads write to %own meanwhile
    %y = load i32, ptr %own          ; becomes %x

It holds, wherever the allocation is reached through this pointer alone (guard ``Apart``), of a kernel that only reads through it.
Of one that writes it holds if every thread does all its accesses through it between the same two barriers, and nothing else orders
the threads: then two threads that touch one word race, whatever is promised, and the original does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kernelwright.edits.draft import Draft
from kernelwright.edits.memory.ordering import predecessors, reached, signals, successors, waits
from kernelwright.edits.memory.pointers import Access, Pointers
from kernelwright.edits.original import Id


def writes_through(draft: Draft, index: int) -> bool:
    """Whether the kernel may write through argument ``index``."""
    return any(each.writes for each in _accesses(draft, index))


def seen_by_others(draft: Draft, index: int) -> str | None:
    """Why threads may see each other's writes through argument ``index`` while the kernel runs; None when they cannot."""
    accesses = _accesses(draft, index)
    if not any(each.writes for each in accesses):
        return None
    live = [id for id in (*draft.original.nodes, *draft.clones) if id not in draft.dead]
    if any(signals(draft.known(id)) for id in live):
        return f"the kernel writes through argument {index}, and threads may signal to each other that they did"
    barriers = [id for id in live if waits(draft.known(id))]
    if any(_has_on_both_sides(draft, barrier, accesses) for barrier in barriers):
        return f"the kernel writes through argument {index} and uses it on both sides of a barrier: other threads may write there"
    return None


def _accesses(draft: Draft, index: int) -> Sequence[Access]:
    return [each for each in Pointers(draft).accesses() if index in each.arguments]


def _has_on_both_sides(draft: Draft, barrier: Id, accesses: Sequence[Access]) -> bool:
    """Whether a path leads from an access over the barrier to an access."""
    home, place = draft.block_of(barrier), _place(draft, barrier)
    after, before = (
        reached(edges.__getitem__, edges[home]) for edges in (successors(draft.original), predecessors(draft.original))
    )

    def lies(blocks: Iterable[int], *, later: bool) -> bool:
        for each in accesses:
            block = draft.block_of(each.id)
            if block in blocks or (block == home and (_place(draft, each.id) > place) == later):
                return True
        return False

    return lies(before, later=False) and lies(after, later=True)


def _place(draft: Draft, id: Id) -> int:
    return draft.order(draft.block_of(id)).index(id)
