"""IR → ``Program``: calls inlined, vectors and aggregates taken apart, pointers made numbers, blocks cut where warps stop.

before   %v = load <2 x float>, ptr %p, align 8          after   %1:float, %2:float = load [access 0] %0
         %x = extractelement <2 x float> %v, i32 1
         call void @llvm.nvvm.barrier.cta.sync...()               barrier -> b1
"""

from __future__ import annotations

from collections.abc import Callable

from kernelwright.codegen.call_graph import Group, recursive_groups
from kernelwright.codegen.device_heap import heap_function
from kernelwright.codegen.fused_products import contractions
from kernelwright.codegen.grid_barrier import is_grid_barrier
from kernelwright.codegen.indirect_calls import meant_functions
from kernelwright.codegen.inline_asm.builder import Guarded
from kernelwright.codegen.inline_asm.expand import expand_asm
from kernelwright.codegen.memory_layout import (
    align_of,
    parameter_layout,
    round_up,
    shared_layout,
)
from kernelwright.codegen.simt.program import access_requests, flatten_arithmetic, flatten_calls
from kernelwright.codegen.simt.program.call_frames import ALIGN, CallFrame, alloca_places, by_value_places
from kernelwright.codegen.simt.program.flattening_context import FlatteningContext, Row
from kernelwright.codegen.simt.program.lane_scalars import LOCAL_BASE, places, scalars
from kernelwright.codegen.simt.program.program import (
    Block,
    Const,
    Op,
    Phi,
    Program,
    Var,
    bytes_of,
    integer,
    zero_of,
)
from kernelwright.codegen.simt.program.recursive_calls import RecursiveCalls
from kernelwright.codegen.simt.program.warp_operations import Barrier
from kernelwright.errors import CompileError
from kernelwright.ir.constants import InlineAsm
from kernelwright.ir.control_flow import reverse_postorder
from kernelwright.ir.module import BasicBlock, Function, Instruction
from kernelwright.ir.values import Value


def flatten(kernel: Function) -> Program:
    """The program of a kernel. Raises ``CompileError`` naming what cannot run (unknown asm)."""
    groups = recursive_groups(kernel)
    program = _flattened(kernel, groups, 0)
    if groups:
        # The stack is behind everything else in local memory, and how much that is, is known now.
        program = _flattened(kernel, groups, round_up(program.local_bytes, ALIGN))
    return program


def _flattened(kernel: Function, groups: dict[Function, Group], stack_start: int) -> Program:
    program = Program(kernel.name)
    layout = shared_layout(kernel)
    program.shared_bytes = layout.static_bytes
    program.dynamic_offset = layout.dynamic_offset
    flat = Flattener(program, layout.offsets, RecursiveCalls(groups, stack_start))
    flat.reserved = layout.reserved
    arguments, frame = _parameters(flat, kernel)
    flat.function(kernel, arguments, flat.block(kernel.name, kernel.entry), frame, ())
    if groups:
        program.has_stack, program.local_bytes = True, round_up(program.local_bytes, ALIGN)
    return program


def _parameters(flat: Flattener, kernel: Function) -> tuple[list[Row], int]:
    """The values of the kernel's arguments, and the end of the by-value structs in the threads' local frames."""
    layout = parameter_layout(kernel)
    flat.program.parameter_bytes = layout.size
    rows: list[Row] = []
    frame = 0
    for argument, p in zip(kernel.arguments, layout.parameters, strict=True):
        if p.byval:
            frame = round_up(frame, max(p.align, align_of(p.type)))
            flat.program.by_value.append((p.offset, p.size, frame))
            if _is_only_read(argument):
                rows.append([flat.program.source("by-value", frame, "i64", 0)])
            else:
                flat.copied.append((frame, p.size))
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


def _is_only_read(pointer: Value) -> bool:
    """Whether a kernel only loads through a pointer. Attributes may promise it; what an edit made of the kernel may not."""
    for use in pointer.uses:
        user = use.user
        opcode = user.opcode if isinstance(user, Instruction) else ""
        if opcode == "load" or (opcode == "call" and use.index == 1 and _is_copy(user)):
            continue
        if opcode not in ("getelementptr", "addrspacecast", "bitcast", "freeze") or not _is_only_read(user):
            return False
    return True


def _is_copy(call: Value) -> bool:
    callee = call.callee if isinstance(call, Instruction) else None
    return isinstance(callee, Function) and callee.name.startswith("llvm.memcpy.")


