"""What a case puts into memory and launches with: buffers, numbers, shapes of launches; and a change of some of it.

A number stands alone: an argument, a field of a structure passed by value, a device variable of one number or one of its
fields, a buffer of one element. Everything else is a buffer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import Any

import numpy as np

from kernelwright.codegen.memory_layout import alloc_size, field_offsets, parameter_layout
from kernelwright.cuda.names import base_name
from kernelwright.device.arena import Arena
from kernelwright.evaluate.workload.element_types import scalar_type
from kernelwright.ir import ArrayType, FloatType, Function, IntType, StructType, Type
from kernelwright.launch import Launch, Triple
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.changed_inputs.buffer_values import (
    BOOLEAN_WAYS,
    FEW_BOOLEAN_WAYS,
    FEW_WAYS,
    FLOAT_WAYS,
    INTEGER_WAYS,
    POINTER_WAYS,
    UNKNOWN_WAYS,
    Random,
    Values,
    Way,
    exchanged,
)

ALONE = 6
"""Constants that a buffer is given one at a time."""
MOST_FIELDS = 24
"""Fields of a structure that are changed one by one."""
ALL_FIELDS = 1024
"""Those that are changed together: a parameter buffer holds no more words."""
ALL_AT_ONCE = "some of them what the kernel compares with"
MOSTLY = "most of them what the kernel compares with"
ENTIRELY = "all of them what the kernel compares with"
PLACED = "each at its place"


@dataclass(frozen=True)
class BufferSeen:
    name: str
    size: int
    dtype: np.dtype[Any] | None
    compared: tuple[Any, ...] = ()
    """What the kernels of its case compare with, as elements of this buffer."""
    boolean: bool = False
    """Whether it holds truth values, a byte each."""
    places: tuple[int, ...] = ()
    """Elements that ``PLACED`` gives the values in ``compared``, one each."""

    @property
    def ways(self) -> Mapping[str, Way]:
        """By name, the ways to change all of its values, in the order in which they are tried; they depend on its element type."""
        if self.boolean:
            return BOOLEAN_WAYS
        known = UNKNOWN_WAYS if self.dtype is None else FLOAT_WAYS if self.dtype.kind == "f" else INTEGER_WAYS
        if not self.compared:
            return known
        # All of them at once is the most telling; one that leads out of a table spoils it, so each alone comes last.
        alone = {f"some of them {each}": exchanged([each]) for each in self.compared[:ALONE]}
        return {
            ALL_AT_ONCE: exchanged(self.compared),
            **known,
            **alone,
            MOSTLY: exchanged(self.compared, 0.9),
            ENTIRELY: exchanged(self.compared, 1.0),
        }

    @property
    def few_ways(self) -> Mapping[str, Way]:
        """Those after which some warps of a block meet what others do not."""
        return FEW_BOOLEAN_WAYS if self.boolean else {} if self.dtype is None else FEW_WAYS

    def way(self, name: str) -> Way:
        """The way of that name, of any sort. Raises ``KeyError`` for one that the buffer does not have."""
        if name == PLACED:
            return partial(_placed, self.places, self.compared)
        return POINTER_WAYS.get(name) or self.few_ways.get(name) or self.ways[name]


def _placed(places: Sequence[int], elements: Sequence[Any], values: Values, _: Random) -> Values:
    """The values, with those elements in those places."""
    made = values.copy()
    for place, element in zip(places, elements, strict=True):
        if place < made.size:
            made[place] = element
    return made


@dataclass(frozen=True)
class NumberSeen:
    """A number that a kernel is launched with, or finds alone in memory."""

    kernel: str
    """Empty for one in memory."""
    index: int
    """Of the argument."""
    name: str
    kind: str
    """``i`` or ``f``."""
    raw: bytes
    offset: int = 0
    """In the parameter buffer, or in ``buffer``."""
    buffer: str = ""
    boolean: bool = False

    @property
    def value(self) -> int | float:
        """The number, little endian and signed where it is a whole one."""
        if self.kind == "i":
            return int.from_bytes(self.raw, "little", signed=True)
        return float(np.frombuffer(self.raw, f"<f{len(self.raw)}")[0])

    @property
    def place(self) -> tuple[str, int, bytes]:
        """Kernel or buffer, byte offset in it, and bytes: equal for numbers that are changed together."""
        return self.kernel or f"'{self.buffer}'", self.offset, self.raw

    @property
    def words(self) -> str:
        """For people: ``n of blur``, or ``'n'`` for one in memory."""
        return f"{self.name} of {base_name(self.kernel)}" if self.kernel else f"'{self.name}'"

    def raw_of(self, value: int | float) -> bytes | None:
        """A value as its bytes; None for one that does not fit."""
        size = len(self.raw)
        if self.kind == "i":
            limit = 1 << (8 * size - 1)
            return int(value).to_bytes(size, "little", signed=True) if -limit <= value < limit else None
        with np.errstate(all="ignore"):
            return np.array(value, f"<f{size}").tobytes()


@dataclass(frozen=True)
class PointerSeen:
    """A pointer that a kernel is launched with."""

    kernel: str
    index: int
    """Of the argument."""
    name: str
    offset: int
    """In the parameter buffer."""
    behind: int
    """Bytes of its memory from where it points."""
    writes: bool
    """Whether the kernel may write through it."""
    restricted: bool
    """Whether the source promises that nothing else points there (``__restrict__``)."""
    element: int
    """Bytes of what the kernel reads and writes there; of a word where it does not tell."""


@dataclass(frozen=True)
class Geometry:
    """The shape of a launch."""

    grid: Triple
    block: Triple
    shared_bytes: int = 0

    @classmethod
    def of(cls, launch: Launch) -> Geometry:
        """Grid, block and dynamic shared memory of a launch."""
        return cls(launch.grid, launch.block, launch.shared_bytes)


@dataclass
class Survey:
    """What a case puts into memory and launches with, in the order it is first met."""

    buffers: dict[str, BufferSeen] = field(default_factory=dict)
    numbers: dict[tuple[str, int, bytes], NumberSeen] = field(default_factory=dict)
    geometries: dict[tuple[str, Geometry], None] = field(default_factory=dict)
    compared: dict[str, tuple[int | float, ...]] = field(default_factory=dict)
    """By kernel, the constants it compares with."""
    threads: dict[str, int] = field(default_factory=dict)
    """By kernel, the most threads that its blocks may have."""
    pointed: dict[tuple[str, int], str] = field(default_factory=dict)
    """By kernel and argument, the buffer that a pointer points to."""
    pointers: dict[tuple[str, int], PointerSeen] = field(default_factory=dict)
    """By kernel and argument."""
    tables: dict[str, BufferSeen] = field(default_factory=dict)
    """Buffers that hold pointers."""
    structures: dict[tuple[str, int], tuple[NumberSeen, ...]] = field(default_factory=dict)
    """By kernel and argument, all numbers of a structure passed by value."""


@dataclass(frozen=True)
class Change:
    """What is done to a case. ``words`` says it to people."""

    words: str
    buffers: tuple[tuple[BufferSeen, str], ...] = ()
    """Buffer, as the original sees it, and way."""
    numbers: tuple[tuple[NumberSeen, bytes], ...] = ()
    geometries: tuple[tuple[tuple[str, Geometry], Geometry], ...] = ()
    seed: int = 0
    aliases: tuple[tuple[PointerSeen, PointerSeen], ...] = ()
    """Pointers, and those to whose memory they point instead."""
    nulls: tuple[PointerSeen, ...] = ()
    """Pointers that are null instead."""
    moved: tuple[PointerSeen, ...] = ()
    """Pointers that point to a copy of what is behind them, which begins an element behind the start of its buffer."""
    brief: bool = False
    """Whether a number is so large that a loop up to there would not end: then it gets few turns."""

    def launch(self, launch: Launch) -> Launch:
        """What is launched in the place of ``launch``."""
        parameters = bytearray(launch.parameters)
        for number, raw in self.numbers:
            end = number.offset + len(number.raw)
            if number.kernel == launch.kernel and launch.parameters[number.offset : end] == number.raw:
                parameters[number.offset : end] = raw
        for pointer, other in self.aliases:
            if pointer.kernel == launch.kernel:
                parameters[pointer.offset : pointer.offset + 8] = launch.parameters[other.offset : other.offset + 8]
        for pointer in self.nulls:
            if pointer.kernel == launch.kernel:
                parameters[pointer.offset : pointer.offset + 8] = bytes(8)
        before = Geometry.of(launch)
        after = dict(self.geometries).get((launch.kernel, before), before)
        return Launch(
            launch.kernel,
            after.grid,
            after.block,
            bytes(parameters),
            after.shared_bytes,
            launch.is_cooperative,
            launch.stack_bytes,
        )

    @property
    def has_other_blocks(self) -> bool:
        """Whether it changes the shape of any launch's block."""
        return any(before.block != after.block for (_, before), after in self.geometries)

    def on_top_of(self, other: Change) -> Change:
        """Both, this one where they disagree."""
        buffers = {b.name: (b, way) for b, way in (*other.buffers, *self.buffers)}
        numbers = {n.place: (n, raw) for n, raw in (*other.numbers, *self.numbers)}
        geometries = {**dict(other.geometries), **dict(self.geometries)}
        aliases = {(p.kernel, p.index): (p, to) for p, to in (*other.aliases, *self.aliases)}
        return Change(
            f"{other.words}; {self.words}", tuple(buffers.values()), tuple(numbers.values()), tuple(geometries.items()),
            self.seed, tuple(aliases.values()), tuple(dict.fromkeys((*other.nulls, *self.nulls))),
            tuple(dict.fromkeys((*other.moved, *self.moved))), self.brief or other.brief,
        )  # fmt: skip

    @property
    def moves_launches(self) -> bool:
        """Whether launches get other parameters or shapes; else only what is in memory changes."""
        return bool(self.geometries or self.aliases or self.nulls or self.moved) or any(
            number.kernel for number, _ in self.numbers
        )


