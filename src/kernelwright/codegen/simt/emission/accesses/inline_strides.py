"""Accesses whose lanes are a constant number of bytes apart: gathers and scatters, where the processor has them."""

from __future__ import annotations

from functools import cache

from kernelwright.codegen.simt.emission.accesses.access_address import Address
from kernelwright.codegen.simt.emission.accesses.inline_access import LOCAL, SECTOR_SHIFT, SHARED, Way, add_to, suffix
from kernelwright.codegen.simt.emission.lane_values import Lanes
from kernelwright.codegen.simt.emission.partial_stores import store_each
from kernelwright.codegen.simt.emission.processor import has_gather, has_mask_registers
from kernelwright.codegen.simt.emission.representation import stored
from kernelwright.codegen.simt.emission.struct_offsets import SHARED_SLACK
from kernelwright.codegen.simt.program.program import Access


class Steps(Way):
    """Gathers and scatters at offsets that are known now."""

    def __init__(self, e: Lanes, access: Access, address: Address) -> None:
        super().__init__(e, access, address)
        assert address.stride is not None
        self.stride = address.stride

    @staticmethod
    def fits(e: Lanes, access: Access, address: Address, one_result: bool, is_store: bool) -> bool:
        """Whether the lanes, all in one segment, lie a constant number of bytes apart, at most 1 MiB, and the processor gathers and
        scatters such numbers. Stores that overlap do not fit."""
        stride = address.stride
        if stride is None or stride == 0 or e.parts > 1 or access.space == LOCAL or not has_gather():
            return False
        if (
            stride % access.align
            or abs(stride) > 1 << 20
            or stored(access.type) not in ("i32", "i64", "float", "double")
        ):
            return False
        # Lanes that overlap write one after the other, which a scatter need not do.
        if is_store and abs(stride) < access.bytes:
            return False
        return access.space != SHARED or (stride % 4 == 0 and access.components == 1)

    @property
    def footprint(self) -> int:
        return abs(self.stride) * (self.e.lanes - 1) + self.access.bytes

    @property
    def step(self) -> int:
        return self.stride

    def lowest(self, base: str) -> str:
        return base if self.stride > 0 else self.e.let(f"add i64 {base}, {self.stride * (self.e.lanes - 1)}")

    @property
    def spread_out(self) -> bool:
        """Whether every lane has a sector of its own."""
        return abs(self.stride) >= 32

    def conditions(self) -> list[str]:
        e, access = self.e, self.access
        if access.space == SHARED:
            most = self.waves(e.lanes)
            if e.mask == "-1" or (most == 1 and access.bytes == 4):
                return []
            return [e.active_lanes()[0][2]] if access.bytes == 4 else ["false"]
        if access.align < access.bytes:
            return ["false"]
        return [] if self.spread_out or e.mask == "-1" else [e.active_lanes()[0][2]]

    def waves(self, lanes: int) -> int:
        """Turns that so many neighbouring lanes take: they depend on the stride alone."""
        return _turns(self.stride // 4, lanes, (self.access.bytes + 3) // 4)

    def count(self) -> None:
        e, access = self.e, self.access
        if access.space == SHARED:
            if e.mask == "-1":
                if self.waves(e.lanes) > 1:
                    add_to(e, access, "waves", str(self.waves(e.lanes) - 1))
            elif self.waves(e.lanes) > 1:
                first, last, _, _ = e.active_lanes()[0]
                table = e.table([0, *(self.waves(n) - 1 for n in range(1, e.lanes + 1))])
                many = e.let(f"add i64 {e.let(f'sub i64 {last}, {first}')}, 1")
                entry = e.let(f"getelementptr i8, ptr {table}, i64 {many}")
                add_to(e, access, "waves", e.let(f"zext i8 {e.let(f'load i8, ptr {entry}')} to i64"))
            return
        if self.spread_out:
            if e.mask == "-1":
                add_to(e, access, "sectors", str(e.lanes - 1))
                return
            e.declare("llvm.ctpop.i32", "i32 (i32)")
            lanes = e.let(f"zext i32 {e.let(f'call i32 @llvm.ctpop.i32(i32 {e.mask})')} to i64")
            add_to(e, access, "sectors", e.let(f"sub i64 {lanes}, 1"))
            return
        begin, end = (
            e.let(f"add i64 {self.bases[0]}, {e.lane_offset(0, which, self.stride)}")
            for which in (self.stride < 0, self.stride > 0)
        )
        end = e.let(f"add i64 {end}, {access.bytes - 1}")
        shift = SECTOR_SHIFT
        sectors = e.let(f"sub i64 {e.let(f'lshr i64 {end}, {shift}')}, {e.let(f'lshr i64 {begin}, {shift}')}")
        add_to(e, access, "sectors", sectors)

    def places(self, k: int) -> str:
        """The pointers of all lanes to component ``k``."""
        e = self.e
        pointer = self.pointer(self.bases[0], k * (self.access.bytes // self.access.components))
        offsets = ", ".join(f"i64 {lane * self.stride}" for lane in range(e.lanes))
        return e.let(f"getelementptr i8, ptr {pointer}, <{e.lanes} x i64> <{offsets}>")

    def load(self) -> list[str]:
        """One masked gather for each component, or a load for each lane where all of them may be read."""
        if not has_mask_registers() and (self.e.mask == "-1" or self._is_readable):
            return [self._load_each(k) for k in range(self.access.components)]
        e, type = self.e, stored(self.access.type)
        row, bits, pointers = f"<{e.lanes} x {type}>", f"<{e.lanes} x i1>", f"<{e.lanes} x ptr>"
        name = f"llvm.masked.gather.{suffix(e.lanes, type)}.v{e.lanes}p0"
        e.declare(name, f"{row} ({pointers}, {bits}, {row})")
        active = e.as_vector(e.mask)
        align = min(self.access.align, self.access.bytes // self.access.components)
        rows = []
        for k in range(self.access.components):
            where = f"{pointers} align {align} {self.places(k)}"
            rows.append(e.let(f"call {row} @{name}({where}, {bits} {active}, {row} zeroinitializer)"))
        return rows

    @property
    def _is_readable(self) -> bool:
        """Whether inactive lanes can be read where an active one can: they are inside shared memory, or not far from it."""
        return self.access.space == SHARED and self.footprint <= SHARED_SLACK

    def _load_each(self, k: int) -> str:
        """Component ``k`` of all lanes, number by number: a gather takes half as long again. Inactive lanes get 0."""
        e, type = self.e, stored(self.access.type)
        size = self.access.bytes // self.access.components
        pointer, row, made = self.pointer(self.bases[0], k * size), f"<{e.lanes} x {type}>", "poison"
        for lane in range(e.lanes):
            where = e.let(f"getelementptr i8, ptr {pointer}, i64 {lane * self.stride}") if lane else pointer
            number = e.let(f"load {type}, ptr {where}, align {min(self.access.align, size)}")
            made = e.let(f"insertelement {row} {made}, {type} {number}, i64 {lane}")
        if e.mask == "-1":
            return made
        return e.let(f"select <{e.lanes} x i1> {e.as_vector(e.mask)}, {row} {made}, {row} zeroinitializer")

    def store(self, values: list[str]) -> None:
        """Writes one masked scatter for each component, or a store for each lane."""
        e, type = self.e, stored(self.access.type)
        if not has_mask_registers():
            size = self.access.bytes // self.access.components
            for k, value in enumerate(values):
                pointer = self.pointer(self.bases[0], k * size)
                align = min(self.access.align, size)
                store_each(e, self.access.type, value, pointer, self.stride, align, e.mask, e.lanes)
            return
        row, bits, pointers = f"<{e.lanes} x {type}>", f"<{e.lanes} x i1>", f"<{e.lanes} x ptr>"
        name = f"llvm.masked.scatter.{suffix(e.lanes, type)}.v{e.lanes}p0"
        e.declare(name, f"void ({row}, {pointers}, {bits})")
        align = min(self.access.align, self.access.bytes // self.access.components)
        for k, value in enumerate(values):
            where = f"{pointers} align {align} {self.places(k)}"
            e.line(f"call void @{name}({row} {value}, {where}, {bits} {e.as_vector(e.mask)})")


@cache
def _turns(step: int, lanes: int, words: int) -> int:
    """Wavefronts of lanes 0 .. ``lanes`` that are ``step`` words apart, as ``simt_waves`` counts them."""
    part = 32 if words == 1 else 16 if words == 2 else 8
    total = 0
    for first in range(0, lanes, part):
        banks: dict[int, set[int]] = {}
        for lane in range(first, min(first + part, lanes)):
            for k in range(words):
                word = lane * step + k
                banks.setdefault(word % 32, set()).add(word)
        total += max(len(b) for b in banks.values())
    return total
