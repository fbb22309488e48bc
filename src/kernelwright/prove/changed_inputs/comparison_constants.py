"""The constants that a kernel compares with: where its data decide which way it goes, and what data never go may be cut off.

icmp eq i32 %kind, 7  →  7, 6, 8          icmp ult i32 (add i32 %kind, -3), 4  →  also 3 and 7          fcmp ogt float %x, 1.0  →  1.0
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from kernelwright.ir import ConstantFloat, ConstantInt, Function, Instruction
from kernelwright.ir.types import i1
from kernelwright.ir.values import Value

MOST = 24
"""Constants of one kernel that are tried."""


def compared_in(kernel: Function) -> tuple[int | float, ...]:
    """What the kernel and the functions it calls compare with, tests for equality first; zero and truth values are left out."""
    found: dict[int | float, int] = {}
    for instruction in instructions_of(kernel):
        for constant in constants_of(instruction) if instruction.opcode != "call" else ():
            if constant:
                equal = instruction.opcode == "switch" or instruction.predicate in ("eq", "ne", "oeq", "une")
                found[constant] = min(0 if equal else 1, found.get(constant, 1))
    return tuple(sorted(found, key=lambda constant: found[constant]))[:MOST]


def instructions_of(kernel: Function) -> Iterator[Instruction]:
    """The instructions of a kernel and of all functions it calls."""
    waiting, seen = [kernel], {kernel.name}
    while waiting:
        for instruction in waiting.pop().instructions():
            yield instruction
            callee = instruction.callee if instruction.opcode == "call" else None
            if isinstance(callee, Function) and callee.name not in seen:
                seen.add(callee.name)
                waiting.append(callee)


def constants_of(instruction: Instruction) -> Iterator[int | float]:
    """What one instruction compares with: a comparison, a switch, a call that gives the smaller or larger number."""
    if instruction.opcode == "switch":
        constants: list[Value] = list(instruction.cases)
    elif instruction.opcode in ("icmp", "fcmp", "call"):
        constants = [v for v in instruction.operands if isinstance(v, ConstantInt | ConstantFloat)]
    else:
        return
    # LLVM writes x == 3 || x == 4 as x - 3 < 2.
    shifts = [shift for v in instruction.operands for shift in _added(v)]
    for constant in constants:
        if isinstance(constant, ConstantFloat):
            yield constant.value
        elif isinstance(constant, ConstantInt) and constant.type is not i1:
            yield from (constant.value, *(constant.value - shift for shift in shifts))
    yield from (-shift for shift in shifts)


def _added(value: Value) -> Iterator[int]:
    if isinstance(value, Instruction) and value.opcode == "add":
        yield from (v.value for v in value.operands if isinstance(v, ConstantInt))


def ints_like(compared: Sequence[int | float], bits: int, *, signed: bool = True) -> tuple[int, ...]:
    """The whole numbers among them and their neighbours, as numbers of so many bits; what is wider is left out."""
    whole = [each for each in compared if isinstance(each, int)]
    near = [*whole, *(each + step for step in (-1, 1) for each in whole)]
    half, end = 1 << bits - 1, 1 << bits
    least = -half if signed else 0
    return tuple(dict.fromkeys((each - least) % end + least for each in near if -half <= each < end))


def floats_like(compared: Sequence[int | float], dtype: np.dtype[Any]) -> tuple[float, ...]:
    """All of them, and the next numbers of the type to both sides."""
    with np.errstate(all="ignore"):
        here = np.array(compared, np.float64).astype(dtype)
        here = here[np.isfinite(here)]
        near = np.concatenate([here, np.nextafter(here, dtype.type(np.inf)), np.nextafter(here, dtype.type(-np.inf))])
    return tuple(dict.fromkeys(float(each) for each in near if np.isfinite(each)))


__all__ = ["compared_in", "constants_of", "floats_like", "instructions_of", "ints_like"]
