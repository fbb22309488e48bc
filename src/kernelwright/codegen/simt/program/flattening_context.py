"""What is known and written while a kernel is flattened: the context that the handler of every instruction receives.

It imports no handler. ``flatten.py`` extends it by the walk over functions and the table of handlers.
"""

from __future__ import annotations

from typing import Any, Protocol

from kernelwright.codegen.fused_products import Fused
from kernelwright.codegen.memory_layout import alloc_size, field_offsets
from kernelwright.codegen.simt.program.lane_scalars import BASES, CONSTANT_SPACE, constant, scalars
from kernelwright.codegen.simt.program.program import Block, Const, Op, Operand, Program, Var, bits_of, integer
from kernelwright.errors import CompileError
from kernelwright.ir.constants import ConstantExpr
from kernelwright.ir.module import BasicBlock, Function, GlobalVariable, Instruction
from kernelwright.ir.types import ArrayType, StructType, VectorType
from kernelwright.ir.values import Value

Row = list[Operand]
"""The scalars that a value of the IR is taken apart into."""


class Kept(Protocol):
    """The frame of a function that may be called while it runs (``call_frames.py``)."""

    def holds(self, value: Value) -> bool:
        """Whether the frame has the value."""

    def row(self, flat: FlatteningContext, value: Value) -> Row:
        """The scalars of a value that it has."""

    def keep(self, flat: FlatteningContext, value: Value) -> None:
        """Takes a value that has been computed, if it is to have it."""


