"""What each instruction of a computation does at least, in every implementation: constants of a bound.

Counts are of distinct results, since an optimising back end removes repeated ones: loads of one address become one, equal
subexpressions too, what does not vary in a loop leaves it. Executions that nothing can remove are added by ``rules.py``.
"""

from __future__ import annotations

from math import frexp, gcd, prod

from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.computation.arrays import Access, Loop
from kernelwright.space.computation.expressions import OPERATIONS, Expression
from kernelwright.space.computation.objects import Backbone, Dim, Instruction

COMMUTATIVE = ("add", "mul", "max")
SECTOR_ELEMENTS = 8
"""Floats of a sector of 32 bytes."""


@dataclass(frozen=True)
class LeastWork:
    """Of one instruction. ``executions``: different iterations that must be executed, each by some lane of some warp.

    ``fma`` and ``special``: warp instructions of these pipes for each of them; ``chain``: of a reduction, dependent
    additions one after the other. ``per_sector``: different elements that a sector can hold at most. ``array``: loads of one
    array may share their requests, so that only the largest counts. ``bytes``: what must come from or go to memory.
    """

    executions: float
    fma: int = 0
    special: int = 0
    issue: float = 1.0
    chain: float = 0.0
    per_sector: float = 1.0
    array: int = -1
    bytes: float = 0.0


def least_work(backbone: Backbone) -> list[LeastWork]:
    """In the order of the backbone's instructions."""
    varied = {i.name: _varied(backbone, i) for i in backbone.instructions}
    results = Results()
    return [_of(backbone, i, varied, results) for i in backbone.instructions]


def _of(backbone: Backbone, i: Instruction, varied: dict[str, set[Loop]], results: Results) -> LeastWork:
    match i.operation:
        case "load" | "store":
            assert i.access is not None
            if i.operation == "load":
                results.load(i)
            elements = float(distinct_elements(i.access))
            per_sector = _per_sector(i.access)
            array = [a.name for a in backbone.arrays].index(i.access.array.name)
            return LeastWork(elements, per_sector=per_sector, array=array, bytes=32 * elements / per_sector)
        case "put" | "get":
            temporary = next(t for t in backbone.temporaries if t.name == i.temporary)
            producer = temporary.producer
            # Each value that the producer makes is written, and read by a consumer.
            loops = producer.access.loops if producer.access is not None else tuple(varied[producer.name])
            elements = distinct_elements(producer.access) if producer.access is not None else _iterations(loops)
            return LeastWork(float(elements))
        case "init":
            return LeastWork(float(_iterations(tuple({d.loop for d in i.dims}))), issue=0)
    assert i.expression is not None
    loops = tuple(dict.fromkeys(d.loop for d in i.dims))
    reduction = backbone.reduction(i)
    counted = [e for e in results.new_of(i) if _varies_everywhere(e, i, loops, varied)]
    adds = sum(e.kind in ("add", "sub") for e in counted)
    fma = max(adds, sum(e.kind == "mul" for e in counted))
    special = sum(OPERATIONS[e.kind].special for e in counted if not _is_exact_quotient(e))
    chain = 0.0
    if reduction is not None:
        chain = _iterations(tuple(dict.fromkeys(d.loop for d in reduction.dims)))
        chain *= 1.0 if i.expression.kind == "add" else 0.0  # maxima may be taken three at a time, and in any order
    return LeastWork(float(_iterations(loops)), fma, special, float(max(fma, special)), float(chain))


