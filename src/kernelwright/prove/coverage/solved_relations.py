"""One change under which all that a goal requires holds, as far as it can be read backwards to what a launch is given.

    k = keys[i]; 3 * k + 1 > limit && flag         most of 'keys' are limit // 3 + 1, flag is 1

No solver: an operation with one unknown is turned round, and rounded away from the limit. Numbers keep their value where
nothing asks for another; of a buffer, most elements get the value that is asked for. Whether the goal is seen a run tells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from kernelwright.codegen.memory_layout import parameter_layout
from kernelwright.ir import (
    Argument,
    ConstantFloat,
    ConstantInt,
    FloatType,
    Function,
    GlobalVariable,
    Instruction,
    IntType,
    Value,
)
from kernelwright.prove.changed_inputs.buffer_values import WORD
from kernelwright.prove.changed_inputs.case_survey import ENTIRELY, MOSTLY, BufferSeen, Change, NumberSeen, Survey
from kernelwright.prove.coverage.condition_sources import (
    SharedStores,
    is_cached_load,
    is_limit,
    offset_in,
    roots_of,
    shared_stores,
)
from kernelwright.prove.coverage.required_relations import Relation, Relations, compared

Number = int | float
DEPTH = 16
"""Operations that are turned round, one after the other."""
HUGE = 1 << 62
_CASTS = frozenset({"zext", "sext", "trunc", "freeze", "fpext", "fptrunc", "sitofp", "uitofp", "extractelement"})
_TO_WHOLE = frozenset({"fptosi", "fptoui"})
_MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}

TURNED: Mapping[str, Callable[[Number, Number], Number]] = {
    "add": lambda wanted, c: wanted - c,
    "fadd": lambda wanted, c: wanted - c,
    "sub": lambda wanted, c: wanted + c,
    "fsub": lambda wanted, c: wanted + c,
    "mul": lambda wanted, c: _away(wanted, c),
    "fmul": lambda wanted, c: wanted / c if c else wanted,
    "fdiv": lambda wanted, c: wanted * c,
    "sdiv": lambda wanted, c: wanted * c,
    "udiv": lambda wanted, c: wanted * c,
    "srem": lambda wanted, c: wanted,
    "urem": lambda wanted, c: wanted,
    "frem": lambda wanted, c: wanted,
    "and": lambda wanted, c: int(wanted) & int(c),
    "or": lambda wanted, c: wanted,
    "xor": lambda wanted, c: int(wanted) ^ int(c),
    "shl": lambda wanted, c: _away(wanted, 1 << (int(c) & 63)),
    "lshr": lambda wanted, c: int(wanted) << (int(c) & 63),
    "ashr": lambda wanted, c: int(wanted) << (int(c) & 63),
}
"""By operation: the first operand that gives ``wanted`` with the second one known."""
ALONG: Mapping[str, Callable[[Number, Number], Number]] = {
    "add": lambda a, b: a + b,
    "fadd": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "fsub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "fmul": lambda a, b: a * b,
    "and": lambda a, b: int(a) & int(b),
    "shl": lambda a, b: int(a) << (int(b) & 63),
}


def _away(wanted: Number, by: Number) -> Number:
    """A multiple's share, rounded away from zero: of what must be more than a limit, more."""
    if not by:
        return wanted
    share = abs(wanted) / abs(by)
    return int(math.copysign(math.ceil(min(share, HUGE)), wanted * by)) if share == share else wanted


def solved(
    relations: Relations, function: Function, survey: Survey, words: str, *, everywhere: bool = False
) -> Change | None:
    """The change under which ``relations`` hold; None where nothing of them can be read backwards. ``everywhere``: of buffers all
    elements are changed, not most."""
    solution = _Solution(function, survey)
    for relation in relations:
        solution.fulfil(relation)
    return solution.change(words, ENTIRELY if everywhere else MOSTLY)


