"""Ways to make an access in line: what it touches, when that is safe, what it costs, how it is written.

    One    every lane of a segment reads the same address            a[row * n + k]
    Row    neighbouring lanes touch neighbouring numbers             a[i]
    Steps  lanes are a constant number of bytes apart                a[2 * i], a[i].x
    Own    one offset in local memory: each lane has its own word    local[3]

A way is only taken when all lanes, active or not, stay inside the buffer the access touched last; and, where costs are
counted, when the cost is exact: the runtime, which takes all other cases, counts the same.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from kernelwright.codegen.simt import abi
from kernelwright.codegen.simt.program import Access
from kernelwright.codegen.simt.values import stored

if TYPE_CHECKING:
    from kernelwright.codegen.simt.emit import Emitter
    from kernelwright.codegen.simt.memory import Address

SHARED, LOCAL = 1, 2
SECTOR_SHIFT = 5
AHEAD = 1024
"""How far ahead of a row its successors are fetched, in bytes. The work between two rows of a stream is more than the
processor looks ahead, so that it does not see the next one coming by itself."""


@cache
def has_gather() -> bool:
    """Whether the processor moves scattered numbers under a mask; without, LLVM would write a branch per lane."""
    from kernelwright.passes.llvm import binding

    return bool(binding().get_host_cpu_features().get("avx512f"))


def site(e: Emitter, access: Access, field: str = "low") -> str:
    """The address of a field of the access's record."""
    sites = e.context("sites", "ptr", 0, 8)
    return e.let(f"getelementptr i8, ptr {sites}, i64 {access.index * abi.SITE_BYTES + abi.SITE[field]}")


def add_to(e: Emitter, access: Access, field: str, amount: str) -> None:
    """Count ``amount`` more."""
    pointer = site(e, access, field)
    old = e.let(f"load i64, ptr {pointer}")
    e.line(f"store i64 {e.let(f'add i64 {old}, {amount}')}, ptr {pointer}")


def choose(e: Emitter, access: Access, address: Address, one_result: bool, is_store: bool) -> Way | None:
    """The way that fits, ``None`` when only the runtime can do it. ``one_result``: lanes of a segment get one number."""
    for way in (One, Row, Steps, Own):
        if way.fits(e, access, address, one_result, is_store):
            return way(e, access, address)
    return None


