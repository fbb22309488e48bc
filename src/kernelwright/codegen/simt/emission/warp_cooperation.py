"""Barriers, and what the lanes of a warp do together.

A warp operation is written for lanes that are all here: those of its member mask that have not returned. Where control
flow cannot promise that, the operation is a gather: a place to wait for the others (see ``program/warp_gathers.py``).
"""

from __future__ import annotations

from collections.abc import Callable

from kernelwright.codegen.simt.analyses.uniformity import V
from kernelwright.codegen.simt.emission import struct_offsets
from kernelwright.codegen.simt.emission.accesses import memory_access
from kernelwright.codegen.simt.emission.lane_values import Lanes
from kernelwright.codegen.simt.emission.number_or_lanes import Width
from kernelwright.codegen.simt.emission.representation import Rep, lane_constants, splat
from kernelwright.codegen.simt.program.program import Const, Op, bits_of


def arrive(e: Lanes, op: Op) -> None:
    """The active lanes count at a barrier without waiting there."""
    number, threads = op.detail.number, op.detail.threads
    e.line(e.helper("arrive", f"ptr %c, i32 {number}, i32 {threads}, i32 {e.whole_mask()}"))


def fence(e: Lanes, op: Op) -> None:
    """The active lanes' accesses before it come before those behind it; where memory is weak (``runtime/weak.c``) that shows."""
    e.line(e.helper("fence", f"ptr %c, i32 {op.detail}, i32 {e.whole_mask()}"))


def barrier_result(e: Lanes, op: Op) -> None:
    """What the barrier's reduction gave: count in the low bits, "any" in bit 30, "all" in bit 31."""
    pointer = e.let(f"getelementptr i8, ptr %c, i64 {struct_offsets.CONTEXT['barrier_result']}")
    word = e.let(f"load i32, ptr {pointer}")
    out = op.outs[0]
    if op.detail == "popc":
        result = e.let(f"and i32 {word}, 1073741823")
    else:
        bit = 31 if op.detail == "and" else 30
        result = e.let(f"and i32 {e.let(f'lshr i32 {word}, {bit}')}, 1")
    if out.type == "i1":
        result = e.let(f"icmp ne i32 {result}, 0")
    _answer(e, op, result)


class Members:
    """The lanes that take part: one mask for the warp, or one per lane."""

    def __init__(self, e: Lanes, op: Op) -> None:
        self.e = e
        here = e.whole_mask()
        member = op.args[0]
        rep = e.get(member)
        self.vector: str | None = None
        self.mask = ""
        if rep.shape[0] != "u":
            wide = e.vector_type("i32")
            self.vector = e.let(f"and {wide} {e.vector_of(rep)}, {e.spread('i32', [here])}")
        elif isinstance(member, Const) and member.value == -1:
            self.mask = here
        else:
            self.mask = e.let(f"and i32 {rep.parts[0]}, {here}")

    @property
    def everyone(self) -> bool:
        """Whether that is every lane of a whole warp, for sure."""
        return self.vector is None and self.mask == "-1" and self.e.lanes == 32

    def as_vector(self) -> str:
        """The masks as a vector of ``i32``, one per lane."""
        return self.vector if self.vector is not None else self.e.spread("i32", [self.mask])


def operation(e: Lanes, op: Op) -> None:
    """Write a warp operation whose lanes are all here."""
    if op.detail.name not in ("activemask", "yield"):
        _check_members(e, op)
        tell_members(e, op, 0)
    HANDLERS[op.detail.name](e, op)


def tell_members(e: Lanes, op: Op, point: int) -> None:
    """Who watches is told which lanes are here and whom each of them names. ``point``: where they would wait, 0: nowhere."""
    if not e.options.checked:
        return
    note = memory_access.own_access(e, op)
    e.line(f"store {e.vector_type('i32')} {e.vector(op.args[0])}, ptr {e.scratch(0)}, align 16")
    e.line(e.helper("together", f"ptr %c, i32 {note}, i32 {point}, i32 {e.whole_mask()}, ptr {e.scratch(0)}"))


