"""What is known about numbers before a kernel runs: how large they can be, and what divides them."""

from __future__ import annotations

from typing import Any

from kernelwright.codegen.simt.options import Geometry
from kernelwright.codegen.simt.program.program import Const, Operand, bits_of


def maximum(operand: Operand, geometry: Geometry, depth: int = 0) -> int | None:
    """The largest value, when it is known and no lane's is negative."""
    if isinstance(operand, Const):
        return operand.value if operand.value is not None and operand.value >= 0 else None
    op = operand.op
    if op is None or depth > 5:
        return None
    code, args = op.code, op.args
    if code == "source":
        return _source_maximum(op.detail, geometry)
    if code == "and":
        known = [m for m in (maximum(a, geometry, depth + 1) for a in args) if m is not None]
        return min(known, default=None)
    if code in ("zext", "trunc"):
        high = maximum(args[0], geometry, depth + 1)
        return high if high is not None and high < 1 << (bits_of(operand.type) - 1) else None
    if code == "lshr" and isinstance(args[1], Const) and args[1].value is not None and 0 <= args[1].value < 64:
        high = maximum(args[0], geometry, depth + 1)
        return None if high is None else high >> args[1].value
    if code in ("add", "or", "mul"):
        a, b = maximum(args[0], geometry, depth + 1), maximum(args[1], geometry, depth + 1)
        if a is None or b is None:
            return None
        high = a * b if code == "mul" else a + b
        return high if high < 1 << (bits_of(operand.type) - 1) else None
    if code == "urem" and isinstance(args[1], Const) and args[1].value is not None and args[1].value > 0:
        return args[1].value - 1
    return None


def _source_maximum(detail: tuple[str, Any], geometry: Geometry) -> int | None:
    kind, axis = detail
    if kind == "lane":
        return 31
    if kind == "tid":
        return geometry.block["xyz".index(axis)] - 1 if geometry.block else 1023
    if kind == "ntid":
        return 1024
    return None


def alignment(operand: Operand, geometry: Geometry, every: bool = False, depth: int = 0) -> int:
    """A power of two that divides the number of every segment's first lane, or of every lane; capped at 4096."""
    if isinstance(operand, Const):
        if operand.value is None or operand.value == 0:
            return 4096
        return min(operand.value & -operand.value, 4096)
    op = operand.op
    if op is None or depth > 5:
        return 1
    code, args = op.code, op.args
    if code == "source":
        kind, axis = op.detail
        runs = (kind, axis) == ("tid", "x") or kind == "lane"
        return geometry.per_segment if runs and not every else 1

    def of(arg: Operand) -> int:
        return alignment(arg, geometry, every, depth + 1)

    if code in ("add", "sub", "or"):
        return min(of(a) for a in args)
    if code == "and":
        return max(of(a) for a in args)
    if code == "mul":
        return min(of(args[0]) * of(args[1]), 4096)
    if code == "shl" and isinstance(args[1], Const) and args[1].value is not None and 0 <= args[1].value < 12:
        return min(of(args[0]) << args[1].value, 4096)
    if code in ("zext", "sext", "trunc"):
        return of(args[0])
    return 1
