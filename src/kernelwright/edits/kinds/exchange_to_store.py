"""An atomic exchange whose old value is unused, as an atomic store.

    before   %old = atomicrmw xchg ptr %p, i32 1 monotonic          after   store atomic i32 1, ptr %p monotonic
             atom.relaxed.gpu.global.exch.b32 %r1, [%rd1], 1;               st.relaxed.gpu.global.b32 [%rd1], 1;

The meaning stays: both write the word in one go, in the same order. But exchanges of one word take turns, the lanes of a warp
too, and stores of a warp to one word are one request. PTX has no reduction for it (``red.exch``), so compilers keep it.

In a kernel with fences, or accesses that acquire or release, the edit is inert: an exchange also reads, so that a fence behind it
acquires what an earlier writer of the word released, and one before it keeps other accesses from being seen after it. A store
does not read (llvm-project issue 60418).

Should another edit ask for the old value after all, it gets the new one.
"""

from __future__ import annotations

from collections.abc import Iterator

from kernelwright.edits.dice import Dice
from kernelwright.edits.draft import Draft
from kernelwright.edits.edit_kind import SAME_RESULT, EditKind, Listing
from kernelwright.edits.instruction_words import Words, describe_instruction
from kernelwright.edits.json_fields import read_id
from kernelwright.edits.line_templates import AS_STORE
from kernelwright.edits.memory.ordering import has_fences
from kernelwright.edits.original import Id, Node, Original
from kernelwright.lazy_dataclasses import dataclass

TYPES = ("i8", "i16", "i32", "i64", "float", "double", "ptr")


@dataclass(frozen=True)
class ExchangeToStore:
    """The exchange ``subject`` stores, and does not look."""

    subject: Id

    def apply(self, draft: Draft) -> str | None:
        """Changes the draft, or says why it cannot."""
        refused = draft.refuse(self.subject)
        if refused:
            return refused
        node = draft.known(self.subject)
        if not is_exchange(node):
            return f"instruction {self.subject} is no exchange that a store could stand for"
        if node.result in draft.original.uses:
            return f"the old value that instruction {self.subject} finds is used"
        if has_fences(draft.original):
            return "the kernel has fences, and what an exchange orders a store does not"
        if AS_STORE in draft.extras.get(self.subject, ()):
            return f"instruction {self.subject} is a store already"
        draft.extras[self.subject] = (AS_STORE,)
        return None


def is_exchange(node: Node) -> bool:
    """Whether it is an exchange that could be a store, if what it finds were unused."""
    i = node.instruction
    if not node.is_free or i.opcode != "atomicrmw" or i.operation != "xchg":
        return False
    return i.ordering == "monotonic" and node.type in TYPES


def draw(dice: Dice) -> ExchangeToStore | None:
    """Any exchange that finds what nothing uses, and is none of those already."""
    draft = dice.draft
    if has_fences(draft.original):
        return None
    subject = dice.site(dice.sites.those(is_exchange))
    if subject is None or AS_STORE in draft.extras.get(subject, ()):
        return None
    return None if draft.known(subject).result in draft.original.uses else ExchangeToStore(subject)


def exchanges(original: Original) -> Iterator[ExchangeToStore]:
    """Every exchange that finds what nothing uses, in a kernel without fences."""
    for id in original.free if not has_fences(original) else ():
        node = original.nodes[id]
        if is_exchange(node) and node.result not in original.uses:
            yield ExchangeToStore(id)


def in_words(original: Original, edit: ExchangeToStore) -> Words:
    """Kind, sentence and place of the edit, for people."""
    what, location = describe_instruction(original, edit.subject)
    return Words("unused value", f"{what} is a store: the value it finds is unused", location)


# Exchanges are few and all listed, so none is drawn by default.
KIND = EditKind(
    "exchange-to-store",
    ExchangeToStore,
    in_words,
    reads={"subject": read_id},
    draw=draw,
    listed=(Listing(10, exchanges),),
    relies_on=SAME_RESULT,
    keeps_meaning=True,
)
