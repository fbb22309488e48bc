"""Trees as LLVM-IR: values in SSA form, a phi for each variable that branches leave different.

before   ``if (tmp < n) { tmp = 1; }``
after    ``%v1 = icmp slt i32 %tmp, %n ... %v2 = phi i32 [ %tmp, %b0 ], [ 1, %b1 ]``

What the interpreter refuses (an index outside of its array, a whole number divided by zero, a loop without end) is noted in the
variable ``FAULT`` and goes on harmlessly, wherever ranges do not tell that it cannot happen.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Collection, Mapping

import numpy as np

from kernelwright.grammar.c.interpret import ROUNDS
from kernelwright.grammar.c.ranges import Range, is_never_zero, range_of
from kernelwright.grammar.c.tree import MATH, REAL, Array, Assign, Expression, If, Statement, Type, While, assigned
from kernelwright.lazy_dataclasses import dataclass

FAULT = "!fault"
"""The hidden variable: 0, or one of ``FAULTS``."""
FAULTS: Mapping[int, str] = {
    1: "a whole number is divided by zero",
    2: "an index lies outside of its array",
    3: f"a loop went round more than {ROUNDS} times",
}

LLVM: Mapping[Type, str] = {"bool": "i1", "int": "i32", "unsigned": "i32", "float": "float", "double": "double"}

_WHOLE = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor"}
_REAL = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
_ORDER = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_INTRINSICS = frozenset({"sqrt", "fabs", "floor", "ceil"})


@dataclass(frozen=True)
class Dialect:
    """Where functions and inputs are. ``pointer``: of an array, by its name, to the case's row; ``space`` of it."""

    function: Callable[[str, Type], str]
    """The name of a math function; ``sin`` and ``float`` give ``sinf`` on the host."""
    pointer: Mapping[str, str]
    arrays: Mapping[str, Array]
    known: Mapping[str, Range]
    """Ranges of variables that are never assigned."""
    space: str = "ptr"


HOST: Callable[[str, Type], str] = lambda name, kind: name + ("f" if kind == "float" else "")  # noqa: E731
LIBDEVICE: Callable[[str, Type], str] = lambda name, kind: "__nv_" + HOST(name, kind)  # noqa: E731


def declarations(function: Callable[[str, Type], str], names: Collection[str]) -> str:
    """What programs may call that call these functions by their names in C without an ``f``."""
    kinds: tuple[Type, Type] = ("float", "double")
    found = []
    for name in MATH:
        for kind in kinds if name in names else ():
            callee = _intrinsic(name, kind) if name in _INTRINSICS else function(name, kind)
            found.append(f"declare {kind} @{callee}({', '.join([kind] * MATH[name])})")
    return "\n".join(found)