class Way:
    """One access made in line; ``bases`` are the addresses of the first lane of each segment."""

    needs_mask = True
    """Whether it touches only active lanes, so that their bits are needed."""

    def __init__(self, e: Emitter, access: Access, address: Address) -> None:
        self.e, self.access, self.address = e, access, address
        self.bases = address.bases()

    @staticmethod
    def fits(e: Emitter, access: Access, address: Address, one_result: bool, is_store: bool) -> bool:
        raise NotImplementedError

    @property
    def footprint(self) -> int:
        """Bytes touched from the lowest address of a segment on."""
        return self.access.bytes

    def lowest(self, base: str) -> str:
        """The lowest address a segment touches."""
        return base

    def conditions(self) -> list[str]:
        """What must hold besides bounds, for the cost to be known in line."""
        return []

    def count(self) -> None:
        """Sectors and wavefronts beyond the first."""

    def load(self) -> list[str]:
        """Per component the vector, or per segment the number."""
        raise NotImplementedError

    def store(self, values: list[str]) -> None:
        raise NotImplementedError

    @property
    def step(self) -> int:
        """Bytes from lane to lane within a segment."""
        return 0

    @property
    def reach(self) -> int:
        """What the runtime must know the inline path to touch: from the first lane of a segment on, or from any."""
        return self.footprint if self.e.mask == "-1" else self.access.bytes

    def check(self, fast: str, slow: str) -> None:
        """Go to ``fast`` when every active lane lies inside the known buffer and aligned, and no index wrapped."""
        e, access = self.e, self.access
        count = e.let(f"load i64, ptr {site(e, access, 'count')}")
        low = None if access.space else e.let(f"load i64, ptr {site(e, access)}")
        if self.needs_mask and e.mask != "-1":
            # Made here, because both ways and what follows them use it.
            e.as_vector(e.mask)
        good: list[str] = []
        shift = access.align.bit_length() - 1
        for i, base in enumerate(self.bases):
            inside: list[str] = []
            ends = [self.lowest(base)]
            if e.mask != "-1" and self.step:
                ends = [e.let(f"add i64 {base}, {e.lane_offset(i, last, self.step)}") for last in (False, True)]
            for end in ends:
                delta = end if low is None else e.let(f"sub i64 {end}, {low}")
                if shift:
                    e.declare("llvm.fshr.i64", "i64 (i64, i64, i64)")
                    delta = e.let(f"call i64 @llvm.fshr.i64(i64 {delta}, i64 {delta}, i64 {shift})")
                inside.append(e.let(f"icmp ult i64 {delta}, {count}"))
            if self.address.root is not None:
                inside.append(e.root_runs_on(self.address.rep, i))
            if len(self.bases) > 1 and e.mask != "-1":
                # A segment without active lanes cannot go wrong.
                none = e.let(f"xor i1 {e.active_lanes()[i][3]}, true")
                inside = [e.let(f"or i1 {e.all_of(inside)}, {none}")]
            good += inside
        if e.options.counters:
            good += self.conditions()
        e.line(f"br i1 {e.all_of(good)}, label %{fast}, label %{slow}, !prof !1")

    def pointer(self, base: str, offset: int = 0) -> str:
        """Where the bytes of an address are on this machine."""
        e = self.e
        if self.access.space == SHARED:
            base = e.let(f"add i64 {e.context('shared_host', 'i64', 0, 8)}, {base}")
        elif self.access.space == LOCAL:
            base = e.let(f"add i64 {e.context('local_host', 'i64', 0, 8)}, {e.let(f'shl i64 {base}, 5')}")
        if offset:
            base = e.let(f"add i64 {base}, {offset}")
        return e.let(f"inttoptr i64 {base} to ptr")

    def all_busy(self) -> list[str]:
        """Whether each segment has active lanes; nothing when that is certain."""
        return [] if self.e.mask == "-1" else [some for _, _, _, some in self.e.active_lanes()]

    def all_equal(self) -> str:
        return self.e.all_of([self.e.let(f"icmp eq i64 {a}, {b}") for a, b in pairwise(self.bases)])


class One(Way):
    needs_mask = False

    @staticmethod
    def fits(e: Emitter, access: Access, address: Address, one_result: bool, is_store: bool) -> bool:
        return address.stride == 0 and one_result and access.space != LOCAL

    def count(self) -> None:
        """How many different sectors the segments' addresses lie in, or how often their words share a bank."""
        e, access = self.e, self.access
        if len(self.bases) == 1:
            words = (access.bytes + 3) // 4
            if access.space == SHARED and words > 1:
                _count_parts(e, access, words)
            return
        if access.space == SHARED:
            for i, a in enumerate(self.bases[1:], 1):
                for b in self.bases[:i]:
                    differ = e.let(f"icmp ne i64 {a}, {b}")
                    bank = e.let(f"and i64 {e.let(f'xor i64 {a}, {b}')}, 124")
                    clash = e.all_of([differ, e.let(f"icmp eq i64 {bank}, 0"), *self.all_busy()])
                    add_to(e, access, "waves", e.let(f"zext i1 {clash} to i64"))
            return
        sectors = [e.let(f"lshr i64 {b}, {SECTOR_SHIFT}") for b in self.bases]
        for i, a in enumerate(sectors[1:], 1):
            new = e.all_of([*(e.let(f"icmp ne i64 {a}, {b}") for b in sectors[:i]), *self.all_busy()])
            add_to(e, access, "sectors", e.let(f"zext i1 {new} to i64"))

    def conditions(self) -> list[str]:
        """Two addresses are counted in line; more where every segment has active lanes, in shared memory if they agree."""
        if len(self.bases) == 1:
            return []
        if self.access.space == SHARED and (len(self.bases) > 2 or self.access.bytes > 4):
            return [self.all_equal()] if self.access.bytes <= 4 else ["false"]
        return self.all_busy() if len(self.bases) > 2 else []

    def load(self) -> list[str]:
        access, type = self.access, stored(self.access.type)
        size = access.bytes // access.components
        rows = []
        for k in range(access.components):
            for base in self.bases:
                pointer = self.pointer(base, k * size)
                rows.append(self.e.let(f"load {type}, ptr {pointer}, align {min(access.align, size)}"))
        return rows


