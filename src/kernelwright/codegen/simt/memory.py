"""Loads, stores and atomics: the check and the access in line where addresses run evenly, a call for everything else.

The inline path takes an access whose lanes read one address, or neighbouring ones, inside the buffer that the access
touched last. Everything else goes to the runtime: another buffer, an edge, scattered or misaligned addresses, and every
access of a launch that is watched, for which the runtime hands out sites that never match.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from kernelwright.codegen.simt import abi
from kernelwright.codegen.simt.program import Access, Op, bytes_of
from kernelwright.codegen.simt.shapes import V
from kernelwright.codegen.simt.values import Rep, is_literal, stored
from kernelwright.errors import CompileError

if TYPE_CHECKING:
    from kernelwright.codegen.simt.emit import Emitter

METADATA = '\n!0 = !{!"branch_weights", i32 1, i32 4000}\n!1 = !{!"branch_weights", i32 4000, i32 1}\n'
LINEAR, EXTENDED, INDEXED, ADDRESSES = range(4)
SHARED, LOCAL = 1, 2


class Address:
    """The address of an access: how it is handed to the runtime, and its number per segment where it runs evenly."""

    def __init__(self, e: Emitter, access: Access, rep: Rep) -> None:
        self.e = e
        self.access = access
        self.rep = rep
        self.root: Rep | None = None
        g = e.geometry
        form = {"form": LINEAR, "segments": g.parts, "segment_lanes": g.per_segment, "stride": rep.stride}
        self.stride: int | None = rep.stride
        if rep.shape is V:
            form.update(form=ADDRESSES, segments=1, segment_lanes=32, stride=0)
            self.stride = None
        elif rep.shape[0] == "x":
            self.root = e.get(rep.root)
            form.update(coefficient=rep.shape[3], zero_extend=int(rep.shape[2]))
            if self.root.shape is V:
                form["form"] = INDEXED
                self.stride = None
            else:
                form.update(form=EXTENDED, root_stride=self.root.stride)
                self.stride = rep.stride + rep.shape[3] * self.root.stride
        self.form = form
        access.form = form

    @property
    def parts(self) -> int:
        """How many segments have numbers of their own."""
        return max(len(self.rep.parts), len(self.root.parts) if self.root else 1)

    def bases(self) -> list[str]:
        """The address of the first lane of each segment, in the access's own space."""
        e, made = self.e, []
        for i in range(self.parts):
            total = self.rep.part(i)
            if self.root is not None:
                wide = e.extended_root(self.rep, i)
                factor = self.rep.shape[3]
                if factor != 1:
                    wide = e.let(f"mul i64 {wide}, {factor}")
                total = wide if total == "0" else e.let(f"add i64 {wide}, {total}")
            made.append(self._in_space(total))
        return made

    def _in_space(self, address: str) -> str:
        base = self.access.base
        if not base:
            return address
        if is_literal(address):
            return str(int(address) - base)
        return self.e.let(f"sub i64 {address}, {base}")

    def arguments(self) -> tuple[str, str]:
        """Pointers to the plain parts and to the roots, as the runtime takes them."""
        e = self.e
        e.needs_parts = True
        if self.rep.shape is V:
            e.line(f"store {e.vector_type('i64')} {self._vector_in_space()}, ptr {e.scratch(0)}, align 16")
            return e.scratch(0), "null"
        for i in range(e.parts):
            pointer = "%rem" if not i else e.let(f"getelementptr i64, ptr %rem, i64 {i}")
            e.line(f"store i64 {self._in_space(self.rep.part(i))}, ptr {pointer}")
        if self.root is None:
            return "%rem", "null"
        if self.root.shape is V:
            e.line(f"store {e.vector_type('i32')} {self.root.parts[0]}, ptr {e.scratch(0)}, align 16")
            return "%rem", e.scratch(0)
        for i in range(e.parts):
            pointer = "%root" if not i else e.let(f"getelementptr i32, ptr %root, i64 {i}")
            e.line(f"store i32 {self.root.part(i)}, ptr {pointer}")
        return "%rem", "%root"

    def _vector_in_space(self) -> str:
        if not self.access.base:
            return self.rep.parts[0]
        wide = self.e.vector_type("i64")
        return self.e.let(f"sub {wide} {self.rep.parts[0]}, splat (i64 {self.access.base})")


