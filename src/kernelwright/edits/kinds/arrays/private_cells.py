"""A shared array of which every thread uses one cell, its own, as a register.

    before   __shared__ float next[16][16];                  after   float next = 0;
             next[threadIdx.y][threadIdx.x] = sum;                   next = sum;
             __syncthreads();                                        __syncthreads();
             now[threadIdx.y][threadIdx.x] = next[...][...];         now[threadIdx.y][threadIdx.x] = next;

What a thread leaves for itself goes by way of shared memory in published stencils (hotspot, pathfinder), because the array stands
beside one that is shared in earnest. No compiler takes it out of there: it does not know which blocks the kernel is launched with.

The meaning stays as long as the guards hold (``block.x <= 16``, ``block.y <= 16``, ``block.z <= 1``). All of the kernel's accesses to
the array are plain loads and stores of one type at one and the same sum of the thread's numbers, so each thread has one cell; under the
guards the cells of two threads are different, and in the array; the array is of the kernel's own, and no address of it goes anywhere
else. So only the thread itself reads or writes its cell, and barriers have nothing to order there. A cell that is read before it is
written holds zero, where the original's holds anything.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import lru_cache

from kernelwright.edits.draft import Draft, PrivateSlot, unchanged
from kernelwright.edits.edit_kind import EditKind
from kernelwright.edits.instruction_words import Words, describe_instruction
from kernelwright.edits.json_fields import read_id
from kernelwright.edits.memory.thread_cells import Cells, array_of, cells_of
from kernelwright.edits.original import Id, Node, Original
from kernelwright.guards import LaunchFacts
from kernelwright.ir import Instruction, parse_module
from kernelwright.lazy_dataclasses import dataclass

TYPES = ("i8", "i16", "i32", "i64", "half", "float", "double")


@dataclass(frozen=True)
class PrivateCells:
    """The shared array that ``subject``, a load or a store, goes to is a variable of each thread."""

    subject: Id

    def apply(self, draft: Draft) -> str | None:
        """Changes the draft, or says why it cannot."""
        cells = _cells(draft, self.subject)
        if isinstance(cells, str):
            return cells
        slot, zero = slot_names(cells.array)
        entry = draft.order(0)[0]
        made, cleared = _slot(cells.type)
        origin = draft.known(self.subject).origin
        nothing = draft.original.zero(cells.type)
        draft.insert(Node(slot, origin, made, f"%{slot}", "ptr", (), (), (), -1, (), False), entry)
        draft.insert(
            Node(zero, origin, cleared, "", "void", (cells.type, "ptr"), (nothing, f"%{slot}"), (), -1, (), False),
            entry,
        )
        for use in cells.accesses:
            draft.set_operand(use, f"%{slot}")
        for guard in cells.guards:
            draft.guards[guard] = None
        draft.private_cells[cells.array] = PrivateSlot(slot, zero, cells.accesses, cells.guards)
        return None


def slot_names(array: str) -> tuple[str, str]:
    """What the instructions are called that make the variable and clear it."""
    slot, zero = (hashlib.blake2b(f"{what} {array}".encode(), digest_size=5).hexdigest() for what in ("cell", "clear"))
    return f"c{slot}", f"c{zero}"


def _cells(draft: Draft, subject: Id) -> Cells | str:
    if not draft.is_live(subject):
        return f"there is no instruction {subject}"
    array = array_of(draft, subject)
    if array is None:
        return f"instruction {subject} is no plain access to a shared array"
    if array in draft.private_cells:
        return f"{array} is private already"
    cells = cells_of(draft, array)
    if not isinstance(cells, str) and cells.type not in TYPES:
        return f"{array} holds {cells.type}, which is no plain number"
    return cells


@lru_cache
def _slot(type: str) -> tuple[Instruction, Instruction]:
    zero = "0" if type[0] == "i" else "0.0"
    body = f"  %slot = alloca {type}\n  store {type} {zero}, ptr %slot\n  ret void\n"
    made, cleared, _ = parse_module(f"define void @f() {{\n{body}}}\n").functions["f"].instructions()
    return made, cleared


def own_arrays(original: Original, launches: Sequence[LaunchFacts]) -> Iterator[PrivateCells]:
    """One edit for each array that can be private in all these launches, by its first access. Nothing for no launches."""
    draft, seen = unchanged(original), set[str]()
    for id in original.nodes if launches else ():
        array = array_of(draft, id)
        if array is None or array in seen:
            continue
        seen.add(array)
        cells = _cells(draft, id)
        if not isinstance(cells, str) and all(guard.holds(facts) for guard in cells.guards for facts in launches):
            yield PrivateCells(id)


def in_words(original: Original, edit: PrivateCells) -> Words:
    """Kind, sentence and place of the edit, for people."""
    what, location = describe_instruction(original, edit.subject)
    array = array_of(unchanged(original), edit.subject) if edit.subject in original.nodes else None
    called = readable_array(array) if array else f"of {what}"
    return Words("specialised input", f"the shared array {called} is a variable of each thread", location)


def readable_array(array: str) -> str:
    """``_ZZ7advanceiE4next`` is ``next``."""
    tail = array.rsplit("E", 1)[-1]
    return tail.lstrip("0123456789") or array


KIND = EditKind(
    "private-cells", PrivateCells, in_words, reads={"subject": read_id}, known=own_arrays, keeps_meaning=True
)