def _check_members(e: Lanes, op: Op) -> None:
    """A lane that is not in its own member mask ends the launch."""
    member = op.args[0]
    if isinstance(member, Const) and member.value == -1:
        return
    rep = e.get(member)
    outside = outside_members(e, rep)
    stray, on = e.fresh_label("stray"), e.fresh_label("on")
    e.line(f"br i1 {e.let(f'icmp ne i32 {outside}, 0')}, label %{stray}, label %{on}, !prof !0")
    e.label(stray)
    memory_access.stray(e, op, outside)
    e.label(on)


def outside_members(e: Lanes, members: Rep) -> str:
    """The active lanes that their own member mask leaves out."""
    if members.shape[0] == "u":
        return e.let(f"and i32 {e.whole_mask()}, {e.let(f'xor i32 {members.parts[0]}, -1')}")
    bits, own = f"<{e.lanes} x i1>", lane_constants("i32", e.lanes, 1, e.lanes)
    return e.active_bits(e.let(f"xor {bits} {_has_lane(e, e.vector_of(members), own)}, splat (i1 true)"))


# -- waiting for others ------------------------------------------------------------------------------------------------

OPERATIONS = (
    "sync", "elect", "vote.all", "vote.any", "vote.uni", "ballot", "shuffle", "match.any", "match.all", "redux", "yield",
)  # fmt: skip
MODES = (
    "", "up", "down", "bfly", "idx", "always", "i32", "i64",
    "add", "and", "or", "xor", "umin", "umax", "min", "max", "fmin", "fmax", "fmin.nan", "fmax.nan", "fmin.abs", "fmax.abs",
    "fmin.abs.nan", "fmax.abs.nan",
)  # fmt: skip
"""By position as ``gather.c`` knows them."""


def joined_masks(e: Lanes, row: str) -> str:
    """The bitwise or of a vector's elements, as the name of an ``i32``."""
    e.declare(f"llvm.vector.reduce.or.v{e.lanes}i32", f"i32 ({e.vector_type('i32')})")
    return e.let(f"call i32 @llvm.vector.reduce.or.v{e.lanes}i32({e.vector_type('i32')} {row})")


def leave_operands(e: Lanes, term: Op) -> None:
    """Leave a waiting lane's operands in the frame."""
    e.store_lanes("member", "i32", e.vector(term.args[0]))
    name = term.detail.name
    if len(term.args) > 1:
        e.store_lanes("operand", "i64", _as_word(e, term.args[1].type, e.vector(term.args[1])))
    if name == "shuffle":
        wide = e.vector_type("i64")
        step, clamp = (_as_word(e, "i32", e.vector(a)) for a in term.args[2:4])
        high = e.let(f"shl {wide} {clamp}, splat (i64 32)")
        e.store_lanes("operand2", "i64", e.let(f"or {wide} {step}, {high}"))


def _as_word(e: Lanes, type: str, row: str) -> str:
    """A lane value's bits in 64."""
    bits = bits_of(type)
    if type in ("float", "double", "half"):
        row = e.let(f"bitcast {e.vector_type(type)} {row} to {e.vector_type(f'i{bits}')}")
    if bits == 64:
        return row
    return e.let(f"zext {e.vector_type(f'i{bits}')} {row} to {e.vector_type('i64')}")


