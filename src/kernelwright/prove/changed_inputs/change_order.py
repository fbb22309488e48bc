"""All changes of a case, the most telling first: one of each sort, then the next of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product, zip_longest

import numpy as np

from kernelwright.prove.changed_inputs.buffer_values import FLOAT_WAYS, TELLING, WORD, as_elements
from kernelwright.prove.changed_inputs.case_survey import ENTIRELY, BufferSeen, Change, NumberSeen, Survey
from kernelwright.prove.changed_inputs.comparison_constants import floats_like, ints_like
from kernelwright.prove.changed_inputs.launch_shapes import shape_changes, traded_factors

FEW = 4
"""Constants that a number is changed to."""
EXTREMES = 3
"""The last of the values that a number is changed to, which are tried first for an edit: extreme ones of a real number."""
SHAPES = 3
"""Shapes of launches that are changed in every way; of more, the grid alone."""


def changes(survey: Survey, seed: int) -> Iterator[Change]:
    """All changes of a case, in their order; each with a seed of its own."""
    buffers = [with_constants(survey, b) for b in survey.buffers.values()]
    numbers = list(survey.numbers.values())
    sorts: list[Iterator[Change]] = [_of_floats(buffers), *(_of_buffer(b) for b in buffers if not _is_float(b))]
    sorts += [_of_structure(fields, seed) for fields in survey.structures.values()]
    sorts += [_of_number(n, _compared_with(survey, n)) for n in numbers]
    for number, (kernel, geometry) in enumerate(survey.geometries):
        shapes = [iter(sort) for sort in shape_changes(kernel, geometry, survey.threads[kernel])]
        if number < SHAPES:
            sorts += [*shapes, traded_factors(kernel, geometry, numbers)]
        else:
            sorts += shapes[:1]
    sorts += [_of_buffer(b) for b in buffers if _is_float(b)]
    for number, change in enumerate(c for row in zip_longest(*sorts) for c in row if c is not None):
        yield replace(change, seed=seed * 1000 + number)


def telling_changes(buffers: Sequence[BufferSeen], numbers: Sequence[NumberSeen], seed: int) -> Iterator[Change]:
    """Changes of what an edit's result depends on, the most telling first, in turn."""
    sorts = [_together(buffers, numbers), *(iter(_telling_of(buffer)) for buffer in buffers)]
    sorts += [_of_number(number, (), extremes_first=True) for number in numbers]
    for number, change in enumerate(c for row in zip_longest(*sorts) for c in row if c is not None):
        yield replace(change, seed=seed * 1000 + number)


def _telling_of(buffer: BufferSeen) -> Iterator[Change]:
    ways = buffer.ways
    for way in dict.fromkeys([*(way for way in TELLING if way in ways), *ways]):
        yield Change(f"'{buffer.name}' {way}", ((buffer, way),))


def with_constants(survey: Survey, buffer: BufferSeen, more: Sequence[int | float] = ()) -> BufferSeen:
    """The buffer, with what the kernels of the case compare with as its elements. ``more``: further numbers, first."""
    compared = dict.fromkeys([*more, *(constant for some in survey.compared.values() for constant in some)])
    return replace(buffer, compared=as_elements(tuple(compared), buffer.dtype or WORD))


def _compared_with(survey: Survey, number: NumberSeen) -> Sequence[int | float]:
    if number.kernel:
        return survey.compared.get(number.kernel, ())
    return tuple(dict.fromkeys(constant for some in survey.compared.values() for constant in some))


def _is_float(buffer: BufferSeen) -> bool:
    return buffer.dtype is not None and buffer.dtype.kind == "f"


def _of_floats(buffers: Sequence[BufferSeen]) -> Iterator[Change]:
    """All memory that holds floating-point numbers, at once."""
    found = [b for b in buffers if _is_float(b)]
    if len(found) > 1:
        for way in FLOAT_WAYS:
            yield Change(f"all floating-point memory {way}", tuple((buffer, way) for buffer in found))


def _of_buffer(buffer: BufferSeen) -> Iterator[Change]:
    for way in buffer.ways:
        yield Change(f"'{buffer.name}' {way}", ((buffer, way),))


def _of_structure(fields: Sequence[NumberSeen], seed: int) -> Iterator[Change]:
    """The numbers of a structure, all at once and no two alike; then those of one type exchanged for each other."""
    whole = fields[0].name.partition(".")[0].partition("[")[0]
    random = np.random.default_rng([seed, *whole.encode()])
    different = {
        field: (1 if number % 3 else -1) * (number + 1) * (0.375 if field.kind == "f" else 1)
        for number, field in zip(random.permutation(len(fields)).tolist(), fields, strict=True)
        if not field.boolean
    }
    others = ((field, field.raw_of(value)) for field, value in different.items())
    made = tuple((field, raw) for field, raw in others if raw is not None and raw != field.raw)
    if made:
        yield Change(f"the fields of {whole} all different", numbers=made)
    by_type: dict[tuple[str, int], list[NumberSeen]] = {}
    for field in fields:
        by_type.setdefault((field.kind, len(field.raw)), []).append(field)
    turned = [(a, b.raw) for alike in by_type.values() for a, b in zip(alike, reversed(alike), strict=True)]
    if any(field.raw != raw for field, raw in turned):
        yield Change(f"the fields of {whole} exchanged", numbers=tuple((f, raw) for f, raw in turned if f.raw != raw))


