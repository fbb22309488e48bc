"""What the lanes of a warp compute together: shuffles, votes, matches, reductions.

Each operation takes the arguments of the lanes that take part, ``{lane: (argument, ...)}``, and answers ``{lane: result}``.
Reading a lane that does not take part gives 0. PTX ISA, "Parallel Synchronization and Communication Instructions".
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

from kernelwright.device.floating_point import maximum, minimum
from kernelwright.device.value_layout import signed

Lanes = dict[int, tuple[Any, ...]]
Results = dict[int, Any]
Operation = Callable[[Lanes], Results]


def _bits(lanes: Lanes, predicate: Callable[[tuple[Any, ...]], Any]) -> int:
    return sum(1 << lane for lane, arguments in lanes.items() if predicate(arguments))


def _source(mode: str, lane: int, b: int, c: int) -> tuple[int, bool]:
    """The lane that ``shfl`` reads and whether it lies in range (PTX ISA, ``shfl.sync``, pseudo-code)."""
    clamp, segment = c & 31, c >> 8 & 31
    b &= 31
    low, high = lane & segment, (lane & segment) | (clamp & ~segment)
    if mode == "up":
        source = lane - b
        inside = source >= high
    else:
        source = {"down": lane + b, "bfly": lane ^ b, "idx": low | (b & ~segment)}[mode]
        inside = source <= high
    return (source if inside else lane), inside


def _shuffle(mode: str, with_predicate: bool, zero: Any) -> Operation:
    def run(lanes: Lanes) -> Results:
        results: Results = {}
        for lane, (_, b, c) in lanes.items():
            source, inside = _source(mode, lane, b, c)
            value = lanes[source][0] if source in lanes else zero
            results[lane] = (value, inside) if with_predicate else value
        return results

    return run


def _same(value: Any) -> Callable[[Lanes], Results]:
    """Every lane gets what ``value`` makes of them all."""
    return lambda lanes: dict.fromkeys(lanes, value(lanes))


def _match_any(lanes: Lanes) -> Results:
    return {lane: _bits(lanes, lambda other, v=v: other[0] == v) for lane, (v,) in lanes.items()}  # type: ignore[misc]


def _match_all(lanes: Lanes) -> Results:
    equal = len({v for (v,) in lanes.values()}) == 1
    return dict.fromkeys(lanes, (_bits(lanes, lambda _: True) if equal else 0, equal))


def _elect(lanes: Lanes) -> Results:
    leader = min(lanes)
    return {lane: (leader, lane == leader) for lane in lanes}


def _reduce(combine: Callable[[Any, Any], Any], of: Callable[[Any], Any] = lambda v: v) -> Operation:
    return _same(lambda lanes: functools.reduce(combine, [of(v) for (v,) in lanes.values()]))


def _nan_wins(combine: Callable[[float, float], float]) -> Callable[[float, float], float]:
    return lambda a, b: a + b if a != a or b != b else combine(a, b)


def _as_signed(value: int) -> int:
    return signed(value, 32)


OPERATIONS: dict[str, Operation] = {
    "bar.warp.sync": _same(lambda lanes: None),
    "vote.all.sync": _same(lambda lanes: all(p for (p,) in lanes.values())),
    "vote.any.sync": _same(lambda lanes: any(p for (p,) in lanes.values())),
    "vote.uni.sync": _same(lambda lanes: len({bool(p) for (p,) in lanes.values()}) == 1),
    "vote.ballot.sync": _same(lambda lanes: _bits(lanes, operator.itemgetter(0))),
    "match.any.sync.i32": _match_any,
    "match.any.sync.i64": _match_any,
    "match.all.sync.i32p": _match_all,
    "match.all.sync.i64p": _match_all,
    "elect.sync": _elect,
    "redux.sync.add": _reduce(lambda a, b: (a + b) & 0xFFFFFFFF),
    "redux.sync.and": _reduce(operator.and_),
    "redux.sync.or": _reduce(operator.or_),
    "redux.sync.xor": _reduce(operator.xor),
    "redux.sync.umin": _reduce(min),
    "redux.sync.umax": _reduce(max),
    "redux.sync.min": _reduce(lambda a, b: a if _as_signed(a) <= _as_signed(b) else b),
    "redux.sync.max": _reduce(lambda a, b: a if _as_signed(a) >= _as_signed(b) else b),
    "redux.sync.fmin": _reduce(minimum),
    "redux.sync.fmax": _reduce(maximum),
    "redux.sync.fmin.NaN": _reduce(_nan_wins(minimum)),
    "redux.sync.fmax.NaN": _reduce(_nan_wins(maximum)),
    "redux.sync.fmin.abs": _reduce(minimum, abs),
    "redux.sync.fmax.abs": _reduce(maximum, abs),
    "redux.sync.fmin.abs.NaN": _reduce(_nan_wins(minimum), abs),
    "redux.sync.fmax.abs.NaN": _reduce(_nan_wins(maximum), abs),
    **{
        f"shfl.sync.{mode}.{kind}{p}": _shuffle(mode, bool(p), 0.0 if kind == "f32" else 0)
        for mode in ("up", "down", "bfly", "idx")
        for kind in ("i32", "f32")
        for p in ("", "p")
    },
}
"""By the name of the intrinsic without ``llvm.nvvm.``. The member mask is known to the scheduler, not passed here."""
