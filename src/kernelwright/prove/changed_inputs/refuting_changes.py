"""Changes that give a case what refutes an obligation: arguments, the shape of the launch and contents of memory that a solver found.

    argument 3 = -4, what argument 0 points to = 5000     n: 40 -> -4; 'keys' most of them 5000

The solver knows nothing of how large memory is or of what other kernels do, so such a case may be none that the original accepts:
everything at once is tried first, then each part alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from kernelwright.codegen.memory_layout import parameter_layout
from kernelwright.ir import Function
from kernelwright.launch import Triple
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.changed_inputs.buffer_values import WORD
from kernelwright.prove.changed_inputs.case_survey import (
    ENTIRELY,
    MOSTLY,
    BufferSeen,
    Change,
    Geometry,
    NumberSeen,
    Survey,
)

MOST_BLOCKS = 4096
"""Of a launch that is tried; a larger grid keeps the shape it had."""
_ARGUMENT = re.compile(r"argument (\d+)(?: at byte (\d+))?")
_POINTED = re.compile(r"what argument (\d+) points to")
_VARIABLE = re.compile(r"variable (\S+?)(?: at byte (\d+))?")


@dataclass(frozen=True)
class Counterexample:
    """What refuted an obligation of a variant. Every variant of the same original may be tried on it."""

    kernel: str
    """Its mangled name."""
    values: tuple[tuple[str, int], ...]
    """By name of an input (``prove/obligations/world.py``), what it was."""


def refuting_changes(counterexample: Counterexample, function: Function, survey: Survey, seed: int) -> Iterator[Change]:
    """The changes of a case that a counterexample says, the most of it first."""
    numbers = tuple(_numbers(counterexample, function, survey))
    geometries = tuple(_geometries(counterexample, survey))
    buffers = tuple(_buffers(counterexample, function, survey))
    parts = [Change("", numbers=numbers), Change("", geometries=geometries)]
    filled = [Change("", tuple((buffer, way) for buffer in buffers)) for way in ((ENTIRELY, MOSTLY) if buffers else ())]
    made = [*(_all([*parts, each]) for each in filled or [Change("")]), *(_all([parts[0], each]) for each in filled)]
    made += [*filled, *parts]
    known: set[Change] = set()
    for change in made:
        if change not in known and (change.numbers or change.geometries or change.buffers):
            known.add(change)
            yield replace(change, words=f"refuting an obligation: {_words(change)}", seed=seed * 1000 + len(known))


def _all(parts: list[Change]) -> Change:
    return Change(
        "",
        tuple(one for part in parts for one in part.buffers),
        tuple(one for part in parts for one in part.numbers),
        tuple(one for part in parts for one in part.geometries),
    )


def _words(change: Change) -> str:
    said = []
    for number, raw in change.numbers:
        said.append(f"{number.words}: {number.value:g} -> {int.from_bytes(raw, 'little', signed=True)}")
    for (_, before), after in change.geometries:
        for what, old, new in (("grid", before.grid, after.grid), ("block", before.block, after.block)):
            if old != new:
                said.append(f"{what}: {'x'.join(map(str, old))} -> {'x'.join(map(str, new))}")
    for buffer, way in change.buffers:
        said.append(f"'{buffer.name}' {way.split(' what')[0]} {', '.join(map(str, buffer.compared))}")
    return ", ".join(dict.fromkeys(said))


def _numbers(of: Counterexample, function: Function, survey: Survey) -> Iterator[tuple[NumberSeen, bytes]]:
    begins = [p.offset for p in parameter_layout(function).parameters]
    for name, value in of.values:
        argument, variable = _ARGUMENT.fullmatch(name), _VARIABLE.fullmatch(_without_number(name))
        if argument is None:
            argument = _ARGUMENT.fullmatch(_without_number(name))
        for number in survey.numbers.values():
            at = int((argument or variable or [0, 0, 0])[2] or 0)
            if argument is not None and number.kernel == of.kernel == function.name:
                is_meant = number.index == int(argument[1]) and number.offset == begins[number.index] + at
            else:
                is_meant = (
                    variable is not None and not number.kernel and (number.buffer, number.offset) == (variable[1], at)
                )
            raw = number.raw_of(value) if is_meant and number.kind == "i" else None
            if raw is not None and raw != number.raw:
                yield number, raw


def _without_number(name: str) -> str:
    """The place that was read, whichever of several readings it is."""
    return re.sub(r" \(\d+\)$", "", name)


def _geometries(of: Counterexample, survey: Survey) -> Iterator[tuple[tuple[str, Geometry], Geometry]]:
    values = dict(of.values)

    def extents(name: str, before: Triple) -> Triple:
        x, y, z = (values.get(f"{name}.{axis}", extent) for axis, extent in zip("xyz", before, strict=True))
        return x, y, z

    for kernel, before in survey.geometries:
        if kernel != of.kernel:
            continue
        grid, block = extents("grid", before.grid), extents("block", before.block)
        if np.prod(grid, dtype=object) > max(MOST_BLOCKS, np.prod(before.grid, dtype=object)):
            grid = before.grid
        if np.prod(block, dtype=object) > survey.threads[kernel]:
            block = before.block
        after = replace(before, grid=grid, block=block)
        if after != before:
            yield (kernel, before), after


def _buffers(of: Counterexample, function: Function, survey: Survey) -> Iterator[BufferSeen]:
    contents: dict[str, dict[int, None]] = {}
    for name, value in of.values:
        place = _without_number(name)
        pointed, variable = _POINTED.fullmatch(place), _VARIABLE.fullmatch(place)
        if pointed is not None:
            buffer = survey.pointed.get((function.name, int(pointed[1])))
        else:
            buffer = variable[1] if variable is not None else None
        if buffer in survey.buffers:
            contents.setdefault(buffer, {})[value] = None
    for buffer, values in contents.items():
        seen = survey.buffers[buffer]
        kind = seen.dtype or WORD
        if kind.kind in "iu" and not seen.boolean:
            limits = np.iinfo(kind)
            wrapped = (value % (1 << limits.bits) if kind.kind == "u" else value for value in values)
            fitting = tuple(value for value in wrapped if limits.min <= value <= limits.max)
            if fitting:
                yield replace(seen, compared=fitting)