class Flattener(FlatteningContext):
    """Walks functions in reverse post-order, so that every value but a phi's is known before it is used."""

    def __init__(self, program: Program, shared: dict[str, int], recursive: RecursiveCalls) -> None:
        super().__init__(program, shared)
        self.recursive = recursive
        self.copied: list[tuple[int, int]] = []
        """Structs passed by value that threads write: offset in the frame, size."""
        self.frame_end = 0
        self.standing_for: Instruction | None = None
        """The inline assembly whose expansion is being written: faults and counts are its."""

    # -- functions

    def function(
        self,
        function: Function,
        arguments: list[Row],
        entry: Block,
        frame: int,
        stack: tuple[str, ...],
        kept: CallFrame | None = None,
    ) -> list[tuple[Block, Row]]:
        """Put the body of ``function`` into the program, beginning in ``entry``; the blocks that return, with their rows. ``kept``: its
        frame, if it may be called while it runs; its arguments are there.
        Raises ``CompileError`` for a function without a body."""
        if function.is_declaration:
            raise CompileError(
                f"function '{function.name}' is called but has no body",
                hint="define it in this file, or link the file that does",
            )
        outer = (self.rows, self.fused, self.products, self.frame_end, self.kept)
        self.rows = dict(zip(function.arguments, arguments, strict=True)) if kept is None else {}
        self.kept = kept
        self.fused = contractions(function)
        self.products = {f.product for f in self.fused.values()}
        self.frame_end = frame
        if kept is None:
            self._layout_frame(function)
        if not stack:
            self._copy_by_value(entry)
        order = reverse_postorder(function)
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
                    if kept is not None:
                        kept.keep(self, instruction)
                elif instruction.is_terminator:
                    self.now.end = index + 1
                    self._terminator(instruction, blocks, returns)
                elif kept is None:
                    self.step(instruction)
                elif instruction.opcode != "alloca":
                    self.step(instruction)
                    kept.keep(self, instruction)
            lasts[origin] = self.now
        for instruction, made in phis:
            self._fill(instruction, made, lasts)
        self.rows, self.fused, self.products, self.frame_end, self.kept = outer
        return returns

    def _layout_frame(self, function: Function) -> None:
        offsets, self.frame_end = alloca_places(function, self.frame_end)
        self.offsets |= offsets
        self.program.local_bytes = max(self.program.local_bytes, self.frame_end if offsets else 0)

    def _copy_by_value(self, entry: Block) -> None:
        for at, size in self.copied:
            source = self.program.source("by-value", at, "i64", 0)
            args = (integer("i64", LOCAL_BASE + at), source, integer("i64", size))
            entry.ops.append(Op("copy", args, (), None))
            self.program.local_bytes = max(self.program.local_bytes, at + size)

    def _copied(self, pointer: Value, at: int, size: int) -> Row:
        """A struct that is passed by value, copied into the callee's frame: what that writes there is its own."""
        target = integer("i64", LOCAL_BASE + at)
        self.effect("copy", (target, flatten_calls.generic_address(self, pointer), integer("i64", size)))
        return [target]

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
            case "br" | "switch" if all(t is targets[0] for t in targets):
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
        """Put an instruction that is neither phi nor terminator into the program.
        Raises ``CompileError`` for one that the virtual GPU does not run."""
        self.instruction = self.standing_for or instruction
        if instruction.opcode == "call":
            self._call(instruction)
            return
        handler = HANDLERS.get(instruction.opcode)
        if handler is None:
            raise CompileError(f"instruction '{instruction.opcode}' does not run on the virtual GPU: {instruction}")
        handler(self, instruction)

    # -- calls

    def _call(self, instruction: Instruction) -> None:
        callee = instruction.callee
        if isinstance(callee, InlineAsm):
            self._inline_assembly(instruction)
        elif not isinstance(callee, Function):
            self._call_through(instruction)
        elif is_grid_barrier(callee):
            self.cut("barrier", (), Barrier(is_grid=True))
        elif (of_heap := heap_function(callee)) is not None:
            self._inline(instruction, of_heap)
        elif callee.is_intrinsic or callee.is_declaration:
            flatten_calls.intrinsic(self, instruction, callee)
        else:
            self._inline(instruction, callee)

    def _inline_assembly(self, instruction: Instruction) -> None:
        """Inline PTX runs as the IR that stands for it. Raises ``CompileError`` with the PTX for what is not known."""
        expansion = expand_asm(instruction)
        self.standing_for = instruction
        for step in expansion.steps:
            if isinstance(step, Guarded):
                self._guarded(step)
            else:
                self.step(step)
        self.standing_for = None
        results = [o for v in expansion.results for o in self.row(v)]
        if results:
            self.rows[instruction] = results
        expansion.drop()

    def _guarded(self, step: Guarded) -> None:
        """A branch around the instructions. Who takes it finds zeros for what they make."""
        condition = self.one(step.condition)
        before = self.now
        inside = self.cut("branch", (condition,))
        for instruction in step.instructions:
            self.step(instruction)
        last = self.now
        after = self.cut("jump")
        before.term.targets = (inside, after)
        for instruction in step.instructions:
            row: Row = []
            for made in self.rows.get(instruction, []):
                out = self.program.var(made.type, made.pointer if isinstance(made, Var) else -1)
                out.op = phi = Phi((made, zero_of(made.type)), (last, before), out)
                after.phis.append(phi)
                row.append(out)
            self.rows[instruction] = row

    def _call_through(self, instruction: Instruction) -> None:
        """A call through a pointer: whichever of the functions it may mean has that address, or a fault."""
        pointer = self.one(instruction.callee)
        types = scalars(instruction.type)
        ends: list[tuple[Block, Row]] = []
        for function in meant_functions(instruction):
            hit = self.emit("icmp", (pointer, self.one(function)), "i1", "eq")
            before = self.now
            inside = self.cut("branch", (hit,))
            self._inline(instruction, function)
            ends.append((self.now, self.rows.pop(instruction, [])))
            other = self.block(before.function, before.origin, self.now.part + 1, self.index + 1)
            before.term.targets = (inside, other)
            self.now = other
        self.effect("trap", (), "call")
        ends.append((self.now, [zero_of(s.type) for s in types]))
        after = self.block(self.now.function, self.now.origin, self.now.part + 1, self.index + 1)
        for block, _ in ends:
            block.end = self.index + 1
            block.term = Op("jump", (), (), None, instruction, (after,))
        self.now = after
        row: Row = []
        for i, s in enumerate(types):
            out = self.program.var(s.type, s.pointer)
            out.op = phi = Phi(tuple(r[i] for _, r in ends), tuple(b for b, _ in ends), out)
            after.phis.append(phi)
            row.append(out)
        self.set(instruction, row)

    def _inline(self, instruction: Instruction, callee: Function) -> None:
        if callee in self.recursive.groups:
            self.recursive.call(self, self, instruction, callee, round_up(self.frame_end, 16))
            return
        before = self.now
        entry = self.cut("jump")
        entry.function = callee.name
        state = (self.function_now, self.index, self.instruction, self.names)
        # The entry belongs to the callee; what follows the call is a part of the caller's block again.
        entry.origin, entry.part, entry.start = callee.entry, 0, 0
        structs, frame = by_value_places(callee, round_up(self.frame_end, 16))
        arguments = [
            self._copied(a, *structs[own]) if own in structs else self.row(a)
            for own, a in zip(callee.arguments, instruction.arguments, strict=True)
        ]
        self.program.local_bytes = max(self.program.local_bytes, frame if structs else 0)
        returns = self.function(callee, arguments, entry, frame, self.names)
        self.function_now, self.index, self.instruction, self.names = state
        after = self.block(before.function, before.origin, before.part + 1, self.index + 1)
        for block, _ in returns:
            block.term = Op("jump", (), (), None, block.term.origin, (after,))
        self.now = after
        types = scalars(instruction.type)
        if len(returns) == 1:
            self.set(instruction, returns[0][1])
            return
        row: Row = []
        for i, s in enumerate(types):
            out = self.program.var(s.type, s.pointer)
            out.op = phi = Phi(tuple(r[i] for _, r in returns), tuple(b for b, _ in returns), out)
            after.phis.append(phi)
            row.append(out)
        self.set(instruction, row)


HANDLERS: dict[str, Callable[[FlatteningContext, Instruction], None]] = {
    **flatten_arithmetic.HANDLERS,
    **access_requests.HANDLERS,
}
"""How each instruction is flattened; phis, terminators and calls are the walk's own."""
