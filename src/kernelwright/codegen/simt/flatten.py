"""IR → ``Program``: calls inlined, vectors and aggregates taken apart, pointers made numbers, blocks cut where warps stop.

before   %v = load <2 x float>, ptr %p, align 8          after   %1:float, %2:float = load [access 0] %0
         %x = extractelement <2 x float> %v, i32 1
         call void @llvm.nvvm.barrier.cta.sync...()               barrier -> b1
"""

from __future__ import annotations

from typing import Any

from kernelwright.codegen.contract import Fused, contractions
from kernelwright.codegen.layout import (
    align_of,
    alloc_size,
    field_offsets,
    parameter_layout,
    round_up,
    shared_layout,
)
from kernelwright.codegen.simt import calls
from kernelwright.codegen.simt.program import (
    Access,
    Block,
    Const,
    Op,
    Operand,
    Phi,
    Program,
    Var,
    bits_of,
    bytes_of,
    integer,
    is_float,
)
from kernelwright.codegen.simt.scalars import BASES, LOCAL_BASE, constant, places, scalars, slice_of
from kernelwright.errors import CompileError
from kernelwright.ir.constants import ConstantExpr, ConstantInt, InlineAsm
from kernelwright.ir.instruction import BINARY, Instruction
from kernelwright.ir.module import BasicBlock, Function, GlobalVariable
from kernelwright.ir.types import ArrayType, PointerType, StructType, VectorType
from kernelwright.ir.values import Argument, Value

Row = list[Operand]


def flatten(kernel: Function) -> Program:
    """The program of a kernel. Raises ``CompileError`` naming what cannot run (recursion, indirect calls, unknown asm)."""
    program = Program(kernel.name)
    layout = shared_layout(kernel)
    program.shared_bytes = layout.static_bytes
    program.dynamic_offset = layout.dynamic_offset
    program.dynamic_shared = len(layout.offsets) > 0 and any(o >= layout.static_bytes for o in layout.offsets.values())
    flat = Flattener(program, layout.offsets)
    arguments, frame = _parameters(flat, kernel)
    flat.function(kernel, arguments, flat.block(kernel.name, kernel.entry), frame, ())
    return program


def _parameters(flat: Flattener, kernel: Function) -> tuple[list[Row], int]:
    """The values of the kernel's arguments, and the local bytes that copies of by-value structs take."""
    layout = parameter_layout(kernel)
    flat.program.parameter_bytes = layout.size
    rows: list[Row] = []
    frame = 0
    for argument, p in zip(kernel.arguments, layout.parameters, strict=True):
        if p.byval:
            if "readonly" in argument.attributes.split() or "readnone" in argument.attributes.split():
                rows.append([flat.program.source("by-value", p.offset, "i64", 0)])
                continue
            frame = round_up(frame, p.align)
            flat.by_value.append((frame, p.offset, p.size))
            rows.append([integer("i64", LOCAL_BASE + frame)])
            frame += p.size
            continue
        row: Row = []
        for at, type in places(p.type):
            for i, s in enumerate(scalars(type)):
                offset = p.offset + at + i * bytes_of(s.type)
                row.append(flat.program.source("parameter", offset, s.type, s.pointer))
        rows.append(row)
    return rows, frame