def take_answers(e: Lanes, term: Op, mask: str) -> None:
    """The results of a gather that the runtime completed, for the lanes that go on."""
    for i, out in enumerate(term.outs):
        if out.slots is None:
            continue
        type = "i64" if i == 0 else "i32"
        pointer = e.frame_pointer("result" if i == 0 else "result2")
        row = e.let(f"load {e.vector_type(type)}, ptr {pointer}, align 64")
        bits = bits_of(out.type)
        word = row if f"i{bits}" == type else e.let(f"trunc {e.vector_type(type)} {row} to {e.vector_type(f'i{bits}')}")
        if out.type in ("float", "double", "half"):
            word = e.let(f"bitcast {e.vector_type(f'i{bits}')} {word} to {e.vector_type(out.type)}")
        e.write(out, Rep(out.type, V, [word]), mask)


def _activemask(e: Lanes, op: Op) -> None:
    _answer(e, op, e.whole_mask())


def _answer(e: Lanes, op: Op, mask: str, out: int = 0) -> None:
    """One number for the warp, as the shape of the result wants it."""
    var = op.outs[out]
    e.define(var, [mask] if var.shape is not V else [e.spread(var.type, [mask])])


def _sync(e: Lanes, op: Op) -> None:
    """All lanes are here, and what they wrote is seen; who watches for races is told that they met."""
    pointer = e.let(f"getelementptr i8, ptr %c, i64 {struct_offsets.CONTEXT['attention']}")
    watched = e.let(f"icmp ne i32 {e.let(f'load i32, ptr {pointer}')}, 0")
    rows = e.vector(op.args[0])
    tell, on = e.fresh_label("tell"), e.fresh_label("on")
    e.line(f"br i1 {watched}, label %{tell}, label %{on}, !prof !0")
    e.label(tell)
    e.line(f"store {e.vector_type('i32')} {rows}, ptr {e.scratch(0)}, align 16")
    e.line(e.helper("synced", f"ptr %c, i32 {e.whole_mask()}, ptr {e.scratch(0)}"))
    e.line(f"br label %{on}")
    e.label(on)


def _stay(e: Lanes, op: Op) -> None:
    """Where all lanes are here, none waits for another of the warp."""


def _elect(e: Lanes, op: Op) -> None:
    members = Members(e, op)
    lane = lane_constants("i32", e.lanes, 1, e.lanes)
    w = Width(e, True)
    leader = w.intrinsic("cttz", "i32", [members.as_vector()], "i1 false")
    e.define(op.outs[0], [leader])
    e.define(op.outs[1], [e.let(f"icmp eq {e.vector_type('i32')} {leader}, {lane}")])


# -- votes -------------------------------------------------------------------------------------------------------------


def _vote(e: Lanes, op: Op) -> None:
    members = Members(e, op)
    yes = e.operand_mask(op.args[1])
    vector = members.vector is not None
    w = Width(e, vector)
    t, i1 = w.type("i32"), w.type("i1")
    who = members.vector or members.mask
    votes = e.spread("i32", [yes]) if vector else yes
    agreed = e.let(f"and {t} {votes}, {who}")
    kind = op.detail.name
    if kind == "ballot":
        result = agreed
    elif kind == "vote.any":
        result = e.let(f"icmp ne {t} {agreed}, {w.const('i32', '0')}")
    else:
        result = e.let(f"icmp eq {t} {agreed}, {who}")
        if kind == "vote.uni":
            none = e.let(f"icmp eq {t} {agreed}, {w.const('i32', '0')}")
            result = e.let(f"or {i1} {result}, {none}")
    if vector:
        e.define(op.outs[0], [result])
    else:
        _answer(e, op, result)


# -- shuffles ----------------------------------------------------------------------------------------------------------


def source_lane(mode: str, lane: int, step: int, clamp: int) -> tuple[int, bool]:
    """The lane that ``lane`` reads, and whether it is in range: PTX ISA, ``shfl.sync``."""
    limit, segment = clamp & 31, clamp >> 8 & 31
    highest = (lane & segment) | (limit & ~segment & 31)
    lowest = lane & segment
    step &= 31
    if mode == "up":
        source = lane - step
        inside = source >= highest
    elif mode == "down":
        source = lane + step
        inside = source <= highest
    elif mode == "bfly":
        source = lane ^ step
        inside = source <= highest
    else:
        source = lowest | (step & ~segment & 31)
        inside = source <= highest
    return (source, True) if inside else (lane, False)


