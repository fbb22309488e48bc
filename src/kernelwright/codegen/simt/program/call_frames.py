"""What a function keeps while it calls itself: the frame of one call of it, in its thread's stack.

    structs passed by value | arguments | values that are needed after a call | local arrays | the caller's frame | where to return to

The place to return to and the caller's frame come last, and are written first: where they find no room the stack is used up. All else that
a function computes is a value of the program as ever, for it is not needed behind a call; and what a block takes out of the frame it takes
once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kernelwright.codegen.call_graph import Group, meant_by
from kernelwright.codegen.fused_products import contractions
from kernelwright.codegen.memory_layout import align_of, alloc_size, parameter_layout, round_up
from kernelwright.codegen.simt.program.access_requests import memory_type, request
from kernelwright.codegen.simt.program.flattening_context import FlatteningContext, Row
from kernelwright.codegen.simt.program.lane_scalars import LOCAL_BASE, Scalar, scalars
from kernelwright.codegen.simt.program.program import Block, Const, Operand, Var, bytes_of, integer
from kernelwright.errors import CompileError
from kernelwright.ir.constants import ConstantInt
from kernelwright.ir.module import Argument, BasicBlock, Function, Instruction
from kernelwright.ir.values import Value
from kernelwright.lazy_dataclasses import dataclass

LOCAL = 5
"""The address space of local memory: its pointers are offsets."""
ALIGN = 16


@dataclass(frozen=True)
class Slot:
    """Where one lane value lies in a frame."""

    offset: int
    scalar: Scalar


def alloca_places(function: Function, start: int) -> tuple[dict[Instruction, int], int]:
    """Where a function's local arrays lie from ``start`` on, and the end of the last. Raises ``CompileError`` for one of no fixed size."""
    offsets: dict[Instruction, int] = {}
    for instruction in function.instructions():
        if instruction.opcode != "alloca":
            continue
        count = 1
        if instruction.operands:
            number = instruction.operands[0]
            if not isinstance(number, ConstantInt):
                raise CompileError(
                    f"function '{function.name}' allocates a variable number of bytes, which GPUs cannot",
                    hint="give the array a constant size",
                )
            count = number.value
        size = alloc_size(instruction.allocated_type) * count
        offsets[instruction] = round_up(start, instruction.align or align_of(instruction.allocated_type))
        start = offsets[instruction] + size
    return offsets, start


def by_value_places(function: Function, start: int) -> tuple[dict[Argument, tuple[int, int]], int]:
    """Where the copies of structs lie that a function takes by value, from ``start`` on, and their sizes; and the end of the last."""
    places: dict[Argument, tuple[int, int]] = {}
    for argument, p in zip(function.arguments, parameter_layout(function).parameters, strict=True):
        if p.byval:
            offset = round_up(start, max(p.align, align_of(p.type)))
            places[argument] = offset, alloc_size(p.type)
            start = offset + alloc_size(p.type)
    return places, start


class CallFrame:
    """The layout of a function's frame, and its values while the function is flattened."""

    def __init__(self, function: Function, group: Group, here: int) -> None:
        """``here``: the offset in local memory at which a thread's current frame is told."""
        self.function = function
        self.here = here
        self.slots: dict[Value, list[Slot]] = {}
        self.structs, end = by_value_places(function, 0)
        """Those that are passed by value: offset and size."""
        for value in (*function.arguments, *_kept(function, group)):
            if value not in self.structs:
                self.slots[value], end = lay_out(scalars(value.type), end)
        arrays, end = alloca_places(function, end)
        self._places: dict[Value, int] = {a: offset for a, (offset, _) in self.structs.items()}
        for array, offset in arrays.items():
            self._places[array] = offset
        self.caller = round_up(end, 8)
        self.goes_on = self.caller + 8
        self.size = round_up(self.goes_on + 4, ALIGN)
        self._homes: dict[Value, Block] = {}
        self._taken: dict[tuple[Value, Block], Row] = {}
        self._tops: dict[Block, Var] = {}

    def top(self, flat: FlatteningContext) -> Var:
        """The offset of the current frame."""
        found = self._tops.get(flat.now)
        if found is None:
            (found,) = take(flat, integer("i64", self.here), [Slot(0, Scalar("i64", LOCAL))])  # type: ignore[assignment]
            assert isinstance(found, Var)
            self._tops[flat.now] = found
        return found

    def holds(self, value: Value) -> bool:
        return value in self.slots or value in self._places

    def row(self, flat: FlatteningContext, value: Value) -> Row:
        """The scalars of a value that the frame holds."""
        if value in self._places:
            generic = scalars(value.type)[0].pointer != LOCAL
            offset = self._places[value] + (LOCAL_BASE if generic else 0)
            return [flat.emit("gep", (self.top(flat),), "i64", (offset, ()), 0 if generic else LOCAL)]
        if self._homes.get(value) is flat.now:
            return flat.rows[value]
        found = self._taken.get((value, flat.now))
        if found is None:
            found = self._taken[value, flat.now] = take(flat, self.top(flat), self.slots[value])
        return found

    def keep(self, flat: FlatteningContext, value: Value) -> None:
        """A value has been computed; if it is needed after a call, it goes into the frame."""
        if value in self.slots:
            self._homes[value] = flat.now
            put(flat, self.top(flat), self.slots[value], flat.rows[value])