class Row(Way):
    @staticmethod
    def fits(e: Emitter, access: Access, address: Address, one_result: bool, is_store: bool) -> bool:
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
        e, access = self.e, self.access
        words = (access.bytes + 3) // 4
        if words > 1:
            _count_parts(e, access, words)
        elif len(self.bases) == 2 and e.mask == "-1":
            # Two whole rows clash once when they clash at all.
            clash = e.let(f"xor i1 {self.apart()}, true")
            add_to(e, access, "waves", e.let(f"zext i1 {clash} to i64"))

    def load(self) -> list[str]:
        e, type, per = self.e, stored(self.access.type), self.e.geometry.per_segment
        pointers = [self.pointer(b) for b in self.bases]
        if self.access.space == 0:
            self.fetch_ahead(pointers)
        rows = [(self.load_part(p, i, per), per) for i, p in enumerate(pointers)]
        while len(rows) > 1:
            rows = [_beside(e, type, a, b) for a, b in zip(rows[::2], rows[1::2], strict=True)]
        return [rows[0][0]]

    def fetch_ahead(self, pointers: list[str]) -> None:
        e = self.e
        e.declare("llvm.prefetch.p0", "void (ptr, i32, i32, i32)")
        for pointer in pointers:
            for line in range(0, self.footprint, 64):
                next_one = e.let(f"getelementptr i8, ptr {pointer}, i64 {AHEAD + line}")
                e.line(f"call void @llvm.prefetch.p0(ptr {next_one}, i32 0, i32 3, i32 1)")

    def load_part(self, pointer: str, i: int, per: int) -> str:
        e, type, align = self.e, stored(self.access.type), self.access.align
        row, bits = f"<{per} x {type}>", f"<{per} x i1>"
        if e.mask == "-1":
            return e.let(f"load {row}, ptr {pointer}, align {align}")
        name = f"llvm.masked.load.{_suffix(per, type)}.p0"
        e.declare(name, f"{row} (ptr, {bits}, {row})")
        active = _piece(e, "i1", e.as_vector(e.mask), i, per)
        return e.let(f"call {row} @{name}(ptr align {align} {pointer}, {bits} {active}, {row} zeroinitializer)")

    def store(self, values: list[str]) -> None:
        per = self.e.geometry.per_segment
        for i, base in enumerate(self.bases):
            self.store_part(self.pointer(base), values[0], i, per)

    def store_part(self, pointer: str, value: str, i: int, per: int) -> None:
        e, type, align = self.e, stored(self.access.type), self.access.align
        row, bits = f"<{per} x {type}>", f"<{per} x i1>"
        part = _piece(e, type, value, i, per)
        if e.mask == "-1":
            e.line(f"store {row} {part}, ptr {pointer}, align {align}")
            return
        name = f"llvm.masked.store.{_suffix(per, type)}.p0"
        e.declare(name, f"void ({row}, ptr, {bits})")
        active = _piece(e, "i1", e.as_vector(e.mask), i, per)
        e.line(f"call void @{name}({row} {part}, ptr align {align} {pointer}, {bits} {active})")


