"""Changes of what a condition depends on, so that its other side may be seen.

A source alone comes first, with what the condition compares with; then all sources together, drawn at random.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

import numpy as np

from kernelwright.codegen.memory_layout import parameter_layout
from kernelwright.ir import Function
from kernelwright.prove.changed_inputs.buffer_values import WORD, as_elements
from kernelwright.prove.changed_inputs.case_survey import ALL_AT_ONCE, MOSTLY, BufferSeen, Change, NumberSeen, Survey
from kernelwright.prove.changed_inputs.change_order import other_values, telling_changes
from kernelwright.prove.coverage.condition_sources import Sources, sources_of
from kernelwright.prove.coverage.conditions import Goal
from kernelwright.prove.coverage.edited_lines import Edited

DRAWS = 12
"""Changes of all sources together."""
FEW = 6
"""Values of one number alone."""


def aimed_changes(goal: Goal, function: Function, survey: Survey, seed: int) -> Iterator[Change]:
    """The changes for one goal. The same ones for the same seed."""
    sources = sources_of(function, goal.value)
    numbers = [n for n in survey.numbers.values() if _decides(n, function, sources)]
    constants = _constants(sources, numbers)
    buffers = [_with(b, constants) for b in survey.buffers.values() if is_read(b, function, survey, sources)]
    words = f"aimed at {goal.words}"
    sorts: list[list[Change]] = [
        [Change(f"'{buffer.name}' {ALL_AT_ONCE}, {words}", ((buffer, ALL_AT_ONCE),))]
        for buffer in buffers
        if buffer.compared
    ]
    for number in numbers:
        raws = [(value, number.raw_of(value)) for value in other_values(number, constants)[:FEW]]
        sorts.append(
            [
                Change(f"{number.words}: {number.value:g} -> {value:g}, {words}", numbers=((number, raw),))
                for value, raw in raws
                if raw is not None
            ]
        )
    alone = [change for row in zip_longest(*sorts) for change in row if change is not None]
    for place, change in enumerate(alone):
        yield replace(change, seed=seed * 1000 + place)
    for draw in range(DRAWS if len(numbers) + len(buffers) > 1 else 0):
        random = np.random.default_rng([seed, draw, goal.probe, goal.held])
        yield replace(_drawn(numbers, buffers, constants, random, words), seed=seed * 1000 + len(alone) + draw)


def edit_changes(function: Function, edited: Edited, survey: Survey, seed: int) -> Iterator[Change]:
    """Changes of what those instructions depend on that one of the two does not have: they may tell on other values only."""
    sources = edited.sources
    buffers = [b for b in survey.buffers.values() if is_read(b, function, survey, sources)]
    numbers = [n for n in survey.numbers.values() if _decides(n, function, sources)]
    return telling_changes(buffers, numbers, seed)


def _constants(sources: Sources, numbers: Sequence[NumberSeen]) -> tuple[int | float, ...]:
    """What the condition compares with, then the numbers it depends on, for they may be compared with what memory holds."""
    found: dict[int | float, None] = {c: None for c in sources.constants if c}
    found.update((n.value, None) for n in numbers if np.isfinite(n.value))
    return tuple(found)


def _decides(number: NumberSeen, function: Function, sources: Sources) -> bool:
    if number.kernel:
        if number.kernel != function.name:
            return False
        begin = parameter_layout(function).parameters[number.index].offset
        return not sources.arguments.isdisjoint({(number.index, None), (number.index, number.offset - begin)})
    return number.buffer in sources.variables or sources.unknown or bool(sources.pointers)


def is_read(buffer: BufferSeen, function: Function, survey: Survey, sources: Sources) -> bool:
    """Whether a condition depends on what lies in this buffer."""
    by_argument = {
        name
        for (kernel, index), name in survey.pointed.items()
        if kernel == function.name and index in sources.pointers
    }
    if buffer.name in by_argument or buffer.name in sources.variables:
        return True
    return sources.unknown and buffer.name not in survey.pointed.values()


def _with(buffer: BufferSeen, constants: Sequence[int | float]) -> BufferSeen:
    return buffer if buffer.boolean else replace(buffer, compared=as_elements((*constants, 0), buffer.dtype or WORD))


def _drawn(
    numbers: Sequence[NumberSeen], buffers: Sequence[BufferSeen], constants: Sequence[int | float],
    random: np.random.Generator, words: str,
) -> Change:  # fmt: skip
    """Each source changed with some likelihood: a number to one of its other values, a buffer to hold some of a few values,
    or one value alone."""
    said, changed, filled = [], [], []
    for number in numbers:
        values = other_values(number, constants)
        if values and random.random() < 0.6:
            value = values[random.integers(len(values))]
            raw = number.raw_of(value)
            if raw is not None:
                changed.append((number, raw))
                said.append(f"{number.words}: {number.value:g} -> {value:g}")
    for buffer in buffers:
        if buffer.boolean:
            ways = list(buffer.ways)
            filled.append((buffer, ways[random.integers(len(ways))]))
            said.append(f"'{buffer.name}' {filled[-1][1]}")
        elif buffer.compared and random.random() < 0.8:
            some, way = buffer.compared, MOSTLY
            if random.random() < 0.5:
                some = tuple(some[i] for i in random.integers(len(some), size=random.integers(1, 4)))
                way = ALL_AT_ONCE
            filled.append((replace(buffer, compared=some), way))
            said.append(f"'{buffer.name}' {way.split(' what')[0]} {', '.join(map(str, dict.fromkeys(some)))}")
    return Change(f"{', '.join(said) or 'nothing'}, {words}", tuple(filled), tuple(changed))
