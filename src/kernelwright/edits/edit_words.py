"""Edits and guards in words: what kind of change an edit is, what it does, and to which line of source.

words = in_words(original, Delete(12))
words.kind         "redundant load"
words.sentence     "the load at blur.cu:19 is gone; %in, seen before, takes its place"
"""

from __future__ import annotations

import re

from kernelwright.edits.edit_kind import Edit
from kernelwright.edits.instruction_words import Words, describe_argument, describe_value
from kernelwright.edits.original import Original
from kernelwright.edits.table import row_of
from kernelwright.guards import Guard
from kernelwright.lazy_dataclasses import dataclass

_STATIC = re.compile(r"_ZL(\d+)(\w+)")
"""What a compiler calls a ``static`` variable."""


def in_words(original: Original, edit: Edit) -> Words:
    """An edit of ``original`` in words, whether or not it applies."""
    return row_of(edit).in_words(original, edit)


def guard_in_words(original: Original, guard: Guard) -> str:
    """What must hold at a launch, by the names of the source.

    before   ``argument 7 == float 0x403AAAAAA0000000``
    after    ``resistance_x == 26.666666``
    """
    return guard.in_words(_Names(original))


@dataclass(frozen=True, eq=False)
class _Names:
    original: Original

    def argument(self, index: int) -> str:
        return describe_argument(self.original, index)

    def variable(self, name: str) -> str:
        static = _STATIC.fullmatch(name)
        return static[2] if static is not None and int(static[1]) == len(static[2]) else name

    def constant(self, value: str) -> str:
        return describe_value(value)