def _shuffle(e: Lanes, op: Op) -> None:
    step, clamp = op.args[2], op.args[3]
    if isinstance(step, Const) and isinstance(clamp, Const):
        _constant_shuffle(e, op, step.value or 0, clamp.value or 0)
    else:
        _variable_shuffle(e, op)


def _constant_shuffle(e: Lanes, op: Op, step: int, clamp: int) -> None:
    members = Members(e, op)
    value, out = op.args[1], op.outs[0]
    reads = [source_lane(op.detail.mode, lane, step, clamp) for lane in range(e.lanes)]
    if out.shape is not V:
        row = e.vector(value)
        e.define(out, [e.let(f"extractelement {e.vector_type(value.type)} {row}, i64 {reads[0][0]}")])
    else:
        type = e.vector_type(value.type)
        row = e.vector(value)
        picks = ", ".join(f"i32 {source if source < e.lanes else e.lanes}" for source, _ in reads)
        zero = splat(value.type, "0" if value.type == "i32" else "0.0")
        moved = e.let(f"shufflevector {type} {row}, {type} {zero}, <{e.lanes} x i32> <{picks}>")
        if not members.everyone:
            moved = _only_members(e, members, moved, value.type, reads)
        e.define(out, [_told_of_absent(e, op, moved)])
    if op.detail.pair:
        bits = ", ".join(f"i1 {'true' if inside else 'false'}" for _, inside in reads)
        e.define(op.outs[1], [f"<{bits}>"])


def _only_members(e: Lanes, members: Members, moved: str, type: str, reads: list[tuple[int, bool]]) -> str:
    """Who reads a lane that does not take part gets zero."""
    t = e.vector_type(type)
    lanes = ", ".join(f"i32 {source}" for source, _ in reads)
    if members.vector is None:
        bits = e.as_vector(members.mask)
        picks = ", ".join(f"i32 {source if source < e.lanes else e.lanes}" for source, _ in reads)
        chosen = e.let(
            f"shufflevector <{e.lanes} x i1> {bits}, <{e.lanes} x i1> zeroinitializer, <{e.lanes} x i32> <{picks}>"
        )
    else:
        chosen = _has_lane(e, members.vector, f"<{lanes}>")
    return e.let(f"select <{e.lanes} x i1> {chosen}, {t} {moved}, {t} zeroinitializer")


def _told_of_absent(e: Lanes, op: Op, moved: str) -> str:
    """What a shuffle gives, with the watcher's choice for lanes that read one that does not take part."""
    if not e.options.checked:
        return moved
    note, mode = memory_access.own_access(e, op), MODES.index(op.detail.mode)
    for i, arg in enumerate((op.args[0], *op.args[2:4])):
        e.line(f"store {e.vector_type('i32')} {e.vector(arg)}, ptr {e.scratch(i)}, align 16")
    pointers = ", ".join(f"ptr {e.scratch(i)}" for i in range(3))
    told = e.let(e.helper("shuffled", f"ptr %c, i32 {note}, i32 {e.whole_mask()}, i32 {mode}, {pointers}", "i64"))
    absent = e.as_vector(e.let(f"trunc i64 {told} to i32"))
    word = e.let(f"trunc i64 {e.let(f'lshr i64 {told}, 32')} to i32")
    type = op.args[1].type
    filler = word if type == "i32" else e.let(f"bitcast i32 {word} to {type}")
    t = e.vector_type(type)
    return e.let(f"select <{e.lanes} x i1> {absent}, {t} {e.spread(type, [filler])}, {t} {moved}")


