"""What the numbers of one launch are made of, with all that is known when it begins put in.

    %i = mad ctaid.x ntid.x tid.x          256 * ctaid.x + tid.x                     0 .. 65,535
    %p = gep %out %i                       139,637,976 + 1024 * ctaid.x + 4 * tid.x

A form holds modulo 2^64. Narrower numbers have one only where no turn of theirs can wrap; what has none is an atom of its own,
of which nothing but its range is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernelwright.codegen.simt.analyses.comparisons import NEGATED, last_turn, truth
from kernelwright.codegen.simt.analyses.linear_form import Atom, Form, fits, limits
from kernelwright.codegen.simt.program.control_flow import dominators
from kernelwright.codegen.simt.program.lane_scalars import LOCAL_BASE
from kernelwright.codegen.simt.program.program import Block, Const, Loop, Op, Operand, Phi, Program, Var, bits_of
from kernelwright.lazy_dataclasses import dataclass

BY_VALUE = 1 << 46
"""Stands for the address of the structs passed by value, which are at no address that a program knows."""
DEPTH = 200
"""Operations that are followed, one from the other."""


@dataclass(frozen=True)
class Numbers:
    """What is known when a launch begins."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    parameters: bytes
    symbols: Mapping[str, int]
    budget: int
    """How often warps may go back in loops."""