def _site(e: Emitter, access: Access, field: str = "low") -> str:
    sites = e.context("sites", "ptr", 0, 8)
    return e.let(f"getelementptr i8, ptr {sites}, i64 {access.index * abi.SITE_BYTES + abi.SITE[field]}")


def _checked(e: Emitter, op: Op) -> Access:
    access: Access = op.detail
    if bytes_of(access.type) not in (1, 2, 4, 8, 16):
        raise CompileError(f"memory accesses of type {access.type} do not run on the virtual GPU: {access.origin}")
    return access


def load(e: Emitter, op: Op) -> None:
    """``outs`` are the components; they share one shape."""
    access = _checked(e, op)
    address = Address(e, access, e.get(op.args[0]))
    shape = op.outs[0].shape
    address.form["spread"] = int(shape is not V)
    way = _inline_way(e, access, address, shape is V)
    address.form["footprint"] = footprint(e, access, way)
    if way is None:
        for out, parts in zip(op.outs, _call_load(e, access, address, shape), strict=True):
            e.define(out, parts)
        return
    fast, slow, on = (e.fresh_label(x) for x in ("fast", "slow", "on"))
    bases = address.bases()
    _check(e, access, address, bases, way, fast, slow)
    e.label(fast)
    _count(e, access, bases, way)
    quick = _inline_load(e, access, bases, way)
    e.line(f"br label %{on}")
    e.label(slow)
    late = _call_load(e, access, address, shape)[0]
    e.line(f"br label %{on}")
    e.label(on)
    type = e.vector_type(access.type) if shape is V else stored(access.type)
    merged = [
        e.let(f"phi {type} [ {a}, %{fast} ], [ {b}, %{slow} ]") for a, b in zip(quick, late, strict=True)
    ]
    e.define(op.outs[0], merged)


def store(e: Emitter, op: Op) -> None:
    """The values follow the address in ``args``."""
    access = _checked(e, op)
    address = Address(e, access, e.get(op.args[0]))
    way = _inline_way(e, access, address, True)
    if way == "one":
        way = None
    address.form["footprint"] = footprint(e, access, way)
    values = [e.vector(v) for v in op.args[1:]]
    if way is None:
        _call_store(e, access, address, values)
        return
    fast, slow, on = (e.fresh_label(x) for x in ("fast", "slow", "on"))
    bases = address.bases()
    _check(e, access, address, bases, way, fast, slow)
    e.label(fast)
    _count(e, access, bases, way)
    _inline_store(e, access, bases, way, values[0])
    e.line(f"br label %{on}")
    e.label(slow)
    _call_store(e, access, address, values)
    e.line(f"br label %{on}")
    e.label(on)


def footprint(e: Emitter, access: Access, way: str | None) -> int:
    """The bytes that the inline path touches from a segment's first address on."""
    return access.bytes * e.geometry.per_segment if way == "row" else access.bytes


def _inline_way(e: Emitter, access: Access, address: Address, vector: bool) -> str | None:
    """``one``: one address per segment; ``row``: neighbours; ``own``: one address, each lane's own local word."""
    if access.components != 1 or address.stride is None:
        return None
    if access.space == LOCAL:
        whole = address.parts == 1 and address.stride == 0 and access.bytes == 4 and access.align >= 4
        return "own" if whole else None
    if e.parts > 1 and address.parts == 1 and address.stride:
        return None
    if address.stride == 0 and not vector:
        return "one"
    if e.parts > 1 and access.space == SHARED and access.bytes != 4 and (e.parts, access.bytes) != (2, 8):
        return None
    return "row" if address.stride == access.bytes else None


