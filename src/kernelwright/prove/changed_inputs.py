"""Other inputs made from those there are: the same launches on changed memory, with changed numbers, or on another grid.

    [3, 1, 2] reversed: [2, 1, 3]     drawn anew: [1, 1, 3]     negated: [-3, -1, -2]     n: 1024 -> 1023     grid: 4x4 -> 4x3

Nobody promises that the program ever sees such inputs. A case counts only if the original accepts it, which is for others
to find out; here they are made, the same ones from the same seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.codegen.memory_layout import parameter_layout
from kernelwright.cuda.names import base_name
from kernelwright.device.arena import Arena
from kernelwright.device.execution import Execution
from kernelwright.evaluate.capture.recorded_case import RecordedCase
from kernelwright.evaluate.judging.case_runner import Executor, Ran, Runner
from kernelwright.evaluate.workload.case import Arrays, Output
from kernelwright.evaluate.workload.element_types import parameter_types
from kernelwright.ir import FloatType, Function, IntType, PointerType
from kernelwright.launch import Triple
from kernelwright.prove.checked_run import Runnable
from kernelwright.prove.comparison_constants import compared_in, floats_like, ints_like

Values = NDArray[Any]
Random = np.random.Generator
Way = Callable[[Values, Random], Values]


def _some(values: Values, random: Random, others: Sequence[Any], share: float = 0.25) -> Values:
    """The values, a share of them exchanged."""
    made = values.copy()
    where = random.random(values.size) < share
    where[: min(1, values.size)] = True
    made[where] = random.choice(np.array(others, values.dtype), int(where.sum()))
    return made


def _extremes(dtype: np.dtype[Any]) -> list[Any]:
    if dtype.kind == "f":
        about = np.finfo(dtype)
        return [0.0, 1.0, -1.0, about.max / 4, -about.max / 4, about.tiny, -about.tiny, about.smallest_subnormal]
    about_int = np.iinfo(dtype)
    return [0, 1, -1, about_int.max, about_int.min]


def _exchanged(others: Sequence[Any]) -> Way:
    return lambda v, r: _some(v, r, others)


def _noise(values: Values, random: Random) -> Values:
    scale = np.nan_to_num(np.abs(values.astype(np.float64))).max(initial=0.0) or 1.0
    return (values + random.standard_normal(values.size) * min(scale, 1e30)).astype(values.dtype)


def _far(values: Values, random: Random) -> Values:
    return np.asarray(values * values.dtype.type(1000 if values.dtype.itemsize > 1 else 5))


def _distinct(values: Values, random: Random) -> Values:
    return random.permutation(values.size).astype(values.dtype)


def _two(values: Values, random: Random) -> tuple[Any, Any]:
    """Two values of the buffer that differ; where all are equal, the second is one more."""
    one = values[values.size // 2]
    others = values[values != one]
    return one, others[random.integers(others.size)] if others.size else one + values.dtype.type(1)


def _halves(values: Values, random: Random) -> Values:
    one, other = _two(values, random)
    made = np.full_like(values, one)
    made[(values.size + 1) // 2 :] = other
    return made


def _but_the_last(values: Values, random: Random) -> Values:
    pair = _two(values, random)
    made = np.full_like(values, min(pair))
    made[-1:] = max(pair)
    return made


def _but_the_first(values: Values, random: Random) -> Values:
    pair = _two(values, random)
    made = np.full_like(values, max(pair))
    made[:1] = min(pair)
    return made


EACH_COUNTS: dict[str, Way] = {
    "equal in each half, and not in both": _halves,
    "all equal but the last, which is larger": _but_the_last,
    "all equal but the first, which is smaller": _but_the_first,
}
"""Where each element can be missed. Of data that are alike everywhere a part may stand for all: who marks what is there at all
need not read the rest."""
FLOAT_WAYS: dict[str, Way] = {
    "in another order": lambda v, r: r.permutation(v),
    "negated": lambda v, r: -v,
    **EACH_COUNTS,
    "with noise": _noise,
    "a thousand times as large": _far,
    "all zero": lambda v, r: np.zeros_like(v),
    "some of them extreme": lambda v, r: _some(v, r, _extremes(v.dtype)),
    "all equal": lambda v, r: np.full_like(v, v[v.size // 2]),
    "some of them infinite or not a number": lambda v, r: _some(v, r, [np.inf, -np.inf, np.nan, -0.0]),
    "sorted": lambda v, r: np.sort(v),
    "reversed": lambda v, r: v[::-1],
    "a thousandth as large": lambda v, r: v * v.dtype.type(1e-3),
}
INTEGER_WAYS: dict[str, Way] = {
    **EACH_COUNTS,
    "in another order": lambda v, r: r.permutation(v),
    "all zero": lambda v, r: np.zeros_like(v),
    "drawn anew from themselves": lambda v, r: r.choice(v, v.size),
    "negated": lambda v, r: -v,
    "further apart": _far,
    "some of them zero or one": lambda v, r: _some(v, r, [0, 1]),
    "all equal": lambda v, r: np.full_like(v, v[v.size // 2]),
    "some of them extreme": lambda v, r: _some(v, r, _extremes(v.dtype)),
    "all different": _distinct,
    "reversed": lambda v, r: v[::-1],
    "sorted": lambda v, r: np.sort(v),
}
UNKNOWN_WAYS: dict[str, Way] = {
    "all zero": lambda v, r: np.zeros_like(v),
    "drawn anew from themselves": lambda v, r: r.choice(v, v.size),
}
"""For memory of mixed types, as words of four bytes."""
WORD: np.dtype[Any] = np.dtype("<u4")
ALONE = 6
"""Constants that a buffer is given one at a time."""
FEW = 4
"""Constants that a number is changed to."""


# -- what a case has -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BufferSeen:
    name: str
    size: int
    dtype: np.dtype[Any] | None
    compared: tuple[Any, ...] = ()
    """What the kernels of its case compare with, as elements of this buffer."""

    @property
    def ways(self) -> Mapping[str, Way]:
        known = UNKNOWN_WAYS if self.dtype is None else FLOAT_WAYS if self.dtype.kind == "f" else INTEGER_WAYS
        if not self.compared:
            return known
        # All of them at once is the most telling; one that leads out of a table spoils it, so each alone comes last.
        alone = {f"some of them {each}": _exchanged([each]) for each in self.compared[:ALONE]}
        return {"some of them what the kernel compares with": _exchanged(self.compared), **known, **alone}


@dataclass(frozen=True)
class NumberSeen:
    """A number that a kernel is launched with."""

    kernel: str
    index: int
    name: str
    kind: str
    """``i`` or ``f``."""
    raw: bytes

    @property
    def value(self) -> int | float:
        if self.kind == "i":
            return int.from_bytes(self.raw, "little", signed=True)
        return float(np.frombuffer(self.raw, f"<f{len(self.raw)}")[0])


@dataclass
class Survey:
    """What a case puts into memory and launches with, in the order it is first met."""

    buffers: dict[str, BufferSeen] = field(default_factory=dict)
    numbers: dict[tuple[str, int, bytes], NumberSeen] = field(default_factory=dict)
    grids: dict[tuple[str, Triple], None] = field(default_factory=dict)
    compared: dict[str, tuple[int | float, ...]] = field(default_factory=dict)
    """By kernel, the constants it compares with."""


@dataclass(frozen=True)
class Change:
    """What is done to a case. ``words`` says it to people."""

    words: str
    buffers: tuple[tuple[BufferSeen, str], ...] = ()
    """Buffer, as the original sees it, and way."""
    numbers: tuple[tuple[NumberSeen, bytes], ...] = ()
    grids: tuple[tuple[tuple[str, Triple], Triple], ...] = ()
    seed: int = 0


class _Between:
    """An executor that looks at each launch, and changes it, before another one runs it."""

    def __init__(self, executor: Executor, change: Change | None) -> None:
        self._executor = executor
        self._change = change
        self.survey = Survey()
        self.contents: dict[int, bytes] = {}
        """Of the buffers that were changed: what they hold now, by address."""
        self._seen: set[int] = set()

    def __call__(self, execution: Execution, arena: Arena) -> Ran:
        loaded, launch = execution.loaded, execution.launch
        kernel = loaded.module.functions[launch.kernel]
        own = set(loaded.variables.addresses.values())
        types = _types_of(kernel, launch.parameters, arena)
        for buffer in arena.buffers:
            if buffer.address not in self._seen and buffer.address not in own and buffer.size:
                self._seen.add(buffer.address)
                known = BufferSeen(buffer.name, buffer.size, types.get(buffer.address))
                self.survey.buffers.setdefault(buffer.name, known)
                self._change_buffer(known, arena.view(buffer), buffer.address)
        for number in _numbers(kernel, launch.parameters):
            self.survey.numbers.setdefault((launch.kernel, number.index, number.raw), number)
        self.survey.grids.setdefault((launch.kernel, launch.grid))
        if launch.kernel not in self.survey.compared:
            self.survey.compared[launch.kernel] = compared_in(kernel)
        if self._change is not None:
            parameters = _with_numbers(kernel, launch.parameters, self._change.numbers)
            grid = dict(self._change.grids).get((launch.kernel, launch.grid), launch.grid)
            execution = replace(execution, launch=replace(launch, grid=grid, parameters=parameters))
        return self._executor(execution, arena)

    def _change_buffer(self, known: BufferSeen, memory: NDArray[np.uint8], address: int) -> None:
        wanted = self._change.buffers if self._change else ()
        as_planned, way = next(((b, w) for b, w in wanted if b.name == known.name), (None, ""))
        if as_planned is None or self._change is None:
            return
        dtype = as_planned.dtype or WORD
        whole = known.size // dtype.itemsize * dtype.itemsize
        if not whole:
            return
        random = np.random.default_rng([self._change.seed, *way.encode(), *known.name.encode()])
        values = memory[:whole].view(dtype)
        with np.errstate(all="ignore"):
            values[:] = as_planned.ways[way](values.copy(), random)
        self.contents[address] = memory.tobytes()


def _types_of(kernel: Function, parameters: bytes, arena: Arena) -> dict[int, np.dtype[Any]]:
    """Element types of the buffers that the parameters point to, by address, where the kernel tells."""
    found: dict[int, np.dtype[Any]] = {}
    disputed: set[int] = set()
    for kind, parameter in zip(parameter_types(kernel), parameter_layout(kernel).parameters, strict=True):
        if isinstance(parameter.type, PointerType) and not parameter.byval:
            raw = parameters[parameter.offset : parameter.offset + parameter.size]
            buffer = arena.find(int.from_bytes(raw, "little"))
            if buffer is not None and kind is not None and found.setdefault(buffer.address, kind) != kind:
                disputed.add(buffer.address)
    return {address: kind for address, kind in found.items() if address not in disputed}


def _numbers(kernel: Function, parameters: bytes) -> Iterator[NumberSeen]:
    for index, (argument, p) in enumerate(zip(kernel.arguments, parameter_layout(kernel).parameters, strict=True)):
        if not p.byval and isinstance(p.type, IntType | FloatType):
            kind = "i" if isinstance(p.type, IntType) else "f"
            name = argument.name or f"argument {index}"
            yield NumberSeen(kernel.name, index, name, kind, parameters[p.offset : p.offset + p.size])


def _with_numbers(kernel: Function, parameters: bytes, numbers: Sequence[tuple[NumberSeen, bytes]]) -> bytes:
    made = bytearray(parameters)
    for number, raw in numbers:
        if number.kernel == kernel.name:
            p = parameter_layout(kernel).parameters[number.index]
            if parameters[p.offset : p.offset + p.size] == number.raw:
                made[p.offset : p.offset + p.size] = raw
    return bytes(made)


# -- changed cases ---------------------------------------------------------------------------------------------------


class ChangedCase:
    """A case with a change made to it."""

    def __init__(self, case: Runnable, change: Change) -> None:
        self.case = case
        self.change = change
        self.name = f"{case.name or 'case'}, {change.words}"
        if isinstance(case, RecordedCase):
            self.arena = case.arena

    def run(self, runner: Runner, kernel: str) -> Output:
        """Runs the case, changed. Raises ``Stopped`` when a kernel or its host program fails."""
        between = _Between(runner.executor, self.change)
        output = self.case.run(runner.through(between), kernel)
        known = self.case.names if isinstance(self.case, RecordedCase) else {b.name: b for b in runner.arena.buffers}
        contents = {name: between.contents[b.address] for name, b in known.items() if b.address in between.contents}
        return Output(output.arrays, _replaced(output.before, contents), _replaced(output.inputs, contents))


class SurveyedCase:
    """A case that is looked at while it runs; ``survey`` says what it has."""

    def __init__(self, case: Runnable) -> None:
        self.case = case
        self.name = case.name
        self.survey = Survey()
        if isinstance(case, RecordedCase):
            self.arena = case.arena

    def run(self, runner: Runner, kernel: str) -> Output:
        between = _Between(runner.executor, None)
        self.survey = between.survey
        return self.case.run(runner.through(between), kernel)


def _replaced(arrays: Arrays, contents: Mapping[str, bytes]) -> Arrays:
    """What was there before, with the changed contents."""
    return {
        name: np.frombuffer(contents[name], values.dtype).reshape(values.shape)
        if name in contents and len(contents[name]) == values.nbytes
        else values
        for name, values in arrays.items()
    }


# -- which changes ---------------------------------------------------------------------------------------------------


def changes(survey: Survey, seed: int) -> Iterator[Change]:
    """All changes of a case, the most telling first: one of each sort, then the next of each."""
    compared = tuple(dict.fromkeys(constant for some in survey.compared.values() for constant in some))
    buffers = [replace(b, compared=_as_elements(compared, b.dtype or WORD)) for b in survey.buffers.values()]
    sorts = [_of_floats(buffers), *(_of_buffer(b) for b in buffers if not _is_float(b))]
    sorts += [_of_number(n, survey.compared.get(n.kernel, ())) for n in survey.numbers.values()]
    sorts += [_of_grid(kernel, grid) for kernel, grid in survey.grids]
    sorts += [_of_buffer(b) for b in buffers if _is_float(b)]
    for number, change in enumerate(c for row in zip_longest(*sorts) for c in row if c is not None):
        yield Change(change.words, change.buffers, change.numbers, change.grids, seed * 1000 + number)


def _is_float(buffer: BufferSeen) -> bool:
    return buffer.dtype is not None and buffer.dtype.kind == "f"


def _as_elements(compared: Sequence[int | float], dtype: np.dtype[Any]) -> tuple[Any, ...]:
    if dtype.kind == "f":
        return floats_like(compared, dtype)
    return ints_like(compared, 8 * dtype.itemsize, signed=dtype.kind == "i")


def _of_floats(buffers: Sequence[BufferSeen]) -> Iterator[Change]:
    """All memory that holds floating-point numbers, at once."""
    found = [b for b in buffers if _is_float(b)]
    if len(found) > 1:
        for way in FLOAT_WAYS:
            yield Change(f"all floating-point memory {way}", tuple((buffer, way) for buffer in found))


def _of_buffer(buffer: BufferSeen) -> Iterator[Change]:
    for way in buffer.ways:
        yield Change(f"'{buffer.name}' {way}", ((buffer, way),))


def _of_number(number: NumberSeen, compared: Sequence[int | float]) -> Iterator[Change]:
    value = number.value
    others: list[int | float] = []
    told: Sequence[int | float] = ()
    if isinstance(value, int):
        others = [value - 1, value // 2 + 1, value // 3, 1, 0, value + 1, -value]
        told = ints_like(compared, 8 * len(number.raw))
    elif np.isfinite(value):
        others = [-value, 2 * value + 1, 0.0, value / 3]
        told = floats_like(compared, np.dtype(f"<f{len(number.raw)}"))
    mixed = (each for pair in zip_longest(told[:FEW], others) for each in pair if each is not None)
    for other in dict.fromkeys(mixed):
        raw = _raw(number, other)
        if raw is not None and raw != number.raw:
            words = f"{number.name} of {base_name(number.kernel)}: {value:g} -> {other:g}"
            yield Change(words, numbers=((number, raw),))


def _raw(number: NumberSeen, value: int | float) -> bytes | None:
    size = len(number.raw)
    if isinstance(value, int):
        limit = 1 << (8 * size - 1)
        return value.to_bytes(size, "little", signed=True) if -limit <= value < limit else None
    with np.errstate(all="ignore"):
        return np.array(value, f"<f{size}").tobytes()


def _of_grid(kernel: str, grid: Triple) -> Iterator[Change]:
    """Other grids, of the same number of dimensions: a kernel for a row of blocks is not meant for a field of them."""
    x, y, z = grid
    others = [(x - 1, y, z), (x, y - 1, z), (y, x, z), (x, y, z - 1), (x + 1, y, z), (x, y + 1, z), (1, 1, 1)]
    for other in dict.fromkeys(others):
        grows = any(after > 1 and before == 1 for before, after in zip(grid[1:], other[1:], strict=True))
        if min(other) > 0 and other != grid and not grows:
            words = f"grid of {base_name(kernel)}: {'x'.join(map(str, grid))} -> {'x'.join(map(str, other))}"
            yield Change(words, grids=(((kernel, grid), other),))
