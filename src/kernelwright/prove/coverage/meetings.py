"""Pairs of accesses of one thread that may meet in memory, and what of the data decides whether they do.

    x = cost[tid];  ...  cost[edges[i]] = y;       they meet where edges[i] == tid; for that, edges[i] is moved by
                                                   (what lies between them) / (what one more in edges[i] moves the second)

Data in which they never meet say nothing of a variant that changes their order, and data drawn at random hardly ever do: an edge from
a node to itself, in a node that is looked at. So the original notes for some executions how far the two are apart, and where the
numbers were read that their addresses are made from; ``meeting_changes.py`` makes inputs of that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from kernelwright.codegen.memory_layout import alloc_size
from kernelwright.edits.original import Id, Original
from kernelwright.errors import KernelwrightError
from kernelwright.ir import Argument, ArrayType, ConstantInt, GlobalVariable, Instruction, IntType, Module, Value
from kernelwright.ir.control_flow import Dominators
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.coverage.condition_sources import is_cached_load, is_limit, offset_in, roots_of
from kernelwright.prove.instrumentation import COUNTERS, instrumented

MOST = 12
"""Pairs of a kernel that are looked at."""
MOST_ACCESSES = 96
"""Addresses that are paired: unrolled kernels have a thousand."""
MOST_NUMBERS = 4
"""Of a pair, the numbers that may be moved."""
NOTED = 64
"""Executions of a pair that are kept, the latest; a power of two."""
DEPTH = 12
"""Operations that an address is followed back through."""
_CASTS = frozenset({"sext", "zext", "trunc", "freeze"})
_KEEPING = frozenset({"and", "urem", "srem"})
"""Operations that leave a number as it is as long as it is small enough: of such a one the difference is the same behind them."""


@dataclass(frozen=True)
class Moving:
    """A number that an address is made from. ``source``: a load of it, or the argument that it is or is a field of."""

    source: Instruction | Argument
    step: int
    """Bytes that one more in it moves the address."""
    factors: tuple[Argument, ...] = ()
    """Arguments that ``step`` is to be multiplied by."""
    of_second: bool = True
    """Whether it moves the second address of its pair, or the first one."""
    field: int = 0
    """Bytes from the begin of the argument."""


@dataclass(frozen=True)
class Meeting:
    """Two addresses in the same memory, one of which at least is written to."""

    first: Value
    second: Value
    site: Instruction
    """The access at which both are known."""
    moving: tuple[Moving, ...]

    @property
    def loads(self) -> tuple[Moving, ...]:
        """Those of ``moving`` that are loaded from memory, in order."""
        return tuple(m for m in self.moving if isinstance(m.source, Instruction))

    @property
    def words(self) -> int:
        """Of one execution that is noted: how far the addresses are apart, and of each load its address and what it read."""
        return 1 + 2 * len(self.loads)


@dataclass(frozen=True)
class Noted:
    """One execution of a pair."""

    apart: int
    """Bytes from the first address to the second."""
    read: tuple[tuple[int, int], ...]
    """Of each of the pair's loads, where it read and what."""


class Meetings:
    """Those of one kernel. ``module`` is the original, noting; None where there is nothing to note."""

    def __init__(self, module: Module, kernel: str) -> None:
        self.pairs: list[Meeting] = []
        self.module: Module | None = None
        self.function = module.functions[kernel]
        try:
            original = Original(module, kernel)
            self.function = original.function
            self.dominators = Dominators(original.function)
            self.pairs = list(islice(_pairs(original, self.dominators), MOST))
            if self.pairs:
                self.module = _noting(original, self.pairs)
        except KernelwrightError:
            self.pairs = []

    def noted(self, counters: NDArray[np.int64]) -> list[list[Noted]]:
        """By pair, the executions that were kept."""
        found, begin = [], 0
        for pair in self.pairs:
            end = begin + 1 + NOTED * pair.words
            if counters.size < end:
                return []
            rows = counters[begin + 1 : end].reshape(NOTED, pair.words)[: int(counters[begin])]
            found.append([Noted(row[0], tuple(zip(row[1::2], row[2::2], strict=True))) for row in rows.tolist()])
            begin = end
        return found


