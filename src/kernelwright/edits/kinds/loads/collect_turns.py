"""The loads of several turns of a loop together, before the first of these turns.

    loop:                                        after   loop:
      %i = phi i32 [0, %a], [%j, %next]                    %x = load i32, ptr %at
      %at = getelementptr i32, ptr %q, i32 %i              %j = add i32 %i, 1
      %x = load i32, ptr %at                               %more = icmp slt i32 %j, %n
      call void @use(i32 %x)                               %from = select i1 %more, ptr %at.1, ptr %q
      call void @llvm.nvvm.barrier0()                      %x.1 = load i32, ptr %from
      %j = add i32 %i, 1                                   call void @use(i32 %x)
      %more = icmp slt i32 %j, %n                          call void @llvm.nvvm.barrier0()
      br i1 %more, label %loop, label %end                 br i1 %more, label %turn.1, label %end
                                                         turn.1:
                                                           call void @use(i32 %x.1)
                                                           ...

A thread that waits for memory in every turn waits once for several. The turns are copied with their ways out
(``ir/loop_copies.py``), so that nothing has to be known of how many there are, then their loads are collected as ``collect-loads``
does: masked where a turn may not come, over barriers where nothing writes what they read. The edit is made when all others of its kernel
are, on what they have left: it changes the flow of control, which no other edit does.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product

from kernelwright.edits.draft import Draft, unchanged
from kernelwright.edits.edit_kind import SAME_RESULT, EditKind, Listing
from kernelwright.edits.instruction_words import Words
from kernelwright.edits.json_fields import read_id, read_number
from kernelwright.edits.kinds.loads.collect_loads import Places
from kernelwright.edits.kinds.loads.hoist_loads import is_plain_load
from kernelwright.edits.memory.ordering import predecessors
from kernelwright.edits.original import Id, Original
from kernelwright.edits.turn_copies import collected_turns, ends_of
from kernelwright.ir.graph import loop_body
from kernelwright.lazy_dataclasses import dataclass

FIRST = 4
"""The count that is tried of every loop; it pays most often."""
OTHERS = (2, 8)
"""Those that are tried where there is time."""
LARGEST = 16


@dataclass(frozen=True)
class CollectTurns:
    """The loop that ``subject``, a branch back to its header, closes: the loads of ``count`` turns together."""

    subject: Id
    count: int

    def apply(self, draft: Draft) -> str | None:
        """Asks for it, or says why it cannot be. The last one of a loop is in effect."""
        if self.subject not in draft.original.latches:
            return f"instruction {self.subject} closes no loop"
        if not 2 <= self.count <= LARGEST:
            return f"no loads of {self.count} turns are collected"
        if draft.collected.get(self.subject) == self.count:
            return f"the loads of {self.count} turns are together already"
        draft.collected[self.subject] = self.count
        return None


def turns(original: Original) -> Iterator[CollectTurns]:
    """Innermost loops of which a further turn has a load that could stand before the first one."""
    for latch in _loops(original):
        yield CollectTurns(latch, FIRST)


def more_turns(original: Original) -> Iterator[CollectTurns]:
    """The same loops with the other counts."""
    for latch, count in product(_loops(original), OTHERS):
        yield CollectTurns(latch, count)


@lru_cache(maxsize=16)
def _loops(original: Original) -> list[Id]:
    """Found once for both listings: each loop is copied to see whether it can be."""
    places = Places(unchanged(original))
    bodies = {latch: body_of(original, latch) for latch in original.latches}
    closing = [original.nodes[latch].block for latch in original.latches]
    innermost = [latch for latch, body in bodies.items() if sum(block in body for block in closing) == 1]
    return [latch for latch in innermost if _has_free_load(places, bodies[latch]) and _can_be(original, latch)]


def _can_be(original: Original, latch: Id) -> bool:
    draft = Draft(original)
    draft.collected[latch] = 2
    return not collected_turns(draft)[2]


def body_of(original: Original, latch: Id) -> set[int]:
    """The blocks of the loop that a branch closes."""
    end, header = ends_of(original, latch)
    return loop_body(header, [end], predecessors(original).__getitem__)


def _has_free_load(places: Places, body: set[int]) -> bool:
    """Whether a loop has a load from memory of an argument's that the loop does not write."""
    draft = places.draft
    written = frozenset[int]().union(*(places.writes.get(id, ()) for block in body for id in draft.order(block)))
    loads = (id for block in body for id in draft.order(block) if is_plain_load(draft.known(id)))
    sources = (places.pointers.roots(draft.operands(id)[0]) for id in loads)
    return any(each and not each & written for each in sources)


def in_words(original: Original, edit: CollectTurns) -> Words:
    """Kind, sentence and place of the edit, for people."""
    location = original.location(edit.subject)
    return Words(
        "order", f"the loads of {edit.count} turns of the loop stand together before the first of them", location
    )


KIND = EditKind(
    "collect-turns",
    CollectTurns,
    in_words,
    reads={"subject": read_id, "count": read_number},
    listed=(Listing(17, turns), Listing(45, more_turns)),
    relies_on=SAME_RESULT,
    keeps_meaning=True,
)