class Steps(Way):
    """Gathers and scatters at offsets that are known now."""

    def __init__(self, e: Emitter, access: Access, address: Address) -> None:
        super().__init__(e, access, address)
        assert address.stride is not None
        self.stride = address.stride

    @staticmethod
    def fits(e: Emitter, access: Access, address: Address, one_result: bool, is_store: bool) -> bool:
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
        e, type = self.e, stored(self.access.type)
        row, bits, pointers = f"<{e.lanes} x {type}>", f"<{e.lanes} x i1>", f"<{e.lanes} x ptr>"
        name = f"llvm.masked.gather.{_suffix(e.lanes, type)}.v{e.lanes}p0"
        e.declare(name, f"{row} ({pointers}, {bits}, {row})")
        active = e.as_vector(e.mask)
        align = min(self.access.align, self.access.bytes // self.access.components)
        rows = []
        for k in range(self.access.components):
            where = f"{pointers} align {align} {self.places(k)}"
            rows.append(e.let(f"call {row} @{name}({where}, {bits} {active}, {row} zeroinitializer)"))
        return rows

    def store(self, values: list[str]) -> None:
        e, type = self.e, stored(self.access.type)
        row, bits, pointers = f"<{e.lanes} x {type}>", f"<{e.lanes} x i1>", f"<{e.lanes} x ptr>"
        name = f"llvm.masked.scatter.{_suffix(e.lanes, type)}.v{e.lanes}p0"
        e.declare(name, f"void ({row}, {pointers}, {bits})")
        align = min(self.access.align, self.access.bytes // self.access.components)
        for k, value in enumerate(values):
            where = f"{pointers} align {align} {self.places(k)}"
            e.line(f"call void @{name}({row} {value}, {where}, {bits} {e.as_vector(e.mask)})")


class Own(Row):
    """Local memory is interleaved word by word: one offset is a row of the lanes' words."""

    @staticmethod
    def fits(e: Emitter, access: Access, address: Address, one_result: bool, is_store: bool) -> bool:
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
        return [self.load_part(self.pointer(self.bases[0]), 0, self.e.lanes)]

    def store(self, values: list[str]) -> None:
        self.store_part(self.pointer(self.bases[0]), values[0], 0, self.e.lanes)


def _count_parts(e: Emitter, access: Access, words: int) -> None:
    """Accesses wider than a word are made half a warp or a quarter at a time: one turn for each part with active lanes."""
    lanes = 16 if words == 2 else 8
    parts = e.lanes // lanes
    if e.mask == "-1":
        if parts > 1:
            add_to(e, access, "waves", str(parts - 1))
        return
    total = "-1"
    for i in range(parts):
        group = ((1 << lanes) - 1) << (i * lanes)
        group -= (1 << 32) if group >> 31 else 0
        some = e.let(f"icmp ne i32 {e.let(f'and i32 {e.mask}, {group}')}, 0")
        total = e.let(f"add i64 {total}, {e.let(f'zext i1 {some} to i64')}")
    add_to(e, access, "waves", total)


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


def _beside(e: Emitter, type: str, a: tuple[str, int], b: tuple[str, int]) -> tuple[str, int]:
    """Two vectors as one of twice the length."""
    row = f"<{a[1]} x {type}>"
    picks = ", ".join(f"i32 {i}" for i in range(2 * a[1]))
    return e.let(f"shufflevector {row} {a[0]}, {row} {b[0]}, <{2 * a[1]} x i32> <{picks}>"), 2 * a[1]


def _piece(e: Emitter, type: str, row: str, i: int, per: int) -> str:
    """Piece ``i`` of a whole vector cut into pieces of ``per`` lanes."""
    if per == e.lanes:
        return row
    picks = ", ".join(f"i32 {lane}" for lane in range(i * per, (i + 1) * per))
    whole = f"<{e.lanes} x {type}>"
    return e.let(f"shufflevector {whole} {row}, {whole} poison, <{per} x i32> <{picks}>")


def _suffix(lanes: int, type: str) -> str:
    return f"v{lanes}" + {"half": "f16", "float": "f32", "double": "f64"}.get(type, type)