class _Solution:
    """The values that numbers and the elements of buffers are to have."""

    def __init__(self, function: Function, survey: Survey) -> None:
        self._function = function
        self._survey = survey
        self._parameters = parameter_layout(function).parameters
        self._numbers: dict[NumberSeen, Number] = {}
        self._elements: dict[str, tuple[BufferSeen, list[Number]]] = {}
        self._exact = False
        """Whether nothing but the wanted value will do."""

    def fulfil(self, relation: Relation) -> None:
        predicate, left, right = relation.predicate, relation.left, relation.right
        is_float = isinstance(left.type, FloatType)
        unsigned = not is_float and predicate[0] == "u"
        order = predicate if predicate in ("eq", "ne", "ord", "uno") else predicate[1:]
        self._exact = order == "eq"
        one, two = self._known(left, DEPTH), self._known(right, DEPTH)
        if one is not None and two is not None and _holds(order, one, two, unsigned=unsigned):
            return
        for target, order_of_target, other in ((left, order, two), (right, _MIRRORED.get(order, order), one)):
            if other is not None and self._set(
                target, _wanted(order_of_target, _as_read(other, left, unsigned)), DEPTH
            ):
                return
        if one is None and two is None and self._set(right, 1, DEPTH):
            self._set(left, _wanted(order, 1), DEPTH)

    # -- forwards ------------------------------------------------------------------------------------------------

    def _known(self, value: Value, depth: int) -> Number | None:
        """The value it has in all threads, where that can be told."""
        if isinstance(value, ConstantInt | ConstantFloat):
            return value.value
        if isinstance(value, Argument):
            number = self._number_at(value, 0)
            return self._numbers.get(number, number.value) if number is not None else None
        if not isinstance(value, Instruction) or not depth:
            return None
        if _reads(value):
            place = self._place(value.operands[0])
            if isinstance(place, NumberSeen):
                return self._numbers.get(place, place.value)
            return self._elements[place.name][1][-1] if place is not None and place.name in self._elements else None
        if value.opcode in _CASTS:
            return self._known(value.operands[0], depth - 1)
        if value.opcode == "fneg":
            inner = self._known(value.operands[0], depth - 1)
            return None if inner is None else -inner
        if value.opcode in ALONG:
            given = [self._known(operand, depth - 1) for operand in value.operands]
            if given[0] is not None and given[1] is not None and max(map(abs, given)) < HUGE:  # type: ignore[arg-type]
                return ALONG[value.opcode](given[0], given[1])
        return None

    # -- backwards -----------------------------------------------------------------------------------------------

    def _set(self, value: Value, wanted: Number, depth: int) -> bool:
        """Whether something was found that gives ``value`` the wanted value."""
        if isinstance(value, Argument):
            number = self._number_at(value, 0)
            return number is not None and self._set_number(number, wanted)
        if not isinstance(value, Instruction) or not depth or abs(wanted) > HUGE:
            return False
        given = value.operands
        if _reads(value):
            return self._set_memory(given[0], wanted, depth)
        if value.opcode in _CASTS or value.opcode in _TO_WHOLE:
            whole = value.opcode in ("sitofp", "uitofp")
            return self._set(given[0], _rounded_away(wanted) if whole else wanted, depth - 1)
        if value.opcode in TURNED:
            return self._turn(value, wanted, depth)
        if value.opcode == "fneg":
            return self._set(given[0], -wanted, depth - 1)
        if value.opcode in ("icmp", "fcmp"):
            self.fulfil(compared(value, bool(wanted)))
            return True
        if value.opcode == "call" and (asked := _vote(value)) is not None:
            return self._set(asked, wanted, depth - 1)
        if value.opcode in ("phi", "select") or is_limit(value) or _is_absolute(value):
            several = given[1:] if value.opcode == "select" else given
            return any(self._set(one, wanted, depth - 1) for one in several if not one.is_constant)
        return False

    def _turn(self, value: Instruction, wanted: Number, depth: int) -> bool:
        one, other = value.operands
        if value.opcode in ("mul", "fmul") and one is other:
            root = math.sqrt(abs(wanted))
            return self._set(one, math.ceil(root) if value.opcode == "mul" else root * 1.0001, depth - 1)
        known = self._known(other, depth - 1)
        if (
            self._exact
            and value.opcode == "mul"
            and isinstance(known, int)
            and known % 2
            and isinstance(value.type, IntType)
        ):
            # Modulo the width: that is what a hash takes.
            modulus = 1 << value.type.bits
            whole = _rounded_away(wanted)
            if whole % known and self._set(one, whole * pow(known, -1, modulus) % modulus, depth - 1):
                return True
        if known is not None and self._set(one, TURNED[value.opcode](wanted, known), depth - 1):
            return True
        known = self._known(one, depth - 1)
        if known is not None and value.opcode in ("add", "mul", "and", "or", "xor", "fadd", "fmul"):
            return self._set(other, TURNED[value.opcode](wanted, known), depth - 1)
        if known is not None and value.opcode in ("sub", "fsub"):
            return self._set(other, known - wanted, depth - 1)
        return False

    def _set_memory(self, pointer: Value, wanted: Number, depth: int) -> bool:
        place = self._place(pointer)
        if isinstance(place, NumberSeen):
            return self._set_number(place, wanted)
        if place is not None:
            values = self._elements.setdefault(place.name, (place, []))[1]
            values += [wanted] if wanted not in values else []
            return True
        stored = [value for root in roots_of(pointer) for value in self._shared_stores.get(root, ())]
        return any(self._set(value, wanted, depth // 2) for value in stored)

    def _set_number(self, number: NumberSeen, wanted: Number) -> bool:
        if number.kind == "i":
            wanted = _wrapped(_rounded_away(wanted), 8 * len(number.raw))
        if number.boolean:
            wanted = int(bool(wanted))
        if number.raw_of(wanted) is None:
            return False
        self._numbers[number] = wanted
        return True

    # -- what is there -------------------------------------------------------------------------------------------

    @cached_property
    def _shared_stores(self) -> SharedStores:
        return shared_stores(self._function)

    def _number_at(self, argument: Argument, offset: int) -> NumberSeen | None:
        at = self._parameters[argument.index].offset + offset
        return next(
            (n for n in self._survey.numbers.values() if n.kernel == self._function.name and n.offset == at), None
        )

    def _place(self, pointer: Value) -> NumberSeen | BufferSeen | None:
        """The number or the buffer that an address belongs to, where there is one."""
        roots = list(roots_of(pointer))
        if len(roots) != 1:
            return None
        root, offset = roots[0], offset_in(pointer)
        if isinstance(root, Argument) and self._parameters[root.index].byval:
            return self._number_at(root, offset) if offset is not None else None
        if isinstance(root, Argument):
            name = self._survey.pointed.get((self._function.name, root.index), "")
        else:
            name = root.name if isinstance(root, GlobalVariable) else ""
        if not name:
            return None
        alone = [n for n in self._survey.numbers.values() if not n.kernel and n.buffer == name]
        exact = [n for n in alone if n.offset == offset or len(alone) == 1]
        return exact[0] if exact else self._survey.buffers.get(name)

    def change(self, words: str, way: str) -> Change | None:
        numbers, buffers, said = [], [], []
        for number, value in self._numbers.items():
            raw = number.raw_of(value)
            if raw is not None and raw != number.raw:
                numbers.append((number, raw))
                said.append(f"{number.words}: {number.value:g} -> {value:g}")
        for name, (buffer, values) in self._elements.items():
            buffers.append(_filled(buffer, values, way))
            said.append(f"'{name}' {way.split()[0]} {', '.join(f'{value:g}' for value in values)}")
        return Change(f"{', '.join(said)}, {words}", tuple(buffers), tuple(numbers)) if said else None


def _holds(order: str, one: Number, other: Number, *, unsigned: bool) -> bool:
    if unsigned:
        one, other = (value + (1 << 64) if value < 0 else value for value in (one, other))
    return {
        "eq": one == other, "ne": one != other, "lt": one < other, "le": one <= other, "gt": one > other, "ge": one >= other,
        "ord": one == one and other == other, "uno": one != one or other != other,
    }.get(order, False)  # fmt: skip


def _wanted(order: str, other: Number) -> Number:
    """A number that stands in this order to another one."""
    step = max(1.0, abs(other) / 2) if isinstance(other, float) else 1
    return {"lt": other - step, "gt": other + step, "ne": other + step, "uno": math.nan}.get(order, other)


def _as_read(other: Number, like: Value, unsigned: bool) -> Number:
    """What an unsigned comparison takes a negative number for."""
    if unsigned and isinstance(like.type, IntType) and other < 0:
        return int(other) + (1 << like.type.bits)
    return other


def _rounded_away(value: Number) -> int:
    return int(math.copysign(math.ceil(min(abs(value), HUGE)), value)) if value == value else 0


def _wrapped(value: int, bits: int) -> int:
    half = 1 << bits - 1
    return (value + half) % (2 * half) - half


def _reads(value: Instruction) -> bool:
    return value.opcode == "load" or (value.opcode == "call" and is_cached_load(value))


def _vote(call: Instruction) -> Value | None:
    """What the threads of a warp or block are asked, where all of them are."""
    name = getattr(call.callee, "name", "")
    asks = name.startswith(("llvm.nvvm.barrier.cta.red.", "llvm.nvvm.barrier0.", "llvm.nvvm.vote."))
    return next((v for v in reversed(call.operands) if not v.is_constant), None) if asks else None


def _is_absolute(value: Instruction) -> bool:
    return value.opcode == "call" and getattr(value.callee, "name", "").startswith(
        ("llvm.abs", "llvm.fabs", "llvm.nvvm.fabs")
    )


def _filled(buffer: BufferSeen, values: list[Number], way: str) -> tuple[BufferSeen, str]:
    if buffer.boolean:
        return buffer, "all one" if any(values) else "all zero"
    dtype = buffer.dtype or WORD
    elements = tuple(_element(value, dtype, real=buffer.dtype is None) for value in values)
    return replace(buffer, compared=elements), way


def _element(value: Number, dtype: np.dtype[Any], *, real: bool) -> Number:
    """As an element. ``real``: of memory of unknown type a real number's bits."""
    if dtype.kind == "f":
        return float(value)
    if real and isinstance(value, float):
        return int(np.array(value, np.float32).view(np.uint32))
    bits = 8 * dtype.itemsize
    wrapped = _wrapped(_rounded_away(value), bits)
    return wrapped if dtype.kind == "i" else wrapped % (1 << bits)


__all__ = ["solved"]