def _check(e: Emitter, access: Access, address: Address, bases: list[str], way: str, fast: str, slow: str) -> None:
    """Go to ``fast`` when every segment lies inside the known buffer and aligned, and no index wrapped."""
    count = e.let(f"load i64, ptr {_site(e, access, 'count')}")
    low = None if access.space else e.let(f"load i64, ptr {_site(e, access)}")
    if way != "one" and e.mask != "-1":
        # Made here, because both ways and what follows them use it.
        e.as_vector(e.mask)
    good: list[str] = []
    shift = access.align.bit_length() - 1
    for base in bases:
        delta = base if low is None else e.let(f"sub i64 {base}, {low}")
        if shift:
            e.declare("llvm.fshr.i64", "i64 (i64, i64, i64)")
            delta = e.let(f"call i64 @llvm.fshr.i64(i64 {delta}, i64 {delta}, i64 {shift})")
        good.append(e.let(f"icmp ult i64 {delta}, {count}"))
    if address.root is not None:
        good += [e.root_runs_on(address.rep, i) for i in range(address.parts)]
    if way == "row" and e.options.counters:
        if e.mask != "-1":
            good += [dense for _, _, dense in e.active_lanes()]
        if len(bases) > 1:
            good += _rows_are_simple(e, access, bases)
    e.line(f"br i1 {e.all_of(good)}, label %{fast}, label %{slow}, !prof !1")


def _rows_are_simple(e: Emitter, access: Access, bases: list[str]) -> list[str]:
    """Conditions under which rows of several segments can be counted in line."""
    if access.space != SHARED:
        # Two ranges of sectors are easily counted; of four we only take those that do not fold back.
        if len(bases) == 2:
            return []
        ranges = _sector_ranges(e, access, bases)
        rising = e.all_of([e.let(f"icmp uge i64 {b[0]}, {a[1]}") for a, b in pairwise(ranges)])
        if e.mask != "-1":
            return [rising]
        return [e.let(f"or i1 {rising}, {_all_equal(e, bases)}")]
    if access.bytes == 8:
        return []
    step = 4 * e.geometry.per_segment
    steps = [e.let(f"and i64 {e.let(f'sub i64 {b}, {a}')}, 127") for a, b in pairwise(bases)]
    beside = e.all_of([e.let(f"icmp eq i64 {d}, {step}") for d in steps])
    simple = e.let(f"or i1 {beside}, {_all_equal(e, bases)}")
    # Two whole rows clash exactly once; parts of rows may miss each other.
    return [] if len(bases) == 2 and e.mask == "-1" else [simple]


def _all_equal(e: Emitter, bases: list[str]) -> str:
    return e.all_of([e.let(f"icmp eq i64 {a}, {b}") for a, b in pairwise(bases)])


def _sector_ranges(e: Emitter, access: Access, bases: list[str]) -> list[tuple[str, str]]:
    """The first and last sector of the active lanes of each segment."""
    size, found = access.bytes, []
    for base, (first, last, _) in zip(bases, e.active_lanes(), strict=True):
        begin = base if first == "0" else e.let(f"add i64 {base}, {e.let(f'mul i64 {first}, {size}')}")
        if last.isdigit():
            end = e.let(f"add i64 {base}, {int(last) * size + size - 1}")
        else:
            end = e.let(f"add i64 {base}, {e.let(f'mul i64 {last}, {size}')}")
            end = e.let(f"add i64 {end}, {size - 1}") if size > 1 else end
        found.append((e.let(f"lshr i64 {begin}, 5"), e.let(f"lshr i64 {end}, 5")))
    return found


def _add_to(e: Emitter, access: Access, field: str, amount: str) -> None:
    pointer = _site(e, access, field)
    old = e.let(f"load i64, ptr {pointer}")
    e.line(f"store i64 {e.let(f'add i64 {old}, {amount}')}, ptr {pointer}")


