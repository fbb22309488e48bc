"""How a load goes through the caches.

    before   %a = load float, ptr %p                    after   %a = load float, ptr %p, !invariant.load !{}
             ld.global.b32 %r1, [%rd1];                         ld.global.nc.b32 %r1, [%rd1];

``nc`` goes through the read-only cache, and lets LLVM hoist and join the load; nothing may write the word while the kernel runs.
So its address must come from one pointer argument that the kernel only reads through, and at the launch nothing else may point
into that allocation (guard ``Apart``); else it is inert.

The others keep the meaning: ``cg`` leaves the first level out, ``cs`` expects no second use, ``lu`` the last one, ``no_allocate``
takes no line of the first level. LLVM has no form for those (it ignores ``!nontemporal``), so they become ``ld.global.cg.b32`` in
inline assembly, which stays where it is. The virtual GPU's time does not know the difference.
"""

from __future__ import annotations

from collections.abc import Iterator

from kernelwright.edits.dice import Dice
from kernelwright.edits.draft import Draft, unchanged
from kernelwright.edits.edit_kind import SAME_RESULT, EditKind
from kernelwright.edits.instruction_words import Words, describe_instruction
from kernelwright.edits.json_fields import read_id, read_word
from kernelwright.edits.line_templates import POLICIES, WIDTHS
from kernelwright.edits.memory.pointers import Pointers
from kernelwright.edits.memory.sharing import writes_through
from kernelwright.edits.original import Id, Node, Original
from kernelwright.guards import Apart
from kernelwright.lazy_dataclasses import dataclass

READ_ONLY = "nc"


@dataclass(frozen=True)
class CachePolicy:
    """The load ``subject`` gets ``policy``."""

    subject: Id
    policy: str

    def apply(self, draft: Draft) -> str | None:
        """Changes the draft, or says why it cannot."""
        refused = draft.refuse(self.subject)
        if refused:
            return refused
        if self.policy not in POLICIES:
            return f"there is no cache policy {self.policy!r}"
        if self.policy not in policies(draft.known(self.subject)):
            return f"instruction {self.subject} is no load that can be {self.policy}"
        if self.policy in draft.extras.get(self.subject, ()):
            return f"instruction {self.subject} is {self.policy} already"
        if self.policy == READ_ONLY:
            # Asked when all edits are done and repaired: repair may give the load another address.
            draft.conditions[self] = self._taken_back
        draft.extras[self.subject] = (self.policy,)
        return None

    def _taken_back(self, draft: Draft) -> str | None:
        """The load and its copies, as the other edits left them."""
        refused = None
        for id in [id for id, extras in draft.extras.items() if READ_ONLY in extras and id not in draft.dead]:
            if id == self.subject or draft.known(id).origin == draft.known(self.subject).origin:
                source = _read_only_source(draft, id)
                if isinstance(source, str):
                    del draft.extras[id]
                    refused = source if id == self.subject else refused
                else:
                    draft.guards[Apart(source)] = None
        return refused


def _read_only_source(draft: Draft, load: Id) -> int | str:
    """The argument behind the words that a load reads and that nothing writes; or why nothing says that."""
    if draft.original.finds_pointers:
        return "the kernel finds pointers in memory, through which something may write"
    sources = Pointers(draft).roots(draft.operands(load)[0])
    source = next(iter(sources), None)
    arguments = draft.original.function.arguments
    if source is None or len(sources) > 1 or "byval" in arguments[source].attributes:
        return f"the address of instruction {load} does not come from one pointer argument"
    if writes_through(draft, source):
        return f"the kernel may write through argument {source}, from which instruction {load} reads"
    return source


def is_open(node: Node) -> bool:
    """Whether a load can have a policy at all."""
    return node.is_free and bool(policies(node))


def policies(node: Node) -> tuple[str, ...]:
    """What a load can be: nothing when it is volatile, atomic or from a space of its own; assembly knows plain words only."""
    i = node.instruction
    if i.opcode != "load" or i.volatile or i.ordering or node.operand_types[0] not in ("ptr", "ptr addrspace(1)"):
        return ()
    if node.type not in WIDTHS:
        return ("nc",)
    is_global = node.operand_types[0] == "ptr addrspace(1)"
    return tuple(p for p in POLICIES if is_global or p != "no_allocate")


def draw(dice: Dice) -> CachePolicy | None:
    """Any load, and any policy it can have and has not."""
    draft = dice.draft
    subject = dice.site(dice.sites.those(is_open))
    if subject is None:
        return None
    had = draft.extras.get(subject, ())
    others = [p for p in policies(draft.known(subject)) if p not in had]
    if READ_ONLY in others and isinstance(_read_only_source(draft, subject), str):
        others.remove(READ_ONLY)
    return CachePolicy(subject, dice.one(others)) if others else None


def cache_policies(original: Original) -> Iterator[CachePolicy]:
    """Every load with each policy it can have."""
    for id in original.free:
        for policy in policies(original.nodes[id]):
            if policy != READ_ONLY or not isinstance(_read_only_source(unchanged(original), id), str):
                yield CachePolicy(id, policy)


def in_words(original: Original, edit: CachePolicy) -> Words:
    """Kind, sentence and place of the edit, for people."""
    what, location = describe_instruction(original, edit.subject)
    return Words("caching", f"{what} reads with the policy {edit.policy}", location)


# It is neither drawn by default nor listed: a real GPU gains by it, the virtual one does not.
KIND = EditKind(
    "cache-policy",
    CachePolicy,
    in_words,
    reads={"subject": read_id, "policy": read_word},
    draw=draw,
    relies_on=SAME_RESULT,
    keeps_meaning=True,
)
