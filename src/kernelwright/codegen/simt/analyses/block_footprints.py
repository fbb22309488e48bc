"""Whether the blocks of a launch can run in any order: what each writes no other reads or writes, as far as addresses say.

    out[blockIdx.x * 256 + threadIdx.x] = ...     yes: an address says which block it is of
    out[index[i]] = ...                           unknown
    sum = atomicAdd(&count, 1)                    no
    atomicAdd(&bins[x], 1)                        yes: integers, and what came before is unused

An address is a sum of thread numbers, block numbers and turns of loops (``launch_forms.py``). It says which block it is of where each
part is larger than all smaller ones together, like the digits of a number. Accesses of different buffers do not meet, if each stays in the
buffer whose address it is made from; the runtime sees to that (``runtime/spread.c``), so that only those of one buffer are compared.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations_with_replacement

from kernelwright.codegen.simt.analyses.comparisons import NEGATED
from kernelwright.codegen.simt.analyses.launch_forms import Forms, Numbers
from kernelwright.codegen.simt.analyses.linear_form import Atom, Form, Range, Terms, fits
from kernelwright.codegen.simt.program.control_flow import dominators
from kernelwright.codegen.simt.program.lane_scalars import LOCAL_BASE, SHARED_BASE
from kernelwright.codegen.simt.program.program import Access, Block, Const, Op, Operand, Phi, Program, Var, bits_of
from kernelwright.lazy_dataclasses import dataclass

ORDERED = frozenset(["clock", "print"])
"""What these give depends on what ran before."""
BULK = frozenset(["copy", "fill"])
"""These must write to shared or local memory; the runtime sees what they read."""
COMMUTING = {"add": "add", "sub": "add", "and": "and", "or": "or", "xor": "xor"} | {
    n: n for n in ("max", "min", "umax", "umin")
}
"""Atomics that come to the same in any order, by kind."""
MOST_CHOICES = 4
"""Values of a part that are tried."""
MOST_PAIRS = 1000
"""Pairs of accesses that are compared."""

ANYWHERE = 1 << 63
"""The end of addresses; a sum that may be beyond may have wrapped around."""

Place = tuple[int, int]


@dataclass(frozen=True)
class Footprints:
    """What a launch touches, block by block."""

    homes: tuple[int, ...]
    """Per access: the start of the buffer that it keeps to; 0: unknown."""
    written: tuple[Place, ...]
    """The parts of buffers that it may write to: start and end."""
    is_certain: bool
    """Whether nothing can go wrong: each access is inside its buffer and aligned, and every thread comes to its end."""


Key = tuple[tuple[int, int], ...]


def _key(terms: Terms) -> Key:
    return tuple(sorted((id(a), k) for a, k in terms.items()))


class _Guard:
    """Known where an access is made: the sum of ``terms`` lies in a range. ``atom`` stands for the sum."""

    __slots__ = ("atom", "key", "range", "terms")

    def __init__(self, terms: Terms, range: Range) -> None:
        natural = Form(0, terms).range
        self.terms = terms
        self.range = max(natural[0], range[0]), min(natural[1], range[1])
        self.key = _key(terms)
        self.atom = Atom(" + ".join(f"{k} * {a.name}" for a, k in terms.items()), *self.range)

    def joined(self, other: _Guard) -> _Guard:
        """What is known where one of two holds."""
        return _Guard(self.terms, (min(self.range[0], other.range[0]), max(self.range[1], other.range[1])))


class _Touch:
    """An access to global memory in this launch."""

    __slots__ = ("access", "form", "guards", "home", "op", "range")

    def __init__(self, op: Op, form: Form, guards: dict[Key, _Guard], home: Place | None) -> None:
        self.op, self.form, self.guards, self.home = op, form, guards, home
        access: Access = op.detail
        self.access = access
        if any(_with_guards(need, guards.values())[0].range[0] < 0 for need in form.needs):
            form = self.form = Form(0, {Atom("anywhere", -ANYWHERE, ANYWHERE - 1): 1}, form.root)
        low, high = _with_guards(form, guards.values())[0].range
        self.range = (low, high + access.bytes) if low >= 0 and high < ANYWHERE else (0, ANYWHERE)

    @property
    def is_inside(self) -> bool:
        """Whether it surely keeps to its buffer, aligned."""
        home, align = self.home, self.access.align
        return home is not None and home[0] <= self.range[0] and self.range[1] <= home[1] and self.form.divisible(align)


class BlockFootprints:
    """Of one kernel; asked at each launch."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._above = dominators(program.blocks)
        self._guarded: dict[Block, dict[Key, _Guard]] = {}
        """Of the launch that is looked at: what is known in a block."""
        self._touches = [
            (b, op)
            for b in program.blocks
            for op in b.ops
            if op.code in ("load", "store", "atomic") and op.detail.space == 0
        ]
        self.is_ordered = (
            not program.reducible or any(op.code in ORDERED for op in program.ops()) or self._looks_around()
        )
        """Whether blocks must run one after the other in every launch."""
        self._may_stop = any(
            op.code in ("trap", *BULK, "barrier", "gather", "stop", "warp", "arrive") for op in program.ops()
        ) or bool(program.loops)

    def _looks_around(self) -> bool:
        """Whether blocks are meant to see each other, or an atomic's result tells who came first."""
        used = {a for op in self._program.ops() for a in op.args if isinstance(a, Var)}
        for _, op in self._touches:
            access = op.detail
            if access.volatile:
                return True
            if op.code == "atomic" and (
                access.operation not in COMMUTING or access.bytes not in (4, 8) or any(out in used for out in op.outs)
            ):
                return True
        return False

    def of(self, numbers: Numbers, buffers: Sequence[Place]) -> Footprints | None:
        """What a launch touches, where its blocks can run in any order; None where that is not known. ``buffers``: by address."""
        if self.is_ordered:
            return None
        forms = Forms(self._program, numbers)
        if not all(_is_inside_block(forms.of(op.args[0])) for op in self._program.ops() if op.code in BULK):
            return None
        self._guarded.clear()
        live = [(block, op) for block, op in self._touches if forms.live and block in forms.live]
        for _, op in live:
            forms.of(op.args[0])  # all of them first: conditions bound what addresses are divided into
        touches = [self._touch(block, op, forms, buffers) for block, op in live]
        changing = [t for t in touches if t.access.kind != "load"]
        if any(t.home is None for t in changing):
            return None
        written = {t.home for t in changing}
        of_written = [t for t in touches if t.home in written]
        if len(of_written) * len(changing) > MOST_PAIRS:
            return None
        for a, b in combinations_with_replacement(of_written, 2):
            if a.home == b.home and not (a.access.kind == b.access.kind == "load") and self._may_meet(a, b, forms):
                return None
        homes = [0] * len(self._program.accesses)
        for t in touches:
            homes[t.access.index] = t.home[0] if t.home else 0
        certain = not self._may_stop and all(t.is_inside for t in touches)
        return Footprints(tuple(homes), tuple(_parts(changing)), certain)

    def _touch(self, block: Block, op: Op, forms: Forms, buffers: Sequence[Place]) -> _Touch:
        form = forms.leaving(forms.of(op.args[0]), block)
        return _Touch(op, form, self._guards(block, forms), _home(form, buffers))

    # -- what conditions on the way say

    def _guards(self, block: Block, forms: Forms) -> dict[Key, _Guard]:
        if block not in self._guarded:
            self._guarded[block] = self._conditions(block, forms)
        return self._guarded[block]

    def _conditions(self, block: Block, forms: Forms) -> dict[Key, _Guard]:
        found: dict[Key, _Guard] = {}
        here, above = block, self._above[block]
        while above is not here:
            if here.preds == [above] and above.term.code == "branch" and len(set(above.succs)) == 2:
                for guard in self._said(above.term.args[0], above.term.targets[0] is here, forms, block):
                    known = found.get(guard.key)
                    low, high = guard.range
                    if known is not None:
                        low, high = max(low, known.range[0]), min(high, known.range[1])
                    found[guard.key] = _Guard(guard.terms, (low, high))
            here, above = above, self._above[above]
        for (key, by), parts in forms.divided.items():
            of = forms.dividends[key, by]
            bounded = found.get(_key(of.terms))
            if bounded is not None and "quotient" in parts:
                low, high = ((end + of.constant) // by for end in bounded.range)
                guard = _Guard({parts["quotient"]: 1}, (low, high))
                found[guard.key] = guard
        return found

    def _said(self, condition: Operand, holds: bool, forms: Forms, block: Block, depth: int = 0) -> Iterator[_Guard]:
        """What a condition says of sums, as ``block`` finds them, where it holds or does not."""
        op = condition.op if isinstance(condition, Var) else None
        if op is None or depth > 8:
            return
        parts: list[tuple[Operand, bool]] = []
        if op.code == "icmp":
            yield from _compared(op, op.detail if holds else NEGATED[op.detail], forms, block)
        elif op.code in ("and", "or") and (op.code == "and") == holds:
            parts = [(arg, holds) for arg in op.args]
        elif op.code == "select":
            asked, yes, no = op.args
            if holds and isinstance(no, Const) and not no.value:
                parts = [(asked, True), (yes, True)]
            elif not holds and isinstance(yes, Const) and yes.value:
                parts = [(asked, False), (no, False)]
        elif op.code == "xor" and isinstance(op.args[1], Const) and op.args[1].value:
            parts = [(op.args[0], not holds)]
        elif isinstance(op, Phi) and op.outs[0].block is not None:
            parts = _only_way(op, op.outs[0].block, holds, forms)
        for part, truth in parts:
            yield from self._said(part, truth, forms, block, depth + 1)

    # -- do two accesses meet?

    def _may_meet(self, a: _Touch, b: _Touch, forms: Forms) -> bool:
        """Whether accesses of different blocks may be to one address, and their order matter."""
        if a.range[1] <= b.range[0] or b.range[1] <= a.range[0]:
            return False
        if a.access.kind == b.access.kind == "atomic":
            kinds = {COMMUTING[a.access.operation], COMMUTING[b.access.operation]}
            return len(kinds) > 1 or a.access.bytes != b.access.bytes
        if _same_constant(a, b):
            return False
        both = [a.guards[key].joined(b.guards[key]) for key in a.guards.keys() & b.guards.keys()]
        first, insides = _with_guards(a.form, both)
        second, others = _with_guards(b.form, both)
        shared = {atom: k for atom, k in first.terms.items() if second.terms.get(atom) == k}
        x, y = (
            Form(f.constant, {atom: k for atom, k in f.terms.items() if atom not in shared}).range
            for f in (first, second)
        )
        # What is not shared, and where in an access the two meet, makes up for what is.
        apart = x[0] - y[1] - (b.access.bytes - 1), x[1] - y[0] + (a.access.bytes - 1)
        falling = sorted(shared.items(), key=lambda item: -abs(item[1]))
        reach = max(abs(apart[0]), abs(apart[1])) + sum(abs(k) * (atom.high - atom.low) for atom, k in falling)
        return reach >= ANYWHERE or self._has_solution(falling, apart, frozenset(), {**insides, **others}, forms)

    def _has_solution(
        self,
        falling: Sequence[tuple[Atom, int]],
        apart: Range,
        same: frozenset[Atom],
        insides: dict[Atom, Terms],
        forms: Forms,
    ) -> bool:
        """Whether the parts of two sums can differ so that a number in ``apart`` is made up for, and be of different blocks.

        ``same``: larger parts that do not differ. As with digits, a part that is larger than all that follow leaves little choice.
        """
        if self._tells_block(same, insides, forms):
            return False
        if not falling:
            return apart[0] <= 0 <= apart[1]
        (atom, k), rest = falling[0], falling[1:]
        span, below, k = atom.high - atom.low, sum(abs(f) * (x.high - x.low) for x, f in rest), abs(k)
        first, last = max(-span, -((below + apart[1]) // k)), min(span, (below - apart[0]) // k)
        if last - first >= MOST_CHOICES:
            return True
        return any(
            self._has_solution(
                rest, (apart[0] + k * step, apart[1] + k * step), same if step else same | {atom}, insides, forms
            )
            for step in range(first, last + 1)
        )

    def _tells_block(self, same: frozenset[Atom], insides: dict[Atom, Terms], forms: Forms) -> bool:
        """Whether atoms that two accesses have in common say that they are of one block."""
        known = set(same)
        changed = True
        while changed:
            changed = False
            for atom in list(known):
                if atom in insides:
                    more = _determined(insides[atom]) - known
                    known |= more
                    changed |= bool(more)
            for key, parts in forms.divided.items():
                if len(parts) == 2 and set(parts.values()) <= known:
                    more = _determined(forms.dividends[key].terms) - known
                    known |= more
                    changed |= bool(more)
        axes = {atom.axis for atom in known if atom.axis is not None}
        return all(extent == 1 or axis in axes for axis, extent in enumerate(forms.numbers.grid))


def _determined(terms: Terms) -> set[Atom]:
    """The parts of a sum that the sum tells.

    As with digits: from the top, as long as a part is larger than all smaller parts together.
    """
    found: set[Atom] = set()
    falling = sorted(terms.items(), key=lambda item: -abs(item[1]))
    below = sum(abs(k) * (atom.high - atom.low) for atom, k in falling)
    if below >= ANYWHERE:
        return found  # sums may wrap around
    for atom, k in falling:
        below -= abs(k) * (atom.high - atom.low)
        if abs(k) <= below:
            break
        found.add(atom)
    return found


def _with_guards(form: Form, guards: Iterable[_Guard]) -> tuple[Form, dict[Atom, Terms]]:
    """A form with sums that a guard bounds as atoms of their own, and what these are sums of. Longer sums first."""
    terms, insides = dict(form.terms), dict[Atom, Terms]()
    longest_first = sorted(guards, key=lambda g: -len(g.terms))
    for guard in longest_first:
        atoms = list(guard.terms.items())
        if guard.range[0] > guard.range[1] or not all(atom in terms for atom, _ in atoms):
            continue
        factor, left = divmod(terms[atoms[0][0]], atoms[0][1])
        if left or any(terms[atom] != factor * k for atom, k in atoms):
            continue
        for atom, _ in atoms:
            del terms[atom]
        terms[guard.atom] = factor
        parts, others = _with_guards(Form(0, guard.terms), [g for g in longest_first if len(g.terms) < len(atoms)])
        insides |= {guard.atom: parts.terms, **others}
    return Form(form.constant, terms), insides


def _only_way(phi: Phi, block: Block, holds: bool, forms: Forms) -> list[tuple[Operand, bool]]:
    """What a phi behind a loop or a branch is, where only one of the ways to it can give this truth."""
    if block.loop is not None and block.loop.header is block:
        return []  # of another turn
    ways = [
        a
        for a, b in zip(phi.args, phi.sources, strict=True)
        if forms.live and b in forms.live and block in forms.goes_to(b)
        if not (isinstance(a, Const) and bool(a.value) != holds)
    ]
    return [(ways[0], holds)] if len(ways) == 1 else []


def _compared(op: Op, predicate: str, forms: Forms, block: Block) -> Iterator[_Guard]:
    a, b = (forms.leaving(forms.of(each), block) for each in op.args)
    bits = bits_of(op.args[0].type)
    if bits == 1 or a.needs or b.needs or not fits(a.range, bits) or not fits(b.range, bits):
        return
    if predicate in ("ugt", "uge", "sgt", "sge"):
        a, b, predicate = b, a, predicate[0] + {"gt": "lt", "ge": "le"}[predicate[1:]]
    if predicate not in ("ult", "ule", "slt", "sle", "eq"):
        return
    if predicate[0] == "u":
        if b.range[0] < 0:
            return
        # Below a number that is not negative: not negative either.
        yield from _between(a, 0, b.range[1])
    difference = a.plus(b, -1)
    most = 0 if predicate in ("ule", "sle", "eq") else -1
    yield from _between(difference, 0 if predicate == "eq" else difference.range[0], most)


def _between(form: Form, low: int, high: int) -> Iterator[_Guard]:
    """The terms of a form, as a guard whose first factor is positive."""
    if not form.terms:
        return
    terms, low, high = form.terms, low - form.constant, high - form.constant
    if next(iter(terms.values())) < 0:
        terms, low, high = {a: -k for a, k in terms.items()}, -high, -low
    yield _Guard(terms, (low, high))


def _is_inside_block(form: Form) -> bool:
    """Whether an address surely names shared or local memory."""
    low, high = form.range
    return low >= SHARED_BASE and high < 2 * LOCAL_BASE - SHARED_BASE


def _same_constant(a: _Touch, b: _Touch) -> bool:
    """Whether both store one number, whole: it is there whichever comes last."""
    if a.access.kind != "store" or b.access.kind != "store" or a.access.bytes != b.access.bytes:
        return False
    x, y = a.op.args[1:], b.op.args[1:]
    whole = a.access.align >= a.access.bytes and b.access.align >= b.access.bytes
    return whole and all(
        isinstance(p, Const) and isinstance(q, Const) and (p.type, p.text) == (q.type, q.text)
        for p, q in zip(x, y, strict=True)
    )


def _home(form: Form, buffers: Sequence[Place]) -> Place | None:
    if form.root is None:
        return None
    place = bisect_right(buffers, (form.root, 1 << 64)) - 1
    return buffers[place] if place >= 0 and buffers[place][0] <= form.root < buffers[place][1] else None


def _parts(changing: Sequence[_Touch]) -> Iterator[Place]:
    """Of each buffer that is written to, from the first byte to the last."""
    ends: dict[Place, Place] = {}
    for t in changing:
        assert t.home is not None
        low, high = max(t.range[0], t.home[0]), min(t.range[1], t.home[1])
        if low < high:
            old = ends.get(t.home, (low, high))
            ends[t.home] = min(old[0], low), max(old[1], high)
    yield from ends.values()