def _of_number(
    number: NumberSeen, compared: Sequence[int | float], *, extremes_first: bool = False
) -> Iterator[Change]:
    values = other_values(number, compared)
    for other in [*values[-EXTREMES:], *values[:-EXTREMES]] if extremes_first else values:
        raw = number.raw_of(other)
        if raw is not None and raw != number.raw:
            yield Change(f"{number.words}: {number.value:g} -> {other:g}", numbers=((number, raw),))


def extreme_changes(survey: Survey, seed: int) -> Iterator[Change]:
    """Each whole number as large as makes a sum or a product of it leave its type. They come with few turns, for they may bound a loop."""
    numbers = [n for n in survey.numbers.values() if n.kind == "i" and not n.boolean and len(n.raw) >= 4]
    made = 0
    for which in range(3):
        for number in numbers:
            bits = 8 * len(number.raw)
            other = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1, 1 << (bits - 2))[which]
            raw = number.raw_of(other)
            if raw is not None and raw != number.raw:
                made += 1
                words = f"{number.words}: {number.value:g} -> {other}"
                yield Change(words, numbers=((number, raw),), seed=seed * 1000 + made, brief=True)


def larger_changes(survey: Survey, seed: int) -> Iterator[Change]:
    """Each whole number several times as large, and many times: one that bounds a loop lets it make more turns, after which sums are
    rounded, digits leave their type and limits are reached that a few turns do not come to."""
    numbers = [n for n in survey.numbers.values() if n.kind == "i" and not n.boolean and n.value > 1]
    made = 0
    for factor, more in LARGER:
        for number in numbers:
            other = factor * int(number.value) + more
            raw = number.raw_of(other)
            if raw is not None:
                made += 1
                words = f"{number.words}: {number.value:g} -> {other}"
                yield Change(words, numbers=((number, raw),), seed=seed * 1000 + made)


LARGER = ((16, 5), (5, 1))
"""Odd wherever a number is even."""


def _together(buffers: Sequence[BufferSeen], numbers: Sequence[NumberSeen]) -> Iterator[Change]:
    """All buffers at once below zero, or above, alone and with each number: what starts somewhere and takes the larger of all shows where
    it started only if nothing else is above zero."""
    filled = {sign: _all_of_one_sign(buffers, sign) for sign in SIGNS}
    for (sign, words), of_number in product(SIGNS.items(), (-1, 1)):
        for number in numbers if filled[sign] else ():
            other = sign * of_number * (abs(number.value) + 5) if np.isfinite(number.value) else sign * of_number
            raw = number.raw_of(other) if not number.boolean else None
            if raw is not None and raw != number.raw:
                said = f"all memory {words}, {number.words}: {number.value:g} -> {other:g}"
                yield Change(said, filled[sign], ((number, raw),))
    for sign, words in SIGNS.items():
        if filled[sign]:
            yield Change(f"all memory {words}", filled[sign])


SIGNS = {-1: "below zero", 1: "above zero"}
FILLED = 13.6875
"""What is above zero: no number that kernels write as a constant, or a side of a condition would be seen without showing anything."""


def _all_of_one_sign(buffers: Sequence[BufferSeen], sign: int) -> tuple[tuple[BufferSeen, str], ...]:
    return tuple(
        (
            replace(
                buffer, compared=(buffer.dtype.type(sign * (FILLED if buffer.dtype.kind == "f" else int(FILLED))),)
            ),
            ENTIRELY,
        )
        for buffer in buffers
        if buffer.dtype is not None and not buffer.boolean and (sign > 0 or buffer.dtype.kind in "if")
    )


def other_values(number: NumberSeen, compared: Sequence[int | float]) -> list[int | float]:
    """What a number may be changed to: what it is compared with, its neighbours, less, more, 0, 1, negated; of real numbers at last
    infinity, not a number and a subnormal one. Whole ones get theirs in ``extreme_changes``."""
    value = number.value
    others: list[int | float] = []
    told: Sequence[int | float] = ()
    if number.boolean:
        return [1 - value]
    if isinstance(value, int):
        others = [value - 1, value // 2 + 1, value // 3, 1, 0, value + 1, -value, 2 * value]
        told = ints_like(compared, 8 * len(number.raw))
    elif np.isfinite(value):
        others = [-value, 2 * value + 1, 0.0, value / 3, 1.0, float("inf"), float("nan"), 1e-40]
        told = floats_like(compared, np.dtype(f"<f{len(number.raw)}"))
    mixed = (each for pair in zip_longest(told[:FEW], others) for each in pair if each is not None)
    return [each for each in dict.fromkeys(mixed) if each != value]
