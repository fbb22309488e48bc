"""Loads, stores and atomics: in line where addresses run evenly (see ``inline_access.py``), a call for everything else.

The runtime takes an access in another buffer than the last, at an edge, at scattered or misaligned addresses, and every
access of a launch that is watched, for which it hands out sites that never match.
"""

from __future__ import annotations

from kernelwright.codegen.simt.analyses.uniformity import V
from kernelwright.codegen.simt.emission import struct_offsets
from kernelwright.codegen.simt.emission.accesses import runtime_rows
from kernelwright.codegen.simt.emission.accesses.access_address import ADDRESSES, INDEXED, Address
from kernelwright.codegen.simt.emission.accesses.inline_access import One, Way, site
from kernelwright.codegen.simt.emission.accesses.inline_neighbours import Own, Row
from kernelwright.codegen.simt.emission.accesses.inline_strides import Steps
from kernelwright.codegen.simt.emission.accesses.inline_words import Words
from kernelwright.codegen.simt.emission.lane_values import Lanes
from kernelwright.codegen.simt.emission.representation import stored
from kernelwright.codegen.simt.program.program import Access, Op, bytes_of
from kernelwright.errors import CompileError

METADATA = '\n!0 = !{!"branch_weights", i32 1, i32 4000}\n!1 = !{!"branch_weights", i32 4000, i32 1}\n'
STOPS = {"trap": 4, "assert": 5, "stray": 9, "call": 13}
"""Kinds of faults as ``simt.h`` counts them."""


def _checked(e: Lanes, op: Op) -> Access:
    access: Access = op.detail
    if bytes_of(access.type) not in (1, 2, 4, 8, 16):
        raise CompileError(f"memory accesses of type {access.type} do not run on the virtual GPU: {access.origin}")
    return access


def _choose(e: Lanes, access: Access, address: Address, one_result: bool, is_store: bool) -> Way | None:
    """The way that fits, ``None`` when only the runtime can do it: it counts constants that lanes read apart.

    ``one_result``: lanes of a segment get one number.
    """
    for way in (One,) if access.constant else (One, Row, Steps, Own, Words):
        if way.fits(e, access, address, one_result, is_store):
            return way(e, access, address)
    return None


def load(e: Lanes, op: Op) -> None:
    """``outs`` are the components; they share one shape."""
    access = _checked(e, op)
    address = Address(e, access, e.get(op.args[0]))
    shape = op.outs[0].shape
    address.form["spread"] = int(shape is not V)
    way = _choose(e, access, address, shape is not V, False) if e.options.in_line else None
    address.form["footprint"] = way.reach if way else access.bytes
    if way is None:
        found = None if e.options.in_line else runtime_rows.load(e, access, address, shape)
        if found is not None:
            e.define(op.outs[0], found)
            return
        for out, parts in zip(op.outs, _call_load(e, access, address, shape), strict=True):
            e.define(out, parts)
        return
    fast, slow, on = (e.fresh_label(x) for x in ("fast", "slow", "on"))
    way.check(fast, slow)
    e.label(fast)
    if e.options.counters:
        way.count()
    quick = way.load()
    e.line(f"br label %{on}")
    e.label(slow)
    late = [part for row in _call_load(e, access, address, shape) for part in row]
    e.line(f"br label %{on}")
    e.label(on)
    type = e.vector_type(access.type) if shape is V else stored(access.type)
    # Of segments that read the same each has it, where all are active.
    each = len(quick) // len(op.outs)
    copies = way.copies if shape is not V and e.mask == "-1" else 1
    merged = []
    for a, b in list(zip(quick, late, strict=True))[::copies]:
        merged += [e.let(f"phi {type} [ {a}, %{fast} ], [ {b}, %{slow} ]")] * copies
    for k, out in enumerate(op.outs):
        e.define(out, merged[k * each : (k + 1) * each])


def store(e: Lanes, op: Op) -> None:
    """The values follow the address in ``args``."""
    access = _checked(e, op)
    address = Address(e, access, e.get(op.args[0]))
    values = [e.vector(v) for v in op.args[1:]]
    way = _choose(e, access, address, False, True) if e.options.in_line else None
    address.form["footprint"] = way.reach if way else access.bytes
    if way is None:
        if e.options.in_line or not runtime_rows.store(e, access, address, values[0]):
            _call_store(e, access, address, values)
        return
    fast, slow, on = (e.fresh_label(x) for x in ("fast", "slow", "on"))
    way.begin_store()
    way.check(fast, slow)
    e.label(fast)
    if e.options.counters:
        way.count()
    way.store(values)
    e.line(f"br label %{on}")
    e.label(slow)
    _call_store(e, access, address, values)
    e.line(f"br label %{on}")
    e.label(on)


def _quickest(kind: str, access: Access) -> str:
    """The runtime function for such an access."""
    form = {INDEXED: "index", ADDRESSES: "address"}.get(access.form["form"])
    size = bytes_of(access.type)
    name = f"{kind}_{form}_{('global', 'shared', 'local')[access.space]}{size}"
    usual = access.components == 1 and access.align >= size and not access.form.get("spread")
    return name if usual and name in struct_offsets.QUICK else kind


