"""Trees as PTX: a register for each variable, branches where the program has them.

before   ``if (tmp < n) { tmp = 1; }``
after    ``setp.ge.s32 %p1, %u_tmp, %i_n;  @%p1 bra L1;  mov.b32 %u_tmp, 1;  L1:``

As in LLVM-IR, what the interpreter refuses is noted, here in the register ``%fault``, and goes on harmlessly.

The assembler takes some 5 µs for an instruction and more for a block, so the text is kept short: results are written to the
variable at once, what was computed and still holds is not computed again, a short ``if`` is a few predicated instructions, and
a loop that evidently ends is not counted.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping

import numpy as np

from kernelwright.grammar.c.interpret import ROUNDS
from kernelwright.grammar.c.llvm import may_fault
from kernelwright.grammar.c.ranges import GREATEST, Range, is_never_zero, range_of
from kernelwright.grammar.c.tree import MATH, REAL, Array, Assign, Expression, If, Statement, Type, While, assigned
from kernelwright.lazy_dataclasses import dataclass

SUFFIX: Mapping[Type, str] = {"int": "s32", "unsigned": "u32", "float": "f32", "double": "f64"}
BITS: Mapping[Type, str] = {"bool": "pred", "int": "b32", "unsigned": "b32", "float": "f32", "double": "f64"}
REGISTER: Mapping[str, str] = {"pred": "p", "b32": "r", "f32": "f", "f64": "d", "b64": "w"}
"""What registers of a kind are called: PTX numbers only names that end in no digit."""

_ORDER = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
_BITWISE = {"&": "and", "|": "or", "^": "xor"}
SHORT = 8
"""Instructions of an ``if`` that are predicated, not jumped over."""
LASTING = frozenset({"element", "/", "%", "pdiv", "complement", *MATH})
"""Operations whose results are remembered: those that cost something, and what is often repeated."""
_DIRECT = {
    "fabs": "abs.{0}", "sqrt": "sqrt.rn.{0}", "floor": "cvt.rmi.{0}.{0}", "ceil": "cvt.rpi.{0}.{0}",
}  # fmt: skip


OPERATIONS = frozenset(_DIRECT)
"""Math functions that are operations of PTX, and need no function around programs."""


_PLAIN = re.compile(r"(?!@|call|bra|rem|div|sqrt|st\.|ld\.param)[a-z][\w.]* .*;")
"""What may be predicated: one instruction that is not expanded into many."""


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
        self._found: dict[Expression, str] = {}
        """Results that are still right, by what they are the results of."""
        self._reads: dict[Expression, frozenset[str]] = {}
        """The variables that these are made of."""
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
        """Appends the statements to ``lines`` as PTX."""
        before: Statement | None = None
        for each in statements:
            if isinstance(each, Assign):
                self._assign(each)
            elif isinstance(each, If):
                self._if(each)
            else:
                self._while(each, before)
            before = each

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

    def _assign(self, each: Assign) -> None:
        """The last instruction writes the variable itself."""
        target, begin = self.registers[each.name], len(self.lines)
        value = self.value(each.value)
        last = self.lines[-1] if len(self.lines) > begin else ""
        operation, space, operands = last.partition(f" {value}, ")
        if space and value not in self.registers.values() and operation[0] != "@":
            self.lines[-1] = f"{operation} {target}, {operands}"
            self._forget({each.name})
            if self._found.pop(each.value, "") and each.name not in self._reads[each.value]:
                self._found[each.value] = target
            return
        if value != target:
            self._move(each.value.type, target, value)
        self._forget({each.name})

    def _forget(self, names: set[str]) -> None:
        """These variables have changed."""
        gone = {self.registers[name] for name in names if name in self.registers}
        self._found = {
            of: where for of, where in self._found.items() if where not in gone and names.isdisjoint(self._reads[of])
        }

    def _if(self, each: If) -> None:
        condition = self.value(each.condition)
        found, begin = dict(self._found), len(self.lines)
        self.write(each.then)
        inside = self.lines[begin:]
        lasts = condition not in self.registers.values()
        if lasts and not each.otherwise and len(inside) <= SHORT and all(map(_PLAIN.fullmatch, inside)):
            self.lines[begin:] = [f"@{condition} {line}" for line in inside]
        else:
            other = self._label()
            self.lines[begin:] = [f"@!{condition} bra {other};", *inside]
            if each.otherwise:
                end = self._label()
                self.lines += [f"bra {end};", f"{other}:"]
                self._found = dict(found)
                self.write(each.otherwise)
                other = end
            self.lines.append(f"{other}:")
        self._found = found  # what one way alone has computed is not there after the other
        self._forget(set(assigned((each,))))

    def _while(self, each: While, before: Statement | None) -> None:
        head, end = self._label(), self._label()
        counted = not self._ends(each, before)
        rounds = self._emit("mov.b32", "int", "0") if counted else ""
        changed = set(assigned((each,)))
        self._forget(changed)
        found = dict(self._found)
        self.lines.append(f"{head}:")
        self._unless(self.value(each.condition), end)
        if counted:
            late = self._emit("setp.ge.u32", "bool", rounds, str(ROUNDS))
            self.lines += [f"@{late} mov.b32 %fault, 3;", f"@{late} bra {end};"]
        self.write(each.body)
        if counted:
            self.lines.append(f"add.s32 {rounds}, {rounds}, 1;")
        self.lines += [f"bra {head};", f"{end}:"]
        self._found = found

    def _ends(self, each: While, before: Statement | None) -> bool:
        """Whether it is ``for (i = 0; i < n; i++)`` with an n that stays and is small, and an i that only counts."""
        if each.condition.op != "<" or each.condition.arguments[0].type != "int" or not each.body:
            return False
        counter, bound = each.condition.arguments
        last = each.body[-1]
        if counter.op != "variable" or not isinstance(before, Assign) or not isinstance(last, Assign):
            return False
        (name,) = counter.arguments
        changed = list(assigned(each.body))
        one = Expression("constant", "int", (1,))
        return (
            before.name == last.name == name
            and before.value.op == "constant"
            and before.value.arguments[0] <= GREATEST
            and last.value == Expression("+", "int", (counter, one))
            and changed.count(name) == 1
            and not set(changed) & set(_variables(bound))
            and range_of(bound, self._place.known)[1] <= ROUNDS
        )

    # -- expressions ----------------------------------------------------------------------------------------------

    def value(self, of: Expression) -> str:
        """Appends what computes an expression, unless its value is known; returns the register or constant that holds it."""
        op, kind, arguments = of
        if op == "variable":
            return self.registers[arguments[0]]
        if op == "constant":
            return self._constant(kind, arguments[0])
        if op in LASTING and (known := self._found.get(of)):
            return known
        result = self._computed(of)
        if op in LASTING:
            self._found[of] = result
            if of not in self._reads:
                self._reads[of] = frozenset(_variables(of))
        return result

    def _computed(self, of: Expression) -> str:
        op, kind, arguments = of
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
        if op == "pdiv":
            zero = self._emit(f"setp.eq.{suffix}", "bool", values[1], self._constant(kind, 0))
            quotient = self._emit(f"div.rn.{suffix}", kind, *values)
            return self._emit(f"selp.{suffix}", kind, self._constant(kind, 1), quotient, zero)
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
        size = 8 if array.type == "double" else 4
        low, high = range_of(index, place.known)
        ahead = 0
        if low >= 0 and high < array.width and index.op == "+" and index.arguments[0].op == "constant":
            (ahead,), index = index.arguments[0].arguments, index.arguments[1]  # the address takes a number for nothing
            ahead -= 1 << 32 if ahead > GREATEST else 0
        at = self.value(index)
        if low < 0 or high >= array.width:
            outside = self._emit("setp.ge.u32", "bool", at, str(array.width))
            self.lines.append(f"@{outside} mov.b32 %fault, 2;")
            at = self._emit("selp.b32", "int", "0", at, outside)
        address = self._register("b64")
        self.lines.append(f"mad.wide.s32 {address}, {at}, {size}, {place.pointer[name]};")
        return self._emit(
            f"ld.global.{BITS[array.type]}", array.type, f"[{address}+{ahead * size}]" if ahead else f"[{address}]"
        )

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
        found = self._found
        self._found = dict(found)
        self._move(kind, result, self.value(arguments[1]))
        self.lines += [f"bra {end};", f"{other}:"]
        self._found = dict(found)
        self._move(kind, result, self.value(arguments[2]))
        self.lines.append(f"{end}:")
        self._found = found
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


def _variables(of: Expression) -> Iterator[str]:
    """The names of the variables it reads."""
    if of.op == "variable":
        yield of.arguments[0]
    for each in of.arguments:
        if isinstance(each, Expression):
            yield from _variables(each)
