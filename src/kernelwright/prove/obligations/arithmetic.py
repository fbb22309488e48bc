"""What instructions compute, as expressions of the solver: a table by opcode.

Each entry takes the operands' terms and gives the value's. What wraps around is exact, with a fresh multiple of 2**bits; bit tricks that
have no arithmetic meaning are functions about which nothing is known but their range.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from kernelwright.codegen.fused_products import may_contract
from kernelwright.ir import ConstantInt, Function, Instruction
from kernelwright.ir.types import IntType, PointerType
from kernelwright.prove.obligations.world import ADDRESS_BITS, Expr, Term, World, z3

Operands = Sequence[Term]
Side = list[Expr]
"""Where entries put what is true of the fresh symbols they make."""


class Arithmetic:
    """Gives terms to instructions whose operands have them."""

    def __init__(self, world: World, side: Side) -> None:
        self.world = world
        self.side = side

    def term(self, i: Instruction, operands: Operands) -> Term:
        """Of an instruction that reads no memory and is no phi."""
        entry = _TABLE.get(i.opcode)
        if i.opcode == "select" and i.operands[0].type.text == "i1":
            return self.promised(i, select(*operands))
        if entry is not None and isinstance(i.type, IntType):
            made = entry(self, i, operands)
            if made is not None:
                return made
        return self.unknown(i, operands)

    def unknown(self, i: Instruction, operands: Operands) -> Term:
        """A function of its operands, and so is whether it is poison where that is not what its operands are."""
        z = z3()
        name = [i.opcode, *i.flags, i.type.text, *(o.type.text for o in i.operands if not isinstance(o, Function))]
        for field in ("predicate", "indices"):
            name.append(
                str(getattr(i, field, "")) if i.opcode in ("icmp", "fcmp", "extractvalue", "insertvalue") else ""
            )
        if i.opcode == "call" and isinstance(i.callee, Function):
            name.append(i.callee.name)
        if i.opcode in ("fadd", "fsub") and may_contract(i):
            # What it swallows decides how it is rounded: of equal operands another sum may be another number.
            name.append(i.name)
        called = " ".join(name)
        value = self.applied(called, [o.value for o in operands], self.world.sort(i.type))
        if i.opcode in _PARTLY_POISON:
            both = [part for o in operands for part in (o.value, o.ok)]
            return self.ranged(i.type, value, self.applied(f"ok {called}", both, z.BoolSort()))
        ok = self.all_ok(operands)
        if set(i.flags) & _POISON_FLAGS or may_be_poison(i):
            ok = z.And(ok, self.applied(f"ok {called}", [o.value for o in operands], z.BoolSort()))
        return self.ranged(i.type, value, ok)

    def promised(self, i: Instruction, chosen: Term) -> Term:
        """One of several reals, which is poison where it is what its flags exclude."""
        if not set(i.flags) & _POISON_FLAGS:
            return chosen
        name = " ".join(["ok", *i.flags, i.type.text])
        return replace(chosen, ok=z3().And(chosen.ok, self.applied(name, [chosen.value], z3().BoolSort())))

    def applied(self, name: str, to: Sequence[Expr], result: Expr) -> Expr:
        """A function of which nothing is known but its name."""
        z = z3()
        return z.Function(name, *(e.sort() for e in to), result)(*to) if to else z.Const(name, result)

    def ranged(self, type: Any, value: Expr, ok: Expr) -> Term:
        """A value of which nothing is known but its type."""
        if isinstance(type, IntType) and type.bits > 1:
            low, high = -(1 << (type.bits - 1)), (1 << (type.bits - 1)) - 1
            self.side.append(z3().And(value >= low, value <= high))
            return Term(value, ok, low, high)
        if isinstance(type, PointerType):
            self.side.append(z3().And(value >= 0, value < 1 << ADDRESS_BITS))
        return Term(value, ok)

    def all_ok(self, operands: Operands) -> Expr:
        """That none of the operands is poison."""
        z = z3()
        open_ones = [o.ok for o in operands if not z.is_true(o.ok)]
        return z.And(*open_ones) if open_ones else z.BoolVal(True)

    def wrapped(self, value: Expr, low: int | None, high: int | None, bits: int, ok: Expr) -> Term:
        """The value as a signed number of so many bits."""
        least, most = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
        if low is not None and high is not None and least <= low and high <= most:
            return Term(value, ok, low, high)
        z = z3()
        found, turns = self.world.fresh("wrapped", z.IntSort()), self.world.fresh("turns", z.IntSort())
        self.side += [found == value - turns * (1 << bits), found >= least, found <= most]
        if low is not None and high is not None:
            self.side += [turns >= (low - least) >> bits, turns <= (high - least) >> bits]
        return Term(found, ok, least, most)

    def unsigned(self, term: Term, bits: int) -> Term:
        """A signed number of ``bits`` bits as the unsigned one with the same bits."""
        if term.low is not None and term.low >= 0:
            return term
        value = z3().If(term.value < 0, term.value + (1 << bits), term.value)
        return Term(value, term.ok, 0, (1 << bits) - 1)

    def flagged(
        self, i: Instruction, exact: Expr, low: int | None, high: int | None, ok: Expr, of_unsigned: Expr = None
    ) -> Term:
        """A sum or product that may not wrap where its flags say so: then it is poison. ``of_unsigned``: the exact value of the
        operands read as unsigned."""
        z = z3()
        bits = _bits(i)
        least, most = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
        fits = low is not None and high is not None and least <= low and high <= most
        if "nsw" in i.flags and not fits:
            ok = z.And(ok, exact >= least, exact <= most)
        if "nuw" in i.flags and of_unsigned is not None:
            ok = z.And(ok, of_unsigned >= 0, of_unsigned < (1 << bits))
        return self.wrapped(exact, low, high, bits, ok)


_POISON_FLAGS = frozenset({
    "exact", "nnan", "ninf", "fast", "nsw", "nuw", "disjoint", "nneg", "samesign", "nusw", "inbounds",
})  # fmt: skip
_PARTLY_POISON = frozenset(
    {"insertelement", "insertvalue", "shufflevector", "extractelement", "extractvalue", "select"}
)
"""What may be good although an operand, or a part of one, is poison."""


def may_be_poison(i: Instruction) -> bool:
    """Whether an instruction without flags may be poison of operands that are not: shifts by too much, reals that are no whole number
    of the type, intrinsics that are told so."""
    if i.opcode == "call":
        name = i.callee.name if isinstance(i.callee, Function) else ""
        return name.startswith(("llvm.abs.", "llvm.ctlz.", "llvm.cttz."))
    return i.opcode in ("shl", "lshr", "ashr", "fptosi", "fptoui")


def _bits(i: Instruction) -> int:
    assert isinstance(i.type, IntType)
    return i.type.bits


def _add(a: Arithmetic, i: Instruction, o: Operands) -> Term | None:
    x, y = o
    if _bits(i) == 1:
        return None
    u = a.unsigned(x, _bits(i)).value + a.unsigned(y, _bits(i)).value
    return a.flagged(i, x.value + y.value, _sum(x.low, y.low), _sum(x.high, y.high), a.all_ok(o), u)


def _sub(a: Arithmetic, i: Instruction, o: Operands) -> Term | None:
    x, y = o
    if _bits(i) == 1:
        return None
    u = a.unsigned(x, _bits(i)).value - a.unsigned(y, _bits(i)).value
    low = x.low - y.high if x.low is not None and y.high is not None else None
    high = x.high - y.low if x.high is not None and y.low is not None else None
    return a.flagged(i, x.value - y.value, low, high, a.all_ok(o), u)


def _mul(a: Arithmetic, i: Instruction, o: Operands) -> Term | None:
    x, y = o
    if _bits(i) == 1:
        return None
    u = a.unsigned(x, _bits(i)).value * a.unsigned(y, _bits(i)).value
    low, high = _product(x, y)
    return a.flagged(i, x.value * y.value, low, high, a.all_ok(o), u)


def _shl(a: Arithmetic, i: Instruction, o: Operands) -> Term | None:
    amount = _constant(i, 1)
    if amount is None or not 0 <= amount < _bits(i) or _bits(i) == 1:
        return None
    x = o[0]
    factor = 1 << amount
    low, high = _product(x, Term(None, None, factor, factor))
    return a.flagged(i, x.value * factor, low, high, x.ok, a.unsigned(x, _bits(i)).value * factor)


def _shift_right(a: Arithmetic, i: Instruction, o: Operands) -> Term | None:
    amount = _constant(i, 1)
    if amount is None or not 0 < amount < _bits(i) or "exact" in i.flags:
        return None
    x = a.unsigned(o[0], _bits(i)) if i.opcode == "lshr" else o[0]
    assert x.low is not None and x.high is not None
    return Term(
        x.value / (1 << amount), x.ok, x.low >> amount, x.high >> amount
    )  # z3's division by a positive rounds down


def _divide(a: Arithmetic, i: Instruction, o: Operands) -> Term | None:
    by = _constant(i, 1)
    # By 1, an unsigned number may be too large to be read as signed.
    if by is None or by <= 1 or "exact" in i.flags or _bits(i) == 1:
        return None
    z = z3()
    x = a.unsigned(o[0], _bits(i)) if i.opcode[0] == "u" else o[0]
    assert x.low is not None and x.high is not None
    if x.low >= 0:
        quotient, remainder = x.value / by, x.value % by
    else:
        quotient = z.If(x.value >= 0, x.value / by, -((-x.value) / by))
        remainder = z.If(x.value >= 0, x.value % by, -((-x.value) % by))
    if i.opcode.endswith("div"):
        return Term(quotient, x.ok, -(-x.low // by) if x.low < 0 else x.low // by, x.high // by)
    return Term(remainder, x.ok, -(by - 1) if x.low < 0 else 0, by - 1)


def _and(a: Arithmetic, i: Instruction, o: Operands) -> Term | None:
    z = z3()
    if _bits(i) == 1:
        return Term(z.And(o[0].value, o[1].value), a.all_ok(o))
    mask = _constant(i, 1)
    x = o[0]
    if mask is not None and mask >= 0 and mask & (mask + 1) == 0:
        return Term(x.value % (mask + 1), x.ok, 0, mask)
    if mask is not None and mask < 0 and -mask & (-mask - 1) == 0:
        return Term(x.value - x.value % -mask, x.ok, *_whole(i))
    return None


def _or(a: Arithmetic, i: Instruction, o: Operands) -> Term | None:
    z = z3()
    if _bits(i) == 1:
        return Term(z.Or(o[0].value, o[1].value), a.all_ok(o)) if "disjoint" not in i.flags else None
    if "disjoint" in i.flags:
        x, y = o
        # No bit is in both, so nothing is carried; poison else.
        ok = z.And(a.all_ok(o), a.world.fresh("disjoint", z.BoolSort()))
        return a.wrapped(x.value + y.value, _sum(x.low, y.low), _sum(x.high, y.high), _bits(i), ok)
    return None


def _xor(a: Arithmetic, i: Instruction, o: Operands) -> Term | None:
    z = z3()
    if _bits(i) == 1:
        return Term(z.Xor(o[0].value, o[1].value), a.all_ok(o))
    if _constant(i, 1) == -1:
        x = o[0]
        low = -x.high - 1 if x.high is not None else None
        high = -x.low - 1 if x.low is not None else None
        return Term(-x.value - 1, x.ok, low, high)
    return None


_SIGNED: dict[str, Callable[[Expr, Expr], Expr]] = {
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "slt": lambda x, y: x < y,
    "sle": lambda x, y: x <= y,
    "sgt": lambda x, y: x > y,
    "sge": lambda x, y: x >= y,
}


def _icmp(a: Arithmetic, i: Instruction, o: Operands) -> Term | None:
    type = i.operands[0].type
    z = z3()
    if isinstance(type, PointerType):
        if i.predicate in ("eq", "ne"):
            return Term(_SIGNED[i.predicate](o[0].value, o[1].value), a.all_ok(o))
        return None
    if not isinstance(type, IntType):
        return None
    if "samesign" in i.flags and type.bits > 1:  # poison of two signs; of one, both ways to compare say the same
        x, y = o
        is_one = [t.low is not None and t.low >= 0 for t in o] == [True, True]
        ok = a.all_ok(o) if is_one else z.And(a.all_ok(o), (x.value >= 0) == (y.value >= 0))
        return Term(_SIGNED[i.predicate.replace("u", "s", 1)](x.value, y.value), ok)
    if "samesign" in i.flags:
        return None
    if type.bits == 1:
        if i.predicate in ("eq", "ne"):
            same = o[0].value == o[1].value
            return Term(same if i.predicate == "eq" else z.Not(same), a.all_ok(o))
        return None
    x, y = o
    name = i.predicate
    if name[0] == "u":
        x, y = a.unsigned(x, type.bits), a.unsigned(y, type.bits)
        name = "s" + name[1:]
    return Term(_SIGNED[name](x.value, y.value), a.all_ok(o))


def _select(a: Arithmetic, i: Instruction, o: Operands) -> Term | None:
    return select(o[0], o[1], o[2])


def select(c: Term, x: Term, y: Term) -> Term:
    """``x`` where ``c`` holds, else ``y``: poison of the other one does not show."""
    z = z3()
    ok = z.And(c.ok, z.If(c.value, x.ok, y.ok)) if not all(z.is_true(t.ok) for t in (c, x, y)) else z.BoolVal(True)
    low = min(x.low, y.low) if x.low is not None and y.low is not None else None
    high = max(x.high, y.high) if x.high is not None and y.high is not None else None
    return Term(z.If(c.value, x.value, y.value), ok, low, high)


def _zext(a: Arithmetic, i: Instruction, o: Operands) -> Term | None:
    z = z3()
    type = i.operands[0].type
    if not isinstance(type, IntType):
        return None
    if type.bits == 1:
        return Term(z.If(o[0].value, 1, 0), o[0].ok, 0, 1)
    x = o[0]
    if "nneg" in i.flags:
        return Term(x.value, z.And(x.ok, x.value >= 0), x.low, x.high)
    return a.unsigned(x, type.bits)


def _sext(a: Arithmetic, i: Instruction, o: Operands) -> Term | None:
    z = z3()
    type = i.operands[0].type
    if not isinstance(type, IntType):
        return None
    return Term(z.If(o[0].value, -1, 0), o[0].ok, -1, 0) if type.bits == 1 else o[0]


def _trunc(a: Arithmetic, i: Instruction, o: Operands) -> Term | None:
    type = i.operands[0].type
    if _bits(i) == 1 or not isinstance(type, IntType):
        return None
    x = o[0]
    return a.flagged(i, x.value, x.low, x.high, x.ok, a.unsigned(x, type.bits).value)


def _call(a: Arithmetic, i: Instruction, o: Operands) -> Term | None:
    z = z3()
    name = i.callee.name if isinstance(i.callee, Function) else ""
    kind = name.removeprefix("llvm.").partition(".")[0]
    if kind in ("smin", "smax", "umin", "umax") and _bits(i) > 1:
        x, y = o
        u, v = (a.unsigned(x, _bits(i)), a.unsigned(y, _bits(i))) if kind[0] == "u" else (x, y)
        first = u.value <= v.value if kind.endswith("min") else u.value >= v.value
        # Poison where either is, unlike a choice.
        least = select(Term(first, z.BoolVal(True)), x, y)
        return Term(least.value, a.all_ok(o), least.low, least.high)
    return None


_TABLE: dict[str, Callable[[Arithmetic, Instruction, Operands], Term | None]] = {
    "add": _add, "sub": _sub, "mul": _mul, "shl": _shl, "lshr": _shift_right, "ashr": _shift_right,
    "udiv": _divide, "sdiv": _divide, "urem": _divide, "srem": _divide,
    "and": _and, "or": _or, "xor": _xor, "icmp": _icmp, "select": _select,
    "zext": _zext, "sext": _sext, "trunc": _trunc, "call": _call,
}  # fmt: skip


def _constant(i: Instruction, index: int) -> int | None:
    value = i.operands[index]
    return value.value if isinstance(value, ConstantInt) else None


def _whole(i: Instruction) -> tuple[int, int]:
    return -(1 << (_bits(i) - 1)), (1 << (_bits(i) - 1)) - 1


def _sum(x: int | None, y: int | None) -> int | None:
    return x + y if x is not None and y is not None else None


def _product(x: Term, y: Term) -> tuple[int | None, int | None]:
    if None in (x.low, x.high, y.low, y.high):
        return None, None
    corners = [a * b for a in (x.low, x.high) for b in (y.low, y.high)]  # type: ignore[operator]
    return min(corners), max(corners)
