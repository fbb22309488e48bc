"""Accesses to neighbouring numbers: rows in global and shared memory, and local memory, which is made of rows."""

from __future__ import annotations

from itertools import pairwise

from kernelwright.codegen.simt.emission.accesses.access_address import Address
from kernelwright.codegen.simt.emission.accesses.inline_access import (
    LOCAL,
    SECTOR_SHIFT,
    SHARED,
    Way,
    add_to,
    count_parts,
    suffix,
)
from kernelwright.codegen.simt.emission.lane_values import Lanes
from kernelwright.codegen.simt.emission.partial_stores import store_each, write_back
from kernelwright.codegen.simt.emission.processor import has_mask_registers
from kernelwright.codegen.simt.emission.representation import stored
from kernelwright.codegen.simt.program.program import Access

AHEAD = 1024
"""How far ahead of a row its successors are fetched, in bytes. The work between two rows of a stream is more than the
processor looks ahead, so that it does not see the next one coming by itself."""


class Row(Way):
    @staticmethod
    def fits(e: Lanes, access: Access, address: Address, one_result: bool, is_store: bool) -> bool:
        """Whether neighbouring lanes access neighbouring numbers of one component, not in local memory, and, where there are several
        segments, their cost can be counted in line."""
        if access.components != 1 or address.stride != access.bytes or access.space == LOCAL:
            return False
        if e.parts > 1 and (address.parts == 1 or (access.space == SHARED and access.bytes not in (4, 8))):
            return False
        return not (e.parts == 4 and access.space == SHARED and access.bytes == 8)

    @property
    def footprint(self) -> int:
        return self.access.bytes * self.e.geometry.per_segment

    @property
    def step(self) -> int:
        return self.access.bytes

    def conditions(self) -> list[str]:
        e, access = self.e, self.access
        if e.mask == "-1" or (len(self.bases) == 1 and (access.space == SHARED or self.on_grid)):
            good = []
        else:
            good = [dense for _, _, dense, _ in e.active_lanes()]
        if len(self.bases) == 1:
            return good
        if len(self.bases) > 2:
            good += self.all_busy()
        if access.space != SHARED:
            # Two ranges of sectors are easily counted; of four we only take those that do not fold back.
            if len(self.bases) == 2:
                return good
            rising = e.all_of([e.let(f"icmp uge i64 {b[0]}, {a[1]}") for a, b in pairwise(self.sectors())])
            return [*good, rising if e.mask != "-1" else e.let(f"or i1 {rising}, {self.all_equal()}")]
        if access.bytes == 8 or (len(self.bases) == 2 and e.mask == "-1"):
            return good
        # Parts of rows may miss each other: only rows that cannot clash are taken.
        if len(self.bases) > 2:
            return [*good, self.apart()]
        alone = e.let(f"xor i1 {e.all_of(self.all_busy())}, true")
        return [*good, e.let(f"or i1 {self.apart()}, {alone}")]

    @property
    def on_grid(self) -> bool:
        """Whether sectors hold whole numbers, so that a mask tells which of them are touched."""
        return self.access.align >= self.access.bytes

    def apart(self) -> str:
        """Whether the rows of the segments lie in different banks, or are one row."""
        e, step = self.e, 4 * self.e.geometry.per_segment
        steps = [e.let(f"and i64 {e.let(f'sub i64 {b}, {a}')}, 127") for a, b in pairwise(self.bases)]
        beside = e.all_of([e.let(f"icmp eq i64 {d}, {step}") for d in steps])
        return e.let(f"or i1 {beside}, {self.all_equal()}")

    def overlap(self) -> str:
        """Whether two rows have words in common."""
        e, reach = self.e, 4 * self.e.geometry.per_segment
        first, second = self.bases
        ahead = e.let(f"add i64 {e.let(f'sub i64 {second}, {first}')}, {reach}")
        return e.let(f"icmp ult i64 {ahead}, {2 * reach}")

    def sectors(self) -> list[tuple[str, str]]:
        """The first and last sector of the active lanes of each segment."""
        e, size, found = self.e, self.access.bytes, []
        for i, base in enumerate(self.bases):
            first, last = (e.lane_offset(i, which, size) for which in (False, True))
            begin = base if first == "0" else e.let(f"add i64 {base}, {first}")
            if last.isdigit():
                end = e.let(f"add i64 {base}, {int(last) + size - 1}")
            else:
                end = e.let(f"add i64 {base}, {last}")
                end = e.let(f"add i64 {end}, {size - 1}") if size > 1 else end
            found.append((e.let(f"lshr i64 {begin}, {SECTOR_SHIFT}"), e.let(f"lshr i64 {end}, {SECTOR_SHIFT}")))
        return found

    def count(self) -> None:
        if self.access.space == SHARED:
            self.count_waves()
        else:
            self.count_sectors()

    def count_sectors(self) -> None:
        """Adds to ``sectors`` how many are touched beyond the first; those that two segments share count once."""
        e, access = self.e, self.access
        if len(self.bases) == 1 and e.mask != "-1" and self.on_grid:
            add_to(e, access, "sectors", e.let(f"add i64 {self.sectors_of_mask()}, -1"))
            return
        ranges = self.sectors()
        busy = self.all_busy() if len(ranges) == 2 else []
        total = ""
        for i, (begin, end) in enumerate(ranges):
            many = e.let(f"sub i64 {end}, {begin}")
            if len(ranges) > 1:
                many = e.let(f"add i64 {many}, 1")
            if busy:
                many = e.let(f"select i1 {busy[i]}, i64 {many}, i64 0")
            total = e.let(f"add i64 {total}, {many}") if total else many
        if len(ranges) > 1:
            total = e.let(f"sub i64 {total}, 1")
        if len(ranges) == 2:
            (s, t), (u, v) = ranges
            for name in ("umin", "umax", "smax"):
                e.declare(f"llvm.{name}.i64", "i64 (i64, i64)")
            last = e.let(f"call i64 @llvm.umin.i64(i64 {t}, i64 {v})")
            first = e.let(f"call i64 @llvm.umax.i64(i64 {s}, i64 {u})")
            common = e.let(f"add i64 {e.let(f'sub i64 {last}, {first}')}, 1")
            common = e.let(f"call i64 @llvm.smax.i64(i64 {common}, i64 0)")
            if busy:
                common = e.let(f"select i1 {e.all_of(busy)}, i64 {common}, i64 0")
            total = e.let(f"sub i64 {total}, {common}")
        elif len(ranges) > 2:
            for a, b in pairwise(ranges):
                same = e.let(f"zext i1 {e.let(f'icmp eq i64 {a[1]}, {b[0]}')} to i64")
                total = e.let(f"sub i64 {total}, {same}")
            if e.mask == "-1":
                once = e.let(f"sub i64 {ranges[0][1]}, {ranges[0][0]}")
                total = e.let(f"select i1 {self.all_equal()}, i64 {once}, i64 {total}")
        add_to(e, access, "sectors", total)

    def sectors_of_mask(self) -> str:
        """How many sectors have active lanes: of the mask, moved to where the row begins in its sector, the pieces that
        are not empty."""
        e, lanes = self.e, (1 << SECTOR_SHIFT) // self.access.bytes
        within = e.let(f"and i64 {self.bases[0]}, {(1 << SECTOR_SHIFT) - 1}")
        begin = e.let(f"lshr i64 {within}, {self.access.bytes.bit_length() - 1}")
        bits = e.let(f"shl i64 {e.let(f'zext i32 {e.mask} to i64')}, {begin}")
        step = lanes // 2
        while step:
            bits = e.let(f"or i64 {bits}, {e.let(f'lshr i64 {bits}, {step}')}")
            step //= 2
        heads = sum(1 << i for i in range(0, 64, lanes))
        e.declare("llvm.ctpop.i64", "i64 (i64)")
        return e.let(f"call i64 @llvm.ctpop.i64(i64 {e.let(f'and i64 {bits}, {heads}')})")

    def count_waves(self) -> None:
        """Adds to ``waves`` how many passes through shared memory are needed beyond the first."""
        e, access = self.e, self.access
        words = (access.bytes + 3) // 4
        if words > 1:
            count_parts(e, access, words)
        elif len(self.bases) == 2 and e.mask == "-1":
            # Two whole rows clash once when they clash at all. Where they overlap, they ask for the same words.
            clash = e.let(f"xor i1 {e.let(f'or i1 {self.apart()}, {self.overlap()}')}, true")
            add_to(e, access, "waves", e.let(f"zext i1 {clash} to i64"))

    def load(self) -> list[str]:
        e, type, per = self.e, stored(self.access.type), self.e.geometry.per_segment
        pointers = [self.pointer(b) for b in self.bases]
        if self.access.space == 0:
            self.fetch_ahead(pointers)
        rows = [(_load_part(self, p, i, per), per) for i, p in enumerate(pointers)] * self.copies
        while len(rows) > 1:
            rows = [_beside(e, type, a, b) for a, b in zip(rows[::2], rows[1::2], strict=True)]
        return [rows[0][0]]

    def fetch_ahead(self, pointers: list[str]) -> None:
        """Prefetches the cache lines of 64 bytes that lie ``AHEAD`` bytes further on than the rows."""
        e = self.e
        e.declare("llvm.prefetch.p0", "void (ptr, i32, i32, i32)")
        for pointer in pointers:
            for line in range(0, self.footprint, 64):
                next_one = e.let(f"getelementptr i8, ptr {pointer}, i64 {AHEAD + line}")
                e.line(f"call void @llvm.prefetch.p0(ptr {next_one}, i32 0, i32 3, i32 1)")

    def begin_store(self) -> None:
        self.writes_back = self.access.space == SHARED and self.e.mask != "-1" and not has_mask_registers()

    def store(self, values: list[str]) -> None:
        """Writes one store per segment, masked where lanes may be inactive."""
        e, per = self.e, self.e.geometry.per_segment
        for i, base in enumerate(self.bases * self.copies):
            pointer = self.pointer(base)
            if self.writes_back and len(self.bases) > 1:
                # Nothing is known of where a segment without active lanes would write.
                pointer = e.let(f"select i1 {e.active_lanes()[i][3]}, ptr {pointer}, ptr {e.scratch(0)}")
            _store_part(self, pointer, values[0], i, per)


