"""An integer argument between two bounds, which it keeps in launches of other sizes, too.

    before   define ptx_kernel void @k(ptr %p, i32 %n)      after   define ptx_kernel void @k(ptr %p, i32 range(i32 1, 4096) %n)

LLVM then knows the sign of what is computed from it, that products do not overflow, and which checks always hold. The meaning stays as
long as the guards hold (``argument 1 >= 1``, ``argument 1 <= 4095``): unlike a fixed argument it is no promise of one size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kernelwright.edits.draft import Draft
from kernelwright.edits.edit_kind import EditKind
from kernelwright.edits.instruction_words import Words, describe_argument
from kernelwright.edits.json_fields import read_index, read_number
from kernelwright.edits.original import Original
from kernelwright.guards import LaunchFacts
from kernelwright.ir.types import IntType
from kernelwright.launch_relations import Product, Quantity, Relation
from kernelwright.lazy_dataclasses import dataclass

WIDTHS = (16, 32, 64)
LEAST_BITS = 15
"""Of the upper bound that is listed: smaller sizes are no reason to ask for small ones."""
ROOM_BITS = 2
"""So many bits more than any launch needed: sizes four times as large are let in."""


@dataclass(frozen=True)
class BoundArgument:
    """Argument ``index``, read as a signed number, is from ``low`` to ``high``, both not negative."""

    index: int
    low: int
    high: int

    def apply(self, draft: Draft) -> str | None:
        """Changes the draft, or says why it cannot."""
        refused = _refused(draft.original, self.index)
        if refused:
            return refused
        width = _width(draft.original, self.index)
        if not 0 <= self.low <= self.high < 1 << (width - 1):
            return f"argument {self.index} cannot be from {self.low} to {self.high}"
        if any(index == self.index for index, _, _ in draft.setting.bounds):
            return f"argument {self.index} has bounds already"
        bounds = tuple(sorted([*draft.setting.bounds, (self.index, self.low, self.high)]))
        draft.setting = replace(draft.setting, bounds=bounds)
        value = (Product(1, (Quantity("argument", self.index, 0, width // 8),)),)
        draft.guards[Relation(value, ">=", (Product(self.low),))] = None
        draft.guards[Relation(value, "<=", (Product(self.high),))] = None
        return None


def bounded_arguments(original: Original, launches: Sequence[LaunchFacts]) -> Iterator[BoundArgument]:
    """The integers that no launch had negative: at least 1 where none had 0, and at most what a few bits more can hold."""
    for index, argument in enumerate(original.function.arguments if launches else ()):
        if not argument.is_used or _refused(original, index):
            continue
        if any(index >= len(facts.arguments) for facts in launches):
            continue  # it is unknown what they were given
        values = [int.from_bytes(facts.arguments[index], "little", signed=True) for facts in launches]
        if min(values) < 0:
            continue
        bits = max(LEAST_BITS, max(values).bit_length() + ROOM_BITS)
        high = (1 << min(bits, _width(original, index) - 1)) - 1
        yield BoundArgument(index, min(1, min(values)), high)


def _width(original: Original, index: int) -> int:
    kind = original.function.arguments[index].type
    return kind.bits if isinstance(kind, IntType) else 0


def _refused(original: Original, index: int) -> str | None:
    if index >= len(original.function.arguments):
        return f"the kernel has no argument {index}"
    if _width(original, index) not in WIDTHS:
        return f"argument {index} is no integer with bounds to speak of"
    if "range(" in original.function.arguments[index].attributes:
        return f"argument {index} has bounds of its own"
    return None


def in_words(original: Original, edit: BoundArgument) -> Words:
    """Kind, sentence and place of the edit, for people."""
    return Words("promise", f"{describe_argument(original, edit.index)} is from {edit.low} to {edit.high}")


KIND = EditKind(
    "bound-argument",
    BoundArgument,
    in_words,
    reads={"index": read_index, "low": read_number, "high": read_number},
    known=bounded_arguments,
    keeps_meaning=True,
)