def _call_load(e: Lanes, access: Access, address: Address, shape: object) -> list[list[str]]:
    """The runtime's load; one row of parts per component."""
    rem, root = address.arguments()
    data = e.scratch(1)
    given = f"ptr {site(e, access)}, ptr {rem}, ptr {root}, i32 {e.whole_mask()}, ptr {data}"
    e.line(e.helper(_quickest("load", access), f"ptr %c, {given}"))
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


def _call_store(e: Lanes, access: Access, address: Address, values: list[str]) -> None:
    rem, root = address.arguments()
    data = _put(e, access, values, 1)
    given = f"ptr {site(e, access)}, ptr {rem}, ptr {root}, i32 {e.whole_mask()}, ptr {data}"
    e.line(e.helper(_quickest("store", access), f"ptr %c, {given}"))


def _put(e: Lanes, access: Access, values: list[str], scratch: int) -> str:
    data, size = e.scratch(scratch), bytes_of(access.type)
    for k, value in enumerate(values):
        pointer = data if not k else e.let(f"getelementptr i8, ptr {data}, i64 {k * 32 * size}")
        e.line(f"store {e.vector_type(access.type)} {value}, ptr {pointer}, align 16")
    return data


def atomic(e: Lanes, op: Op) -> None:
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
        e.helper(
            "atomic",
            f"ptr %c, ptr {site(e, access)}, ptr {rem}, ptr {root}, i32 {e.whole_mask()}, "
            f"ptr {data}, ptr {operand}, ptr {expected}",
        )
    )
    e.define(op.outs[0], [e.let(f"load {e.vector_type(access.type)}, ptr {data}, align 16")])


def own_access(e: Lanes, op: Op) -> str:
    """The number under which a fault of an operation that is no plain access is found again."""
    e.program.notes.append((op.code, op.origin, op.detail))  # type: ignore[arg-type]
    return str(len(e.program.notes) - 1)


def copy(e: Lanes, op: Op) -> None:
    """``args``: target, source, bytes; per lane, regions may overlap. ``detail``: what their addresses are multiples of."""
    _bulk(e, op, "copy", "i64")


def fill(e: Lanes, op: Op) -> None:
    """``args``: target, byte, bytes. ``detail``: what the address is a multiple of, and 1."""
    _bulk(e, op, "fill", "i8")


def _bulk(e: Lanes, op: Op, helper: str, second: str) -> None:
    note = own_access(e, op)
    for i, type in enumerate(("i64", second, "i64")):
        e.line(f"store {e.vector_type(type)} {e.vector(op.args[i])}, ptr {e.scratch(i)}, align 16")
    pointers = ", ".join(f"ptr {e.scratch(i)}" for i in range(3))
    target, source = op.detail or (1, 1)
    e.line(e.helper(helper, f"ptr %c, i32 {note}, i32 {e.whole_mask()}, i32 {target | source << 8}, {pointers}"))


def print_(e: Lanes, op: Op) -> None:
    """``args``: the format and the packed arguments; the result is the number of arguments."""
    note = own_access(e, op)
    for i in range(2):
        e.line(f"store {e.vector_type('i64')} {e.vector(op.args[i])}, ptr {e.scratch(i)}, align 16")
    pointers = ", ".join(f"ptr {e.scratch(i)}" for i in range(3))
    e.line(e.helper("print", f"ptr %c, i32 {note}, i32 {e.whole_mask()}, {pointers}"))
    if op.outs:
        e.define(op.outs[0], [e.let(f"load {e.vector_type('i32')}, ptr {e.scratch(2)}, align 16")])


def stop(e: Lanes, kind: str, op: Op) -> None:
    """The active lanes end the launch: a trap, or a failed assertion with its message, file, line and function."""
    note = own_access(e, op)
    for i, arg in enumerate(op.args[:4]):
        type = arg.type
        wide = e.vector(arg)
        if type != "i64":
            wide = e.let(f"zext {e.vector_type(type)} {wide} to {e.vector_type('i64')}")
        e.line(f"store {e.vector_type('i64')} {wide}, ptr {e.scratch(i)}, align 16")
    pointers = ", ".join(f"ptr {e.scratch(i)}" if i < len(op.args) else "ptr null" for i in range(4))
    e.line(e.helper("stop", f"ptr %c, i32 {note}, i32 {e.whole_mask()}, i32 {STOPS[kind]}, {pointers}"))


def stray(e: Lanes, op: Op, lanes: str) -> None:
    """The lanes of a mask end the launch: they take part in a warp operation that is not theirs."""
    note, nothing = own_access(e, op), ", ".join(["ptr null"] * 4)
    e.line(e.helper("stop", f"ptr %c, i32 {note}, i32 {lanes}, i32 {STOPS['stray']}, {nothing}"))
    e.line("br label %abort")
