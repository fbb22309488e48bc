"""Launches whose pointers are null, point into the middle of a buffer, or stand in another order in memory.

    blur(out, in, mask)  ->  blur(out, in, null)      a kernel that asks whether there is a mask
                             blur(out, in + 1, mask)  a part of a larger image: no more aligned than its elements
    rows: [a, b, c]      ->  rows: [b, c, a]          rows that do not lie one behind the other

Most kernels do not survive a null pointer; those that do ask for it, and what leaves the question out is found so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest

from kernelwright.cuda.names import base_name
from kernelwright.prove.changed_inputs.buffer_values import POINTER_WAYS
from kernelwright.prove.changed_inputs.case_survey import Change, Survey


def place_changes(survey: Survey, seed: int) -> Iterator[Change]:
    """One of each sort in turn: null, moved by an element where the kernel only reads, tables in another order."""
    pointers = list(survey.pointers.values())
    nulls = (Change(f"{one.name} of {base_name(one.kernel)} is null", nulls=(one,)) for one in pointers)
    moved = (
        Change(f"{one.name} of {base_name(one.kernel)} points an element further, to the same", moved=(one,))
        for one in pointers
        if not one.writes
    )
    tables = (
        Change(f"'{table.name}' with {way}", ((table, way),))
        for way in POINTER_WAYS
        for table in survey.tables.values()
    )
    in_turn = (change for row in zip_longest(moved, tables, nulls) for change in row if change is not None)
    for number, change in enumerate(in_turn):
        yield replace(change, seed=seed * 1000 + number)
