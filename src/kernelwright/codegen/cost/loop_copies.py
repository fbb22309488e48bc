"""Loops that the assembler unrolls: one IR block, several copies of its machine code, of which each execution runs one.

    for.body                       three executions in a row, of ten
    for.body (copy 0.0) … (0.3)    the loop that does four iterations at a time: eight of the ten
    for.body (copy 1.0), (1.1)     what follows for two: the other two
    for.body (copy 2.0)            and for one: none

The assembler's code has a group of copies for each number of iterations that it does at once. Which execution runs which copy is told
by how many there are in a row.
"""

from __future__ import annotations

import re
from functools import lru_cache

from kernelwright.lazy_dataclasses import dataclass

_COPY = re.compile(r" \(copy \d+\.\d+\)$")


@dataclass(frozen=True)
class Group:
    """So many iterations that the code does one after the other; ``repeats``: again and again, as long as as many are left. ``before``:
    whenever the loop is entered, as part of the block in front of it, which has their instructions."""

    copies: int
    repeats: bool
    before: bool = False


@dataclass(frozen=True)
class UnrolledLoop:
    """``header`` and ``blocks``: labels of the loop's IR blocks; an execution of the header begins an iteration. ``groups``: in the order
    in which a warp comes to them."""

    function: str
    header: str
    blocks: frozenset[str]
    groups: tuple[Group, ...]


def copy_label(label: str, group: int, copy: int) -> str:
    """What a copy of a block is called where blocks have names; no IR block has a name with a space."""
    return f"{label} (copy {group}.{copy})"


@lru_cache(maxsize=4096)
def original(label: str) -> str:
    """The IR block of a copy; the label itself where it is none."""
    return _COPY.sub("", label)
