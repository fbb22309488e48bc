"""Deleting an instruction (paper 000, section 3.4).

    before   %sum = fadd float %a, %b          after
             store float %sum, ptr %p                   store float %a, ptr %p

What used the deleted value uses the recorded one instead: one of its own operands, another value that is there, or a
constant.
"""

from __future__ import annotations

from collections.abc import Iterator

from kernelwright.edits.barriers import is_barrier, is_free_barrier
from kernelwright.edits.dice import Dice
from kernelwright.edits.draft import Draft
from kernelwright.edits.edit_kind import EditKind, Listing
from kernelwright.edits.instruction_words import Words, describe_instruction, describe_value
from kernelwright.edits.json_fields import optional, read_id, read_value
from kernelwright.edits.original import Id, Original
from kernelwright.lazy_dataclasses import dataclass

FIRST, NEAREST = 2, 4
"""Values that a load is listed to be deleted in favour of: the kernel's first, which depend on nothing else and are often what
is asked, and the nearest ones. In this order: of two that come to the same, the one that depends on less leaves more to go."""


@dataclass(frozen=True)
class Delete:
    """Deletes ``subject``. ``value``, with its type (``float %a``), takes the place of its own."""

    subject: Id
    value: str | None = None

    def apply(self, draft: Draft) -> str | None:
        """Changes the draft, or says why it cannot."""
        refused = draft.refuse(self.subject)
        if refused:
            return refused
        value = draft.untyped(self.value, draft.known(self.subject).type) if self.value is not None else None
        draft.delete(self.subject, value)
        return None


def draw(dice: Dice) -> Delete | None:
    """Any instruction but phis and terminators; half of the time an operand of its own takes its place, if one can."""
    draft = dice.draft
    subject = dice.site(dice.sites.free)
    if subject is None:
        return None
    node = draft.known(subject)
    if not node.result:
        return Delete(subject)
    own = _own_operands(draft, subject)
    if not own or dice.random.random() < 0.5:
        own = dice.values(node.type, draft.place_of((subject, 0)), (node.result,)) or own
    return Delete(subject, f"{node.type} {dice.one(own)}" if own else None)


def deletions(original: Original) -> Iterator[Delete]:
    """Every deletion with an own operand in place of the value, with the plainest constants where there is none."""
    draft = Draft(original)
    for id in original.free:
        node = original.nodes[id]
        if not node.result:
            yield Delete(id)
            continue
        values = _own_operands(draft, id) or original.constants.get(node.type, [])[:2]
        for value in dict.fromkeys(values):
            yield Delete(id, f"{node.type} {value}")


def reuses(original: Original) -> Iterator[Delete]:
    """Every load deleted in favour of what was loaded before: redundant loads, and answers that are read off the question
    (paper 000, sections 5.1 and 5.2)."""
    draft = Draft(original)
    loaded = {node.result for node in original.nodes.values() if node.instruction.opcode == "load"}
    for id in original.free:
        node = original.nodes[id]
        if node.instruction.opcode != "load":
            continue
        visible = draft.visible(node.type, draft.place_of((id, 0)))
        earlier = [value for value in visible if value in loaded and value != node.result]
        for value in dict.fromkeys(earlier[::-1][:FIRST] + earlier[:NEAREST]):
            yield Delete(id, f"{node.type} {value}")


def _own_operands(draft: Draft, id: Id) -> list[str]:
    node = draft.known(id)
    return [v for v, type in zip(draft.operands(id), node.operand_types, strict=True) if type == node.type]


def deletions_of_memory(original: Original) -> Iterator[Delete]:
    """Those of ``deletions`` that delete accesses to memory; barriers have a kind of their own."""
    for edit in deletions(original):
        node = original.nodes[edit.subject]
        if node.touches_memory and not is_free_barrier(node):
            yield edit


def deletions_of_the_rest(original: Original) -> Iterator[Delete]:
    """Those of ``deletions`` that touch no memory."""
    for edit in deletions(original):
        if not original.nodes[edit.subject].touches_memory:
            yield edit


def in_words(original: Original, edit: Delete) -> Words:
    """Kind, sentence and place of the edit, for people."""
    what, location = describe_instruction(original, edit.subject)
    node = original.nodes.get(edit.subject)
    value = describe_value(edit.value) if edit.value else ""
    if node is not None and node.type == "i1" and value in ("true", "false"):
        decides = any(user in original.latches for user, _ in original.uses.get(node.result, ()))
        kind = "skipped iterations" if decides else "condition"
        return Words(kind, f"{what} is gone: it is always {value}", location)
    takes = f"; {value} takes its place" if value else ""
    return Words(_kind_of_gone(original, edit.subject, value), f"{what} is gone{takes}", location)


_GONE = {"store": "redundant store", "load": "redundant load"}


def _kind_of_gone(original: Original, id: Id, value: str) -> str:
    node = original.nodes.get(id)
    if node is not None and is_barrier(node.instruction):
        return "removed barrier"
    if node is not None and node.instruction.opcode in _GONE:
        return _GONE[node.instruction.opcode]
    return "reused value" if value.startswith("%") else "specialised constant" if value else "redundant work"


KIND = EditKind(
    "delete",
    Delete,
    in_words,
    reads={"subject": read_id, "value": optional(read_value)},
    draw=draw,
    share=36.0,
    in_paper=True,
    listed=(Listing(80, deletions_of_memory), Listing(100, deletions_of_the_rest), Listing(110, reuses)),
)