# -- numbers ---------------------------------------------------------------------------------------------------------


def numbers_of(kernel: Function, parameters: bytes, arena: Arena, fields: int = MOST_FIELDS) -> Iterator[NumberSeen]:
    """The arguments of a launch that are numbers, and the first numbers in structures passed by value."""
    for index, (argument, p) in enumerate(zip(kernel.arguments, parameter_layout(kernel).parameters, strict=True)):
        name = argument.name or f"argument {index}"
        for words, offset, type in _leaves(name, p.offset, p.type, fields):
            raw = parameters[offset : offset + alloc_size(type)]
            # A texture object is the address of its descriptor.
            if len(raw) == 8 and arena.find(int.from_bytes(raw, "little")) is not None:
                continue
            yield NumberSeen(
                kernel.name, index, words, _kind(type), raw, offset, boolean=_is_boolean(kernel, type, raw)
            )


def numbers_in(name: str, type: Type, content: bytes) -> Iterator[NumberSeen]:
    """The numbers of a device variable, when it is one number or a structure of numbers."""
    for words, offset, leaf in _leaves(name, 0, type):
        raw = content[offset : offset + alloc_size(leaf)]
        yield NumberSeen("", -1, words, _kind(leaf), raw, offset, name)


def stands_alone(type: Type) -> bool:
    """Whether memory of this type is numbers, each with a meaning of its own."""
    return isinstance(type, IntType | FloatType) or (isinstance(type, StructType) and scalar_type(type) is None)


