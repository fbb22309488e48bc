"""``Program`` → the text of one host function that runs a warp.

The function starts, or goes on where the warp stopped; runs the pending block with the smallest number until none is left;
returns 0, or the suspension point at which its lanes wait. What lanes wait where is a mask per block; where control is
shared by all lanes there is no mask at all.
"""

from __future__ import annotations

from kernelwright.codegen.simt import abi, arithmetic, memory, warp
from kernelwright.codegen.simt.divergence import Divergence
from kernelwright.codegen.simt.graph import dominators
from kernelwright.codegen.simt.liveness import live_into
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.codegen.simt.pending import Ids, Pending
from kernelwright.codegen.simt.program import Block, Const, Loop, Op, Operand, Program, Var, bits_of
from kernelwright.codegen.simt.rows import ROWS
from kernelwright.codegen.simt.shapes import Shape, U, V
from kernelwright.codegen.simt.values import Rep, is_literal, lane_constants, of_const, splat, stored, text_of
from kernelwright.errors import CompileError

ENTRY = "kernelwright_warp"
"""The name of every generated function; each lives in a module of its own."""


class Emitter:
    """Writes the function. ``head`` is the entry block, ``out`` everything behind it."""

    def __init__(self, program: Program, control: Divergence, options: SimtOptions) -> None:
        self.program = program
        self.control = control
        self.options = options
        self.geometry = options.geometry
        self.lanes = self.geometry.lanes
        self.parts = self.geometry.parts
        self.head: list[str] = []
        self.out: list[str] = []
        self.number = 0
        self.declared: dict[str, str] = {}
        self.cur: dict[Var, Rep] = {}
        self.sources: dict[Var, Rep] = {}
        self.scratches = 0
        self.frame_end = abi.FRAME_SAVED
        self.mirrors: dict[Loop, list[Var]] = {}
        self.mirror_slots: dict[Var, str] = {}
        self.points = {b: i + 1 for i, b in enumerate(b for b in program.blocks if b.term.code in ("barrier", "gather"))}
        """Suspension points by the block they end, numbered from 1."""
        self.apart = [b for b in self.points if options.split or b.term.code == "gather"]
        """The points that lanes go on from as masks say, not all together."""
        self.frame_end += (4 * len(self.points) + 63) // 64 * 64
        self.block: Block = program.entry
        self.state: Ids = frozenset()
        self.mask = "-1"
        self.mask_vector: str | None = None
        self.lane_ranges: list[tuple[str, str, str, str]] | None = None
        self.context_pointers: dict[str, str] = {}
        self.tables: dict[tuple[int, ...], str] = {}
        self.roots: dict[tuple[Var, bool, int], str] = {}
        self.lane_offsets: dict[tuple[int, bool, int], str] = {}
        self.needs_parts = False

    # -- the smallest things

    def name(self, hint: str = "t") -> str:
        self.number += 1
        return f"%{hint}{self.number}"

    def line(self, text: str) -> None:
        self.out.append("  " + text)

    def let(self, text: str) -> str:
        """``%t = text``; returns the name."""
        self.number += 1
        name = f"%t{self.number}"
        self.out.append(f"  {name} = {text}")
        return name

    def top(self, text: str) -> str:
        """The same in the entry block, where every later line can use it."""
        self.number += 1
        name = f"%t{self.number}"
        self.head.append(f"  {name} = {text}")
        return name

    def label(self, name: str) -> None:
        self.out.append(f"{name}:")

    def fresh_label(self, hint: str) -> str:
        self.number += 1
        return f"{hint}{self.number}"

    def vector_type(self, type: str) -> str:
        return f"<{self.lanes} x {stored(type)}>"

    def declare(self, name: str, signature: str) -> None:
        """``signature`` is the declaration with ``@`` and name left to us: ``<32 x i32> (<32 x i32>)``."""
        if name not in self.declared:
            result, _, parameters = signature.partition(" (")
            self.declared[name] = f"declare {result} @{name}({parameters}"

    def context(self, field: str, type: str, index: int = 0, size: int = 4) -> str:
        """A field of the context, read in the entry block."""
        key = f"{field}{index}"
        found = self.context_pointers.get(key)
        if found is None:
            pointer = self.top(f"getelementptr i8, ptr %c, i64 {abi.CONTEXT[field] + index * size}")
            found = self.context_pointers[key] = self.top(f"load {type}, ptr {pointer}")
        return found

    def frame_pointer(self, field: str, offset: int = 0) -> str:
        return self.let(f"getelementptr i8, ptr %f, i64 {abi.FRAME[field] + offset}")

    def scratch(self, i: int) -> str:
        """One of a few buffers of 32 lanes of 16 bytes, for passing vectors to the runtime."""
        self.scratches = max(self.scratches, i + 1)
        return f"%scratch{i}"

    def helper(self, name: str) -> str:
        """The address of a runtime function."""
        table = self.context("functions", "ptr")
        index = abi.FUNCTIONS.index(name) if name in abi.FUNCTIONS else len(abi.FUNCTIONS) + ROWS.index(name)
        pointer = self.let(f"getelementptr ptr, ptr {table}, i64 {index}")
        return self.let(f"load ptr, ptr {pointer}")

    def table(self, numbers: list[int]) -> str:
        """A constant row of bytes."""
        name = self.tables.get(tuple(numbers))
        if name is None:
            name = self.tables[tuple(numbers)] = f"@table{len(self.tables)}"
            row = ", ".join(f"i8 {n}" for n in numbers)
            self.declared[name] = f"{name} = private constant [{len(numbers)} x i8] [{row}]"
        return name

    def all_of(self, conditions: list[str]) -> str:
        """The ``and`` of several ``i1``."""
        total = conditions[0]
        for other in conditions[1:]:
            total = self.let(f"and i1 {total}, {other}")
        return total

    # -- what blocks compute once

    def active_lanes(self) -> list[tuple[str, str, str, str]]:
        """Per segment: the first and last active lane as ``i64``, whether all between them are active, whether any is."""
        per = self.geometry.per_segment
        if self.mask == "-1":
            return [("0", str(per - 1), "true", "true")] * self.parts
        if self.lane_ranges is None:
            self.lane_ranges = [self._lane_range(i * per, per) for i in range(self.parts)]
        return self.lane_ranges

    def _lane_range(self, start: int, per: int) -> tuple[str, str, str, str]:
        self.declare("llvm.cttz.i32", "i32 (i32, i1)")
        self.declare("llvm.ctlz.i32", "i32 (i32, i1)")
        mask = self.mask
        if start:
            mask = self.let(f"lshr i32 {mask}, {start}")
        if per < 32 and start + per < 32:
            mask = self.let(f"and i32 {mask}, {(1 << per) - 1}")
        first = self.let(f"call i32 @llvm.cttz.i32(i32 {mask}, i1 false)")
        lead = self.let(f"call i32 @llvm.ctlz.i32(i32 {mask}, i1 false)")
        last = self.let(f"sub i32 31, {lead}")
        lowest = self.let(f"and i32 {mask}, {self.let(f'sub i32 0, {mask}')}")
        carried = self.let(f"add i32 {mask}, {lowest}")
        dense = self.let(f"icmp eq i32 {self.let(f'and i32 {carried}, {mask}')}, 0")
        some = self.let(f"icmp ne i32 {mask}, 0") if self.parts > 1 else "true"
        wide = [self.let(f"zext i32 {x} to i64") for x in (first, last)]
        return wide[0], wide[1], dense, some

    def extended_root(self, rep: Rep, i: int) -> str:
        """The root of an extended value in 64 bits, for the first lane of segment ``i``.

        It is reckoned back from the first active lane: lanes before that one may wrap, nobody looks at them.
        """
        key = (rep.root, rep.shape[2], i)
        found = self.roots.get(key)
        if found is None:
            root = self.get(rep.root)
            code = "zext" if rep.shape[2] else "sext"
            first = self.active_lanes()[i if len(root.parts) > 1 else 0][0]
            if first == "0" or not root.stride:
                found = self.let(f"{code} i32 {root.part(i)} to i64")
            else:
                lead = self.let(f"mul i64 {first}, {root.stride}")
                there = self.let(f"add i32 {root.part(i)}, {self.let(f'trunc i64 {lead} to i32')}")
                found = self.let(f"sub i64 {self.let(f'{code} i32 {there} to i64')}, {lead}")
            self.roots[key] = found
        return found

    def root_runs_on(self, rep: Rep, i: int) -> str:
        """Whether no lane between the first and the last active one of segment ``i`` wraps."""
        key = (rep.root, rep.shape[2], ~i)
        found = self.roots.get(key)
        if found is None:
            start = self.extended_root(rep, i)
            stride = self.get(rep.root).stride
            last = self.active_lanes()[i if len(self.get(rep.root).parts) > 1 else 0][1]
            reach = str(int(last) * stride) if last.isdigit() else self.let(f"mul i64 {last}, {stride}")
            end = self.let(f"add i64 {start}, {reach}")
            if rep.shape[2]:
                found = self.let(f"icmp ult i64 {end}, 4294967296")
            else:
                back = self.let(f"sext i32 {self.let(f'trunc i64 {end} to i32')} to i64")
                found = self.let(f"icmp eq i64 {end}, {back}")
            self.roots[key] = found
        return found

    def lane_offset(self, i: int, last: bool, stride: int) -> str:
        """The bytes from the first lane of segment ``i`` to its first or last active one."""
        lane = self.active_lanes()[i][1 if last else 0]
        if lane.isdigit():
            return str(int(lane) * stride)
        key = (i, last, stride)
        found = self.lane_offsets.get(key)
        if found is None:
            found = self.lane_offsets[key] = self.let(f"mul i64 {lane}, {stride}")
        return found

    # -- values

    def get(self, operand: Operand) -> Rep:
        """The value as the block being written sees it."""
        if isinstance(operand, Const):
            return of_const(operand)
        found = self.cur.get(operand)
        if found is not None:
            return found
        assert operand.op is not None
        if operand.op.code == "source":
            rep = self.sources.get(operand)
            if rep is None:
                rep = self.sources[operand] = self._source(operand)
            # A vector made of it serves this block only.
            rep = Rep(rep.type, rep.shape, rep.parts)
        elif operand.mirror is not None and self.block not in operand.mirror.blocks:
            loaded = self.let(f"load {self.vector_type(operand.type)}, ptr {self._mirror_slot(operand)}")
            rep = Rep(operand.type, V, [loaded])
        else:
            assert operand.slots is not None, f"{operand} is used in {self.block} before it is made"
            type = self.vector_type(operand.type) if operand.shape is V else stored(operand.type)
            rep = Rep(operand.type, operand.shape, [self.let(f"load {type}, ptr {s}") for s in operand.slots])
        self.cur[operand] = rep
        return rep

    def vector(self, operand: Operand) -> str:
        """The value as a vector of lanes."""
        if isinstance(operand, Const):
            return splat(operand.type, text_of(operand))
        return self.vector_of(self.get(operand))

    def vector_of(self, rep: Rep) -> str:
        if rep.vector is None:
            rep.vector = self._extended_vector(rep) if rep.shape[0] == "x" else self._linear_vector(rep)
        return rep.vector

    def _linear_vector(self, rep: Rep) -> str:
        base = self.spread(rep.type, rep.parts)
        if not rep.stride:
            return base
        steps = lane_constants(rep.type, self.lanes, rep.stride, self.geometry.per_segment)
        return self.let(f"add {self.vector_type(rep.type)} {base}, {steps}")

    def _extended_vector(self, rep: Rep) -> str:
        _, root, zero, coefficient, _ = rep.shape
        wide = self.vector_type("i64")
        code = "zext" if zero else "sext"
        total = self.let(f"{code} {self.vector_type('i32')} {self.vector(root)} to {wide}")
        if coefficient != 1:
            total = self.let(f"mul {wide} {total}, splat (i64 {coefficient})")
        if rep.parts == ["0"] and not rep.stride:
            return total
        rest = self._linear_vector(Rep("i64", rep.shape[4], rep.parts))
        return self.let(f"add {wide} {total}, {rest}")

    def spread(self, type: str, parts: list[str]) -> str:
        """A vector with part i in every lane of segment i."""
        whole = self.vector_type(type)
        if all(p == parts[0] for p in parts):
            if is_literal(parts[0]):
                return splat(type, parts[0])
            one = self.let(f"insertelement {whole} poison, {stored(type)} {parts[0]}, i64 0")
            return self.let(f"shufflevector {whole} {one}, {whole} poison, <{self.lanes} x i32> zeroinitializer")
        row = "poison"
        for i, part in enumerate(parts):
            row = self.let(f"insertelement {whole} {row}, {stored(type)} {part}, i64 {i}")
        picks = ", ".join(f"i32 {lane // self.geometry.per_segment}" for lane in range(self.lanes))
        return self.let(f"shufflevector {whole} {row}, {whole} poison, <{self.lanes} x i32> <{picks}>")

    def define(self, var: Var, parts: list[str]) -> None:
        """``var`` is now these numbers (or this vector); writes them down where other blocks will look."""
        rep = self.cur[var] = Rep(var.type, var.shape, parts)
        if var.slots is not None:
            self.write(var, rep, self.mask if var.blend else None)

    def write(self, var: Var, rep: Rep, mask: str | None, vector_mask: str | None = None) -> None:
        """Store into the slots of ``var``; with a mask, the other lanes keep what they have."""
        if var.shape is V:
            type = self.vector_type(var.type)
            value = self.vector_of(rep)
            if mask is not None and mask != "-1":
                old = self.let(f"load {type}, ptr {var.slots[0]}")
                chosen = vector_mask or self.as_vector(mask)
                value = self.let(f"select <{self.lanes} x i1> {chosen}, {type} {value}, {type} {old}")
            self.line(f"store {type} {value}, ptr {var.slots[0]}")
            return
        for i, slot in enumerate(var.slots):
            self.line(f"store {stored(var.type)} {rep.part(i)}, ptr {slot}")

    def as_vector(self, mask: str) -> str:
        """A mask as one bit per lane."""
        if mask == "-1":
            return "splat (i1 true)"
        if mask == self.mask and self.mask_vector is not None:
            return self.mask_vector
        bits = f"<{self.lanes} x i1>"
        if self.lanes == 32:
            made = self.let(f"bitcast i32 {mask} to {bits}")
        else:
            narrow = self.let(f"trunc i32 {mask} to i{self.lanes}")
            made = self.let(f"bitcast i{self.lanes} {narrow} to {bits}")
        if mask == self.mask:
            self.mask_vector = made
        return made

    def as_mask(self, bits: str) -> str:
        """One bit per lane as an ``i32``."""
        narrow = self.let(f"bitcast <{self.lanes} x i1> {bits} to i{self.lanes}")
        return narrow if self.lanes == 32 else self.let(f"zext i{self.lanes} {narrow} to i32")

    def active_bits(self, bits: str) -> str:
        """The lanes of ``bits`` that are active, as a mask."""
        if self.mask != "-1":
            bits = self.let(f"and <{self.lanes} x i1> {bits}, {self.as_vector(self.mask)}")
        return self.as_mask(bits)

    def _source(self, var: Var) -> Rep:
        """Numbers a warp is born with, read in the entry block."""
        assert var.op is not None
        kind, detail = var.op.detail
        if kind == "parameter":
            base = self.context("parameters", "i64", 0, 8)
            at = self.top(f"add i64 {base}, {detail}")
            pointer = self.top(f"inttoptr i64 {at} to ptr")
            return Rep(var.type, U, [self.top(f"load {stored(var.type)}, ptr {pointer}, align 1")])
        if kind == "by-value":
            return Rep(var.type, U, [self.top(f"add i64 {self.context('parameters', 'i64', 0, 8)}, {detail}")])
        if kind == "symbol":
            table = self.context("symbols", "ptr", 0, 8)
            pointer = self.top(f"getelementptr i64, ptr {table}, i64 {self.program.symbols[detail]}")
            return Rep(var.type, U, [self.top(f"load i64, ptr {pointer}")])
        if kind in ("ctaid", "nctaid"):
            return Rep(var.type, U, [self.context(kind, "i32", "xyz".index(detail))])
        if kind == "ntid":
            if self.geometry.block:
                return Rep(var.type, U, [str(self.geometry.block["xyz".index(detail)])])
            return Rep(var.type, U, [self.context(kind, "i32", "xyz".index(detail))])
        if kind == "lane":
            if var.shape is V:
                return Rep(var.type, V, [lane_constants("i32", self.lanes, 1, self.lanes)])
            return Rep(var.type, var.shape, [str(i * self.geometry.per_segment) for i in range(self.parts)])
        if kind == "warp":
            pointer = self.top(f"getelementptr i8, ptr %f, i64 {abi.FRAME['warp']}")
            return Rep(var.type, U, [self.top(f"load i32, ptr {pointer}")])
        if kind == "tid":
            return self._thread_number(var, "xyz".index(detail))
        raise CompileError(f"special register '{kind}.{detail}' does not exist on the virtual GPU")

    def _thread_number(self, var: Var, axis: int) -> Rep:
        block = self.geometry.block
        if block and block[axis] == 1:
            return Rep(var.type, var.shape, ["0"] if var.shape is U else [splat("i32", "0")] if var.shape is V else ["0"] * self.parts)
        if var.shape is V:
            pointer = self.top(f"getelementptr i8, ptr %f, i64 {abi.FRAME['tid'] + 128 * axis}")
            return Rep(var.type, V, [self.top(f"load {self.vector_type('i32')}, ptr {pointer}, align 64")])
        if axis == 0 and (self.parts > 1 or (block and block[0] * block[1] * block[2] <= self.lanes)):
            return Rep(var.type, var.shape, ["0"] * self.parts)
        parts = []
        for i in range(self.parts if var.shape[0] == "s" else 1):
            pointer = self.top(f"getelementptr i8, ptr %f, i64 {abi.FRAME['segment_tid'] + 16 * axis + 4 * i}")
            parts.append(self.top(f"load i32, ptr {pointer}"))
        return Rep(var.type, var.shape, parts)

    # -- where values of other blocks lie

    def plan(self) -> None:
        """Decides which values need a place, and which of them must keep the lanes that are not active."""
        program = self.program
        everything = not program.reducible
        phis = {p.outs[0] for b in program.blocks for p in b.phis} | {o for b in program.blocks for o in b.term.outs}
        defined = [o for op in program.ops() for o in op.outs]
        for var in defined:
            if var.crosses and var.shape[0] == "x":
                root: Var = var.shape[1]
                if root.op is not None and root.op.code != "source":
                    root.crosses = True
        self._note_loop_exits()
        forced = {v for v in defined if v.blend} | self.control.kept
        saved = self._saved()
        slots = 0
        for var in defined:
            if not (var.crosses or var in phis):
                continue
            var.blend = var in forced or (everything and var.shape is V)
            parts = self._slot_count(var)
            type = self.vector_type(var.type) if var.shape is V else stored(var.type)
            var.slots = []
            for _ in range(parts):
                slots += 1
                if var in saved:
                    var.slots.append(self._frame_slot(type, var))
                else:
                    self.head.append(f"  %s{slots} = alloca {type}")
                    if var.shape is V:
                        self.head.append(f"  store {type} zeroinitializer, ptr %s{slots}")
                    var.slots.append(f"%s{slots}")
        for var in self.mirror_slots:
            slots += 1
            type = self.vector_type(var.type)
            if var in saved:
                self.mirror_slots[var] = self._frame_slot(type, None, self.lanes * max(bits_of(var.type), 8) // 8)
            else:
                self.head += [f"  %s{slots} = alloca {type}", f"  store {type} zeroinitializer, ptr %s{slots}"]
                self.mirror_slots[var] = f"%s{slots}"

    def _slot_count(self, var: Var) -> int:
        shape: Shape = var.shape[4] if var.shape[0] == "x" else var.shape
        return self.parts if shape[0] == "s" else 1

    def _frame_slot(self, type: str, var: Var | None, size: int = 0) -> str:
        if var is not None:
            width = max(bits_of(var.type), 8) // 8
            size = self.lanes * width if var.shape is V else max(width, 8)
        align = 64 if size >= 64 else max(size, 8)
        self.frame_end = (self.frame_end + align - 1) // align * align
        self.number += 1
        name = f"%s_{self.number}"
        self.head.append(f"  {name} = getelementptr i8, ptr %f, i64 {self.frame_end}")
        self.frame_end += size
        return name

    def _note_loop_exits(self) -> None:
        """Finds the values that lanes take along when they leave a loop at different times."""
        if not any(loop.divergent for loop in self.program.loops):
            return
        for block in self.program.blocks:
            for phi in block.phis:
                for arg, source in zip(phi.args, phi.sources, strict=True):
                    self._note_exit(arg, source)
            for op in (*block.ops, block.term):
                for arg in op.args:
                    self._note_exit(arg, block)

    def _note_exit(self, arg: Operand, block: Block) -> None:
        if not isinstance(arg, Var) or not arg.crosses or arg.block is None:
            return
        loop = arg.block.loop
        while loop is not None and not loop.divergent:
            loop = loop.parent
        if loop is None or block in loop.blocks:
            return
        if arg.shape is V:
            arg.blend = True
        elif arg.mirror is None:
            arg.mirror = loop
            self.mirrors.setdefault(loop, []).append(arg)
            self.mirror_slots[arg] = ""
        if arg.shape[0] == "x":
            self._note_exit(arg.shape[1], block)

    def _mirror_slot(self, var: Var) -> str:
        return self.mirror_slots[var]

    def _saved(self) -> set[Var]:
        """The values a warp must find again after it was suspended."""
        if not self.points:
            return set()
        live = live_into(self.program)
        return {v for block in self.points for v in live[block.succs[0]]}

    # -- control

    def function(self) -> str:
        """The whole text."""
        program = self.program
        self.plan()
        self.idom = dominators(program.blocks) if self.mirrors else {}
        starts = [frozenset([0])]
        starts += [frozenset([b.succs[0].id]) for b in self.points if b not in self.apart]
        starts += [frozenset(b.succs[0].id for b in self.apart)] if self.apart else []
        self.pending = Pending(program, self.control, starts)
        self.masked = [b for b in program.blocks if b in self.control.partial]
        for b in self.masked:
            self.head.append(f"  %p{b.id} = alloca i32")
        for block in program.blocks:
            if block.id in self.pending.check:
                self._check(block)
            if block.id in self.pending.body:
                self._body(block)
        if any("label %done" in x for x in self.out):
            self.label("done")
            self.line("ret i64 0")
        self.label("abort")
        self.line("ret i64 -1")
        self._entry()
        lanes = self.lanes
        allocas = [f"  %scratch{i} = alloca [{lanes if lanes > 32 else 32} x i128], align 64" for i in range(self.scratches)]
        if self.needs_parts:
            allocas += ["  %rem = alloca [4 x i64]", "  %root = alloca [4 x i32]"]
        declarations = "\n".join(self.declared.values())
        body = "\n".join(["entry:", *allocas, *self.head, *self.out])
        return f"{declarations}\ndefine i64 @{ENTRY}(ptr noalias %c, ptr noalias %f) {{\n{body}\n}}\n{memory.METADATA}"

    def _entry(self) -> None:
        """How the function begins: at the start, or behind the point the warp stopped at."""
        body, self.out = self.out, []
        together = [(b, j) for b, j in self.points.items() if b not in self.apart]
        if self.points:
            pointer = self.let(f"getelementptr i8, ptr %f, i64 {abi.FRAME['resume']}")
            resume = self.let(f"load i32, ptr {pointer}")
            cases = " ".join(f"i32 {j}, label %resume{j}" for _, j in together)
            if self.apart:
                cases += f" i32 {len(self.points) + 1}, label %resume_apart"
            self.line(f"switch i32 {resume}, label %begin [ {cases} ]")
            for block, j in together:
                self.label(f"resume{j}")
                self._enter(block.succs[0], "live")
            if self.apart:
                self.label("resume_apart")
                self._enter_apart()
        else:
            self.line("br label %begin")
        self.label("begin")
        self._enter(self.program.entry, "run" if self.options.split else "live")
        self.head += self.out
        self.out = body

    def _enter_apart(self) -> None:
        """Lanes go on behind the points they waited at, with the answers they waited for."""
        for block in self.apart:
            at = abi.FRAME_SAVED + 4 * (self.points[block] - 1)
            pointer = self.let(f"getelementptr i8, ptr %f, i64 {at}")
            mask = self.let(f"load i32, ptr {pointer}")
            self.line(f"store i32 {mask}, ptr %p{block.succs[0].id}")
            if block.term.outs:
                warp.take_answers(self, block.term, mask)
        state = frozenset(b.succs[0].id for b in self.apart)
        self.go(state, None)

    def _enter(self, block: Block, lanes: str) -> None:
        """All lanes of a field of the frame are in ``block``."""
        if block in self.control.partial:
            pointer = self.let(f"getelementptr i8, ptr %f, i64 {abi.FRAME[lanes]}")
            self.line(f"store i32 {self.let(f'load i32, ptr {pointer}')}, ptr %p{block.id}")
        self._settle(frozenset(), "body", block.id)
        self.line(f"br label %body{block.id}")

    def _settle(self, state: Ids, kind: str, k: int) -> None:
        """The place control goes to looks at masks that were never set on this way: they are empty."""
        expected = self.pending.body[k] if kind == "body" else self.pending.check[k]
        for other in sorted(expected - state - ({k} if kind == "body" else frozenset())):
            if self.program.blocks[other] in self.control.partial:
                self.line(f"store i32 0, ptr %p{other}")

    def go(self, state: Ids, targets: list[int] | None) -> None:
        kind, k = self.pending.next(state, targets)
        if kind == "done":
            self.line("br label %done")
            return
        self._settle(state - {k} if kind == "body" else state, kind, k)
        self.line(f"br label %{kind}{k}")

    def _check(self, block: Block) -> None:
        k = block.id
        self.label(f"check{k}")
        mask = self.let(f"load i32, ptr %p{k}")
        some = self.let(f"icmp ne i32 {mask}, 0")
        skip = self.fresh_label("skip")
        inside = self.fresh_label("into")
        self.line(f"br i1 {some}, label %{inside}, label %{skip}")
        state = self.pending.check[k] - {k}
        self.label(inside)
        self._settle(state, "body", k)
        self.line(f"br label %body{k}")
        self.label(skip)
        self.go(state, None)

    def _body(self, block: Block) -> None:
        k = block.id
        self.block, self.cur = block, {}
        self.state = self.pending.body[k]
        self.lane_ranges = None
        self.mask_vector = None
        self.roots, self.lane_offsets = {}, {}
        self.label(f"body{k}")
        if block in self.control.partial:
            self.mask = self.let(f"load i32, ptr %p{k}")
        elif self.geometry.full:
            self.mask = "-1"
        else:
            key = "start_mask"
            if key not in self.context_pointers:
                pointer = self.top(f"getelementptr i8, ptr %f, i64 {abi.FRAME['start']}")
                self.context_pointers[key] = self.top(f"load i32, ptr {pointer}")
            self.mask = self.context_pointers[key]
        if self.options.counters:
            self._count(k)
        if self.options.trace:
            self._trace(k)
        for op in block.ops:
            self.operation(op)
        getattr(self, f"_end_{block.term.code}")(block, block.term)

    def _count(self, k: int) -> None:
        """One more execution of the block, and its lanes."""
        counts = self.context("counts", "ptr", 0, 8)
        for offset, amount in ((0, None), (1, self.mask)):
            pointer = self.let(f"getelementptr i64, ptr {counts}, i64 {2 * k + offset}")
            value = "1"
            if amount == "-1":
                continue
            if amount is not None:
                self.declare("llvm.ctpop.i32", "i32 (i32)")
                value = self.let(f"zext i32 {self.let(f'call i32 @llvm.ctpop.i32(i32 {amount})')} to i64")
            old = self.let(f"load i64, ptr {pointer}")
            self.line(f"store i64 {self.let(f'add i64 {old}, {value}')}, ptr {pointer}")

    def stop_at(self, point: int) -> None:
        """The active lanes wait at a barrier; others may still run."""
        if self.options.split:
            self.wait_apart(point)
            return
        if self.block not in self.control.partial:
            self.line(f"ret i64 {point}")
            return
        pointer = self.frame_pointer("arrived")
        here = self.let(f"or i32 {self.let(f'load i32, ptr {pointer}')}, {self.mask}")
        self.line(f"store i32 {here}, ptr {pointer}")
        pointer = self.frame_pointer("barrier_point")
        old = self.let(f"load i32, ptr {pointer}")
        other = self.let(f"icmp ne i32 {old}, {point}")
        clash = self.let(f"and i1 {other}, {self.let(f'icmp ne i32 {old}, 0')}")
        conflict = self.frame_pointer("conflict")
        known = self.let(f"load i32, ptr {conflict}")
        self.line(f"store i32 {self.let(f'select i1 {clash}, i32 {old}, i32 {known}')}, ptr {conflict}")
        self.line(f"store i32 {point}, ptr {pointer}")
        self.go(self.state, None)

    def spins(self, block: Block) -> str:
        """A counter of the rounds a waiting loop has made since the warp was last resumed."""
        name = f"%spin{block.id}"
        if f"  {name} = alloca i32" not in self.head:
            self.head += [f"  {name} = alloca i32", f"  store i32 0, ptr {name}"]
        return name

    def wait_apart(self, point: int) -> None:
        """The active lanes wait at a point, each for itself."""
        self.store_lanes("site", "i32", self.spread("i32", [str(point)]))
        pointer = self.frame_pointer("waiting")
        here = self.let(f"or i32 {self.let(f'load i32, ptr {pointer}')}, {self.mask}")
        self.line(f"store i32 {here}, ptr {pointer}")
        self.go(self.state, None)

    def store_lanes(self, field: str, type: str, value: str) -> None:
        """The active lanes' entries of an array in the frame."""
        whole, bits = self.vector_type(type), f"<{self.lanes} x i1>"
        name = f"llvm.masked.store.v{self.lanes}{type}.p0"
        self.declare(name, f"void ({whole}, ptr, {bits})")
        pointer = self.frame_pointer(field)
        self.line(f"call void @{name}({whole} {value}, ptr align 8 {pointer}, {bits} {self.as_vector(self.mask)})")

    def operand_mask(self, operand: Operand) -> str:
        """The lanes whose ``i1`` operand is true."""
        return self.active_bits(self.vector(operand))

    def _trace(self, k: int) -> None:
        """Tell who watches that this warp runs the block."""
        pointer = self.let(f"getelementptr i8, ptr %c, i64 {abi.CONTEXT['watched']}")
        watched = self.let(f"icmp ne i32 {self.let(f'load i32, ptr {pointer}')}, 0")
        tell, on = self.fresh_label("tell"), self.fresh_label("on")
        self.line(f"br i1 {watched}, label %{tell}, label %{on}, !prof !0")
        self.label(tell)
        self.declare("llvm.ctpop.i32", "i32 (i32)")
        lanes = self.let(f"call i32 @llvm.ctpop.i32(i32 {self.whole_mask()})")
        self.line(f"call void {self.helper('trace')}(ptr %c, i32 1, i32 {k}, i32 {lanes})")
        self.line(f"br label %{on}")
        self.label(on)

    def operation(self, op: Op) -> None:
        handler = HANDLERS.get(op.code)
        if handler is not None:
            handler(self, op)
        else:
            arithmetic.operation(self, op)

    # -- the ends of blocks

    def edge(self, target: Block, mask: str, bits: str | None = None, pending: bool = True) -> None:
        """Lanes of ``mask`` go to ``target``: its phis take their values, and it is pending for them."""
        waiting = target.id in self.state
        writes = []
        for phi in target.phis:
            out = phi.outs[0]
            if out.slots is None:
                continue
            rep = self.get(phi.from_block(self.block))
            if out.shape is V:
                self.vector_of(rep)
            writes.append((out, rep))
        self._leave_loops(target, mask, bits)
        for out, rep in writes:
            self.write(out, rep, mask if waiting or out.blend else None, bits)
        if target in self.control.partial and pending:
            mask = self.whole_mask() if mask == "-1" else mask
            if waiting:
                old = self.let(f"load i32, ptr %p{target.id}")
                mask = self.let(f"or i32 {old}, {mask}")
            self.line(f"store i32 {mask}, ptr %p{target.id}")

    def _leave_loops(self, target: Block, mask: str, bits: str | None) -> None:
        """Lanes that leave a loop before others take the values along that change with each round."""
        loop = self.block.loop
        while loop is not None and target not in loop.blocks:
            for var in self.mirrors.get(loop, ()):
                if not self._is_made(var):
                    continue
                type = self.vector_type(var.type)
                value = self.vector_of(self.get(var))
                if mask != "-1":
                    old = self.let(f"load {type}, ptr {self.mirror_slots[var]}")
                    chosen = bits or self.as_vector(mask)
                    value = self.let(f"select <{self.lanes} x i1> {chosen}, {type} {value}, {type} {old}")
                self.line(f"store {type} {value}, ptr {self.mirror_slots[var]}")
            loop = loop.parent

    def _is_made(self, var: Var) -> bool:
        """Whether the block being written is only reached through the one that makes the value."""
        block = self.block
        while block is not var.block:
            up = self.idom[block]
            if up is block:
                return False
            block = up
        return True

    def spend(self, targets: tuple[Block, ...]) -> None:
        """Going back costs one of the budget; who has none left stops."""
        if all(t.id > self.block.id for t in targets):
            return
        left = self.let("load i64, ptr %c")
        less = self.let(f"sub i64 {left}, 1")
        self.line(f"store i64 {less}, ptr %c")
        over = self.let(f"icmp slt i64 {less}, 0")
        on = self.fresh_label("on")
        self.line(f"br i1 {over}, label %abort, label %{on}, !prof !0")
        self.label(on)

    def _end_jump(self, block: Block, term: Op) -> None:
        self.spend(term.targets)
        self.edge(term.targets[0], self.mask, None)
        targets = [term.targets[0].id]
        self.go(self.state | {targets[0]}, targets)

    def _end_branch(self, block: Block, term: Op) -> None:
        self.spend(term.targets)
        condition = self.get(term.args[0])
        if block not in self.control.divergent:
            self._uniform_ways(
                [(f"br i1 {condition.parts[0]}, label %{{0}}, label %{{1}}", list(term.targets))]
            )
            return
        bits = self.vector_of(condition)
        if self.mask != "-1":
            bits = self.let(f"and <{self.lanes} x i1> {bits}, {self.as_vector(self.mask)}")
        yes = self.as_mask(bits)
        no = self.let(f"xor i32 {yes}, {self.whole_mask()}")
        no_bits = self.as_vector(no)
        self.edge(term.targets[0], yes, bits)
        self.edge(term.targets[1], no, no_bits)
        ids = [t.id for t in term.targets]
        self.go(self.state | frozenset(ids), ids)

    def whole_mask(self) -> str:
        """The active lanes, lanes that a narrow warp does not have left out."""
        return self.mask if self.mask != "-1" or self.lanes == 32 else str((1 << self.lanes) - 1)

    def snapshot(self) -> tuple[dict[Var, Rep], str | None]:
        """What is known here, for code that follows a branch: what one way computes the other does not see."""
        return {v: Rep(r.type, r.shape, r.parts, r.vector) for v, r in self.cur.items()}, self.mask_vector

    def restore(self, kept: tuple[dict[Var, Rep], str | None]) -> None:
        self.cur, self.mask_vector = kept

    def _uniform_ways(self, ways: list[tuple[str, list[Block]]]) -> None:
        """A branch that all lanes take together."""
        text, targets = ways[0]
        labels = [self.fresh_label("way") for _ in targets]
        self.line(text.format(*labels))
        kept = [self.snapshot() for _ in targets]
        for target, label, known in zip(targets, labels, kept, strict=True):
            self.label(label)
            self.restore(known)
            self.edge(target, self.mask, None)
            self.go(self.state | {target.id}, [target.id])

    def _end_switch(self, block: Block, term: Op) -> None:
        self.spend(term.targets)
        rep = self.get(term.args[0])
        type = term.args[0].type
        if block not in self.control.divergent:
            targets = list(dict.fromkeys(term.targets))
            place = {t: i for i, t in enumerate(targets)}
            cases = " ".join(
                f"{type} {c}, label %{{{place[t]}}}" for c, t in zip(term.detail, term.targets[1:], strict=True)
            )
            self._uniform_ways([(f"switch {type} {rep.parts[0]}, label %{{{place[term.targets[0]]}}} [ {cases} ]", targets)])
            return
        value = self.vector_of(rep)
        by_target: dict[Block, str] = {}
        taken = None
        for case, target in zip(term.detail, term.targets[1:], strict=True):
            hit = self.let(f"icmp eq {self.vector_type(type)} {value}, {splat(type, str(case))}")
            mask = self.active_bits(hit)
            taken = mask if taken is None else self.let(f"or i32 {taken}, {mask}")
            by_target[target] = mask if target not in by_target else self.let(f"or i32 {by_target[target]}, {mask}")
        default = self.whole_mask() if taken is None else self.let(f"xor i32 {taken}, {self.whole_mask()}")
        first = term.targets[0]
        by_target[first] = default if first not in by_target else self.let(f"or i32 {by_target[first]}, {default}")
        for target in sorted(by_target, key=lambda t: t.id):
            self.edge(target, by_target[target], None)
        ids = [t.id for t in by_target]
        self.go(self.state | frozenset(ids), ids)

    def _end_return(self, block: Block, term: Op) -> None:
        if block in self.control.partial and self.points:
            # Barriers and gathers do not wait for those who have left.
            pointer = self.frame_pointer("live")
            live = self.let(f"load i32, ptr {pointer}")
            gone = self.let(f"xor i32 {self.mask}, -1")
            self.line(f"store i32 {self.let(f'and i32 {live}, {gone}')}, ptr {pointer}")
        if not self.state and block not in self.control.partial:
            self.line("ret i64 0")
        else:
            self.go(self.state, None)

    def _end_stop(self, block: Block, term: Op) -> None:
        memory.stop(self, "trap", term)
        self.line("br label %abort")

    def _end_barrier(self, block: Block, term: Op) -> None:
        warp.barrier(self, block, term)

    def _end_gather(self, block: Block, term: Op) -> None:
        warp.gather(self, block, term)


def _clock(e: Emitter, op: Op) -> None:
    """A clock that moves whenever somebody looks: a loop that waits for it ends."""
    pointer = e.let(f"getelementptr i8, ptr %c, i64 {abi.CONTEXT['clock']}")
    now = e.let(f"add i64 {e.let(f'load i64, ptr {pointer}')}, 1")
    e.line(f"store i64 {now}, ptr {pointer}")
    out = op.outs[0]
    if out.type != "i64":
        now = e.let(f"trunc i64 {now} to {out.type}")
    e.define(out, [now] if out.shape is not V else [e.spread(out.type, [now])])


def _shared_size(e: Emitter, op: Op) -> None:
    size = e.context("dynamic_shared" if op.detail == "dynamic_smem_size" else "block_shared", "i32")
    out = op.outs[0]
    e.define(out, [size] if out.shape is not V else [e.spread(out.type, [size])])


HANDLERS = {
    "load": memory.load,
    "store": memory.store,
    "atomic": memory.atomic,
    "copy": memory.copy,
    "fill": memory.fill,
    "print": memory.print_,
    "clock": _clock,
    "shared-size": _shared_size,
    "trap": lambda e, op: memory.stop(e, op.detail, op),
    "warp": warp.operation,
    "barrier-result": warp.barrier_result,
    "arrive": warp.arrive,
}

__all__ = ["ENTRY", "Emitter", "U"]
