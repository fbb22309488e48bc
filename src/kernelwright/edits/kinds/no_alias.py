"""A pointer argument that shares no memory with anything else, nor with other threads, as ``__restrict__`` says in the source.

    before   define ptx_kernel void @k(ptr %in, ptr %out)          after   define ptx_kernel void @k(ptr noalias %in, ptr %out)
             ld.global.b32 %r1, [%in];                                     ld.global.nc.b32 %r1, [%in];

LLVM then hoists its loads over stores through other pointers, and reads it through the read-only cache where the kernel
never writes it. The meaning stays as long as the guard holds: at the launch nothing else points into that allocation. A
kernel that loads pointers from memory could reach it in ways that no launch shows: there the edit is inert. So it is where
threads may see each other's writes through the pointer (``edits/memory/sharing.py``), also where another edit makes it so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kernelwright.edits.draft import Draft, unchanged
from kernelwright.edits.edit_kind import EditKind
from kernelwright.edits.instruction_words import Words, describe_argument
from kernelwright.edits.json_fields import read_index
from kernelwright.edits.memory.sharing import seen_by_others
from kernelwright.edits.original import Original
from kernelwright.guards import Apart, LaunchFacts
from kernelwright.ir.types import PointerType
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class NoAlias:
    """Argument ``index`` shares no memory."""

    index: int

    def apply(self, draft: Draft) -> str | None:
        """Changes the draft, or says why it cannot."""
        refused = _refused(draft.original, self.index)
        if refused:
            return refused
        if self.index in draft.setting.apart:
            return f"argument {self.index} shares no memory already"
        draft.setting = replace(draft.setting, apart=draft.setting.apart | {self.index})
        draft.guards[Apart(self.index)] = None
        draft.conditions[self] = self._taken_back
        return None

    def _taken_back(self, draft: Draft) -> str | None:
        """Where the finished variant does not keep the promise, it is not made."""
        refused = seen_by_others(draft, self.index)
        if refused:
            draft.setting = replace(draft.setting, apart=draft.setting.apart - {self.index})
        return refused


def apart(original: Original, launches: Sequence[LaunchFacts]) -> Iterator[NoAlias]:
    """The pointers that shared no memory in any of these launches. Nothing for no launches."""
    for index in range(len(original.function.arguments)):
        if launches and not _refused(original, index) and all(Apart(index).holds(facts) for facts in launches):
            yield NoAlias(index)


def _refused(original: Original, index: int) -> str | None:
    arguments = original.function.arguments
    if index >= len(arguments):
        return f"the kernel has no argument {index}"
    argument = arguments[index]
    if not isinstance(argument.type, PointerType) or "byval" in argument.attributes:
        return f"argument {index} is no pointer"
    if "noalias" in argument.attributes.split():
        return f"argument {index} is known to share no memory"
    if original.finds_pointers:
        return "the kernel finds pointers in memory, which no launch shows"
    return seen_by_others(unchanged(original), index)


def in_words(original: Original, edit: NoAlias) -> Words:
    """Kind, sentence and place of the edit, for people."""
    what = describe_argument(original, edit.index)
    return Words("promise", f"no other argument reaches the memory behind '{what}'")


KIND = EditKind("no-alias", NoAlias, in_words, reads={"index": read_index}, known=apart, keeps_meaning=True)