def _pairs(original: Original, dominators: Dominators) -> Iterator[Meeting]:
    found: dict[tuple[Value, bool], Instruction] = {}
    for instruction, pointer, writes in accesses_of(original):
        if any(isinstance(root, Argument | GlobalVariable) for root in roots_of(pointer)):
            found.setdefault((pointer, writes), instruction)
    accesses = [(instruction, *key) for key, instruction in islice(found.items(), MOST_ACCESSES)]
    known: set[frozenset[Value]] = set()
    for number, (later, second, writes) in enumerate(accesses):
        roots = set(roots_of(second))
        for other, (_, first, writes_too) in enumerate(accesses):
            pair = frozenset((first, second))
            if other == number or len(pair) < 2 or pair in known or not (writes or writes_too):
                continue
            if roots.isdisjoint(roots_of(first)) or not _is_known(first, later, dominators):
                continue
            known.add(pair)
            moving = list(_moving(first, second, later, dominators))
            if moving:
                yield Meeting(first, second, later, tuple(moving[:MOST_NUMBERS]))


def accesses_of(original: Original) -> Iterator[tuple[Instruction, Value, bool]]:
    """Loads, stores and atomic operations that can be reached, their addresses, and whether they write there."""
    for block in range(len(original.order)):
        for id in original.order[block] if original.reachable[block] else ():
            instruction = original.nodes[id].instruction
            place = {"load": 0, "store": 1, "atomicrmw": 0, "cmpxchg": 0}.get(instruction.opcode)
            if place is not None and isinstance(instruction.operands[place], Instruction | Argument):
                yield instruction, instruction.operands[place], instruction.opcode != "load"


def _is_known(value: Value, at: Instruction, dominators: Dominators) -> bool:
    return isinstance(value, Argument) or (isinstance(value, Instruction) and dominators.before(value, at))


def _moving(first: Value, second: Value, site: Instruction, dominators: Dominators) -> Iterator[Moving]:
    """The numbers that move one of the addresses and not the other by as much."""
    found = {}
    for of_second, pointer in ((True, second), (False, first)):
        for source, step, factors in terms_of_pointer(pointer):
            found[source, step, factors, of_second] = Moving(source, step, factors, of_second)
    for key, one in found.items():
        both = (*key[:3], not key[3]) in found
        if not both and (isinstance(one.source, Argument) or dominators.before(one.source, site)):
            yield _as_field(one)


def _as_field(moving: Moving) -> Moving:
    """With a load from a structure that is passed by value as what it reads."""
    source = moving.source
    if isinstance(source, Argument):
        return moving
    pointer = source.operands[0]
    root, *others = roots_of(pointer)
    field = offset_in(pointer)
    if others or not isinstance(root, Argument) or "byval" not in root.attributes or field is None:
        return moving
    return replace(moving, source=root, field=field)


Term = tuple[Instruction | Argument, int, tuple[Argument, ...]]


def terms_of_pointer(pointer: Value) -> Iterator[Term]:
    """The numbers that an address is made from: loads and arguments, each with the bytes that one more of it is, and the arguments
    that these are to be multiplied by."""
    return _terms_of_pointer(pointer, DEPTH, set())


def _terms_of_pointer(pointer: Value, depth: int, seen: set[Value]) -> Iterator[Term]:
    """The numbers in an address, each with the bytes that one more of it is."""
    if not isinstance(pointer, Instruction) or not depth or pointer in seen:
        return
    seen.add(pointer)
    if pointer.opcode in ("addrspacecast", "phi"):
        for one in pointer.operands:
            yield from _terms_of_pointer(one, depth - 1, seen)
    elif pointer.opcode == "getelementptr":
        base, *indices = pointer.operands
        yield from _terms_of_pointer(base, depth - 1, seen)
        type = pointer.source_type
        for place, index in enumerate(indices):
            if place:
                if not isinstance(type, ArrayType):
                    return  # a field of a structure, which is a constant, and perhaps a number within it
                type = type.element
            yield from _terms(index, alloc_size(type), (), depth - 1, seen)


