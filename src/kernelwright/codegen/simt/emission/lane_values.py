"""What values look like inside the block that is being written: numbers per segment, vectors, masks.

A value made in another block is loaded from its slots (``spill_slots.py``) when it is first asked for.
"""

from __future__ import annotations

from kernelwright.codegen.simt.analyses.uniformity import V
from kernelwright.codegen.simt.emission import struct_offsets
from kernelwright.codegen.simt.emission.launch_values import launch_value
from kernelwright.codegen.simt.emission.partial_stores import write_back
from kernelwright.codegen.simt.emission.processor import has_gather, has_mask_registers
from kernelwright.codegen.simt.emission.representation import (
    Rep,
    is_literal,
    lane_constants,
    of_const,
    signed,
    splat,
    stored,
    text_of,
)
from kernelwright.codegen.simt.emission.text_writer import Writer
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.codegen.simt.program.program import Block, Const, Loop, Operand, Program, Var, bits_of


def all_lanes(lanes: int) -> str:
    """The mask of a warp of so many lanes, all active, as LLVM writes an ``i32``."""
    return "-1" if lanes == 32 else str((1 << lanes) - 1)


class Lanes(Writer):
    """Values and masks of the block being written."""

    def __init__(self, program: Program, options: SimtOptions) -> None:
        super().__init__(options.geometry.lanes)
        self.program = program
        self.options = options
        self.geometry = options.geometry
        self.parts = self.geometry.parts
        self.block: Block = program.entry
        self.cur: dict[Var, Rep] = {}
        self.sources: dict[Var, Rep] = {}
        self.mirrors: dict[Loop, list[Var]] = {}
        """Per divergent loop the values that lanes take along when they leave it, one after the other."""
        self.mirror_slots: dict[Var, str] = {}
        self.alike: dict[Var, bool] = {}
        """Whether values in slots are one number in all segments, wherever they have been made."""
        self.frame_slots: set[str] = set()
        """Those that lie in the warp's frame; the others become registers."""
        self.mask = "-1"
        self.mask_vector: str | None = None
        self.some_lanes = False
        """Whether warps of which not all lanes are active run the block, too, whatever ``mask`` says of those it is being written for."""
        self.slow: list[str] = []
        """Of each division of the block so far, its lanes that take the slow path."""
        self.compared: dict[str, int] = {}
        """Bits per lane that a condition was made of, by its name: how it reads most cheaply as a mask."""
        self.numbers: dict[str, str] = {}
        """Vectors of bits, by name, that were made of a number: it is their mask."""
        self.lane_ranges: list[tuple[str, str, str, str]] | None = None
        self.roots: dict[tuple[Var, bool, int], str] = {}
        self.lane_offsets: dict[tuple[int, bool, int], str] = {}
        self.passes_parts = False
        """Whether an access hands the numbers of its segments to the runtime, in ``%rem`` and ``%root``."""

    def begin(self, block: Block) -> None:
        """Nothing is known yet in a new block."""
        self.block, self.cur = block, {}
        self.lane_ranges = self.mask_vector = None
        self.slow = []
        self.roots, self.lane_offsets = {}, {}

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
                rep = self.sources[operand] = launch_value(self, self.geometry, self.program.symbols, operand)
            # A vector made of it serves this block only.
            rep = Rep(rep.type, rep.shape, rep.parts)
        elif operand.mirror is not None and self.block not in operand.mirror.blocks:
            rep = Rep(operand.type, V, [self.load_slot(operand.type, self.mirror_slots[operand])])
        else:
            assert operand.slots is not None, f"{operand} is used in {self.block} before it is made"
            if operand.shape is V:
                parts = [self.load_slot(operand.type, operand.slots[0])]
            elif self.alike.get(operand):
                parts = [self.let(f"load {stored(operand.type)}, ptr {operand.slots[0]}")] * len(operand.slots)
            else:
                parts = [self.let(f"load {stored(operand.type)}, ptr {s}") for s in operand.slots]
            rep = Rep(operand.type, operand.shape, parts)
        self.cur[operand] = rep
        return rep

    def vector(self, operand: Operand) -> str:
        """The value as a vector of lanes."""
        if isinstance(operand, Const):
            return splat(operand.type, text_of(operand))
        return self.vector_of(self.get(operand))

    def vector_of(self, rep: Rep) -> str:
        """A value as a vector of lanes, which is made when it is first asked for and kept in ``rep``."""
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
        if type == "i1":
            return self._spread_bits(parts)
        row = "poison"
        for i, part in enumerate(parts):
            row = self.let(f"insertelement {whole} {row}, {stored(type)} {part}, i64 {i}")
        picks = ", ".join(f"i32 {lane // self.geometry.per_segment}" for lane in range(self.lanes))
        return self.let(f"shufflevector {whole} {row}, {whole} poison, <{self.lanes} x i32> <{picks}>")

    def _spread_bits(self, parts: list[str]) -> str:
        """The same for bits, as a number: without mask registers LLVM puts a vector of bits together bit by bit."""
        per, total = self.geometry.per_segment, ""
        for i, part in enumerate(parts):
            bits = ((1 << per) - 1) << (i * per)
            mine = self.let(f"select i1 {part}, i32 {signed(bits)}, i32 0")
            total = self.let(f"or i32 {total}, {mine}") if total else mine
        return self.bits_of_number(total)

    def define(self, var: Var, parts: list[str]) -> None:
        """``var`` is now these numbers (or this vector); writes them down where other blocks will look."""
        rep = self.cur[var] = Rep(var.type, var.shape, parts)
        if var.slots is not None:
            self.write(var, rep, self.mask if var.blend else None)
            is_alike = not var.blend and all(p == parts[0] for p in parts)
            self.alike[var] = is_alike and self.alike.get(var, True)

    def write(self, var: Var, rep: Rep, mask: str | None) -> None:
        """Store into the slots of ``var``; with a mask, the other lanes keep what they have."""
        if var.shape is V:
            self.keep(var.type, self.vector_of(rep), var.slots[0], mask or "-1")
            return
        for i, slot in enumerate(var.slots):
            self.line(f"store {stored(var.type)} {rep.part(i)}, ptr {slot}")

    def slot_type(self, type: str) -> str:
        """What a slot for a value of all lanes holds."""
        return "i32" if type == "i1" and self.in_numbers else self.vector_type(type)

    def load_slot(self, type: str, slot: str) -> str:
        """The vector of lanes in a slot."""
        loaded = self.let(f"load {self.slot_type(type)}, ptr {slot}")
        return self.bits_of_number(loaded) if type == "i1" and self.in_numbers else loaded

    def keep(self, type: str, value: str, slot: str, mask: str) -> None:
        """Store the lanes of ``mask`` into a slot; the others keep what they have.

        On processors without mask registers a choice by bits takes code generation as long as ten additions, and one between
        bits as long as fifty. So bits are chosen from as whole numbers, and code that must be ready soon has the rest in a call.
        """
        whole = self.vector_type(type)
        in_numbers = type == "i1" and self.in_numbers
        if mask == "-1":
            kept = f"i32 {self.number_of_bits(value)}" if in_numbers else f"{whole} {value}"
            self.line(f"store {kept}, ptr {slot}")
        elif type == "i1":
            row = "i32" if in_numbers else f"i{self.lanes}"
            new = self.number_of_bits(value) if in_numbers else self.let(f"bitcast {whole} {value} to {row}")
            old = self.let(f"load {row}, ptr {slot}")
            chosen = mask if row == "i32" else self.let(f"trunc i32 {mask} to {row}")
            changed = self.let(f"and {row} {self.let(f'xor {row} {new}, {old}')}, {chosen}")
            self.line(f"store {row} {self.let(f'xor {row} {changed}, {old}')}, ptr {slot}")
        elif self.options.in_line or (bits := bits_of(stored(type))) // 8 not in struct_offsets.KEEPS or bits % 8:
            # No helper keeps numbers of three bytes, which lie in four.
            if slot in self.frame_slots:
                write_back(self, whole, value, slot, 8, self.as_vector(mask))
                return
            old = self.let(f"load {whole}, ptr {slot}")
            chosen = self.let(f"select <{self.lanes} x i1> {self.as_vector(mask)}, {whole} {value}, {whole} {old}")
            self.line(f"store {whole} {chosen}, ptr {slot}")
        else:
            self.line(f"store {whole} {value}, ptr {self.scratch(0)}, align 16")
            self.line(
                self.helper(f"keep{bits // 8}", f"ptr {slot}, ptr {self.scratch(0)}, i32 {mask}, i32 {self.lanes}")
            )

    def snapshot(self) -> tuple[dict[Var, Rep], str | None]:
        """What is known here, for code that follows a branch: what one way computes the other does not see."""
        return {v: Rep(r.type, r.shape, r.parts, r.vector) for v, r in self.cur.items()}, self.mask_vector

    def restore(self, kept: tuple[dict[Var, Rep], str | None]) -> None:
        """Goes back to what a ``snapshot`` knew."""
        self.cur, self.mask_vector = kept

    # -- masks

    def whole_mask(self) -> str:
        """The active lanes, lanes that a narrow warp does not have left out."""
        return all_lanes(self.lanes) if self.mask == "-1" else self.mask

    def as_vector(self, mask: str) -> str:
        """A mask as one bit per lane."""
        if mask == "-1":
            return "splat (i1 true)"
        if mask == self.mask and self.mask_vector is not None:
            return self.mask_vector
        made = self.bits_of_number(mask)
        if mask == self.mask:
            self.mask_vector = made
        return made

    @property
    def in_numbers(self) -> bool:
        """Whether bits of lanes are reckoned with as numbers: without mask registers LLVM makes bytes of a vector of bits."""
        return self.options.in_line and not has_mask_registers()

    def bits_of_number(self, number: str) -> str:
        """One bit per lane of an ``i32``."""
        bits, row = f"<{self.lanes} x i1>", self.vector_type("i32")
        if self.in_numbers:
            # What a comparison leaves in each lane is what a choice between numbers of 32 bits takes.
            places = ", ".join(f"i32 {signed(1 << lane)}" for lane in range(self.lanes))
            mine = self.let(f"and {row} {self.spread('i32', [number])}, <{places}>")
            made = self.let(f"icmp ne {row} {mine}, zeroinitializer")
        elif self.lanes == 32:
            made = self.let(f"bitcast i32 {number} to {bits}")
        else:
            narrow = self.let(f"trunc i32 {number} to i{self.lanes}")
            made = self.let(f"bitcast i{self.lanes} {narrow} to {bits}")
        self.numbers[made] = number
        return made

    def number_of_bits(self, bits: str) -> str:
        """The bits of lanes as an ``i32``, where they may be a literal."""
        literal = {"splat (i1 true)": all_lanes(self.lanes), "splat (i1 false)": "0", "zeroinitializer": "0"}.get(bits)
        return literal or self.as_mask(bits)

    def as_mask(self, bits: str) -> str:
        """One bit per lane as an ``i32``."""
        known = self.numbers.get(bits)
        if known is not None:
            return known
        width = self.compared.get(bits, 0)
        if width in (32, 64) and not self.options.in_line:
            # What a comparison leaves in each lane is its bit over and over: the signs are cheaper to collect than to pack.
            row = f"<{self.lanes} x i{width}>"
            wide = self.let(f"sext <{self.lanes} x i1> {bits} to {row}")
            self.line(f"store {row} {wide}, ptr {self.scratch(0)}, align 16")
            return self.let(self.helper(f"signs{width // 8}", f"ptr {self.scratch(0)}, i32 {self.lanes}", "i32"))
        if width == 32 and self.lanes == 32 and has_gather() and not has_mask_registers():
            return self._collected_signs(bits)
        narrow = self.let(f"bitcast <{self.lanes} x i1> {bits} to i{self.lanes}")
        return narrow if self.lanes == 32 else self.let(f"zext i{self.lanes} {narrow} to i32")

    def _collected_signs(self, bits: str) -> str:
        """The same with AVX2, from registers of eight lanes: LLVM would pack all lanes into one first, which takes twice as long."""
        wide = self.let(f"sext <32 x i1> {bits} to <32 x i32>")
        self.declare("llvm.x86.avx.movmsk.ps.256", "i32 (<8 x float>)")
        mask = ""
        for first in range(0, 32, 8):
            eight = ", ".join(f"i32 {first + n}" for n in range(8))
            part = self.let(f"shufflevector <32 x i32> {wide}, <32 x i32> poison, <8 x i32> <{eight}>")
            part = self.let(f"bitcast <8 x i32> {part} to <8 x float>")
            part = self.let(f"call i32 @llvm.x86.avx.movmsk.ps.256(<8 x float> {part})")
            part = self.let(f"shl i32 {part}, {first}") if first else part
            mask = self.let(f"or i32 {mask}, {part}") if mask else part
        return mask

    def active_bits(self, bits: str) -> str:
        """The lanes of ``bits`` that are active, as a mask."""
        mask = self.as_mask(bits)
        return mask if self.mask == "-1" else self.let(f"and i32 {mask}, {self.mask}")

    def operand_mask(self, operand: Operand) -> str:
        """The lanes whose ``i1`` operand is true."""
        return self.active_bits(self.vector(operand))

    def store_lanes(self, field: str, type: str, value: str) -> None:
        """The active lanes' entries of an array in the frame."""
        if not self.options.in_line:
            self.keep(type, value, self.frame_pointer(field), self.mask)
            return
        whole, bits = self.vector_type(type), f"<{self.lanes} x i1>"
        name = f"llvm.masked.store.v{self.lanes}{type}.p0"
        self.declare(name, f"void ({whole}, ptr, {bits})")
        pointer = self.frame_pointer(field)
        self.line(f"call void @{name}({whole} {value}, ptr align 8 {pointer}, {bits} {self.as_vector(self.mask)})")

    # -- what several accesses of a block ask for

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

        It is reckoned back from the first active lane: lanes before that one may wrap, their values are unused.
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