def _count(e: Emitter, access: Access, bases: list[str], way: str) -> None:
    """Sectors and wavefronts beyond the first; one address of a warp is always one."""
    if not e.options.counters:
        return
    if way == "one":
        if len(bases) > 1:
            _count_several(e, access, bases)
    elif way == "own":
        if e.mask == "-1":
            _add_to(e, access, "sectors", str(e.lanes // 8 - 1))
        else:
            _count_own(e, access)
    elif access.space == SHARED:
        _count_waves(e, access, bases)
    else:
        _count_sectors(e, access, bases)


def _count_sectors(e: Emitter, access: Access, bases: list[str]) -> None:
    ranges = _sector_ranges(e, access, bases)
    total = "0"
    for begin, end in ranges:
        beyond = e.let(f"sub i64 {end}, {begin}")
        total = beyond if total == "0" else e.let(f"add i64 {total}, {e.let(f'add i64 {beyond}, 1')}")
    if len(bases) == 2:
        (s, t), (u, v) = ranges
        for name in ("umin", "umax"):
            e.declare(f"llvm.{name}.i64", "i64 (i64, i64)")
        e.declare("llvm.smax.i64", "i64 (i64, i64)")
        last = e.let(f"call i64 @llvm.umin.i64(i64 {t}, i64 {v})")
        first = e.let(f"call i64 @llvm.umax.i64(i64 {s}, i64 {u})")
        shared = e.let(f"add i64 {e.let(f'sub i64 {last}, {first}')}, 1")
        total = e.let(f"sub i64 {total}, {e.let(f'call i64 @llvm.smax.i64(i64 {shared}, i64 0)')}")
    elif len(bases) > 2:
        for a, b in pairwise(ranges):
            same = e.let(f"zext i1 {e.let(f'icmp eq i64 {a[1]}, {b[0]}')} to i64")
            total = e.let(f"sub i64 {total}, {same}")
        if e.mask == "-1":
            once = e.let(f"sub i64 {ranges[0][1]}, {ranges[0][0]}")
            total = e.let(f"select i1 {_all_equal(e, bases)}, i64 {once}, i64 {total}")
    _add_to(e, access, "sectors", total)


def _count_waves(e: Emitter, access: Access, bases: list[str]) -> None:
    size = access.bytes
    if len(bases) == 1:
        if size <= 4:
            return
        first, last, _ = e.active_lanes()[0]
        span = e.let(f"mul i64 {e.let(f'sub i64 {last}, {first}')}, {size}")
        _add_to(e, access, "waves", e.let(f"lshr i64 {e.let(f'add i64 {span}, {size - 1}')}, 7"))
    elif size == 8:
        # Each half of the warp takes a turn of its own.
        _add_to(e, access, "waves", "1")
    elif len(bases) == 2 and e.mask == "-1":
        step = e.let(f"and i64 {e.let(f'sub i64 {bases[1]}, {bases[0]}')}, 127")
        beside = e.let(f"icmp eq i64 {step}, {4 * e.geometry.per_segment}")
        simple = e.let(f"or i1 {beside}, {_all_equal(e, bases)}")
        _add_to(e, access, "waves", e.let(f"zext i1 {e.let(f'xor i1 {simple}, true')} to i64"))


def _count_own(e: Emitter, access: Access) -> None:
    """A local word: eight neighbouring lanes share a sector."""
    groups = [f"i32 {0xFF << (8 * i)}" if i < 3 else "i32 -16777216" for i in range(4)]
    total = "-1"
    for group in groups:
        some = e.let(f"icmp ne i32 {e.let(f'and i32 {e.mask}, {group[4:]}')}, 0")
        total = e.let(f"add i64 {total}, {e.let(f'zext i1 {some} to i64')}")
    _add_to(e, access, "sectors", total)


def _count_several(e: Emitter, access: Access, bases: list[str]) -> None:
    """One address per segment: how many different sectors, or words of one bank."""
    if access.space == SHARED:
        for i, a in enumerate(bases[1:], 1):
            for b in bases[:i]:
                differ = e.let(f"icmp ne i64 {a}, {b}")
                bank = e.let(f"and i64 {e.let(f'xor i64 {a}, {b}')}, 124")
                clash = e.let(f"and i1 {differ}, {e.let(f'icmp eq i64 {bank}, 0')}")
                _add_to(e, access, "waves", e.let(f"zext i1 {clash} to i64"))
        return
    sectors = [e.let(f"lshr i64 {b}, 5") for b in bases]
    for i, a in enumerate(sectors[1:], 1):
        new = "true"
        for b in sectors[:i]:
            new = e.let(f"and i1 {new}, {e.let(f'icmp ne i64 {a}, {b}')}")
        _add_to(e, access, "sectors", e.let(f"zext i1 {new} to i64"))


def _pointer(e: Emitter, access: Access, base: str) -> str:
    if access.space == SHARED:
        base = e.let(f"add i64 {e.context('shared_host', 'i64', 0, 8)}, {base}")
    elif access.space == LOCAL:
        base = e.let(f"add i64 {e.context('local_host', 'i64', 0, 8)}, {e.let(f'shl i64 {base}, 5')}")
    return e.let(f"inttoptr i64 {base} to ptr")


def _inline_load(e: Emitter, access: Access, bases: list[str], way: str) -> list[str]:
    type, align = stored(access.type), access.align
    pointers = [_pointer(e, access, b) for b in bases]
    if way == "one":
        return [e.let(f"load {type}, ptr {p}, align {align}") for p in pointers]
    per = e.lanes if way == "own" else e.geometry.per_segment
    rows = [_load_row(e, access, p, i, per) for i, p in enumerate(pointers)]
    while len(rows) > 1:
        rows = [_beside(e, type, a, b) for a, b in zip(rows[::2], rows[1::2], strict=True)]
    return [rows[0][0]]


def _beside(e: Emitter, type: str, a: tuple[str, int], b: tuple[str, int]) -> tuple[str, int]:
    """Two vectors as one of twice the length."""
    row = f"<{a[1]} x {type}>"
    picks = ", ".join(f"i32 {i}" for i in range(2 * a[1]))
    return e.let(f"shufflevector {row} {a[0]}, {row} {b[0]}, <{2 * a[1]} x i32> <{picks}>"), 2 * a[1]


def _segment_of(e: Emitter, type: str, row: str, i: int, per: int) -> str:
    """Piece ``i`` of a whole vector cut into pieces of ``per`` lanes."""
    if per == e.lanes:
        return row
    picks = ", ".join(f"i32 {lane}" for lane in range(i * per, (i + 1) * per))
    whole = f"<{e.lanes} x {type}>"
    return e.let(f"shufflevector {whole} {row}, {whole} poison, <{per} x i32> <{picks}>")


def _load_row(e: Emitter, access: Access, pointer: str, i: int, per: int) -> tuple[str, int]:
    type = stored(access.type)
    row, bits = f"<{per} x {type}>", f"<{per} x i1>"
    if e.mask == "-1":
        return e.let(f"load {row}, ptr {pointer}, align {access.align}"), per
    name = f"llvm.masked.load.{_suffix(per, type)}.p0"
    e.declare(name, f"{row} (ptr, {bits}, {row})")
    active = _segment_of(e, "i1", e.as_vector(e.mask), i, per)
    arguments = f"ptr align {access.align} {pointer}, {bits} {active}, {row} zeroinitializer"
    return e.let(f"call {row} @{name}({arguments})"), per


def _inline_store(e: Emitter, access: Access, bases: list[str], way: str, value: str) -> None:
    type, per = stored(access.type), e.lanes if way == "own" else e.geometry.per_segment
    row, bits = f"<{per} x {type}>", f"<{per} x i1>"
    for i, base in enumerate(bases):
        pointer = _pointer(e, access, base)
        part = _segment_of(e, type, value, i, per)
        if e.mask == "-1":
            e.line(f"store {row} {part}, ptr {pointer}, align {access.align}")
            continue
        name = f"llvm.masked.store.{_suffix(per, type)}.p0"
        e.declare(name, f"void ({row}, ptr, {bits})")
        active = _segment_of(e, "i1", e.as_vector(e.mask), i, per)
        e.line(f"call void @{name}({row} {part}, ptr align {access.align} {pointer}, {bits} {active})")


def _suffix(lanes: int, type: str) -> str:
    return f"v{lanes}" + {"half": "f16", "float": "f32", "double": "f64"}.get(type, type)


def _call_load(e: Emitter, access: Access, address: Address, shape: object) -> list[list[str]]:
    """The runtime's load; one row of parts per component."""
    rem, root = address.arguments()
    data = e.scratch(1)
    e.line(
        f"call void {e.helper('load')}(ptr %c, ptr {_site(e, access)}, ptr {rem}, ptr {root}, i32 {_mask(e)}, ptr {data})"
    )
    size = bytes_of(access.type)
    rows = []
    for k in range(access.components):
        start = k * 32 * size
        if shape is V:
            pointer = data if not start else e.let(f"getelementptr i8, ptr {data}, i64 {start}")
            rows.append([e.let(f"load {e.vector_type(access.type)}, ptr {pointer}, align 16")])
            continue
        parts = []
        for i in range(e.parts if shape != ("u",) else 1):
            at = start + i * e.geometry.per_segment * size
            pointer = data if not at else e.let(f"getelementptr i8, ptr {data}, i64 {at}")
            parts.append(e.let(f"load {stored(access.type)}, ptr {pointer}, align {min(size, 16)}"))
        rows.append(parts)
    return rows


def _mask(e: Emitter) -> str:
    return e.mask if e.mask != "-1" or e.lanes == 32 else str((1 << e.lanes) - 1)


def _call_store(e: Emitter, access: Access, address: Address, values: list[str]) -> None:
    rem, root = address.arguments()
    data = _put(e, access, values, 1)
    e.line(
        f"call void {e.helper('store')}(ptr %c, ptr {_site(e, access)}, ptr {rem}, ptr {root}, i32 {_mask(e)}, ptr {data})"
    )


def _put(e: Emitter, access: Access, values: list[str], scratch: int) -> str:
    data, size = e.scratch(scratch), bytes_of(access.type)
    for k, value in enumerate(values):
        pointer = data if not k else e.let(f"getelementptr i8, ptr {data}, i64 {k * 32 * size}")
        e.line(f"store {e.vector_type(access.type)} {value}, ptr {pointer}, align 16")
    return data


def atomic(e: Emitter, op: Op) -> None:
    """``args``: address, operand, and for compare-and-swap what is expected."""
    access = _checked(e, op)
    address = Address(e, access, e.get(op.args[0]))
    address.form["footprint"] = access.bytes
    values = [e.vector(v) for v in op.args[1:]]
    rem, root = address.arguments()
    operand = _put(e, access, values[:1], 1)
    expected = _put(e, access, values[1:], 2) if len(values) > 1 else "null"
    data = e.scratch(3)
    e.line(
        f"call void {e.helper('atomic')}(ptr %c, ptr {_site(e, access)}, ptr {rem}, ptr {root}, i32 {_mask(e)}, "
        f"ptr {data}, ptr {operand}, ptr {expected})"
    )
    e.define(op.outs[0], [e.let(f"load {e.vector_type(access.type)}, ptr {data}, align 16")])


def _own_access(e: Emitter, op: Op) -> str:
    """The number under which a fault of an operation that is no plain access is found again."""
    e.program.notes.append((op.code, op.origin, op.detail))  # type: ignore[arg-type]
    return str(len(e.program.notes) - 1)


def copy(e: Emitter, op: Op) -> None:
    """``args``: target, source, bytes; per lane, regions may overlap."""
    _bulk(e, op, "copy", "i64")


def fill(e: Emitter, op: Op) -> None:
    """``args``: target, byte, bytes."""
    _bulk(e, op, "fill", "i8")


def _bulk(e: Emitter, op: Op, helper: str, second: str) -> None:
    note = _own_access(e, op)
    for i, type in enumerate(("i64", second, "i64")):
        e.line(f"store {e.vector_type(type)} {e.vector(op.args[i])}, ptr {e.scratch(i)}, align 16")
    pointers = ", ".join(f"ptr {e.scratch(i)}" for i in range(3))
    e.line(f"call void {e.helper(helper)}(ptr %c, i32 {note}, i32 {_mask(e)}, {pointers})")


def print_(e: Emitter, op: Op) -> None:
    """``args``: the format and the packed arguments; the result is the number of arguments."""
    note = _own_access(e, op)
    for i in range(2):
        e.line(f"store {e.vector_type('i64')} {e.vector(op.args[i])}, ptr {e.scratch(i)}, align 16")
    pointers = ", ".join(f"ptr {e.scratch(i)}" for i in range(3))
    e.line(f"call void {e.helper('print')}(ptr %c, i32 {note}, i32 {_mask(e)}, {pointers})")
    if op.outs:
        e.define(op.outs[0], [e.let(f"load {e.vector_type('i32')}, ptr {e.scratch(2)}, align 16")])


def stop(e: Emitter, kind: str, op: Op) -> None:
    """The active lanes end the launch: a trap, or a failed assertion with its message, file, line and function."""
    note = _own_access(e, op)
    for i, arg in enumerate(op.args[:4]):
        type = arg.type
        wide = e.vector(arg)
        if type != "i64":
            wide = e.let(f"zext {e.vector_type(type)} {wide} to {e.vector_type('i64')}")
        e.line(f"store {e.vector_type('i64')} {wide}, ptr {e.scratch(i)}, align 16")
    pointers = ", ".join(f"ptr {e.scratch(i)}" if i < len(op.args) else "ptr null" for i in range(4))
    e.line(f"call void {e.helper('stop')}(ptr %c, i32 {note}, i32 {_mask(e)}, i32 {4 if kind == 'trap' else 5}, {pointers})")