def structures_of(kernel: Function, parameters: bytes, arena: Arena) -> dict[tuple[str, int], tuple[NumberSeen, ...]]:
    """By kernel and argument, all numbers of a structure passed by value, where it has several."""
    found: dict[tuple[str, int], tuple[NumberSeen, ...]] = {}
    for number in numbers_of(kernel, parameters, arena, ALL_FIELDS):
        key = number.kernel, number.index
        found[key] = (*found.get(key, ()), number)
    return {key: numbers for key, numbers in found.items() if len(numbers) > 1}


def _leaves(name: str, offset: int, type: Type, most: int = MOST_FIELDS) -> list[tuple[str, int, Type]]:
    if isinstance(type, StructType) and type.fields:
        parts = [
            (f"{name}.{n}", offset + at, f)
            for n, (f, at) in enumerate(zip(type.fields or (), field_offsets(type), strict=False))
        ]
    elif isinstance(type, ArrayType):
        step = alloc_size(type.element)
        parts = [(f"{name}[{n}]", offset + n * step, type.element) for n in range(min(type.count, most))]
    else:
        whole = isinstance(type, IntType) and type.bits in (1, 8, 16, 32, 64)
        real = isinstance(type, FloatType) and type.text in ("half", "float", "double")
        return [(name, offset, type)] if whole or real else []
    return [leaf for part in parts for leaf in _leaves(*part, most)][:most]


def _kind(type: Type) -> str:
    return "i" if isinstance(type, IntType) else "f"


def _is_boolean(kernel: Function, type: Type, raw: bytes) -> bool:
    if not isinstance(type, IntType) or raw not in (b"\0", b"\1"):
        return False
    return type.bits == 1 or (type.bits == 8 and has_booleans(kernel))


def has_booleans(kernel: Function) -> bool:
    """Whether it loads bytes that are promised to be 0 or 1."""
    return any(
        i.opcode == "load" and isinstance(i.type, IntType) and i.type.bits == 8 and "range" in i.metadata
        for i in kernel.instructions()
    )