class Forms:
    """The forms of a program's numbers in one launch."""

    def __init__(self, program: Program, numbers: Numbers) -> None:
        self.program = program
        self.numbers = numbers
        self.divided: dict[tuple[Any, int], dict[str, Atom]] = {}
        """By dividend and divisor: the atoms of the quotient and of the remainder."""
        self.dividends: dict[tuple[Any, int], Form] = {}
        self._known: dict[Var, Form] = {}
        self._while_open: dict[Var, Form] = {}
        """While it is found out how a loop's number moves: what holds only as long as that stands for itself."""
        self._loops: dict[Loop, dict[Var, Form]] = {}
        self._last_turns: dict[Atom, tuple[Loop, int]] = {}
        """Of loops with one way out that is taken after a number of turns that is known."""
        self._above = dominators(program.blocks)
        self.live: frozenset[Block] | None = None
        """The blocks that may run; None: not known yet, and what depends on the way a thread came is not, either."""
        self._atoms: dict[Any, Atom] = {}
        self._depth = 0
        self.live = self._reached()
        self._known.clear()
        self._loops.clear()

    def of(self, operand: Operand) -> Form:
        """The form of a number in this launch, found once; an atom of its own for a number that is no such sum, or might wrap."""
        if isinstance(operand, Const):
            return Form(operand.value or 0)
        known = self._known.get(operand) or self._while_open.get(operand)
        if known is not None:
            return known
        if operand.op is None or self._depth > DEPTH:
            return self._opaque(operand)
        self._depth += 1
        made = self._made(operand, operand.op)
        if operand.op.code not in LINEAR and any(self.of(a).needs for a in operand.op.args):
            made = self._opaque(operand)
        self._depth -= 1
        bits = bits_of(operand.type)
        if bits < 64 and not fits(made.range, bits):
            made = self._opaque(operand)
        (self._while_open if self._while_open else self._known)[operand] = made
        return made

    def _opaque(self, var: Var, low: int | None = None, high: int | None = None) -> Form:
        bits = bits_of(var.type)
        floor, ceiling = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
        low, high = max(floor, floor if low is None else low), min(ceiling, ceiling if high is None else high)
        if low == high:
            return Form(low)
        return Form(0, {self._atom((var, low, high), f"%{var.number}", low, high): 1})

    def _is_opaque(self, form: Form) -> bool:
        return len(form.terms) == 1 and next(iter(form.terms)).name.startswith("%")

    def _atom(self, key: Any, name: str, low: int, high: int, axis: int | None = None) -> Atom:
        found = self._atoms.get(key)
        if found is None:
            found = self._atoms[key] = Atom(name, low, high, axis)
        return found

    def _made(self, var: Var, op: Op) -> Form:
        if isinstance(op, Phi):
            return self._phi(var, op)
        rule = _RULES.get(op.code)
        return rule(self, var, op) if rule is not None else self._opaque(var)

    # -- what a warp is born with

    def _source(self, var: Var, op: Op) -> Form:
        kind, detail = op.detail
        numbers = self.numbers
        if kind in ("tid", "ctaid"):
            axis = "xyz".index(detail)
            extent = (numbers.block if kind == "tid" else numbers.grid)[axis]
            if extent == 1:
                return Form(0)
            name = f"{kind}.{detail}"
            return Form(0, {self._atom(name, name, 0, extent - 1, axis if kind == "ctaid" else None): 1})
        if kind in ("ntid", "nctaid"):
            return Form((numbers.block if kind == "ntid" else numbers.grid)["xyz".index(detail)])
        if kind == "lane":
            return self._opaque(var, 0, 31)
        if kind == "warp":
            return self._opaque(var, 0, 31)
        if kind == "parameter" and var.type[0] == "i":
            return self._parameter(detail, var)
        if kind == "symbol" and detail in numbers.symbols:
            return Form(numbers.symbols[detail], root=numbers.symbols[detail])
        if kind == "by-value":
            return Form(BY_VALUE + detail)
        return self._opaque(var)

    def _parameter(self, offset: int, var: Var) -> Form:
        size = (bits_of(var.type) + 7) // 8
        value = int.from_bytes(self.numbers.parameters[offset : offset + size], "little", signed=True)
        return Form(value, root=value if var.pointer >= 0 else None)

    # -- arithmetic

    def _add(self, var: Var, op: Op) -> Form:
        return self.of(op.args[0]).plus(self.of(op.args[1]))

    def _sub(self, var: Var, op: Op) -> Form:
        a, b = (self.of(each) for each in op.args)
        if len(b.terms) == 1 and not b.constant:
            # i - i / d * d
            ((atom, by),) = b.terms.items()
            if by > 0 and self.divided.get((a.key, by), {}).get("quotient") is atom:
                return self._remainder(var, a, by)
        return a.plus(b, -1)

    def _mul(self, var: Var, op: Op) -> Form:
        a, b = (self.of(each) for each in op.args)
        if not b.terms:
            return a.times(b.constant)
        return b.times(a.constant) if not a.terms else self._product(var, a, b)

    def _product(self, var: Var, a: Form, b: Form) -> Form:
        ends = [x * y for x in a.range for y in b.range]
        bits = bits_of(var.type)
        return self._opaque(var, min(ends), max(ends)) if fits((min(ends), max(ends)), bits) else self._opaque(var)

    def _shl(self, var: Var, op: Op) -> Form:
        amount = self.of(op.args[1])
        if amount.terms or not 0 <= amount.constant < bits_of(var.type):
            return self._opaque(var)
        return self.of(op.args[0]).times(1 << amount.constant)

    def _sext(self, var: Var, op: Op) -> Form:
        return self.of(op.args[0])

    def _zext(self, var: Var, op: Op) -> Form:
        inner = self.of(op.args[0])
        low, high = inner.range
        if low >= 0:
            return inner
        bits = bits_of(op.args[0].type)
        if bits == 1 or high < 0 or inner.needs or not inner.terms or self._is_opaque(inner):
            return self._opaque(var, 0, (1 << bits) - 1)
        # A condition on the way may say that it is not negative.
        return Form(inner.constant, inner.terms, needs=(inner,))

    def _trunc(self, var: Var, op: Op) -> Form:
        return self.of(op.args[0])  # unless it does not fit

    def _gep(self, var: Var, op: Op) -> Form:
        offset, scales = op.detail
        total = self.of(op.args[0]).plus(Form(offset))
        for arg, scale in zip(op.args[1:], scales, strict=True):
            index = self.of(arg)
            total = total.plus(Form(index.constant, index.terms), scale)
        return total

    def _and(self, var: Var, op: Op) -> Form:
        a, b = (self.of(each) for each in op.args)
        if not a.terms and not b.terms:
            return Form(a.constant & b.constant)
        if not b.terms and b.constant < 0 and -b.constant & (-b.constant - 1) == 0 and a.range[0] >= 0:
            return a.plus(self._remainder(var, a, -b.constant), -1)
        if not b.terms and b.constant >= 0:
            mask = b.constant
            if mask & (mask + 1) == 0 and a.range[0] >= 0:
                return self._remainder(var, a, mask + 1)
            return self._opaque(var, 0, mask)
        highs = [f.range[1] for f in (a, b) if f.range[0] >= 0]
        return self._opaque(var, 0, min(highs)) if highs else self._opaque(var)

    def _or(self, var: Var, op: Op) -> Form:
        a, b = (self.of(each) for each in op.args)
        if not a.terms and not b.terms:
            return Form(a.constant | b.constant)
        for one, other in ((a, b), (b, a)):
            low, high = other.range
            if low >= 0 and one.divisible(1 << high.bit_length()):
                return one.plus(other)
        return self._bits(var, a, b)

    def _xor(self, var: Var, op: Op) -> Form:
        return self._bits(var, *(self.of(each) for each in op.args))

    def _bits(self, var: Var, a: Form, b: Form) -> Form:
        if min(a.range[0], b.range[0]) < 0:
            return self._opaque(var)
        return self._opaque(var, 0, (1 << max(a.range[1], b.range[1]).bit_length()) - 1)

    def _shift_right(self, var: Var, op: Op) -> Form:
        a, amount = (self.of(each) for each in op.args)
        if amount.terms or not 0 <= amount.constant < bits_of(var.type):
            return self._opaque(var)
        return self._quotient(var, a, 1 << amount.constant)

    def _division(self, var: Var, op: Op) -> Form:
        a, b = (self.of(each) for each in op.args)
        return self._opaque(var) if b.terms or b.constant <= 0 else self._quotient(var, a, b.constant)

    def _modulo(self, var: Var, op: Op) -> Form:
        a, b = (self.of(each) for each in op.args)
        return self._opaque(var) if b.terms or b.constant <= 0 else self._remainder(var, a, b.constant)

    def _quotient(self, var: Var, a: Form, by: int) -> Form:
        low, high = a.range
        if low < 0 or not fits((low, high), bits_of(var.type)):
            return self._opaque(var)
        if low // by == high // by:
            return Form(low // by)
        if a.divisible(by):
            return Form(a.constant // by, {atom: k // by for atom, k in a.terms.items()})
        return self._divided(a, by, "quotient", low // by, high // by)

    def _remainder(self, var: Var, a: Form, by: int) -> Form:
        low, high = a.range
        if low < 0 or not fits((low, high), bits_of(var.type)):
            return self._opaque(var, -by + 1, by - 1)
        if high < by:
            return a
        rest = Form(a.constant % by, {atom: k % by for atom, k in a.terms.items() if k % by})
        if rest.range[1] < by and all(atom.low >= 0 for atom in rest.terms):
            return rest
        return self._divided(a, by, "remainder", 0, by - 1)

    def _divided(self, a: Form, by: int, part: str, low: int, high: int) -> Form:
        key = (a.key, by)
        atom = self._atom((part, *key), f"({a}) {part} {by}", low, high)
        self.divided.setdefault(key, {})[part] = atom
        self.dividends[key] = a
        return Form(0, {atom: 1})

    def _select(self, var: Var, op: Op) -> Form:
        return self._joined(var, [self.of(each) for each in op.args[1:]])

    def _joined(self, var: Var, forms: list[Form]) -> Form:
        if any(f.needs for f in forms):
            return self._opaque(var)
        if all(f.key == forms[0].key for f in forms[1:]):
            return forms[0]
        low, high = min(f.range[0] for f in forms), max(f.range[1] for f in forms)
        made = self._opaque(var, low, high) if fits((low, high), bits_of(var.type)) else self._opaque(var)
        if all(f.root == forms[0].root for f in forms):
            made.root = forms[0].root
        return made

    def _intrinsic(self, var: Var, op: Op) -> Form:
        name = op.detail[0]
        if name not in ("smin", "smax", "umin", "umax"):
            return self._opaque(var)
        a, b = (self.of(each) for each in op.args[:2])
        bits = bits_of(var.type)
        if not fits(a.range, bits) or not fits(b.range, bits):
            return self._opaque(var)
        if name[0] == "u" and min(a.range[0], b.range[0]) < 0:
            high = max((f.range[1] for f in (a, b) if f.range[0] >= 0), default=None)
            return self._opaque(var, 0, high) if name == "umin" and high is not None else self._opaque(var)
        pick = min if name.endswith("min") else max
        return self._opaque(var, pick(a.range[0], b.range[0]), pick(a.range[1], b.range[1]))

    def _load(self, var: Var, op: Op) -> Form:
        """A field of a struct passed by value is known."""
        where = self.of(op.args[0])
        if (
            op.detail.space == 0
            and not where.terms
            and 0 <= where.constant - BY_VALUE < LOCAL_BASE
            and var.type[0] == "i"
        ):
            at = where.constant - BY_VALUE + op.outs.index(var) * (bits_of(var.type) // 8)
            for offset, size, frame in self.program.by_value:
                if frame <= at and at + bits_of(var.type) // 8 <= frame + size:
                    return self._parameter(offset + at - frame, var)
        return self._opaque(var)

    # -- what runs at all

    def _reached(self) -> frozenset[Block]:
        """The blocks that conditions of the launch do not rule out."""
        entry = self.program.entry
        found, waiting = {entry}, [entry]
        while waiting:
            for target in self.goes_to(waiting.pop()):
                if target not in found:
                    found.add(target)
                    waiting.append(target)
        return frozenset(found)

    def goes_to(self, block: Block) -> tuple[Block, ...]:
        """Where threads may go on behind a block."""
        term = block.term
        truth = self._truth(term.args[0]) if term.code == "branch" else None
        return block.succs if truth is None else (term.targets[0 if truth else 1],)

    def _truth(self, condition: Operand, depth: int = 0) -> bool | None:
        """Whether a condition holds for all threads, or for none; None: it may be either."""
        if isinstance(condition, Const):
            return bool(condition.value)
        op = condition.op
        if op is None or depth > 8:
            return None
        if op.code in ("and", "or", "select"):
            one, *others = (self._truth(a, depth + 1) for a in op.args)
            if op.code == "select":
                return None if one is None else others[0 if one else 1]
            decisive = op.code == "or"
            if one is decisive or others[0] is decisive:
                return decisive
            return None if None in (one, others[0]) else not decisive
        return self._compared(op) if op.code == "icmp" else None

    def _compared(self, op: Op) -> bool | None:
        a, b = (self.of(each) for each in op.args)
        bits = bits_of(op.args[0].type)
        if bits == 1 or a.needs or b.needs or not fits(a.range, bits) or not fits(b.range, bits):
            return None
        if op.detail[0] == "u" and min(a.range[0], b.range[0]) < 0:
            return None
        return truth(op.detail, a.plus(b, -1).range)

    # -- loops

    def _phi(self, var: Var, phi: Phi) -> Form:
        block = var.block
        loop = block.loop if block is not None else None
        if block is None or loop is None or loop.header is not block:
            return self._met(var, phi, block)
        if loop in self._loops:
            return self._loops[loop].get(var) or self._opaque(var)
        if self._while_open:
            # Loops are taken one at a time: what is inside an open one counts as unknown.
            return self._opaque(var)
        self._loops[loop] = self._turning(loop)
        return self._loops[loop].get(var) or self._opaque(var)

    def _met(self, var: Var, phi: Phi, block: Block | None) -> Form:
        if self.live is None or block is None or len(phi.args) > 8:
            return self._opaque(var)
        args = [a for a, b in zip(phi.args, phi.sources, strict=True) if b in self.live and block in self.goes_to(b)]
        return self._joined(var, [self.leaving(self.of(a), block) for a in args]) if args else self._opaque(var)

    def leaving(self, form: Form, block: Block) -> Form:
        """A form as ``block`` finds it: of loops that it is not in, the last turn is over."""
        known = {
            atom: turns
            for atom, (loop, turns) in self._last_turns.items()
            if atom in form.terms and block not in loop.blocks
        }
        return form.with_known(known) if known else form

    def _turning(self, loop: Loop) -> dict[Var, Form]:
        """The numbers that move by the same step in each turn of a loop: where they begin, and what all turns add."""
        firsts: dict[Var, Form] = {}
        latches: dict[Var, Operand] = {}
        for phi in loop.header.phis:
            var = phi.outs[0]
            pairs = list(zip(phi.args, phi.sources, strict=True))
            outside = [a for a, b in pairs if b is not loop.latch and (self.live is None or b in self.live)]
            inside = [a for a, b in pairs if b is loop.latch]
            is_number = var.type[0] == "i" and var.type != "i1"
            if is_number and len(outside) == len(inside) == 1 and not self.of(outside[0]).needs:
                firsts[var], latches[var] = self.of(outside[0]), inside[0]
        # A half of the range, so that a step more does not wrap; what comes out must be inside.
        own = {var: Atom(f"%{var.number}", *limits(bits_of(var.type) - 1)) for var in firsts}
        self._while_open = {var: Form(0, {atom: 1}) for var, atom in own.items()}
        moves = {var: self.of(latches[var]).plus(Form(0, {own[var]: 1}), -1) for var in firsts}
        steps = {own[var]: move.constant for var, move in moves.items() if not move.terms and not move.needs}
        starts = {own[var]: first for var, first in firsts.items()}
        turns, is_exact = self._turns(loop, starts, steps)
        turn = Atom(f"turn of b{loop.header.number}", 0, turns)
        if is_exact:
            self._last_turns[turn] = (loop, turns)
        self._while_open = {}
        found: dict[Var, Form] = {}
        for var, atom in own.items():
            if atom not in steps:
                continue
            step, first, bits = steps[atom], firsts[var], bits_of(var.type)
            made = Form(first.constant, {**first.terms, turn: step} if step else first.terms, first.root)
            low, high = made.range
            if bits == 64 or fits((min(low, low + step), max(high, high + step)), bits - 1):
                found[var] = made
        return found

    def _turns(self, loop: Loop, starts: dict[Atom, Form], steps: dict[Atom, int]) -> tuple[int, bool]:
        """How often a loop goes back at most, from the conditions that each turn asks; and whether that is how often it does.

        As long as they hold no turn wraps: each number is a step from one that was inside.
        """
        most, block, is_exact = self.numbers.budget, loop.latch, False
        ways_out = sum(any(t not in loop.blocks for t in b.succs) for b in loop.blocks)
        while block in loop.blocks:
            term = block.term
            if term.code == "branch" and len(set(term.targets)) == 2:
                inside = [t in loop.blocks for t in term.targets]
                condition = term.args[0]
                if inside.count(True) == 1 and isinstance(condition, Var) and condition.op is not None:
                    turns, is_known = self._bounded(condition.op, inside[0], starts, steps)
                    most, is_exact = min(most, turns), is_known and ways_out == 1
            if block is loop.header:
                break
            block = self._above[block]
        return max(most, 0), is_exact

    def _bounded(
        self, compare: Op, goes_on: bool, starts: dict[Atom, Form], steps: dict[Atom, int]
    ) -> tuple[int, bool]:
        """The first turn at which a comparison surely lets the loop end, and whether it lets it go on until then."""
        most = self.numbers.budget, False
        if compare.code != "icmp":
            return most
        predicate = compare.detail if goes_on else NEGATED[compare.detail]
        a, b = (self.of(each) for each in compare.args)
        bits = bits_of(compare.args[0].type)
        if not fits(a.range, bits) or not fits(b.range, bits):
            return most
        difference = a.plus(b, -1)
        if difference.needs:
            return most
        turning = [atom for atom in difference.terms if atom in starts]
        if len(turning) != 1 or turning[0] not in steps or abs(difference.terms[turning[0]]) != 1:
            return most
        own = turning[0]
        factor, step, first = difference.terms.pop(own), steps[own], starts[own]
        low, high = first.range
        if not fits((low, high), bits - 1):
            return most
        difference = difference.plus(first, factor)  # what it is at turn 0; every turn adds ``moves``
        turns = last_turn(predicate, difference.range, factor * step, b.range[0] if factor > 0 else -1)
        if turns is None:
            return most
        ends = (low + min(0, step * (turns + 1)), high + max(0, step * (turns + 1)))
        return (turns, len(set(difference.range)) == 1) if fits(ends, bits - 1) else most


LINEAR = frozenset(["add", "sub", "mul", "shl", "sext", "zext", "trunc", "gep", "source", "phi"])
"""What keeps the needs of a form; what is made of one otherwise is opaque."""
_RULES: dict[str, Any] = {
    "source": Forms._source,
    "add": Forms._add,
    "sub": Forms._sub,
    "mul": Forms._mul,
    "shl": Forms._shl,
    "sext": Forms._sext,
    "zext": Forms._zext,
    "trunc": Forms._trunc,
    "gep": Forms._gep,
    "and": Forms._and,
    "or": Forms._or,
    "xor": Forms._xor,
    "lshr": Forms._shift_right,
    "ashr": Forms._shift_right,
    "udiv": Forms._division,
    "sdiv": Forms._division,
    "urem": Forms._modulo,
    "srem": Forms._modulo,
    "select": Forms._select,
    "llvm": Forms._intrinsic,
    "load": Forms._load,
}
