"""Inputs with which accesses of a thread meet that do not meet in what was recorded.

Of what the original noted, each execution says what one number would have to be for its two addresses to be the same. All of them
get it, or some, or one alone; on top of that, what the branches before the access ask for, where the number decides about these too:
one by one, and all at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import islice, zip_longest
from typing import Any

import numpy as np

from kernelwright.codegen.memory_layout import parameter_layout
from kernelwright.ir import Argument, Function
from kernelwright.prove.changed_inputs.buffer_values import WORD
from kernelwright.prove.changed_inputs.case_survey import PLACED, BufferSeen, Change, NumberSeen, Survey
from kernelwright.prove.coverage.meetings import Meeting, Meetings, Moving, Noted
from kernelwright.prove.coverage.required_relations import TRUE, is_value, required
from kernelwright.prove.coverage.solved_relations import solved
from kernelwright.prove.instrumentation import Memory

FEW = 3
"""Values of an argument."""
MOST_WAYS = 4
"""Branches on the way that are looked at one by one."""


def meeting_changes(
    meetings: Meetings, noted: Sequence[Sequence[Noted]], memory: Memory, survey: Survey, seed: int
) -> Iterator[Change]:
    """The changes of all pairs in turn. ``memory``: where buffers lay when it was noted."""
    sorts = [
        _of_pair(pair, executions, meetings, memory, survey)
        for pair, executions in zip(meetings.pairs, noted, strict=True)
    ]
    known: set[Change] = set()
    for change in (c for row in zip_longest(*sorts) for c in row if c is not None):
        if change not in known:
            known.add(change)
            yield replace(change, seed=seed * 1000 + len(known))


def ways_there(meetings: Meetings, survey: Survey) -> list[Change]:
    """Changes under which the branches before accesses lead there, so that more executions can be noted; the first few."""
    found = (way for pair in meetings.pairs for way in _ways(pair, meetings, survey))
    return list(islice(dict.fromkeys(found), FEW))


def _of_pair(
    pair: Meeting, executions: Sequence[Noted], meetings: Meetings, memory: Memory, survey: Survey
) -> Iterator[Change]:
    function = meetings.function
    ways = _ways(pair, meetings, survey)
    steps = {moving: step for moving in pair.moving if (step := _step(moving, function, survey))}
    apart = [e for e in executions if e.apart]
    met: list[list[Change]] = []
    for moving, step in steps.items():
        wanted = [(e, e.apart // step) for e in apart if e.apart % step == 0]
        if moving not in pair.loads:
            met.append(list(_of_number(moving, [by for _, by in wanted], function, survey)))
        else:
            place = pair.loads.index(moving)
            elements = {e.read[place][0]: e.read[place][1] + by for e, by in wanted}
            met.append([c for each in _of_memory(elements, memory, survey) for c in each])
    for of_second in (True, False):
        several = [
            (pair.loads.index(m), step) for m, step in steps.items() if m in pair.loads and m.of_second is of_second
        ]
        if len(several) > 1:
            met.append(list(_together(apart, several, memory, survey)))
    for change in (c for row in zip_longest(*met) for c in row if c is not None):
        yield change
        for way in ways:
            yield change.on_top_of(way)


def _together(
    executions: Sequence[Noted], steps: Sequence[tuple[int, int]], memory: Memory, survey: Survey
) -> Iterator[Change]:
    """Several numbers moved, the one that moves most first, the others by what is left: a row, and a column in it. ``steps``: of each
    the place among the pair's loads, and the bytes."""
    for rounded in (math.trunc, math.floor):
        elements: dict[int, int] = {}
        for one in executions:
            left, moved = one.apart, {}
            for place, step in sorted(steps, key=lambda each: -abs(each[1])):
                by = rounded(Fraction(left, step))
                left -= by * step
                moved[one.read[place][0]] = one.read[place][1] + by
            if not left:
                elements |= moved
        for row in zip_longest(*_of_memory(elements, memory, survey)):
            yield reduce(lambda under, above: above.on_top_of(under), (c for c in row if c is not None))


def _ways(pair: Meeting, meetings: Meetings, survey: Survey) -> list[Change]:
    """Changes under which the branches before the access lead there."""
    (relations, *_) = required(is_value(TRUE, True), pair.site.parent, meetings.dominators)
    words = "so that it is reached"
    several = [relations, *((one,) for one in relations[::-1][: MOST_WAYS + 1])]
    found = (solved(some, meetings.function, survey, words, everywhere=True) for some in several[1:] + several[:1])
    return list(dict.fromkeys(change for change in found if change is not None))


def _step(moving: Moving, function: Function, survey: Survey) -> int:
    """Bytes that the addresses come closer by for one more of the number; 0 where that is not known."""
    step = moving.step
    for factor in moving.factors:
        number = _number(factor, 0, function, survey)
        step *= int(number.value) if number is not None else 0
    return -step if moving.of_second else step


def _number(argument: Argument, field: int, function: Function, survey: Survey) -> NumberSeen | None:
    at = parameter_layout(function).parameters[argument.index].offset + field
    return next((n for n in survey.numbers.values() if n.kernel == function.name and n.offset == at), None)


def _of_number(moving: Moving, by: Sequence[int], function: Function, survey: Survey) -> Iterator[Change]:
    number = _number(moving.source, moving.field, function, survey) if isinstance(moving.source, Argument) else None
    for one in list(dict.fromkeys(by))[:FEW] if number is not None and number.kind == "i" else ():
        assert number is not None
        yield from _with_number(number, number.value + one)


def _of_memory(wanted: dict[int, int], memory: Memory, survey: Survey) -> Iterator[list[Change]]:
    """By buffer, its changes. ``wanted``: by address, the number to be there."""
    by_buffer: dict[str, dict[int, int]] = {}
    for address, value in wanted.items():
        for begin, end, name in memory:
            if begin <= address < end:
                by_buffer.setdefault(name, {})[address - begin] = value
    for name, values in by_buffer.items():
        number = next((n for n in survey.numbers.values() if not n.kernel and n.buffer == name), None)
        buffer = survey.buffers.get(name)
        if number is not None and number.kind == "i":
            for offset, value in values.items():
                if offset == number.offset:
                    yield list(_with_number(number, value))
        elif buffer is not None:
            yield list(_of_buffer(buffer, values))


def _with_number(number: NumberSeen, value: int | float) -> Iterator[Change]:
    raw = number.raw_of(value)
    if raw is not None:
        yield Change(f"{number.words}: {number.value:g} -> {value:g}, so that accesses meet", numbers=((number, raw),))


def _of_buffer(buffer: BufferSeen, values: dict[int, int]) -> Iterator[Change]:
    dtype = buffer.dtype or WORD
    if dtype.kind == "f":
        return
    about: Any = np.iinfo(dtype)
    fitting = [
        (offset // dtype.itemsize, value if dtype.kind == "i" else value % (1 << 8 * dtype.itemsize))
        for offset, value in sorted(values.items())
        if offset % dtype.itemsize == 0 and about.min <= value <= about.max
    ]
    for some in dict.fromkeys(
        (tuple(fitting), tuple(fitting[::2]), tuple(fitting[:1]), tuple(fitting[len(fitting) // 2 :][:1]))
    ):
        if some:
            places, elements = zip(*some, strict=True)
            made = replace(buffer, compared=elements, places=places)
            said = f"'{buffer.name}' at {places[0]} is {elements[0]}" + (
                f", and at {len(places) - 1} more places" if len(places) > 1 else ""
            )
            yield Change(f"{said}, so that accesses meet", ((made, PLACED),))


__all__ = ["meeting_changes", "ways_there"]
