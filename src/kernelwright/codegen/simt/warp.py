"""Barriers, and what the lanes of a warp do together.

A warp operation is written for lanes that are all here: those of its member mask that have not returned. Where control
flow cannot promise that, the operation is a suspension point of its own (see ``gather.py``) and finds the lanes it was
released with in the frame.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kernelwright.codegen.simt import abi
from kernelwright.codegen.simt.arithmetic import Width
from kernelwright.codegen.simt.program import Block, Const, Op, bits_of
from kernelwright.codegen.simt.shapes import V
from kernelwright.codegen.simt.values import is_literal, lane_constants, splat, stored

if TYPE_CHECKING:
    from kernelwright.codegen.simt.emit import Emitter


def barrier(e: Emitter, block: Block, term: Op) -> None:
    """The lanes wait: the number of the point is what the function returns when nothing else can run."""
    point = e.points[block]
    if term.args:
        bits = e.active_bits(e.vector(term.args[0]))
        pointer = e.frame_pointer("predicate")
        if block in e.control.partial:
            bits = e.let(f"or i32 {e.let(f'load i32, ptr {pointer}')}, {bits}")
        e.line(f"store i32 {bits}, ptr {pointer}")
    e.stop_at(point)


def barrier_result(e: Emitter, op: Op) -> None:
    """What the barrier's reduction gave: count in the low bits, "any" in bit 30, "all" in bit 31."""
    pointer = e.let(f"getelementptr i8, ptr %c, i64 {abi.CONTEXT['barrier_result']}")
    word = e.let(f"load i32, ptr {pointer}")
    out = op.outs[0]
    if op.detail == "popc":
        result = e.let(f"and i32 {word}, 1073741823")
    else:
        bit = 31 if op.detail == "and" else 30
        result = e.let(f"and i32 {e.let(f'lshr i32 {word}, {bit}')}, 1")
    if out.type == "i1":
        result = e.let(f"icmp ne i32 {result}, 0")
    e.define(out, [result])


class Members:
    """The lanes that take part: one mask for the warp, or one per lane."""

    def __init__(self, e: Emitter, op: Op) -> None:
        self.e = e
        here = e.released if e.released is not None else e.whole_mask()
        member = op.args[0]
        rep = e.get(member)
        self.vector: str | None = None
        self.mask = ""
        if rep.is_vector or (e.released is not None and e.released_vector):
            wide = e.vector_type("i32")
            lanes = here if e.released is not None else e.spread("i32", [here])
            self.vector = e.let(f"and {wide} {e.vector(member)}, {lanes}")
        elif isinstance(member, Const) and member.value == -1:
            self.mask = here
        else:
            self.mask = e.let(f"and i32 {rep.parts[0]}, {here}")

    @property
    def everyone(self) -> bool:
        """Whether that is every lane of a whole warp, for sure."""
        return self.vector is None and self.mask == "-1" and self.e.lanes == 32

    def as_vector(self) -> str:
        return self.vector if self.vector is not None else self.e.spread("i32", [self.mask])


def operation(e: Emitter, op: Op) -> None:
    """Write a warp operation whose lanes are all here."""
    HANDLERS[op.detail.name](e, op)


def _activemask(e: Emitter, op: Op) -> None:
    _answer(e, op, e.whole_mask())


def _answer(e: Emitter, op: Op, mask: str, out: int = 0) -> None:
    """One number for the warp, as the shape of the result wants it."""
    var = op.outs[out]
    e.define(var, [mask] if var.shape is not V else [e.spread(var.type, [mask])])


def _sync(e: Emitter, op: Op) -> None:
    """All lanes are here, and what they wrote is seen: nothing is left to do."""


def _elect(e: Emitter, op: Op) -> None:
    members = Members(e, op)
    lane = lane_constants("i32", e.lanes, 1, e.lanes)
    w = Width(e, True)
    leader = w.intrinsic("cttz", "i32", [members.as_vector()], "i1 false")
    e.define(op.outs[0], [leader])
    e.define(op.outs[1], [e.let(f"icmp eq {e.vector_type('i32')} {leader}, {lane}")])


# -- votes -------------------------------------------------------------------------------------------------------------


def _vote(e: Emitter, op: Op) -> None:
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


def _shuffle(e: Emitter, op: Op) -> None:
    step, clamp = op.args[2], op.args[3]
    if isinstance(step, Const) and isinstance(clamp, Const):
        _constant_shuffle(e, op, step.value or 0, clamp.value or 0)
    else:
        _variable_shuffle(e, op)


