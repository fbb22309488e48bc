"""Numbers a warp is born with: arguments, its place in the grid, thread numbers."""

from __future__ import annotations

from collections.abc import Mapping

from kernelwright.codegen.simt.analyses.uniformity import U, V
from kernelwright.codegen.simt.emission import struct_offsets
from kernelwright.codegen.simt.emission.representation import Rep, lane_constants, splat, stored
from kernelwright.codegen.simt.emission.text_writer import Writer
from kernelwright.codegen.simt.options import Geometry
from kernelwright.codegen.simt.program.program import Var
from kernelwright.errors import CompileError


def launch_value(e: Writer, geometry: Geometry, symbols: Mapping[str, int], var: Var) -> Rep:
    """A number that does not change during a launch, read in the entry block; ``symbols`` numbers the device variables.
    Raises ``CompileError`` for a register that the virtual GPU lacks."""
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
        pointer = e.top(f"getelementptr i64, ptr {table}, i64 {symbols[detail]}")
        return Rep(var.type, U, [e.top(f"load i64, ptr {pointer}")])
    if kind in ("ctaid", "nctaid"):
        return Rep(var.type, U, [e.context(kind, "i32", "xyz".index(detail))])
    if kind == "ntid":
        if geometry.block:
            return Rep(var.type, U, [str(geometry.block["xyz".index(detail)])])
        return Rep(var.type, U, [e.context(kind, "i32", "xyz".index(detail))])
    if kind == "lane":
        if var.shape is V:
            return Rep(var.type, V, [lane_constants("i32", e.lanes, 1, e.lanes)])
        return Rep(var.type, var.shape, [str(i * geometry.per_segment) for i in range(geometry.parts)])
    if kind == "cooperative":
        return Rep(var.type, U, [e.context(kind, "i32")])
    if kind == "warp":
        pointer = e.top(f"getelementptr i8, ptr %f, i64 {struct_offsets.FRAME['warp']}")
        return Rep(var.type, U, [e.top(f"load i32, ptr {pointer}")])
    if kind == "tid":
        return _thread_number(e, geometry, var, "xyz".index(detail))
    raise CompileError(f"special register '{kind}.{detail}' does not exist on the virtual GPU")


def _thread_number(e: Writer, geometry: Geometry, var: Var, axis: int) -> Rep:
    block = geometry.block
    if block and block[axis] == 1:
        zero = [splat("i32", "0")] if var.shape is V else ["0"] * (1 if var.shape is U else geometry.parts)
        return Rep(var.type, var.shape, zero)
    if var.shape is V:
        pointer = e.top(f"getelementptr i8, ptr %f, i64 {struct_offsets.FRAME['tid'] + 128 * axis}")
        return Rep(var.type, V, [e.top(f"load {e.vector_type('i32')}, ptr {pointer}, align 64")])
    if axis == 0 and (geometry.parts > 1 or (block and block[0] * block[1] * block[2] <= e.lanes)):
        return Rep(var.type, var.shape, ["0"] * geometry.parts)
    parts = []
    for i in range(geometry.parts if var.shape[0] == "s" else 1):
        pointer = e.top(f"getelementptr i8, ptr %f, i64 {struct_offsets.FRAME['segment_tid'] + 16 * axis + 4 * i}")
        parts.append(e.top(f"load i32, ptr {pointer}"))
    return Rep(var.type, var.shape, parts)
