"""Barriers, and what the lanes of a warp do together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelwright.codegen.simt import abi
from kernelwright.codegen.simt.program import Block, Op

if TYPE_CHECKING:
    from kernelwright.codegen.simt.emit import Emitter


def barrier(e: Emitter, block: Block, term: Op) -> None:
    """The lanes wait: their number of the point is what the function returns when nothing else can run."""
    point = e.points[block]
    if term.args:
        bits = e.active_bits(e.vector(term.args[0]))
        pointer = e.frame_pointer("predicate")
        if block in e.control.partial:
            bits = e.let(f"or i32 {e.let(f'load i32, ptr {pointer}')}, {bits}")
        e.line(f"store i32 {bits}, ptr {pointer}")
    if block in e.control.partial:
        pointer = e.frame_pointer("arrived")
        here = e.let(f"or i32 {e.let(f'load i32, ptr {pointer}')}, {e.mask}")
        e.line(f"store i32 {here}, ptr {pointer}")
        e.line(f"store i64 {point}, ptr %stopped")
        e._go(e.state, None)
        return
    e.line(f"ret i64 {point}")


def barrier_result(e: Emitter, op: Op) -> None:
    """What the barrier's reduction gave: count in the low bits, "any" in bit 30, "all" in bit 31."""
    pointer = e.let(f"getelementptr i8, ptr %c, i64 {abi.CONTEXT['barrier_result']}")
    word = e.let(f"load i32, ptr {pointer}")
    out = op.outs[0]
    if op.detail == "popc":
        result = e.let(f"and i32 {word}, 1073741823")
    else:
        bit = 31 if op.detail == "and" else 30
        result = e.let(f"and i32 {e.let(f'lshr i32 {word}, {bit}')}, 1")
    if out.type == "i1":
        result = e.let(f"icmp ne i32 {result}, 0")
    e.define(out, [result])


def operation(e: Emitter, op: Op) -> None:
    from kernelwright.errors import CompileError
    raise CompileError(f"warp {op.detail}")