def _terms(value: Value, step: int, factors: tuple[Argument, ...], depth: int, seen: set[Value]) -> Iterator[Term]:
    if isinstance(value, Argument) and isinstance(value.type, IntType):
        yield value, step, factors
    if not isinstance(value, Instruction) or not depth or value in seen:
        return
    seen.add(value)
    given = value.operands
    if value.opcode == "load" or (value.opcode == "call" and is_cached_load(value)):
        if isinstance(value.type, IntType) and value.type.bits in (8, 16, 32, 64):
            yield value, step, factors
    elif value.opcode in _CASTS:
        yield from _terms(given[0], step, factors, depth - 1, seen)
    elif value.opcode in ("add", "or", "phi") or is_limit(value):
        for one in given:
            yield from _terms(one, step, factors, depth - 1, seen)
    elif value.opcode == "select":
        for one in given[1:]:
            yield from _terms(one, step, factors, depth - 1, seen)
    elif value.opcode in _KEEPING and isinstance(given[1], ConstantInt):
        yield from _terms(given[0], step, factors, depth - 1, seen)
    elif value.opcode == "sub":
        yield from _terms(given[0], step, factors, depth - 1, seen)
        yield from _terms(given[1], -step, factors, depth - 1, seen)
    elif value.opcode == "shl" and isinstance(given[1], ConstantInt):
        yield from _terms(given[0], step << (given[1].value & 63), factors, depth - 1, seen)
    elif value.opcode == "mul":
        for one, by in (given, given[::-1]):
            if isinstance(by, ConstantInt):
                yield from _terms(one, step * by.value, factors, depth - 1, seen)
            elif isinstance(by, Argument):
                yield from _terms(one, step, (*factors, by), depth - 1, seen)


def _noting(original: Original, pairs: Sequence[Meeting]) -> Module:
    ids = {node.instruction: id for id, node in original.nodes.items()}
    added: dict[Id, list[str]] = {}
    begin = 0
    for number, pair in enumerate(pairs):
        added.setdefault(ids[pair.site], []).extend(_lines(original, number, pair, begin))
        begin += 1 + NOTED * pair.words
    return instrumented(original, (), added, words=begin)


def _lines(original: Original, number: int, pair: Meeting, begin: int) -> Iterator[str]:
    """Counts the execution in the word at ``begin``, and keeps it in a row behind that."""
    name, counters = f"%kw.m{number}", f"ptr addrspace(1) @{COUNTERS}"
    yield from _as_number(original, f"{name}.a", pair.first)
    yield from _as_number(original, f"{name}.b", pair.second)
    yield f"{name}.w0 = sub i64 {name}.b, {name}.a"
    for place, moving in enumerate(pair.loads):
        assert isinstance(moving.source, Instruction)
        yield from _as_number(original, f"{name}.w{2 * place + 1}", moving.source.operands[0])
        bits = moving.source.type.bits if isinstance(moving.source.type, IntType) else 64
        read, wide = original.names[moving.source], f"{name}.w{2 * place + 2}"
        yield f"{wide} = sext i{bits} {read} to i64" if bits < 64 else f"{wide} = add i64 {read}, 0"
    yield f"{name}.n = getelementptr i64, {counters}, i64 {begin}"
    yield f"{name}.before = atomicrmw add ptr addrspace(1) {name}.n, i64 1 monotonic, align 8"
    yield f"{name}.row = and i64 {name}.before, {NOTED - 1}"
    yield f"{name}.at = mul i64 {name}.row, {pair.words}"
    for word in range(pair.words):
        yield f"{name}.i{word} = add i64 {name}.at, {begin + 1 + word}"
        yield f"{name}.p{word} = getelementptr i64, {counters}, i64 {name}.i{word}"
        yield f"store i64 {name}.w{word}, ptr addrspace(1) {name}.p{word}, align 8"


def _as_number(original: Original, name: str, pointer: Value) -> Iterator[str]:
    yield f"{name} = ptrtoint {pointer.type.text} {original.names[pointer]} to i64"


__all__ = ["Meeting", "Meetings", "Moving", "Noted", "accesses_of", "terms_of_pointer"]
