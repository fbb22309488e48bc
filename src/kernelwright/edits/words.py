"""Edits and guards in words: what kind of change an edit is, what it does, and to which line of source.

words = in_words(original, Delete(12))
words.kind         "redundant load"
words.sentence     "the load at blur.cu:19 is gone; %in, seen before, takes its place"
"""

from __future__ import annotations

from kernelwright.edits.edit_kind import Edit
from kernelwright.edits.instruction_words import Words, describe_argument, describe_value
from kernelwright.edits.original import Original
from kernelwright.edits.table import row_of
from kernelwright.guards import WARP, Apart, ArgumentIs, BlockIs, BlockIsWarp, Guard


def in_words(original: Original, edit: Edit) -> Words:
    """An edit of ``original`` in words, whether or not it applies."""
    return row_of(edit).in_words(original, edit)


def guard_in_words(original: Original, guard: Guard) -> str:
    """What must hold at a launch, by the names of the source.

    before   ``argument 7 == float 0x403AAAAAA0000000``
    after    ``resistance_x == 26.666666``
    """
    if isinstance(guard, ArgumentIs):
        return f"{describe_argument(original, guard.index)} == {describe_value(guard.value)}"
    if isinstance(guard, BlockIsWarp):
        return f"block has at most {WARP} threads"
    if isinstance(guard, Apart):
        return f"no other argument reaches the memory behind '{describe_argument(original, guard.index)}'"
    return f"{'block' if isinstance(guard, BlockIs) else 'grid'} == {' x '.join(map(str, guard.shape))}"