def lay_out(types: Sequence[Scalar], start: int) -> tuple[list[Slot], int]:
    """Places for lane values from ``start`` on, and their end."""
    slots = []
    for scalar in types:
        size = bytes_of(memory_type(scalar.type))
        start = round_up(start, size)
        slots.append(Slot(start, scalar))
        start += size
    return slots, start


def put(flat: FlatteningContext, base: Operand, slots: Sequence[Slot], row: Sequence[Operand]) -> None:
    """Stores lane values of a thread at ``base`` and their places."""
    for slot, operand in zip(slots, row, strict=True):
        wide = memory_type(slot.scalar.type)
        stored = operand if operand.type == wide else flat.emit("zext", (operand,), wide)
        access = request(flat, "store", wide, 1, bytes_of(wide))
        access.space = 2
        flat.effect("store", (_place(flat, base, slot.offset), stored), access)


def take(flat: FlatteningContext, base: Operand, slots: Sequence[Slot]) -> Row:
    """Loads them again."""
    row: Row = []
    for slot in slots:
        wide = memory_type(slot.scalar.type)
        access = request(flat, "load", wide, 1, bytes_of(wide))
        access.space = 2
        (out,) = flat.effect("load", (_place(flat, base, slot.offset),), access, ((wide, slot.scalar.pointer),))
        row.append(out if wide == slot.scalar.type else flat.emit("trunc", (out,), slot.scalar.type))
    return row


def _place(flat: FlatteningContext, base: Operand, offset: int) -> Operand:
    if isinstance(base, Const):
        assert base.value is not None
        return integer("i64", base.value + offset)
    return flat.emit("gep", (base,), "i64", (offset, ()), LOCAL) if offset else base


# -- what is needed after a call ---------------------------------------------------------------------------------------


def _kept(function: Function, group: Group) -> list[Instruction]:
    """The values, arguments apart, that are needed after a call which may come back to the function, in its order."""
    calls = {i for i in function.instructions() if group.intersection(meant_by(i))}
    needed: set[Value] = set()
    before: dict[BasicBlock, set[Value]] = {block: set() for block in function.blocks}
    uses = _uses(function)
    changed = True
    while changed:
        changed = False
        for block in reversed(function.blocks):
            live = {v for s in block.successors for v in before[s]}
            live |= {
                v for s in block.successors for phi in s.phis for v, b in phi.incoming if b is block and _is_value(v)
            }
            for instruction in reversed(block.instructions):
                live.discard(instruction)
                if instruction in calls:
                    needed |= live
                if instruction.opcode != "phi":
                    live.update(uses[instruction])
            if live != before[block]:
                before[block] = live
                changed = True
    return [i for i in function.instructions() if i in needed and i.opcode != "alloca"]


def _uses(function: Function) -> dict[Instruction, list[Value]]:
    """The values that each instruction reads when it is reached: a product that is a part of a sum, when the sum is."""
    fused: dict[Instruction, Any] = contractions(function)
    products = {each.product for each in fused.values()}
    found: dict[Instruction, list[Value]] = {}
    for i in function.instructions():
        operands = (
            (fused[i].left, fused[i].right, fused[i].addend) if i in fused else () if i in products else i.operands
        )
        found[i] = [v for v in operands if _is_value(v)]
    return found


def _is_value(value: Any) -> bool:
    return isinstance(value, Instruction | Argument)