class Results:
    """Which results of operations there have been, by what they are computed from: an equal one is not computed again."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._values: dict[str, str] = {}

    def new_of(self, i: Instruction) -> list[Expression]:
        """The operations of an instruction, taken in their order, whose results there have not been yet."""
        assert i.expression is not None
        found = []
        for each in i.expression.walk():
            key = self._key(each)
            if each.kind in OPERATIONS and key not in self._seen:
                self._seen.add(key)
                found.append(each)
        if i.operation == "compute":
            self._values[i.name] = self._key(i.expression)
        return found

    def load(self, i: Instruction) -> None:
        """Loads of the same elements have one value."""
        assert i.access is not None
        strides = sorted((loop.name, stride) for loop, stride in i.access.strides)
        self._values[i.name] = f"{i.access.array}{strides}{i.access.offset}"

    def _key(self, e: Expression) -> str:
        if e.kind == "value":
            return self._values.get(e.name, e.name)
        if e.kind not in OPERATIONS:
            return f"{e.kind} {e.name}{e.number!r}"
        keys = [self._key(a) for a in e.arguments]
        return f"{e.kind}({', '.join(sorted(keys) if e.kind in COMMUTATIVE else keys)})"


def _is_exact_quotient(e: Expression) -> bool:
    """A quotient by a power of two is a product."""
    return e.kind == "div" and e.arguments[1].kind == "number" and abs(frexp(e.arguments[1].number)[0]) == 0.5


def _varies_everywhere(e: Expression, i: Instruction, loops: tuple[Loop, ...], varied: dict[str, set[Loop]]) -> bool:
    """Not computed once outside a loop, and no addition of nothing."""
    if any(a.kind == "number" and a.number in (0.0, 1.0, -1.0) for a in e.arguments):
        return False
    under = set().union(*(varied[o] for o in e.operands)) if e.operands else set()
    return all(loop in under for loop in loops if loop.extent > 1)


def _varied(backbone: Backbone, i: Instruction) -> set[Loop]:
    reduction = backbone.reduction(i)
    reduced = {d.loop for d in reduction.dims} if reduction else set()
    return {d.loop for d in i.dims if d.loop not in reduced}


def _iterations(loops: tuple[Loop, ...]) -> int:
    return prod(loop.extent for loop in loops)


def distinct_elements(access: Access) -> int:
    """At least so many different elements are accessed: the iterations of loops whose strides surely do not overlap."""
    reached, count = 0, 1
    for loop, stride in sorted(access.strides, key=lambda pair: abs(pair[1])):
        if loop.extent > 1 and abs(stride) > reached:
            reached += abs(stride) * (loop.extent - 1)
            count *= loop.extent
    return count


def _per_sector(access: Access) -> float:
    step = gcd(*(abs(s) for loop, s in access.strides if loop.extent > 1))
    return float((SECTOR_ELEMENTS - 1) // step + 1) if step else 1.0


@dataclass(frozen=True)
class Reuse:
    """An operand of a reduction that is read again for each iteration of loops it does not vary over, unless they are unrolled.

    The operand varies over a reduction's loop, which ends before its result is stored, in each iteration of any LOOP around
    the store. So in another iteration of such a LOOP the operand is not in a register any more, where the ``rests`` of the
    reduction's loops have iterations; and other threads and blocks have registers of their own. One read then serves as many
    operations as the unrolled dims, among ``dims``, have iterations.
    """

    reduction: int
    producer: int
    is_load: bool
    temporary: int
    """-1: the operand cannot go through one."""
    dims: tuple[Dim, ...]
    rests: tuple[Dim, ...]


def reuses(backbone: Backbone) -> list[Reuse]:
    """Reductions whose operands several iterations share, as the bound counts them."""
    number = {i.name: n for n, i in enumerate(backbone.instructions)}
    found = []
    for reduction in backbone.reductions:
        i = reduction.instruction
        reduced = {d.loop for d in reduction.dims}
        for operand in i.operands:
            producer = backbone.instruction(operand)
            loops = _varied(backbone, producer)
            at = next((n for n, t in enumerate(backbone.temporaries) if t.producer == producer and t.consumer == i), -1)
            rests = tuple(d for d in i.dims if not d.is_static and d.loop in reduced & loops)
            dims = tuple(d for d in i.dims if d.is_static and d.loop not in reduced | loops)
            if rests and (at >= 0 or producer.operation == "load"):
                found.append(Reuse(number[i.name], number[operand], producer.operation == "load", at, dims, rests))
    return found
