"""How the meaning of an intrinsic is written down: from the operands of one lane value to the result."""

from __future__ import annotations

from collections.abc import Callable

from kernelwright.codegen.simt.program.flattening_context import Row
from kernelwright.codegen.simt.program.operation_builder import Make
from kernelwright.codegen.simt.program.program import Operand

Meaning = Callable[[Make, Row, str], Operand]
"""From the operands of one lane value and the type of the result to the result."""
Several = Callable[[Make, Row, tuple[str, ...]], Row]
"""The same for intrinsics whose operands or results are rows of their own."""


def direct(name: str, count: int, extra: str = "") -> Meaning:
    """Means LLVM's intrinsic ``name`` on the first ``count`` operands, with ``extra`` ones behind."""
    return lambda m, a, t: m.llvm(name, *a[:count], extra=extra)


def single(name: str, count: int) -> Meaning:
    """The same, computed in single precision."""
    return lambda m, a, t: m.in_single(name, *a[:count])


def library(name: str) -> Meaning:
    """A function of the C library; narrow formats go through ``float``."""

    def write(m: Make, a: Row, t: str) -> Operand:
        if t in ("half", "bfloat"):
            wide = [m.cast("fpext", x, "double") if x.type == t else x for x in a]
            return m.cast("fptrunc", m.row(f"{name}_d", *wide), t)
        return m.row(f"{name}_{'d' if t == 'double' else 'f'}", *a, type=t)

    return write


def absolute(m: Make, a: Row, t: str) -> Operand:
    """The operand without its sign bit, also of a NaN."""
    return m.bitcast(m.and_(m.bits(a[0]), m.magnitude_mask(t)), t)