class Own(Way):
    """Local memory is interleaved word by word: one offset is a row of the lanes' words."""

    @staticmethod
    def fits(e: Lanes, access: Access, address: Address, one_result: bool, is_store: bool) -> bool:
        """Whether all lanes access one aligned word of 4 bytes at the same offset of their local memory."""
        return (
            access.space == LOCAL and access.components == 1 and access.bytes == 4 and access.align >= 4
            and address.parts == 1 and address.stride == 0
        )  # fmt: skip

    @property
    def footprint(self) -> int:
        return self.access.bytes

    @property
    def step(self) -> int:
        return 0

    def conditions(self) -> list[str]:
        return []

    def count(self) -> None:
        """Eight neighbouring lanes share a sector."""
        e, access = self.e, self.access
        if e.mask == "-1":
            add_to(e, access, "sectors", str(e.lanes // 8 - 1))
            return
        total = "-1"
        for group in (0xFF, 0xFF00, 0xFF0000, -0x1000000):
            some = e.let(f"icmp ne i32 {e.let(f'and i32 {e.mask}, {group}')}, 0")
            total = e.let(f"add i64 {total}, {e.let(f'zext i1 {some} to i64')}")
        add_to(e, access, "sectors", total)

    def load(self) -> list[str]:
        return [_load_part(self, self.pointer(self.bases[0]), 0, self.e.lanes)]

    def begin_store(self) -> None:
        self.writes_back = self.e.mask != "-1" and not has_mask_registers()

    def store(self, values: list[str]) -> None:
        """Writes one store of all lanes' words, masked where lanes may be inactive."""
        _store_part(self, self.pointer(self.bases[0]), values[0], 0, self.e.lanes)


def _load_part(way: Way, pointer: str, i: int, per: int) -> str:
    """The lanes of segment ``i`` of a row."""
    e, type, align = way.e, stored(way.access.type), way.access.align
    row, bits = f"<{per} x {type}>", f"<{per} x i1>"
    if e.mask == "-1":
        return e.let(f"load {row}, ptr {pointer}, align {align}")
    name = f"llvm.masked.load.{suffix(per, type)}.p0"
    e.declare(name, f"{row} (ptr, {bits}, {row})")
    active = _piece(e, "i1", e.as_vector(e.mask), i, per)
    return e.let(f"call {row} @{name}(ptr align {align} {pointer}, {bits} {active}, {row} zeroinitializer)")


def _store_part(way: Way, pointer: str, value: str, i: int, per: int) -> None:
    e, type, align = way.e, stored(way.access.type), way.access.align
    row, bits = f"<{per} x {type}>", f"<{per} x i1>"
    part = _piece(e, type, value, i, per)
    if e.mask == "-1":
        e.line(f"store {row} {part}, ptr {pointer}, align {align}")
        return
    if way.writes_back:
        write_back(e, row, part, pointer, align, _piece(e, "i1", e.as_vector(e.mask), i, per))
        return
    if not has_mask_registers():
        store_each(e, way.access.type, part, pointer, way.access.bytes, align, e.mask, per, i * per)
        return
    name = f"llvm.masked.store.{suffix(per, type)}.p0"
    e.declare(name, f"void ({row}, ptr, {bits})")
    active = _piece(e, "i1", e.as_vector(e.mask), i, per)
    e.line(f"call void @{name}({row} {part}, ptr align {align} {pointer}, {bits} {active})")


def _beside(e: Lanes, type: str, a: tuple[str, int], b: tuple[str, int]) -> tuple[str, int]:
    """Two vectors as one of twice the length."""
    row = f"<{a[1]} x {type}>"
    picks = ", ".join(f"i32 {i}" for i in range(2 * a[1]))
    return e.let(f"shufflevector {row} {a[0]}, {row} {b[0]}, <{2 * a[1]} x i32> <{picks}>"), 2 * a[1]


def _piece(e: Lanes, type: str, row: str, i: int, per: int) -> str:
    """Piece ``i`` of a whole vector cut into pieces of ``per`` lanes."""
    if per == e.lanes:
        return row
    picks = ", ".join(f"i32 {lane}" for lane in range(i * per, (i + 1) * per))
    whole = f"<{e.lanes} x {type}>"
    return e.let(f"shufflevector {whole} {row}, {whole} poison, <{per} x i32> <{picks}>")
