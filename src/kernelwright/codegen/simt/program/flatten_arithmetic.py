"""Arithmetic, casts and aggregates, scalar by scalar.

before   %v = fadd <2 x float> %a, %b                after   %1:float = fadd %a0 %b0
                                                             %2:float = fadd %a1 %b1
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kernelwright.codegen.fused_products import Fused
from kernelwright.codegen.simt.program.flattening_context import FlatteningContext, Row
from kernelwright.codegen.simt.program.lane_scalars import scalars, slice_of
from kernelwright.codegen.simt.program.program import ROUNDED, Const, Operand, bits_of, integer, is_float
from kernelwright.errors import CompileError
from kernelwright.ir.module import Instruction
from kernelwright.ir.opcodes import BINARY

ONE = frozenset({"1.0", "1.000000e+00"})
APPROXIMATE = frozenset({"fast", "afn", "arcp"})
"""Flags with which code generation makes another division."""


def _binary(flat: FlatteningContext, instruction: Instruction) -> None:
    if instruction in flat.products:
        return
    fused = flat.fused.get(instruction)
    types = scalars(instruction.type)
    if fused:
        flat.set(instruction, _fused(flat, fused, types))
        return
    left, right = (flat.row(v) for v in instruction.operands)
    flat.set(
        instruction,
        [
            flat.emit(instruction.opcode, (a, b), t.type, _rounded(instruction, a, t.type))
            for a, b, t in zip(left, right, types, strict=True)
        ],
    )


def _rounded(instruction: Instruction, dividend: Operand, type: str) -> str | None:
    """The detail of a division whose quotient must be the nearest number. Code generation knows no other way for those without flags;
    reciprocals are another instruction."""
    is_one = isinstance(dividend, Const) and dividend.text in ONE
    is_exact = instruction.opcode == "fdiv" and type == "float" and not APPROXIMATE.intersection(instruction.flags)
    return ROUNDED if is_exact and not is_one else None


def _fused(flat: FlatteningContext, fused: Fused, types: tuple[Any, ...]) -> Row:
    rows = [flat.row(v) for v in (fused.left, fused.right, fused.addend)]
    made: Row = []
    for a, b, c, t in zip(*rows, types, strict=True):
        if fused.negate_product:
            a = flat.emit("fneg", (a,), t.type)
        if fused.negate_addend:
            c = flat.emit("fneg", (c,), t.type)
        made.append(flat.emit("fma", (a, b, c), t.type))
    return made


def _unary(flat: FlatteningContext, instruction: Instruction) -> None:
    types = scalars(instruction.type)
    row = flat.row(instruction.operands[0])
    flat.set(instruction, [flat.emit(instruction.opcode, (a,), t.type) for a, t in zip(row, types, strict=True)])


def _compare(flat: FlatteningContext, instruction: Instruction) -> None:
    left, right = (flat.row(v) for v in instruction.operands)
    flat.set(
        instruction,
        [flat.emit(instruction.opcode, (a, b), "i1", instruction.predicate) for a, b in zip(left, right, strict=True)],
    )


def _select(flat: FlatteningContext, instruction: Instruction) -> None:
    conditions, yes, no = (flat.row(v) for v in instruction.operands)
    if len(conditions) != len(yes):
        conditions = conditions * len(yes)
    types = scalars(instruction.type)
    flat.set(
        instruction,
        [
            flat.emit("select", (c, a, b), t.type, None, t.pointer)
            for c, a, b, t in zip(conditions, yes, no, types, strict=True)
        ],
    )


def _same(flat: FlatteningContext, instruction: Instruction) -> None:
    flat.set(instruction, flat.row(instruction.operands[0]))


def _to_integer(flat: FlatteningContext, instruction: Instruction) -> None:
    """Pointers are 64-bit numbers already; narrower or wider integers need a cast."""
    made: Row = []
    wanted = scalars(instruction.type)
    for operand, s in zip(flat.row(instruction.operands[0]), wanted, strict=True):
        have, want = bits_of(operand.type), bits_of(s.type)
        if have == want:
            made.append(operand)
        else:
            made.append(flat.emit("trunc" if want < have else "zext", (operand,), s.type, None, s.pointer))
    flat.set(instruction, made)


def _addrspacecast(flat: FlatteningContext, instruction: Instruction) -> None:
    flat.set(instruction, [flat.space_cast(instruction.operands[0], instruction.type)])


def _bitcast(flat: FlatteningContext, instruction: Instruction) -> None:
    row = flat.row(instruction.operands[0])
    wanted = [s.type for s in scalars(instruction.type)]
    if [o.type for o in row] == wanted:
        flat.set(instruction, row)
    else:
        flat.set(instruction, recast(flat, row, wanted))


def recast(flat: FlatteningContext, row: Row, wanted: list[str]) -> Row:
    """The same bits as other numbers: packed into wider ones or cut into narrower ones, the first lowest.
    Raises ``CompileError`` for types that do not divide each other."""
    if len(row) == len(wanted):
        return [o if o.type == t else flat.emit("bitcast", (o,), t) for o, t in zip(row, wanted, strict=True)]
    integers = [_as_integer(flat, o) for o in row]
    narrow, wide = bits_of(integers[0].type), bits_of(wanted[0])
    if narrow < wide:
        if wide % narrow:
            raise CompileError(f"a bit cast from {row[0].type} to {wanted[0]} does not run on the virtual GPU")
        step = wide // narrow
        made: Row = [_packed(flat, integers[i : i + step], wide, narrow) for i in range(0, len(integers), step)]
    else:
        step = narrow // wide
        made = [_piece(flat, o, i * wide, wide) for o in integers for i in range(step)]
    return [o if o.type == t else flat.emit("bitcast", (o,), t) for o, t in zip(made, wanted, strict=True)]


def _as_integer(flat: FlatteningContext, operand: Operand) -> Operand:
    if not is_float(operand.type):
        return operand
    return flat.emit("bitcast", (operand,), f"i{bits_of(operand.type)}")


def _packed(flat: FlatteningContext, parts: Row, wide: int, narrow: int) -> Operand:
    type = f"i{wide}"
    total: Operand | None = None
    for i, part in enumerate(parts):
        if isinstance(part, Const) and part.value == 0:
            continue
        value: Operand = flat.emit("zext", (part,), type)
        if i:
            value = flat.emit("shl", (value, integer(type, i * narrow)), type)
        total = value if total is None else flat.emit("or", (total, value), type)
    return integer(type, 0) if total is None else total


def _piece(flat: FlatteningContext, operand: Operand, at: int, bits: int) -> Operand:
    if at:
        operand = flat.emit("lshr", (operand, integer(operand.type, at)), operand.type)
    return flat.emit("trunc", (operand,), f"i{bits}")


def _extract_element(flat: FlatteningContext, instruction: Instruction) -> None:
    vector, index = instruction.operands
    row, number = flat.row(vector), flat.one(index)
    if isinstance(number, Const) and number.value is not None:
        at = number.value
        flat.set(instruction, [row[at] if 0 <= at < len(row) else integer("i1", 0)])
        return
    s = scalars(instruction.type)[0]
    chosen = row[0]
    for i, candidate in enumerate(row[1:], 1):
        hit = flat.emit("icmp", (number, integer(number.type, i)), "i1", "eq")
        chosen = flat.emit("select", (hit, candidate, chosen), s.type, None, s.pointer)
    flat.set(instruction, [chosen])


def _insert_element(flat: FlatteningContext, instruction: Instruction) -> None:
    vector, element, index = instruction.operands
    row, value, number = list(flat.row(vector)), flat.one(element), flat.one(index)
    if isinstance(number, Const) and number.value is not None:
        if 0 <= number.value < len(row):
            row[number.value] = value
    else:
        s = scalars(element.type)[0]
        for i, old in enumerate(row):
            hit = flat.emit("icmp", (number, integer(number.type, i)), "i1", "eq")
            row[i] = flat.emit("select", (hit, value, old), s.type, None, s.pointer)
    flat.set(instruction, row)


def _shuffle_vector(flat: FlatteningContext, instruction: Instruction) -> None:
    left, right, mask = (flat.row(v) for v in instruction.operands)
    both = left + right
    picks = [m.value if isinstance(m, Const) else None for m in mask]
    flat.set(instruction, [both[p] if p is not None and 0 <= p < len(both) else both[0] for p in picks])


def _extract_value(flat: FlatteningContext, instruction: Instruction) -> None:
    aggregate = instruction.operands[0]
    first, end = slice_of(aggregate.type, instruction.indices)
    flat.set(instruction, flat.row(aggregate)[first:end])


def _insert_value(flat: FlatteningContext, instruction: Instruction) -> None:
    aggregate, value = instruction.operands
    first, end = slice_of(aggregate.type, instruction.indices)
    row = list(flat.row(aggregate))
    row[first:end] = flat.row(value)
    flat.set(instruction, row)


HANDLERS: dict[str, Callable[[FlatteningContext, Instruction], None]] = {
    **dict.fromkeys(BINARY, _binary),
    **dict.fromkeys(
        ("fneg", "trunc", "zext", "sext", "fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp"), _unary
    ),
    "icmp": _compare,
    "fcmp": _compare,
    "select": _select,
    "freeze": _same,
    "ptrtoint": _to_integer,
    "ptrtoaddr": _to_integer,
    "inttoptr": _to_integer,
    "addrspacecast": _addrspacecast,
    "bitcast": _bitcast,
    "extractelement": _extract_element,
    "insertelement": _insert_element,
    "shufflevector": _shuffle_vector,
    "extractvalue": _extract_value,
    "insertvalue": _insert_value,
}
