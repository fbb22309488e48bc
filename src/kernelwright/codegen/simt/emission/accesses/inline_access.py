"""Ways to make an access in line: what it touches, when that is safe, what it costs, how it is written.

    One    every lane of a segment reads the same address            a[row * n + k]
    Row    neighbouring lanes touch neighbouring numbers             a[i]
    Steps  lanes are a constant number of bytes apart                a[2 * i], a[i].x
    Own    one offset in local memory: each lane has its own word    local[3]
    Words  any word of a short local array                           local[i]

``Row`` and ``Own`` are in ``inline_neighbours.py``, ``Steps`` in ``inline_strides.py``, ``Words`` in ``inline_words.py``.

A way is only taken when all lanes, active or not, stay inside the buffer the access touched last; and, where costs are
counted, when the cost is exact: the runtime, which takes all other cases, counts the same.
"""

from __future__ import annotations

from itertools import pairwise

from kernelwright.codegen.simt.emission import struct_offsets
from kernelwright.codegen.simt.emission.accesses.access_address import Address
from kernelwright.codegen.simt.emission.lane_values import Lanes
from kernelwright.codegen.simt.emission.representation import signed, stored
from kernelwright.codegen.simt.program.program import Access

SHARED, LOCAL = 1, 2
SECTOR_SHIFT, WORD_SHIFT = 5, 2


def site(e: Lanes, access: Access, field: str = "low") -> str:
    """The address of a field of the access's record."""
    sites = e.context("sites", "ptr", 0, 8)
    return e.let(
        f"getelementptr i8, ptr {sites}, i64 {access.index * struct_offsets.SITE_BYTES + struct_offsets.SITE[field]}"
    )


def add_to(e: Lanes, access: Access, field: str, amount: str) -> None:
    """Count ``amount`` more."""
    pointer = site(e, access, field)
    old = e.let(f"load i64, ptr {pointer}")
    e.line(f"store i64 {e.let(f'add i64 {old}, {amount}')}, ptr {pointer}")


class Way:
    """One access made in line; ``bases`` are the addresses of the first lane of each segment."""

    needs_mask = True
    """Whether it touches only active lanes, so that their bits are needed."""
    one_for_all = False
    """Whether lanes of segments with the same address touch the same, whichever of them are active."""
    writes_back = False
    """Whether it writes back what inactive lanes have: then they must be inside the buffer, too."""

    def __init__(self, e: Lanes, access: Access, address: Address) -> None:
        self.e, self.access, self.address = e, access, address
        self.bases = address.bases()
        self.copies = 1
        """How many segments have the one address in ``bases``: where all of them touch the same, it is done once."""
        if len(set(self.bases)) == 1 and (self.one_for_all or e.mask == "-1"):
            self.copies, self.bases = len(self.bases), self.bases[:1]

    @staticmethod
    def fits(e: Lanes, access: Access, address: Address, one_result: bool, is_store: bool) -> bool:
        """Whether an access can be made in this way. ``one_result``: the lanes of a segment get one number."""
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

    def begin_store(self) -> None:
        """Comes before ``check`` where the access is a store."""

    def store(self, values: list[str]) -> None:
        """Writes the stores of the active lanes; ``values``: per component the vector of all lanes."""
        raise NotImplementedError

    @property
    def step(self) -> int:
        """Bytes from lane to lane within a segment."""
        return 0

    @property
    def reach(self) -> int:
        """What the runtime must know the inline path to touch: from the first lane of a segment on, or from any."""
        return self.access.bytes if self.e.some_lanes else self.footprint

    def check(self, fast: str, slow: str) -> None:
        """Go to ``fast`` when every active lane lies inside the known buffer and aligned, and no index wrapped."""
        e, access = self.e, self.access
        count = e.let(f"load i64, ptr {site(e, access, 'count')}")
        low = None if access.space else e.let(f"load i64, ptr {site(e, access)}")
        touches_all = e.mask == "-1" or self.writes_back
        beyond = self.footprint - self.reach if touches_all else 0
        if beyond:
            # The last lane must have room, too; a buffer that is shorter has no place for the first.
            e.declare("llvm.usub.sat.i64", "i64 (i64, i64)")
            count = e.let(f"call i64 @llvm.usub.sat.i64(i64 {count}, i64 {beyond // access.align})")
        if self.needs_mask and e.mask != "-1":
            # Made here, because both ways and what follows them use it.
            e.as_vector(e.mask)
        good: list[str] = []
        shift = access.align.bit_length() - 1
        for i, base in enumerate(self.bases):
            inside: list[str] = []
            ends = [self.lowest(base)]
            if not touches_all and self.step:
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
        """An ``i1``: whether all segments have one address. Needs two segments or more."""
        return self.e.all_of([self.e.let(f"icmp eq i64 {a}, {b}") for a, b in pairwise(self.bases)])


class One(Way):
    needs_mask = False
    one_for_all = True

    @staticmethod
    def fits(e: Lanes, access: Access, address: Address, one_result: bool, is_store: bool) -> bool:
        """Whether all lanes of a segment load from one address, outside of local memory."""
        return address.stride == 0 and one_result and access.space != LOCAL

    def count(self) -> None:
        """How many different sectors (of constants: words) the segments' addresses lie in, or how often words share a bank."""
        e, access = self.e, self.access
        if len(self.bases) == 1:
            words = (access.bytes + 3) // 4
            if access.space == SHARED and words > 1:
                count_parts(e, access, words)
            return
        if access.space == SHARED:
            for i, a in enumerate(self.bases[1:], 1):
                for b in self.bases[:i]:
                    differ = e.let(f"icmp ne i64 {a}, {b}")
                    bank = e.let(f"and i64 {e.let(f'xor i64 {a}, {b}')}, 124")
                    clash = e.all_of([differ, e.let(f"icmp eq i64 {bank}, 0"), *self.all_busy()])
                    add_to(e, access, "waves", e.let(f"zext i1 {clash} to i64"))
            return
        shift, field = (WORD_SHIFT, "serial") if access.constant else (SECTOR_SHIFT, "sectors")
        places = [e.let(f"lshr i64 {b}, {shift}") for b in self.bases]
        for i, a in enumerate(places[1:], 1):
            new = e.all_of([*(e.let(f"icmp ne i64 {a}, {b}") for b in places[:i]), *self.all_busy()])
            add_to(e, access, field, e.let(f"zext i1 {new} to i64"))

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
                rows += [self.e.let(f"load {type}, ptr {pointer}, align {min(access.align, size)}")] * self.copies
        return rows


def count_parts(e: Lanes, access: Access, words: int) -> None:
    """Accesses wider than a word are made half a warp or a quarter at a time: one turn for each part with active lanes."""
    lanes = 16 if words == 2 else 8
    parts = e.lanes // lanes
    if e.mask == "-1":
        if parts > 1:
            add_to(e, access, "waves", str(parts - 1))
        return
    total = "-1"
    for i in range(parts):
        group = signed(((1 << lanes) - 1) << (i * lanes))
        some = e.let(f"icmp ne i32 {e.let(f'and i32 {e.mask}, {group}')}, 0")
        total = e.let(f"add i64 {total}, {e.let(f'zext i1 {some} to i64')}")
    add_to(e, access, "waves", total)


def suffix(lanes: int, type: str) -> str:
    """The ending that LLVM gives an intrinsic on vectors of this type: ``v32f32``."""
    return f"v{lanes}" + {"half": "f16", "float": "f32", "double": "f64"}.get(type, type)
