"""Trees as PTX: a register for each variable, branches where the program has them.

before   ``if (tmp < n) { tmp = 1; }``
after    ``setp.ge.s32 %p1, %u_tmp, %i_n;  @%p1 bra L1;  mov.b32 %u_tmp, 1;  L1:``

As in LLVM-IR, what the interpreter refuses is noted, here in the register ``%fault``, and goes on harmlessly.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kernelwright.grammar.c.interpret import ROUNDS
from kernelwright.grammar.c.llvm import may_fault
from kernelwright.grammar.c.ranges import Range, is_never_zero, range_of
from kernelwright.grammar.c.tree import MATH, REAL, Array, Assign, Expression, If, Statement, Type, While

SUFFIX: Mapping[Type, str] = {"int": "s32", "unsigned": "u32", "float": "f32", "double": "f64"}
BITS: Mapping[Type, str] = {"bool": "pred", "int": "b32", "unsigned": "b32", "float": "f32", "double": "f64"}
REGISTER: Mapping[str, str] = {"pred": "p", "b32": "r", "f32": "f", "f64": "d", "b64": "w"}
"""What registers of a kind are called: PTX numbers only names that end in no digit."""

_ORDER = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
_BITWISE = {"&": "and", "|": "or", "^": "xor"}
_DIRECT = {
    "fabs": "abs.{0}", "sqrt": "sqrt.rn.{0}", "floor": "cvt.rmi.{0}.{0}", "ceil": "cvt.rpi.{0}.{0}",
}  # fmt: skip


OPERATIONS = frozenset(_DIRECT)
"""Math functions that are operations of PTX, and need no function around programs."""


@dataclass(frozen=True)
class Place:
    """Where inputs are. ``pointer``: of an array, the register with the address of the case's row."""

    pointer: Mapping[str, str]
    arrays: Mapping[str, Array]
    known: Mapping[str, Range]
    """Ranges of variables that are never assigned."""