class FlatteningContext:
    """The program being written, the place reached in it, and the scalars of every value known so far."""

    instruction: Instruction
    """The instruction being flattened; in the expansion of inline assembly, the call."""
    index: int
    """Its position in its block."""
    function_now: Function
    names: tuple[str, ...]
    """The functions being inlined, the kernel first."""

    def __init__(self, program: Program, shared: dict[str, int]) -> None:
        self.program = program
        self.shared = shared
        """Offsets of shared variables."""
        self.reserved = -1
        """Offset of the block's reserved shared memory."""
        self.rows: dict[Value, Row] = {}
        self.now: Block = Block(-1)
        """The block that operations are appended to."""
        self.offsets: dict[Instruction, int] = {}
        """Of each ``alloca`` in the threads' local frames."""
        self.fused: dict[Instruction, Fused] = {}
        self.kept: Kept | None = None
        """Where the function's values lie that it needs after a call of itself; None for one that does not come back to itself."""
        self.products: set[Instruction] = set()
        """Multiplications that exist only as a part of a fused operation."""

    # -- blocks

    def block(self, function: str, origin: BasicBlock | None, part: int = 0, start: int = 0) -> Block:
        """Appends an empty block to the program. ``origin``: the IR block that it is part number ``part`` of, None for a block of its own;
        ``start``: the instruction of the IR block that the part begins with."""
        made = Block(len(self.program.blocks), function, origin, part)
        made.start = start
        self.program.blocks.append(made)
        return made

    def cut(self, code: str, args: tuple[Operand, ...] = (), detail: Any = None) -> Block:
        """End the block here with a terminator that goes on in a new part."""
        before = self.now
        after = self.block(before.function, before.origin, before.part + 1, self.index + 1)
        before.end = self.index + 1
        before.term = Op(code, args, (), detail, self.instruction, (after,))
        self.now = after
        return after

    # -- values

    def row(self, value: Value) -> Row:
        """The scalars of a value."""
        if self.kept is not None and self.kept.holds(value):
            return self.kept.row(self, value)
        found = self.rows.get(value)
        if found is not None:
            return found
        made = constant(value, self.program, self.shared)
        if made is None:
            made = self._address(value)
        return made

    def one(self, value: Value) -> Operand:
        """The scalar of a value that is a single one; the first of one that has several."""
        return self.row(value)[0]

    def _address(self, value: Value) -> Row:
        """A constant that depends on where device variables lie."""
        match value:
            case GlobalVariable(kind="alias") if value.initializer is not None:
                return self.row(value.initializer)
            case GlobalVariable():
                self.program.symbols.setdefault(value.name, len(self.program.symbols))
                if value.address_space == CONSTANT_SPACE:
                    self.program.constants.add(value.name)
                return [self.program.source("symbol", value.name, "i64", 0)]
            case Function():
                self.program.symbols.setdefault(value.name, len(self.program.symbols))
                return [self.program.source("symbol", value.name, "i64", 0)]
            case ConstantExpr(opcode="getelementptr"):
                assert value.source_type is not None
                return [self.element_address(value.source_type, value.operands, scalars(value.type)[0].pointer)]
            case ConstantExpr(opcode="addrspacecast"):
                return [self.space_cast(value.operands[0], value.type)]
            case ConstantExpr(opcode="inttoptr" | "ptrtoint" | "ptrtoaddr" | "bitcast"):
                return self.row(value.operands[0])
            case ConstantExpr(opcode="add" | "sub" | "xor" | "trunc" as opcode):
                type = scalars(value.type)[0].type
                return [self.emit(opcode, tuple(self.one(v) for v in value.operands), type)]
        if value.is_composed:
            return [s for v in value.operands for s in self.row(v)]
        raise CompileError(f"'{value}' has no value on the virtual GPU")

    # -- addresses

    def element_address(self, source: Any, operands: tuple[Value, ...], pointer: int) -> Operand:
        """The address of an element, as ``getelementptr`` computes it from these operands."""
        base = self.one(operands[0])
        offset = 0
        terms: list[tuple[Operand, int]] = []

        def add(index: Value, scale: int) -> None:
            nonlocal offset
            operand = self.one(index)
            if isinstance(operand, Const):
                assert operand.value is not None
                offset += operand.value * scale
            elif scale:
                if bits_of(operand.type) > 64:
                    operand = self.emit("trunc", (operand,), "i64")
                terms.append((operand, scale))

        add(operands[1], alloc_size(source))
        for index in operands[2:]:
            if isinstance(source, StructType):
                number = self.one(index)
                assert isinstance(number, Const) and number.value is not None and source.fields is not None
                offset += field_offsets(source)[number.value]
                source = source.fields[number.value]
            else:
                assert isinstance(source, ArrayType | VectorType)
                source = source.element
                add(index, alloc_size(source))
        if not terms:
            if isinstance(base, Const):
                assert base.value is not None
                return integer("i64", base.value + offset)
            if not offset:
                return base
        scales = tuple(s for _, s in terms)
        return self.emit("gep", (base, *(o for o, _ in terms)), "i64", (offset, scales), pointer)

    def space_cast(self, value: Value, type: Any) -> Operand:
        """A pointer as a number of another address space. Raises ``CompileError`` for an unknown address space."""
        source, target = scalars(value.type)[0].pointer, scalars(type)[0].pointer
        operand = self.one(value)
        if source not in BASES or target not in BASES:
            raise CompileError(f"address space {source if source not in BASES else target} does not exist here")
        delta = BASES[source] - BASES[target]
        if delta == 0 and isinstance(operand, Const):
            return operand
        if isinstance(operand, Const) and operand.value is not None:
            return integer("i64", operand.value + delta)
        return self.emit("gep", (operand,), "i64", (delta, ()), target)

    # -- operations

    def emit(self, code: str, args: tuple[Operand, ...], type: str, detail: Any = None, pointer: int = -1) -> Var:
        """Append an operation with one result."""
        out = self.program.var(type, pointer)
        out.op = op = Op(code, args, (out,), detail, self.instruction)
        self.now.ops.append(op)
        return out

    def effect(
        self, code: str, args: tuple[Operand, ...], detail: Any = None, outs: tuple[tuple[str, int], ...] = ()
    ) -> Row:
        """Append an operation with effects and any number of results."""
        made = tuple(self.program.var(t, p) for t, p in outs)
        op = Op(code, args, made, detail, self.instruction)
        for v in made:
            v.op = op
        self.now.ops.append(op)
        return list(made)

    def set(self, instruction: Instruction, row: Row) -> None:
        """The scalars of an instruction's result."""
        self.rows[instruction] = row