def _has_lane(e: Lanes, masks: str, lanes: str) -> str:
    """Per lane: whether the bit of a lane number is set in a mask."""
    t = e.vector_type("i32")
    shifted = e.let(f"lshr {t} {masks}, {lanes}")
    return e.let(f"icmp ne {t} {e.let(f'and {t} {shifted}, splat (i32 1)')}, zeroinitializer")


def _variable_shuffle(e: Lanes, op: Op) -> None:
    members = Members(e, op)
    value, out = op.args[1], op.outs[0]
    t = e.vector_type("i32")
    mode = op.detail.mode
    step = e.let(f"and {t} {e.vector(op.args[2])}, splat (i32 31)")
    clamp = e.vector(op.args[3])
    lane = lane_constants("i32", e.lanes, 1, e.lanes)
    segment = e.let(f"and {t} {e.let(f'lshr {t} {clamp}, splat (i32 8)')}, splat (i32 31)")
    inverse = e.let(f"xor {t} {segment}, splat (i32 31)")
    lowest = e.let(f"and {t} {segment}, {lane}")
    highest = e.let(f"or {t} {lowest}, {e.let(f'and {t} {clamp}, {inverse}')}")
    if mode == "up":
        source = e.let(f"sub {t} {lane}, {step}")
        inside = e.let(f"icmp sge {t} {source}, {highest}")
    else:
        if mode == "down":
            source = e.let(f"add {t} {lane}, {step}")
        elif mode == "bfly":
            source = e.let(f"xor {t} {lane}, {step}")
        else:
            source = e.let(f"or {t} {lowest}, {e.let(f'and {t} {step}, {inverse}')}")
        inside = e.let(f"icmp sle {t} {source}, {highest}")
    source = e.let(f"select <{e.lanes} x i1> {inside}, {t} {source}, {t} {lane}")
    row = e.vector(value)
    w = Width(e, True)
    moved = w.call("permute32", value.type, [(value.type, row), ("i32", source)])
    if not members.everyone:
        chosen = _has_lane(e, members.as_vector(), source)
        whole = e.vector_type(value.type)
        moved = e.let(f"select <{e.lanes} x i1> {chosen}, {whole} {moved}, {whole} zeroinitializer")
    moved = _told_of_absent(e, op, moved)
    if out.shape is not V:
        moved = e.let(f"extractelement {e.vector_type(value.type)} {moved}, i64 0")
    e.define(out, [moved])
    if op.detail.pair:
        e.define(op.outs[1], [inside])


# -- match and reduce --------------------------------------------------------------------------------------------------


def _match(e: Lanes, op: Op) -> None:
    members = Members(e, op)
    value = op.args[1]
    w = Width(e, True)
    bits = bits_of(value.type)
    who = members.as_vector()
    kind = op.detail.name.removeprefix("match.")
    found = w.call(f"match_{kind}{bits}", "i32", [(value.type, e.vector(value)), ("i32", who)])
    e.define(op.outs[0], [found])
    if len(op.outs) > 1:
        e.define(op.outs[1], [e.let(f"icmp ne {e.vector_type('i32')} {found}, zeroinitializer")])


def _redux(e: Lanes, op: Op) -> None:
    members = Members(e, op)
    value, out = op.args[1], op.outs[0]
    mode = op.detail.mode.replace(".", "_")
    w = Width(e, True)
    row = w.call(f"redux_{mode}", value.type, [(value.type, e.vector(value)), ("i32", members.as_vector())])
    e.define(out, [row] if out.shape is V else [e.let(f"extractelement {e.vector_type(value.type)} {row}, i64 0")])


HANDLERS: dict[str, Callable[[Lanes, Op], None]] = {
    "activemask": _activemask,
    "sync": _sync,
    "elect": _elect,
    "vote.all": _vote,
    "vote.any": _vote,
    "vote.uni": _vote,
    "ballot": _vote,
    "shuffle": _shuffle,
    "match.any": _match,
    "match.all": _match,
    "redux": _redux,
    "yield": _stay,
}