def _constant_shuffle(e: Emitter, op: Op, step: int, clamp: int) -> None:
    members = Members(e, op)
    value, out = op.args[1], op.outs[0]
    reads = [source_lane(op.detail.mode, lane, step, clamp) for lane in range(e.lanes)]
    if out.shape is not V:
        row = e.operand_vector(value)
        e.define(out, [e.let(f"extractelement {e.vector_type(value.type)} {row}, i64 {reads[0][0]}")])
    else:
        type = e.vector_type(value.type)
        row = e.operand_vector(value)
        picks = ", ".join(f"i32 {source if source < e.lanes else e.lanes}" for source, _ in reads)
        zero = splat(value.type, "0" if value.type == "i32" else "0.0")
        moved = e.let(f"shufflevector {type} {row}, {type} {zero}, <{e.lanes} x i32> <{picks}>")
        if not members.everyone:
            moved = _only_members(e, members, moved, value.type, reads)
        e.define(out, [moved])
    if op.detail.pair:
        bits = ", ".join(f"i1 {'true' if inside else 'false'}" for _, inside in reads)
        e.define(op.outs[1], [f"<{bits}>"])


def _only_members(e: Emitter, members: Members, moved: str, type: str, reads: list[tuple[int, bool]]) -> str:
    """Who reads a lane that does not take part gets zero."""
    t = e.vector_type(type)
    lanes = ", ".join(f"i32 {source}" for source, _ in reads)
    if members.vector is None:
        bits = e.as_vector(members.mask)
        picks = ", ".join(f"i32 {source if source < e.lanes else e.lanes}" for source, _ in reads)
        chosen = e.let(f"shufflevector <{e.lanes} x i1> {bits}, <{e.lanes} x i1> zeroinitializer, <{e.lanes} x i32> <{picks}>")
    else:
        chosen = _has_lane(e, members.vector, f"<{lanes}>")
    return e.let(f"select <{e.lanes} x i1> {chosen}, {t} {moved}, {t} zeroinitializer")


def _has_lane(e: Emitter, masks: str, lanes: str) -> str:
    """Per lane: whether the bit of a lane number is set in a mask."""
    t = e.vector_type("i32")
    shifted = e.let(f"lshr {t} {masks}, {lanes}")
    return e.let(f"icmp ne {t} {e.let(f'and {t} {shifted}, splat (i32 1)')}, zeroinitializer")


def _variable_shuffle(e: Emitter, op: Op) -> None:
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
    row = e.operand_vector(value)
    w = Width(e, True)
    moved = w.call("permute32", value.type, [(value.type, row), ("i32", source)])
    if not members.everyone:
        chosen = _has_lane(e, members.as_vector(), source)
        whole = e.vector_type(value.type)
        moved = e.let(f"select <{e.lanes} x i1> {chosen}, {whole} {moved}, {whole} zeroinitializer")
    if out.shape is not V:
        moved = e.let(f"extractelement {e.vector_type(value.type)} {moved}, i64 0")
    e.define(out, [moved])
    if op.detail.pair:
        e.define(op.outs[1], [inside])


# -- match and reduce --------------------------------------------------------------------------------------------------


def _match(e: Emitter, op: Op) -> None:
    members = Members(e, op)
    value = op.args[1]
    w = Width(e, True)
    bits = bits_of(value.type)
    who = members.as_vector()
    kind = op.detail.name.removeprefix("match.")
    found = w.call(f"match_{kind}{bits}", "i32", [(value.type, e.operand_vector(value)), ("i32", who)])
    e.define(op.outs[0], [found])
    if len(op.outs) > 1:
        e.define(op.outs[1], [e.let(f"icmp ne {e.vector_type('i32')} {found}, zeroinitializer")])


def _redux(e: Emitter, op: Op) -> None:
    members = Members(e, op)
    value, out = op.args[1], op.outs[0]
    mode = op.detail.mode.replace(".", "_")
    w = Width(e, True)
    row = w.call(f"redux_{mode}", value.type, [(value.type, e.operand_vector(value)), ("i32", members.as_vector())])
    e.define(out, [row] if out.shape is V else [e.let(f"extractelement {e.vector_type(value.type)} {row}, i64 0")])


HANDLERS: dict[str, Callable[[Emitter, Op], None]] = {
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
}

REDUCTIONS = ("add", "and", "or", "xor", "min", "max", "umin", "umax", "fmin", "fmax", "fmin_abs", "fmax_abs",
              "fmin_nan", "fmax_nan", "fmin_abs_nan", "fmax_abs_nan")  # fmt: skip

__all__ = ["HANDLERS", "REDUCTIONS", "barrier", "barrier_result", "is_literal", "operation", "source_lane", "stored"]