class Flattener:
    """Walks functions in reverse post-order, so that every value but a phi's is known before it is used."""

    def __init__(self, program: Program, shared: dict[str, int]) -> None:
        self.program = program
        self.shared = shared
        self.by_value: list[tuple[int, int, int]] = []
        self.rows: dict[Value, Row] = {}
        self.now: Block = Block(-1)
        self.at: tuple[Function, BasicBlock, int] | None = None
        self.frame_base = 0
        self.frame_end = 0
        self.fused: dict[Instruction, Fused] = {}
        self.products: set[Instruction] = set()
        self.standing_for: Instruction | None = None
        """The inline assembly whose expansion is being written: faults and counts are its."""

    # -- blocks and functions

    def block(self, function: str, origin: BasicBlock | None, part: int = 0, start: int = 0) -> Block:
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

    def function(
        self, function: Function, arguments: list[Row], entry: Block, frame: int, stack: tuple[str, ...]
    ) -> list[tuple[Block, Row]]:
        """Put the body of ``function`` into the program, beginning in ``entry``; the blocks that return, with their rows."""
        if function.name in stack:
            chain = " calls ".join([*stack[stack.index(function.name) :], function.name])
            raise CompileError(
                f"recursion does not run on the virtual GPU: {chain}", hint="write it as a loop with its own stack"
            )
        if function.is_declaration:
            raise CompileError(
                f"function '{function.name}' is called but has no body",
                hint="define it in this file, or link the file that does",
            )
        outer = (self.rows, self.fused, self.products, self.frame_base, self.frame_end)
        self.rows = dict(zip(function.arguments, arguments, strict=True))
        self.fused = contractions(function)
        self.products = {f.product for f in self.fused.values()}
        self.frame_base = self.frame_end = frame
        self._layout_frame(function)
        if not stack:
            self._copy_by_value(entry)
        order = _reverse_post_order(function)
        blocks = {b: entry if b is function.entry else self.block(function.name, b) for b in order}
        lasts: dict[BasicBlock, Block] = {}
        phis: list[tuple[Instruction, list[Phi]]] = []
        returns: list[tuple[Block, Row]] = []
        names = (*stack, function.name)
        for origin in order:
            self.now = blocks[origin]
            if self.now is entry and stack:
                # The entry continues the caller's block; what it holds already stays.
                self.now.end = max(self.now.end, self.now.start)
            for index, instruction in enumerate(origin.instructions):
                self.instruction, self.index, self.function_now, self.names = instruction, index, function, names
                self.standing_for = None
                if instruction.opcode == "phi":
                    phis.append((instruction, self._phi(instruction)))
                elif instruction.is_terminator:
                    self.now.end = index + 1
                    self._terminator(instruction, blocks, returns)
                else:
                    self.step(instruction)
            lasts[origin] = self.now
        for instruction, made in phis:
            self._fill(instruction, made, lasts)
        self.rows, self.fused, self.products, self.frame_base, self.frame_end = outer
        return returns

    def _layout_frame(self, function: Function) -> None:
        self.offsets: dict[Instruction, int] = getattr(self, "offsets", {})
        for instruction in function.instructions():
            if instruction.opcode == "alloca":
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
                start = round_up(self.frame_end, instruction.align or align_of(instruction.allocated_type))
                self.offsets[instruction] = start
                self.frame_end = start + size
        self.program.local_bytes = max(self.program.local_bytes, self.frame_end)

    def _copy_by_value(self, entry: Block) -> None:
        for at, offset, size in self.by_value:
            source = self.program.source("by-value", offset, "i64", 0)
            args = (integer("i64", LOCAL_BASE + at), source, integer("i64", size))
            entry.ops.append(Op("copy", args, (), None))

    # -- values

    def row(self, value: Value) -> Row:
        """The scalars of a value."""
        found = self.rows.get(value)
        if found is not None:
            return found
        made = constant(value, self.program, self.shared)
        if made is None:
            made = self._address(value)
        return made

    def one(self, value: Value) -> Operand:
        return self.row(value)[0]

    def _address(self, value: Value) -> Row:
        """A constant that depends on where device variables lie."""
        match value:
            case GlobalVariable(kind="alias") if value.initializer is not None:
                return self.row(value.initializer)
            case GlobalVariable():
                self.program.symbols.setdefault(value.name, len(self.program.symbols))
                return [self.program.source("symbol", value.name, "i64", 0)]
            case ConstantExpr(opcode="getelementptr"):
                assert value.source_type is not None
                return [self._gep(value.source_type, value.operands, scalars(value.type)[0].pointer)]
            case ConstantExpr(opcode="addrspacecast"):
                return [self._space_cast(value.operands[0], value.type)]
            case ConstantExpr(opcode="inttoptr" | "ptrtoint" | "ptrtoaddr" | "bitcast"):
                return self.row(value.operands[0])
            case ConstantExpr(opcode="add" | "sub" | "xor" | "trunc" as opcode):
                type = scalars(value.type)[0].type
                return [self.emit(opcode, tuple(self.one(v) for v in value.operands), type)]
        if value.is_constant and hasattr(value, "operands"):
            return [s for v in value.operands for s in self.row(v)]
        raise CompileError(f"'{value}' has no value on the virtual GPU")

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

    # -- phis and terminators

    def _phi(self, instruction: Instruction) -> list[Phi]:
        made = []
        for s in scalars(instruction.type):
            out = self.program.var(s.type, s.pointer)
            phi = Phi((), (), out)
            phi.origin = instruction
            out.op = phi
            self.now.phis.append(phi)
            made.append(phi)
        self.rows[instruction] = [p.outs[0] for p in made]
        return made

    def _fill(self, instruction: Instruction, made: list[Phi], lasts: dict[BasicBlock, Block]) -> None:
        pairs = {id(b): (v, b) for v, b in instruction.incoming if b in lasts}
        for value, origin in pairs.values():
            self.now = lasts[origin]
            self.instruction = instruction
            ops = len(self.now.ops)
            row = self.row(value)
            assert len(self.now.ops) >= ops
            for phi, operand in zip(made, row, strict=True):
                phi.args += (operand,)
                phi.sources += (lasts[origin],)

    def _terminator(
        self, instruction: Instruction, blocks: dict[BasicBlock, Block], returns: list[tuple[Block, Row]]
    ) -> None:
        targets = tuple(blocks[b] for b in instruction.successors)
        match instruction.opcode:
            case "br" if len(targets) == 1 or targets[0] is targets[1]:
                term = Op("jump", (), (), None, instruction, targets[:1])
            case "br":
                condition = self.one(instruction.operands[0])
                if isinstance(condition, Const):
                    term = Op("jump", (), (), None, instruction, (targets[0 if condition.value else 1],))
                else:
                    term = Op("branch", (condition,), (), None, instruction, targets)
            case "switch":
                cases = tuple(c.value for c in instruction.cases)
                term = Op("switch", (self.one(instruction.operands[0]),), (), cases, instruction, targets)
            case "ret":
                row = [s for v in instruction.operands for s in self.row(v)]
                returns.append((self.now, row))
                term = Op("return", (), (), None, instruction)
            case "unreachable":
                term = Op("stop", (), (), None, instruction)
            case other:
                raise CompileError(f"'{other}' does not run on a GPU")
        self.now.term = term

    # -- instructions

    def step(self, instruction: Instruction) -> None:
        """Put an instruction that is neither phi nor terminator into the program."""
        self.instruction = self.standing_for or instruction
        opcode = instruction.opcode
        if opcode in BINARY:
            self._binary(instruction)
            return
        handler = HANDLERS.get(opcode)
        if handler is None:
            raise CompileError(f"instruction '{opcode}' does not run on the virtual GPU: {instruction}")
        handler(self, instruction)

    def _set(self, instruction: Instruction, row: Row) -> None:
        self.rows[instruction] = row

    def _binary(self, instruction: Instruction) -> None:
        if instruction in self.products:
            return
        fused = self.fused.get(instruction)
        types = scalars(instruction.type)
        if fused:
            self._set(instruction, self._fused(fused, types))
            return
        left, right = (self.row(v) for v in instruction.operands)
        self._set(
            instruction,
            [self.emit(instruction.opcode, (a, b), t.type) for a, b, t in zip(left, right, types, strict=True)],
        )

    def _fused(self, fused: Fused, types: tuple[Any, ...]) -> Row:
        rows = [self.row(v) for v in (fused.left, fused.right, fused.addend)]
        made: Row = []
        for a, b, c, t in zip(*rows, types, strict=True):
            if fused.negate_product:
                a = self.emit("fneg", (a,), t.type)
            if fused.negate_addend:
                c = self.emit("fneg", (c,), t.type)
            made.append(self.emit("fma", (a, b, c), t.type))
        return made

    def _unary(self, instruction: Instruction) -> None:
        types = scalars(instruction.type)
        row = self.row(instruction.operands[0])
        self._set(
            instruction, [self.emit(instruction.opcode, (a,), t.type) for a, t in zip(row, types, strict=True)]
        )

    def _compare(self, instruction: Instruction) -> None:
        left, right = (self.row(v) for v in instruction.operands)
        self._set(
            instruction,
            [self.emit(instruction.opcode, (a, b), "i1", instruction.predicate) for a, b in zip(left, right, strict=True)],
        )

    def _select(self, instruction: Instruction) -> None:
        conditions, yes, no = (self.row(v) for v in instruction.operands)
        if len(conditions) != len(yes):
            conditions = conditions * len(yes)
        types = scalars(instruction.type)
        self._set(
            instruction,
            [
                self.emit("select", (c, a, b), t.type, None, t.pointer)
                for c, a, b, t in zip(conditions, yes, no, types, strict=True)
            ],
        )

    def _same(self, instruction: Instruction) -> None:
        self._set(instruction, self.row(instruction.operands[0]))

    def _to_integer(self, instruction: Instruction) -> None:
        """Pointers are 64-bit numbers already; narrower or wider integers need a cast."""
        made: Row = []
        wanted = scalars(instruction.type)
        for operand, s in zip(self.row(instruction.operands[0]), wanted, strict=True):
            have, want = bits_of(operand.type), bits_of(s.type)
            if have == want:
                made.append(operand)
            else:
                made.append(self.emit("trunc" if want < have else "zext", (operand,), s.type, None, s.pointer))
        self._set(instruction, made)

    def _space_cast(self, value: Value, type: Any) -> Operand:
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

    def _addrspacecast(self, instruction: Instruction) -> None:
        self._set(instruction, [self._space_cast(instruction.operands[0], instruction.type)])

    def _bitcast(self, instruction: Instruction) -> None:
        row = self.row(instruction.operands[0])
        wanted = [s.type for s in scalars(instruction.type)]
        if [o.type for o in row] == wanted:
            self._set(instruction, row)
        else:
            self._set(instruction, self.recast(row, wanted))

    def recast(self, row: Row, wanted: list[str]) -> Row:
        """The same bits as other numbers: packed into wider ones or cut into narrower ones, the first lowest."""
        if len(row) == len(wanted):
            return [o if o.type == t else self.emit("bitcast", (o,), t) for o, t in zip(row, wanted, strict=True)]
        integers = [self._as_integer(o) for o in row]
        narrow, wide = bits_of(integers[0].type), bits_of(wanted[0])
        if narrow < wide:
            if wide % narrow:
                raise CompileError(f"a bit cast from {row[0].type} to {wanted[0]} does not run on the virtual GPU")
            step = wide // narrow
            made: Row = [self._packed(integers[i : i + step], wide, narrow) for i in range(0, len(integers), step)]
        else:
            step = narrow // wide
            made = [self._piece(o, i * wide, wide) for o in integers for i in range(step)]
        return [o if o.type == t else self.emit("bitcast", (o,), t) for o, t in zip(made, wanted, strict=True)]

    def _as_integer(self, operand: Operand) -> Operand:
        if not is_float(operand.type):
            return operand
        return self.emit("bitcast", (operand,), f"i{bits_of(operand.type)}")

    def _packed(self, parts: Row, wide: int, narrow: int) -> Operand:
        type = f"i{wide}"
        total: Operand | None = None
        for i, part in enumerate(parts):
            if isinstance(part, Const) and part.value == 0:
                continue
            value: Operand = self.emit("zext", (part,), type)
            if i:
                value = self.emit("shl", (value, integer(type, i * narrow)), type)
            total = value if total is None else self.emit("or", (total, value), type)
        return integer(type, 0) if total is None else total

    def _piece(self, operand: Operand, at: int, bits: int) -> Operand:
        if at:
            operand = self.emit("lshr", (operand, integer(operand.type, at)), operand.type)
        return self.emit("trunc", (operand,), f"i{bits}")

    def _extract_element(self, instruction: Instruction) -> None:
        vector, index = instruction.operands
        row, number = self.row(vector), self.one(index)
        if isinstance(number, Const) and number.value is not None:
            at = number.value
            self._set(instruction, [row[at] if 0 <= at < len(row) else integer("i1", 0)])
            return
        s = scalars(instruction.type)[0]
        chosen = row[0]
        for i, candidate in enumerate(row[1:], 1):
            hit = self.emit("icmp", (number, integer(number.type, i)), "i1", "eq")
            chosen = self.emit("select", (hit, candidate, chosen), s.type, None, s.pointer)
        self._set(instruction, [chosen])

    def _insert_element(self, instruction: Instruction) -> None:
        vector, element, index = instruction.operands
        row, value, number = list(self.row(vector)), self.one(element), self.one(index)
        if isinstance(number, Const) and number.value is not None:
            if 0 <= number.value < len(row):
                row[number.value] = value
        else:
            s = scalars(element.type)[0]
            for i, old in enumerate(row):
                hit = self.emit("icmp", (number, integer(number.type, i)), "i1", "eq")
                row[i] = self.emit("select", (hit, value, old), s.type, None, s.pointer)
        self._set(instruction, row)

    def _shuffle_vector(self, instruction: Instruction) -> None:
        left, right, mask = (self.row(v) for v in instruction.operands)
        both = left + right
        picks = [m.value if isinstance(m, Const) else None for m in mask]
        self._set(instruction, [both[p] if p is not None and 0 <= p < len(both) else both[0] for p in picks])

    def _extract_value(self, instruction: Instruction) -> None:
        aggregate = instruction.operands[0]
        first, end = slice_of(aggregate.type, instruction.indices)
        self._set(instruction, self.row(aggregate)[first:end])

    def _insert_value(self, instruction: Instruction) -> None:
        aggregate, value = instruction.operands
        first, end = slice_of(aggregate.type, instruction.indices)
        row = list(self.row(aggregate))
        row[first:end] = self.row(value)
        self._set(instruction, row)

    # -- memory

    def _alloca(self, instruction: Instruction) -> None:
        base = 0 if instruction.address_space == 5 else LOCAL_BASE
        self._set(instruction, [integer("i64", base + self.offsets[instruction])])

    def _getelementptr(self, instruction: Instruction) -> None:
        if isinstance(instruction.type, VectorType):
            raise CompileError(f"vectors of pointers do not run on the virtual GPU: {instruction}")
        self._set(
            instruction,
            [self._gep(instruction.source_type, instruction.operands, scalars(instruction.type)[0].pointer)],
        )

    def _gep(self, source: Any, operands: tuple[Value, ...], pointer: int) -> Operand:
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

    def access(self, kind: str, type: str, components: int, align: int, operation: str = "") -> Access:
        assert self.now.origin is not None
        made = Access(
            len(self.program.accesses), kind, type, components, align, 0, self.instruction,
            self.function_now.name, self.now.origin.name, operation,
        )  # fmt: skip
        i = self.instruction
        made.volatile = i.opcode in ("load", "store") and (i.volatile or i.ordering != "")
        self.program.accesses.append(made)
        return made

    def _pieces(self, type: Any, align: int) -> list[tuple[int, str, int, int, int]]:
        """A load or store of a type as single requests: offset, scalar, pointer space, components, alignment."""
        pieces = []
        for at, part in places(type):
            row = scalars(part)
            s, n = row[0], len(row)
            size = bytes_of(s.type)
            if isinstance(part, VectorType) and bits_of(s.type) != size * 8 and n > 1:
                raise CompileError(f"memory accesses of type {part} do not run on the virtual GPU")
            known = align if at == 0 else min(align, at & -at)
            # The GPU moves at most 16 bytes at once, and only as many as are aligned together.
            step = max(min(known, 16) // size, 1)
            step = 1 << (min(step, n).bit_length() - 1)
            first = 0
            while first < n:
                many = min(step, n - first)
                many = 1 << (many.bit_length() - 1)
                pieces.append((at + first * size, s.type, s.pointer, many, min(known, size * many)))
                first += many
        return pieces

    def _place(self, pointer: Operand, offset: int, space: int) -> Operand:
        if not offset:
            return pointer
        if isinstance(pointer, Const) and pointer.value is not None:
            return integer("i64", pointer.value + offset)
        return self.emit("gep", (pointer,), "i64", (offset, ()), space)

    def _load(self, instruction: Instruction) -> None:
        address = instruction.operands[0]
        pointer = self.one(address)
        space = _space(address)
        align = instruction.align or align_of(instruction.type)
        row: Row = []
        for at, type, kind, many, known in self._pieces(instruction.type, align):
            access = self.access("load", _memory_type(type), many, known)
            access.space = space
            outs = self.effect("load", (self._place(pointer, at, space),), access, ((access.type, kind),) * many)
            row += [self._narrow(o, type) for o in outs]
        self._set(instruction, row)

    def _narrow(self, operand: Operand, type: str) -> Operand:
        return operand if operand.type == type else self.emit("trunc", (operand,), type)

    def _store(self, instruction: Instruction) -> None:
        value, address = instruction.operands
        pointer, row = self.one(address), self.row(value)
        space = _space(address)
        align = instruction.align or align_of(value.type)
        first = 0
        for at, type, _, many, known in self._pieces(value.type, align):
            wide = _memory_type(type)
            parts = [
                o if o.type == wide else self.emit("zext", (o,), wide) for o in row[first : first + many]
            ]
            first += many
            access = self.access("store", wide, many, known)
            access.space = space
            self.effect("store", (self._place(pointer, at, space), *parts), access)

    def _atomicrmw(self, instruction: Instruction) -> None:
        address, value = instruction.operands
        pointer, row = self.one(address), self.row(value)
        types = scalars(value.type)
        if len(row) > 1:
            bits = sum(bits_of(o.type) for o in row)
            packed = self.recast(row, [f"i{bits}"])
            operation = f"{instruction.operation}.{types[0].type}x{len(row)}"
            made = self._atomic(instruction, address, operation, (pointer, *packed), f"i{bits}")
            self._set(instruction, self.recast(made, [t.type for t in types]))
            return
        self._set(
            instruction, self._atomic(instruction, address, instruction.operation, (pointer, row[0]), types[0].type)
        )

    def _atomic(
        self, instruction: Instruction, address: Value, operation: str, args: tuple[Operand, ...], type: str
    ) -> Row:
        access = self.access("atomic", type, 1, bytes_of(type), operation)
        access.space = _space(address)
        return self.effect("atomic", args, access, ((type, -1),))

    def _cmpxchg(self, instruction: Instruction) -> None:
        address, expected, wanted = instruction.operands
        args = (self.one(address), self.one(wanted), self.one(expected))
        type = args[1].type
        old = self._atomic(instruction, address, "cas", args, type)[0]
        same = self.emit("icmp", (old, args[2]), "i1", "eq")
        self._set(instruction, [old, same])

    def _fence(self, instruction: Instruction) -> None:
        """Lanes run in one thread: every write is seen at once."""

    # -- calls

    def _call(self, instruction: Instruction) -> None:
        callee = instruction.callee
        if isinstance(callee, InlineAsm):
            calls.inline_assembly(self, instruction)
        elif not isinstance(callee, Function):
            raise CompileError(
                f"function '{self.function_now.name}' calls through a pointer: indirect calls do not run on the virtual GPU",
                hint="call the function directly, or choose between functions with if or switch",
            )
        elif callee.is_intrinsic or callee.is_declaration:
            calls.intrinsic(self, instruction, callee)
        else:
            self._inline(instruction, callee)

    def _inline(self, instruction: Instruction, callee: Function) -> None:
        before = self.now
        entry = self.cut("jump")
        entry.function = callee.name
        state = (self.function_now, self.index, self.instruction, self.names)
        # The entry belongs to the callee; what follows the call is a part of the caller's block again.
        entry.origin, entry.part, entry.start = callee.entry, 0, 0
        arguments = [self.row(a) for a in instruction.arguments]
        frame = round_up(self.frame_end, 16)
        returns = self.function(callee, arguments, entry, frame, self.names)
        self.function_now, self.index, self.instruction, self.names = state
        after = self.block(before.function, before.origin, before.part + 1, self.index + 1)
        for block, _ in returns:
            block.term = Op("jump", (), (), None, block.term.origin, (after,))
        self.now = after
        types = scalars(instruction.type)
        if len(returns) == 1:
            self._set(instruction, returns[0][1])
            return
        row: Row = []
        for i, s in enumerate(types):
            out = self.program.var(s.type, s.pointer)
            out.op = phi = Phi(tuple(r[i] for _, r in returns), tuple(b for b, _ in returns), out)
            after.phis.append(phi)
            row.append(out)
        self._set(instruction, row)


def _space(address: Value) -> int:
    """0 generic, global or constant; 1 shared; 2 local: what the pointer's type says."""
    assert isinstance(address.type, PointerType)
    return {3: 1, 5: 2}.get(address.type.address_space, 0)


def _memory_type(type: str) -> str:
    """Memory holds whole bytes: ``i1`` is an ``i8`` there, ``i20`` an ``i24``."""
    return type if is_float(type) or bits_of(type) % 8 == 0 else f"i{8 * bytes_of(type)}"


def _reverse_post_order(function: Function) -> list[BasicBlock]:
    seen = {function.entry}
    done: list[BasicBlock] = []
    stack = [(function.entry, iter(function.entry.successors))]
    while stack:
        block, successors = stack[-1]
        for next_block in successors:
            if next_block not in seen:
                seen.add(next_block)
                stack.append((next_block, iter(next_block.successors)))
                break
        else:
            done.append(block)
            stack.pop()
    return done[::-1]


HANDLERS: dict[str, Any] = {
    "fneg": Flattener._unary,
    **dict.fromkeys(
        ("trunc", "zext", "sext", "fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp"), Flattener._unary
    ),
    "icmp": Flattener._compare,
    "fcmp": Flattener._compare,
    "select": Flattener._select,
    "freeze": Flattener._same,
    "ptrtoint": Flattener._to_integer,
    "ptrtoaddr": Flattener._to_integer,
    "inttoptr": Flattener._to_integer,
    "addrspacecast": Flattener._addrspacecast,
    "bitcast": Flattener._bitcast,
    "extractelement": Flattener._extract_element,
    "insertelement": Flattener._insert_element,
    "shufflevector": Flattener._shuffle_vector,
    "extractvalue": Flattener._extract_value,
    "insertvalue": Flattener._insert_value,
    "alloca": Flattener._alloca,
    "getelementptr": Flattener._getelementptr,
    "load": Flattener._load,
    "store": Flattener._store,
    "atomicrmw": Flattener._atomicrmw,
    "cmpxchg": Flattener._cmpxchg,
    "fence": Flattener._fence,
    "call": Flattener._call,
}

__all__ = ["Argument", "Flattener", "flatten"]
