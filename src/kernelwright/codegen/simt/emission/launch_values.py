"""Numbers a warp is born with: arguments, its place in the grid, thread numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelwright.codegen.simt.analyses.uniformity import U, V
from kernelwright.codegen.simt.emission import struct_offsets
from kernelwright.codegen.simt.emission.representation import Rep, lane_constants, splat, stored
from kernelwright.codegen.simt.program.program import Var
from kernelwright.errors import CompileError

if TYPE_CHECKING:
    from kernelwright.codegen.simt.emission.lane_values import Lanes


def source(e: Lanes, var: Var) -> Rep:
    """Numbers a warp is born with, read in the entry block."""
    assert var.op is not None
    kind, detail = var.op.detail
    if kind == "parameter":
        base = e.context("parameters", "i64", 0, 8)
        at = e.top(f"add i64 {base}, {detail}")
        pointer = e.top(f"inttoptr i64 {at} to ptr")
        return Rep(var.type, U, [e.top(f"load {stored(var.type)}, ptr {pointer}, align 1")])
    if kind == "by-value":
        return Rep(var.type, U, [e.top(f"add i64 {e.context('by_value_host', 'i64', 0, 8)}, {detail}")])
    if kind == "symbol":
        table = e.context("symbols", "ptr", 0, 8)
        pointer = e.top(f"getelementptr i64, ptr {table}, i64 {e.program.symbols[detail]}")
        return Rep(var.type, U, [e.top(f"load i64, ptr {pointer}")])
    if kind in ("ctaid", "nctaid"):
        return Rep(var.type, U, [e.context(kind, "i32", "xyz".index(detail))])
    if kind == "ntid":
        if e.geometry.block:
            return Rep(var.type, U, [str(e.geometry.block["xyz".index(detail)])])
        return Rep(var.type, U, [e.context(kind, "i32", "xyz".index(detail))])
    if kind == "lane":
        if var.shape is V:
            return Rep(var.type, V, [lane_constants("i32", e.lanes, 1, e.lanes)])
        return Rep(var.type, var.shape, [str(i * e.geometry.per_segment) for i in range(e.parts)])
    if kind == "warp":
        pointer = e.top(f"getelementptr i8, ptr %f, i64 {struct_offsets.FRAME['warp']}")
        return Rep(var.type, U, [e.top(f"load i32, ptr {pointer}")])
    if kind == "tid":
        return _thread_number(e, var, "xyz".index(detail))
    raise CompileError(f"special register '{kind}.{detail}' does not exist on the virtual GPU")


def _thread_number(e: Lanes, var: Var, axis: int) -> Rep:
    block = e.geometry.block
    if block and block[axis] == 1:
        zero = [splat("i32", "0")] if var.shape is V else ["0"] * (1 if var.shape is U else e.parts)
        return Rep(var.type, var.shape, zero)
    if var.shape is V:
        pointer = e.top(f"getelementptr i8, ptr %f, i64 {struct_offsets.FRAME['tid'] + 128 * axis}")
        return Rep(var.type, V, [e.top(f"load {e.vector_type('i32')}, ptr {pointer}, align 64")])
    if axis == 0 and (e.parts > 1 or (block and block[0] * block[1] * block[2] <= e.lanes)):
        return Rep(var.type, var.shape, ["0"] * e.parts)
    parts = []
    for i in range(e.parts if var.shape[0] == "s" else 1):
        pointer = e.top(f"getelementptr i8, ptr %f, i64 {struct_offsets.FRAME['segment_tid'] + 16 * axis + 4 * i}")
        parts.append(e.top(f"load i32, ptr {pointer}"))
    return Rep(var.type, var.shape, parts)