class Writer:
    """Writes statements one after the other. ``values``: of each variable at present, and of ``FAULT``; ``types``: of all that
    the program has. Names and labels begin with ``prefix``; ``label`` is the block that it begins in."""

    def __init__(
        self, dialect: Dialect, values: Mapping[str, str], types: Mapping[str, Type], prefix: str, label: str
    ) -> None:
        self.lines: list[str] = []
        self.values = dict(values)
        self.label = label
        """Of the block that is being written."""
        self._dialect = dialect
        self._types = types
        self._prefix = prefix
        self._count = 0

    def follower(self, types: Mapping[str, Type], prefix: str) -> Writer:
        """One that goes on where this one is, any number of times."""
        return Writer(self._dialect, self.values, types, prefix, self.label)

    def write(self, statements: tuple[Statement, ...]) -> None:
        """Appends the statements to ``lines`` as LLVM-IR; ``values`` and ``label`` are those after them."""
        for each in statements:
            if isinstance(each, Assign):
                self.values[each.name] = self.value(each.value)
            elif isinstance(each, If):
                self._if(each)
            else:
                self._while(each)

    # -- control flow ---------------------------------------------------------------------------------------------

    def _new(self) -> str:
        self._count += 1
        return f"{self._prefix}{self._count}"

    def _emit(self, text: str) -> str:
        name = f"%{self._new()}"
        self.lines.append(f"  {name} = {text}")
        return name

    def _begin(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.label = label

    def _branch(self, condition: str, one: str, other: str) -> None:
        self.lines.append(f"  br i1 {condition}, label %{one}, label %{other}")

    def _jump(self, label: str) -> None:
        self.lines.append(f"  br label %{label}")

    def _type(self, name: str) -> str:
        return "i32" if name == FAULT else LLVM[self._types[name]]

    def _if(self, each: If) -> None:
        condition = self.value(each.condition)
        one, other, end = self._new(), self._new(), self._new()
        before = dict(self.values)
        self._branch(condition, one, other)
        ways = []
        for label, statements in ((one, each.then), (other, each.otherwise)):
            self.values = dict(before)
            self._begin(label)
            self.write(statements)
            ways.append((self.label, self.values))
            self._jump(end)
        self._begin(end)
        self.values = before
        self._meet(ways)

    def _meet(self, ways: list[tuple[str, dict[str, str]]]) -> None:
        """The values after both ways; what only one of them has declared is out of sight."""
        (one, first), (other, second) = ways
        for name in [n for n in first if n in second]:
            if first[name] == second[name]:
                self.values[name] = first[name]
            else:
                kind = self._type(name)
                self.values[name] = self._emit(f"phi {kind} [ {first[name]}, %{one} ], [ {second[name]}, %{other} ]")

    def _while(self, each: While) -> None:
        head, body, end = self._new(), self._new(), self._new()
        changing = [n for n in dict.fromkeys((*assigned((each,)), FAULT)) if n in self.values]
        entry, before = self.label, dict(self.values)
        self._jump(head)
        self._begin(head)
        at = len(self.lines)
        phis = {name: f"%{self._new()}" for name in changing}
        rounds = f"%{self._new()}"
        self.values |= phis
        condition = self.value(each.condition)
        left = self._emit(f"icmp ult i32 {rounds}, {ROUNDS}")
        late = self._emit(f"xor i1 {left}, true")
        endless = self._emit(f"and i1 {condition}, {late}")
        self._note(endless, 3)
        self._branch(self._emit(f"and i1 {condition}, {left}"), body, end)
        after = dict(self.values)
        self._begin(body)
        self.write(each.body)
        more = self._emit(f"add i32 {rounds}, 1")
        latch = self.label
        self._jump(head)
        lines = [
            f"  {phi} = phi {self._type(name)} [ {before[name]}, %{entry} ], [ {self.values[name]}, %{latch} ]"
            for name, phi in phis.items()
        ]
        lines.append(f"  {rounds} = phi i32 [ 0, %{entry} ], [ {more}, %{latch} ]")
        self.lines[at:at] = lines
        self._begin(end)
        self.values = after

    def _note(self, wrong: str, code: int) -> None:
        self.values[FAULT] = self._emit(f"select i1 {wrong}, i32 {code}, i32 {self.values[FAULT]}")

    # -- expressions ----------------------------------------------------------------------------------------------

    def value(self, of: Expression) -> str:
        """Appends what computes an expression; returns the operand that holds it, without its type."""
        op, kind, arguments = of
        if op == "variable":
            return self.values[arguments[0]]
        if op == "constant":
            return constant(kind, arguments[0])
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
        llvm = LLVM[kind]
        if op in MATH:
            callee = _intrinsic(op, kind) if op in _INTRINSICS else self._dialect.function(op, kind)
            return self._emit(f"call {llvm} @{callee}({', '.join(f'{llvm} {each}' for each in values)})")
        if op == "pdiv":
            zero, quotient = self._binary("==", kind, values[1], constant(kind, 0)), self._binary("/", kind, *values)
            return self._emit(f"select i1 {zero}, {llvm} {constant(kind, 1)}, {llvm} {quotient}")
        if len(values) == 1:
            return self._unary(op, kind, values[0])
        return self._binary(op, first.type, *values)

    def _unary(self, op: str, kind: Type, value: str) -> str:
        llvm = LLVM[kind]
        if op == "abs":
            return self._emit(f"call i32 @llvm.abs.i32(i32 {value}, i1 false)")
        if op == "negate":
            return self._emit(f"fneg {llvm} {value}" if kind in REAL else f"sub {llvm} 0, {value}")
        return self._emit(f"xor {llvm} {value}, {'true' if kind == 'bool' else -1}")

    def _binary(self, op: str, kind: Type, a: str, b: str) -> str:
        """``kind``: of the operands."""
        llvm = LLVM[kind]
        if op in ("min", "max"):
            chosen = self._binary("<" if op == "min" else ">", kind, a, b)
            return self._emit(f"select i1 {chosen}, {llvm} {a}, {llvm} {b}")
        if op in ("==", "!=") or op in _ORDER:
            return self._emit(f"{_comparison(op, kind)} {llvm} {a}, {b}")
        if op in ("<<", ">>"):
            by = self._emit(f"and i32 {b}, 31")
            return self._emit(f"{'shl' if op == '<<' else 'ashr' if kind == 'int' else 'lshr'} i32 {a}, {by}")
        return self._emit(f"{(_REAL if kind in REAL else _WHOLE)[op]} {llvm} {a}, {b}")

    def _division(self, op: str, kind: Type, arguments: tuple[Expression, ...]) -> str:
        a, b = (self.value(each) for each in arguments)
        sign = "s" if kind == "int" else "u"
        known = self._dialect.known
        if not (kind == "int" and is_never_zero(arguments[1], known)):
            zero = self._emit(f"icmp eq i32 {b}, 0")
            self._note(zero, 1)
            b = self._emit(f"select i1 {zero}, i32 1, i32 {b}")
            if kind == "int":
                # The least number divided by -1 is an exception of the processor: it is its own negative.
                minus = self._emit(f"icmp eq i32 {b}, -1")
                safe = self._emit(f"select i1 {minus}, i32 1, i32 {b}")
                found = self._emit(f"{sign}{'div' if op == '/' else 'rem'} i32 {a}, {safe}")
                instead = self._emit(f"sub i32 0, {a}") if op == "/" else "0"
                return self._emit(f"select i1 {minus}, i32 {instead}, i32 {found}")
        return self._emit(f"{sign}{'div' if op == '/' else 'rem'} i32 {a}, {b}")

    def _element(self, name: str, index: Expression) -> str:
        array, dialect = self._dialect.arrays[name], self._dialect
        at = self.value(index)
        low, high = range_of(index, dialect.known)
        if low < 0 or high >= array.width:
            outside = self._emit(f"icmp uge i32 {at}, {array.width}")
            self._note(outside, 2)
            at = self._emit(f"select i1 {outside}, i32 0, i32 {at}")
        llvm = LLVM[array.type]
        place = self._emit(f"getelementptr {llvm}, {dialect.space} {dialect.pointer[name]}, i32 {at}")
        return self._emit(f"load {llvm}, {dialect.space} {place}")

    def _convert(self, value: str, have: Type, want: Type) -> str:
        source, target = LLVM[have], LLVM[want]
        if have == "bool":
            return self._emit(f"{'uitofp' if want in REAL else 'zext'} i1 {value} to {target}")
        if have not in REAL:
            if want not in REAL:
                return value
            return self._emit(f"{'sitofp' if have == 'int' else 'uitofp'} i32 {value} to {target}")
        if want in REAL:
            return self._emit(f"{'fpext' if want == 'double' else 'fptrunc'} {source} {value} to {target}")
        sign = "s" if want == "int" else "u"
        short = "f32" if have == "float" else "f64"
        return self._emit(f"call i32 @llvm.fpto{sign}i.sat.i32.{short}({source} {value})")

    def _logic(self, op: str, left: Expression, right: Expression) -> str:
        """The right side only where the left one leaves it open, as far as it could do harm."""
        if not may_fault(right):
            one = self.value(left)
            return self._emit(f"{'and' if op == '&&' else 'or'} i1 {one}, {self.value(right)}")
        settled = Expression("constant", "bool", (0 if op == "&&" else 1,))
        ways = (left, right, settled) if op == "&&" else (left, settled, right)
        return self._select("bool", ways)

    def _select(self, kind: Type, arguments: tuple[Expression, ...]) -> str:
        condition = self.value(arguments[0])
        llvm = LLVM[kind]
        if not any(map(may_fault, arguments[1:])):
            one, other = (self.value(each) for each in arguments[1:])
            return self._emit(f"select i1 {condition}, {llvm} {one}, {llvm} {other}")
        labels, end = (self._new(), self._new()), self._new()
        self._branch(condition, *labels)
        before, ways, found = dict(self.values), [], []
        for label, each in zip(labels, arguments[1:], strict=True):
            self.values = dict(before)
            self._begin(label)
            found.append(self.value(each))
            ways.append((self.label, self.values))
            self._jump(end)
        self._begin(end)
        self.values = before
        result = self._emit(f"phi {llvm} [ {found[0]}, %{ways[0][0]} ], [ {found[1]}, %{ways[1][0]} ]")
        self._meet(ways)
        return result


def constant(kind: Type, value: float) -> str:
    """A literal; whole numbers come as their 32 bits."""
    if kind == "bool":
        return "true" if value else "false"
    if kind in REAL:
        exact = float(np.float32(value)) if kind == "float" else float(value)
        return f"0x{struct.unpack('<Q', struct.pack('<d', exact))[0]:016X}"
    return str(int(value) - (1 << 32) if value > 0x7FFFFFFF else int(value))


def _comparison(op: str, kind: Type) -> str:
    if kind in REAL:
        return "fcmp " + ({"==": "oeq", "!=": "une"}.get(op) or f"o{_ORDER[op]}")
    equal = {"==": "eq", "!=": "ne"}.get(op)
    return "icmp " + (equal or f"{'s' if kind == 'int' else 'u'}{_ORDER[op]}")


def _intrinsic(name: str, kind: Type) -> str:
    return f"llvm.{name}.{'f32' if kind == 'float' else 'f64'}"


def may_fault(of: Expression) -> bool:
    """Whether evaluating it for nothing could note a fault."""
    if of.op == "element" or (of.op in ("/", "%") and of.type not in REAL):
        return True
    return any(may_fault(each) for each in of.arguments if isinstance(each, Expression))


def named_functions(text: str) -> frozenset[str]:
    """The math functions whose names stand in a text, without the ``f`` of single precision, and those that
    others are made of: ``abs`` may be ``fabs``."""
    words = {word for each in re.findall(r"[A-Za-z_]\w*", text) for word in (each, each.removesuffix("f"))}
    inside = {"fabs"} if words & {"abs", "plog", "psqrt"} else set[str]()
    inside |= {"log"} if "plog" in words else set()
    inside |= {"sqrt"} if "psqrt" in words else set()
    return frozenset(words & MATH.keys() | inside)


INTRINSICS: tuple[str, ...] = (
    "declare i32 @llvm.abs.i32(i32, i1)",
    *(
        f"declare i32 @llvm.fpto{sign}i.sat.i32.{short}({kind})"
        for sign in "su"
        for short, kind in (("f32", "float"), ("f64", "double"))
    ),
)
"""Declarations besides those of math functions."""