class Writer:
    """Writes statements one after the other. ``registers``: those of variables that are declared outside. Names begin with
    ``prefix``; ``types``: of all variables that the program has. ``called``: the functions it calls, by name and type."""

    def __init__(self, place: Place, registers: Mapping[str, str], types: Mapping[str, Type], prefix: str) -> None:
        self.lines: list[str] = []
        self.registers = dict(registers)
        self.called: set[tuple[str, Type]] = set()
        self._place = place
        self._types = types
        self._prefix = prefix
        self._counts = dict.fromkeys(REGISTER, 0)
        self._labels = 0
        for name, kind in types.items():
            if name not in self.registers:
                self.registers[name] = self._new(kind)

    def follower(self, types: Mapping[str, Type], prefix: str) -> Writer:
        """One whose program finds the variables of this one."""
        return Writer(self._place, self.registers, types, prefix)

    @property
    def declared(self) -> list[str]:
        """The registers that it uses beyond those declared outside."""
        return [f".reg .{bits} %{self._prefix}{REGISTER[bits]}<{n + 1}>;" for bits, n in self._counts.items() if n]

    def write(self, statements: tuple[Statement, ...]) -> None:
        for each in statements:
            if isinstance(each, Assign):
                self._move(each.value.type, self.registers[each.name], self.value(each.value))
            elif isinstance(each, If):
                self._if(each)
            else:
                self._while(each)

    # -- control flow ---------------------------------------------------------------------------------------------

    def _new(self, kind: Type) -> str:
        return self._register(BITS[kind])

    def _register(self, bits: str) -> str:
        self._counts[bits] += 1
        return f"%{self._prefix}{REGISTER[bits]}{self._counts[bits]}"

    def _label(self) -> str:
        self._labels += 1
        return f"{self._prefix.upper()}{self._labels}"

    def _emit(self, operation: str, kind: Type, *operands: str) -> str:
        result = self._new(kind)
        self.lines.append(f"{operation} {', '.join((result, *operands))};")
        return result

    def _move(self, kind: Type, target: str, value: str) -> None:
        self.lines.append(f"mov.{BITS[kind]} {target}, {value};")

    def _unless(self, condition: str, label: str) -> None:
        self.lines.append(f"@!{condition} bra {label};")

    def _if(self, each: If) -> None:
        other = self._label()
        self._unless(self.value(each.condition), other)
        self.write(each.then)
        if each.otherwise:
            end = self._label()
            self.lines += [f"bra {end};", f"{other}:"]
            self.write(each.otherwise)
            other = end
        self.lines.append(f"{other}:")

    def _while(self, each: While) -> None:
        head, end = self._label(), self._label()
        rounds = self._emit("mov.b32", "int", "0")
        self.lines.append(f"{head}:")
        self._unless(self.value(each.condition), end)
        late = self._emit("setp.ge.u32", "bool", rounds, str(ROUNDS))
        self.lines += [f"@{late} mov.b32 %fault, 3;", f"@{late} bra {end};"]
        self.write(each.body)
        self.lines += [f"add.s32 {rounds}, {rounds}, 1;", f"bra {head};", f"{end}:"]

    # -- expressions ----------------------------------------------------------------------------------------------

    def value(self, of: Expression) -> str:
        op, kind, arguments = of
        if op == "variable":
            return self.registers[arguments[0]]
        if op == "constant":
            return self._constant(kind, arguments[0])
        if op == "element":
            return self._element(*arguments)
        if op in ("&&", "||"):
            return self._logic(op, arguments[0], arguments[1])
        if op == "select":
            return self._select(kind, arguments)
        first = arguments[0]
        if op == "convert":
            return self._convert(self.value(first), first.type, kind)
        if op in ("/", "%") and kind not in REAL:
            return self._division(op, kind, arguments)
        values = [self.value(each) for each in arguments]
        if op in _DIRECT:
            return self._emit(_DIRECT[op].format(SUFFIX[kind]), kind, *values)
        if op in MATH:
            return self._call(op, kind, values)
        return self._operation(op, first.type, values)

    def _operation(self, op: str, kind: Type, values: list[str]) -> str:
        """``kind``: of the operands."""
        if op == "not":
            return self._emit("not.pred", "bool", *values)
        suffix = SUFFIX[kind]
        if op in _ORDER:
            ordered = "neu" if op == "!=" and kind in REAL else _ORDER[op]
            return self._emit(f"setp.{ordered}.{suffix}", "bool", *values)
        if op in _BITWISE:
            return self._emit(f"{_BITWISE[op]}.b32", kind, *values)
        if op in ("<<", ">>"):
            by = self._emit("and.b32", "int", values[1], "31")
            return self._emit("shl.b32" if op == "<<" else f"shr.{suffix}", kind, values[0], by)
        if op == "complement":
            return self._emit("not.b32", kind, *values)
        if op == "negate":
            return self._emit(f"neg.{'s32' if kind == 'unsigned' else suffix}", kind, *values)
        if op in ("+", "-", "*", "/") and kind in REAL:
            # Rounded each by itself: never one operation out of two.
            return self._emit(f"{ {'+': 'add', '-': 'sub', '*': 'mul', '/': 'div'}[op] }.rn.{suffix}", kind, *values)
        if op in ("min", "max") and kind in REAL:
            chosen = self._emit(f"setp.{'lt' if op == 'min' else 'gt'}.{suffix}", "bool", *values)
            return self._emit(f"selp.{suffix}", kind, *values, chosen)
        plain = {"+": "add.s32", "-": "sub.s32", "*": "mul.lo.s32", "abs": "abs.s32"}
        return self._emit(plain.get(op) or f"{op}.{suffix}", kind, *values)

    def _call(self, name: str, kind: Type, values: list[str]) -> str:
        self.called.add((name, kind))
        bits = BITS[kind]
        result = self._new(kind)
        given = ", ".join(f"a{n}" for n in range(len(values)))
        self.lines += ["{", f".param .{bits} r;", *(f".param .{bits} a{n};" for n in range(len(values)))]
        self.lines += [f"st.param.{bits} [a{n}], {value};" for n, value in enumerate(values)]
        self.lines += [f"call (r), {function(name, kind)}, ({given});", f"ld.param.{bits} {result}, [r];", "}"]
        return result

    def _division(self, op: str, kind: Type, arguments: tuple[Expression, ...]) -> str:
        a, b = (self.value(each) for each in arguments)
        if not (kind == "int" and is_never_zero(arguments[1], self._place.known)):
            zero = self._emit("setp.eq.s32", "bool", b, "0")
            self.lines.append(f"@{zero} mov.b32 %fault, 1;")
            b = self._emit("selp.b32", kind, "1", b, zero)
        return self._emit(f"{'div' if op == '/' else 'rem'}.{SUFFIX[kind]}", kind, a, b)

    def _element(self, name: str, index: Expression) -> str:
        array, place = self._place.arrays[name], self._place
        at = self.value(index)
        low, high = range_of(index, place.known)
        if low < 0 or high >= array.width:
            outside = self._emit("setp.ge.u32", "bool", at, str(array.width))
            self.lines.append(f"@{outside} mov.b32 %fault, 2;")
            at = self._emit("selp.b32", "int", "0", at, outside)
        size = 8 if array.type == "double" else 4
        address = self._register("b64")
        self.lines.append(f"mad.wide.s32 {address}, {at}, {size}, {place.pointer[name]};")
        return self._emit(f"ld.global.{BITS[array.type]}", array.type, f"[{address}]")

    def _convert(self, value: str, have: Type, want: Type) -> str:
        if have == "bool":
            one, zero = (self._constant(want, n) for n in (1, 0))
            return self._emit(f"selp.{BITS[want]}", want, one, zero, value)
        if have not in REAL and want not in REAL:
            return value
        rounding = ".rzi" if want not in REAL else ".rn" if (have, want) != ("float", "double") else ""
        return self._emit(f"cvt{rounding}.{SUFFIX[want]}.{SUFFIX[have]}", want, value)

    def _logic(self, op: str, left: Expression, right: Expression) -> str:
        if not may_fault(right):
            one = self.value(left)
            return self._emit(f"{'and' if op == '&&' else 'or'}.pred", "bool", one, self.value(right))
        settled = Expression("constant", "bool", (0 if op == "&&" else 1,))
        return self._select("bool", (left, right, settled) if op == "&&" else (left, settled, right))

    def _select(self, kind: Type, arguments: tuple[Expression, ...]) -> str:
        condition = self.value(arguments[0])
        result, other, end = self._new(kind), self._label(), self._label()
        self._unless(condition, other)
        self._move(kind, result, self.value(arguments[1]))
        self.lines += [f"bra {end};", f"{other}:"]
        self._move(kind, result, self.value(arguments[2]))
        self.lines.append(f"{end}:")
        return result

    def _constant(self, kind: Type, value: float) -> str:
        if kind == "bool":
            return self._emit("setp.ne.s32", "bool", str(int(bool(value))), "0")
        if kind == "float":
            return f"0f{struct.unpack('<I', struct.pack('<f', float(np.float32(value))))[0]:08X}"
        if kind == "double":
            return f"0d{struct.unpack('<Q', struct.pack('<d', float(value)))[0]:016X}"
        return str(int(value) - (1 << 32) if value > 0x7FFFFFFF else int(value))


def function(name: str, kind: Type) -> str:
    """What a math function is called in the text around programs."""
    return f"kw_{name}_{SUFFIX[kind]}"
