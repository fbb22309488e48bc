"""C text to trees.

before   ``tmp = INPUT[i % n] + 1;``
after    ``Assign("tmp", +(element("INPUT", %(i, n)), 1))``
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from string import ascii_letters
from typing import Any, NoReturn

from kernelwright.errors import CompileError, Place
from kernelwright.grammar.c.tree import (
    MATH,
    PROTECTED,
    RANK,
    REAL,
    Assign,
    Expression,
    If,
    Scope,
    Statement,
    Type,
    While,
)

TYPES: Mapping[str, Type] = {"int": "int", "unsigned": "unsigned", "float": "float", "double": "double", "bool": "bool"}

LEVEL: Mapping[str, int] = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">="})
ON_BITS = frozenset({"|", "^", "&", "<<", ">>", "%"})

_TOKEN = re.compile(
    r"""\s*(
        0[xX][0-9a-fA-F]+[uU]?|(?:\d+\.\d*|\.\d+|\d+(?=[eEfF]))(?:[eE][+-]?\d+)?[fF]?|\d+[uU]?
      | [A-Za-z_]\w*
      | <<=|>>=|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^~!<>=?:;,(){}\[\]]
      | $
      | .
    )""",
    re.VERBOSE | re.DOTALL,
)
_KINDS: Mapping[str, str] = {
    **dict.fromkeys("0123456789", "number"),
    **dict.fromkeys(f"{ascii_letters}_", "name"),
    **dict.fromkeys("-+*/%&|^~!<>=?:;,(){}[]", "sign"),
    "": "end",
}
"""What a token is, by its first character."""

_REAL_FUNCTIONS: Mapping[str, int] = {**MATH, **PROTECTED}

NESTING = 120
"""Levels of parentheses and blocks that are read."""


def parse(text: str, scope: Scope) -> tuple[tuple[Statement, ...], Scope]:
    """The statements of ``text``, and the scope after them: what they declare is there, too.

    Raises ``CompileError`` that points at what is wrong or lies beyond.
    """
    reader = _Reader(text, scope)
    found: list[Statement] = []
    while reader.kind != "end":
        found += reader.statement()
    return tuple(found), Scope(dict(reader.types), scope.arrays, scope.fixed)


def parse_expression(text: str, scope: Scope) -> tuple[Expression, int]:
    """An expression alone, and how many levels it is nested. Raises as ``parse``."""
    reader = _Reader(text, scope)
    return reader.whole_expression(), reader.deepest


class _Reader:
    """One token ahead, and where it is: the how manieth. ``types`` knows all variables by their names in the tree,
    ``names`` those in sight by theirs in C."""

    def __init__(self, text: str, scope: Scope) -> None:
        self._text = text
        self._words = [*_TOKEN.findall(text), ""]
        self._arrays = scope.arrays
        self._fixed = scope.fixed
        self.types: dict[str, Type] = dict(scope.variables)
        self._names = {name: name for name in self.types}
        self._own: set[str] = set()
        self._depth = self.deepest = 0
        self.kind, self.word, self._at = "", "", -1
        self._next()

    def _next(self) -> str:
        """Goes on by one token; returns the one left behind."""
        left = self.word
        if self.kind != "end":
            self._at += 1
            self.word = word = self._words[self._at]
            self.kind = _KINDS.get(word[:1]) or ("number" if len(word) > 1 else "other")
        return left

    def _take(self, word: str) -> bool:
        if self.word == word and self.kind != "end":
            self._next()
            return True
        return False

    def _need(self, word: str) -> None:
        if not self._take(word):
            self._fail(f"expected {word!r}, found {self.word or 'the end'!r}")

    def _fail(self, message: str, token: int | None = None) -> NoReturn:
        """``token``: its number; else the one that is next."""
        starts = [found.start(1) for found in _TOKEN.finditer(self._text)]
        at = [*starts, len(self._text)][self._at if token is None else token]
        begin = self._text.rfind("\n", 0, at) + 1
        line = self._text[begin:].split("\n", 1)[0]
        place = Place("<individual>", self._text.count("\n", 0, at) + 1, at - begin + 1, line)
        raise CompileError(message, place=place)

    def _deeper(self) -> None:
        self._depth += 1
        self.deepest = max(self.deepest, self._depth)
        if self._depth > NESTING:
            self._fail(f"this is nested more than {NESTING} levels deep")

    # -- statements -----------------------------------------------------------------------------------------------

    def statement(self) -> list[Statement]:
        if self._take(";"):
            return []
        if self.word == "{":
            return self._block()
        if self.kind != "name":
            self._fail(f"expected a statement, found {self.word or 'the end'!r}")
        known: dict[str, Callable[[], list[Statement]]] = {"if": self._if, "for": self._for, "while": self._while}
        if self.word in known:
            self._deeper()
            found = known[self.word]()
            self._depth -= 1
            return found
        found = self._declaration() if self._is_type() else self._assignment()
        self._need(";")
        return found

    def _is_type(self) -> bool:
        return self.word in TYPES or self.word == "const"

    def _block(self) -> list[Statement]:
        """What a block declares is out of sight behind it."""
        self._deeper()
        self._need("{")
        names, own = dict(self._names), self._own
        self._own = set()
        found: list[Statement] = []
        while not self._take("}"):
            found += self.statement()
        self._names, self._own = names, own
        self._depth -= 1
        return found

    def _type(self) -> Type:
        self._take("const")
        if self.word not in TYPES:
            self._fail(f"{self.word!r} is no type that is known here")
        found = TYPES[self._next()]
        if found == "unsigned":
            self._take("int")
        return found

    def _declaration(self) -> list[Statement]:
        kind = self._type()
        found: list[Statement] = []
        while True:
            if self.kind != "name":
                self._fail("only plain variables can be declared here")
            at, name = self._at, self._next()
            if name in self._own:
                self._fail(f"{name} is declared twice", at)
            # The old variable of that name is in sight until the declaration is complete.
            value = self._expression() if self._take("=") else Expression("constant", "int", (0,))
            inner = name
            while inner in self.types or inner in self._arrays:
                inner += "_"
            self._own.add(name)
            self.types[inner], self._names[name] = kind, inner
            found.append(Assign(inner, converted(value, kind)))
            if not self._take(","):
                return found

    def _assignment(self) -> list[Statement]:
        step = self._next() if self.word in ("++", "--") else ""
        at, name = self._at, self._next()
        inner = self._names.get(name, "")
        if inner in self._fixed or (name in self._arrays and not inner):
            self._fail(f"{name} is an input, which cannot be assigned", at)
        if not inner:
            self._fail(f"{name} is not declared", at)
        here = Expression("variable", self.types[inner], (inner,))
        if not step and self.word in ("++", "--"):
            step = self._next()
        if step:
            value = self._binary(step[0], here, Expression("constant", "int", (1,)), at)
        elif self._take("="):
            value = self._expression()
        elif len(self.word) > 1 and self.word[-1] == "=" and self.word not in COMPARISONS:
            sign = self._next()[:-1]
            value = self._binary(sign, here, self._expression(), at)
        else:
            self._fail(f"expected an assignment to {name}, found {self.word or 'the end'!r}")
        return [Assign(inner, converted(value, self.types[inner]))]

    def _condition(self) -> Expression:
        self._need("(")
        found = truth(self._expression())
        self._need(")")
        return found

    def _if(self) -> list[Statement]:
        self._next()
        condition = self._condition()
        then = tuple(self.statement())
        otherwise = tuple(self.statement()) if self._take("else") else ()
        return [If(condition, then, otherwise)]

    def _while(self) -> list[Statement]:
        self._next()
        return [While(self._condition(), tuple(self.statement()))]

    def _for(self) -> list[Statement]:
        self._next()
        self._need("(")
        names, own = dict(self._names), self._own
        self._own = set()
        first = [] if self.word == ";" else self._declaration() if self._is_type() else self._assignments()
        self._need(";")
        always = Expression("constant", "bool", (1,))
        condition = always if self.word == ";" else truth(self._expression())
        self._need(";")
        step = [] if self.word == ")" else self._assignments()
        self._need(")")
        body = (*self.statement(), *step)
        self._names, self._own = names, own
        return [*first, While(condition, body)]

    def _assignments(self) -> list[Statement]:
        found = self._assignment()
        while self._take(","):
            found += self._assignment()
        return found

    # -- expressions ----------------------------------------------------------------------------------------------

    def whole_expression(self) -> Expression:
        found = self._expression()
        if self.kind != "end":
            self._fail(f"expected the end, found {self.word!r}")
        return found

    def _expression(self) -> Expression:
        found = self._operators(1)
        if self._take("?"):
            one = self._expression()
            self._need(":")
            other = self._expression()
            kind = common(one, other)
            return Expression("select", kind, (truth(found), converted(one, kind), converted(other, kind)))
        return found

    def _operators(self, least: int) -> Expression:
        left = self._operand()
        while (level := LEVEL.get(self.word, 0)) >= least and self.kind == "sign":
            at, sign = self._at, self._next()
            left = self._binary(sign, left, self._operators(level + 1), at)
        return left

    def _binary(self, sign: str, left: Expression, right: Expression, at: int) -> Expression:
        if sign in ("&&", "||"):
            return Expression(sign, "bool", (truth(left), truth(right)))
        if sign in ("<<", ">>"):
            kind: Type = "int" if left.type == "bool" else left.type
            right_kind: Type = "int"
        else:
            kind = right_kind = common(left, right)
        if sign in ON_BITS and (kind in REAL or right.type in REAL):
            self._fail(f"{sign} takes whole numbers", at)
        result: Type = "bool" if sign in COMPARISONS else kind
        return Expression(sign, result, (converted(left, kind), converted(right, right_kind)))

    def _operand(self) -> Expression:
        if self.kind == "number":
            return number(self._next())
        if self.kind == "name":
            return self._named()
        at, sign = self._at, self._next()
        if sign == "(":
            self._deeper()
            if self._is_type():
                kind = self._type()
                self._need(")")
                found = converted(self._operand(), kind)
            else:
                found = self._expression()
                self._need(")")
            self._depth -= 1
            return found
        if sign in ("-", "+", "~", "!"):
            self._deeper()
            found = self._unary(sign, self._operand(), at)
            self._depth -= 1
            return found
        self._fail(f"expected a value, found {sign or 'the end'!r}", at)

    def _unary(self, sign: str, of: Expression, at: int) -> Expression:
        if sign == "!":
            return Expression("not", "bool", (truth(of),))
        kind: Type = "int" if of.type == "bool" else of.type
        of = converted(of, kind)
        if sign == "+":
            return of
        if sign == "~" and kind in REAL:
            self._fail("~ takes a whole number", at)
        if sign == "-" and of.op == "constant":
            value = of.arguments[0]
            return Expression("constant", kind, (-value if kind in REAL else -value & 0xFFFFFFFF,))
        return Expression("negate" if sign == "-" else "complement", kind, (of,))

    def _named(self) -> Expression:
        at, name = self._at, self._next()
        if self.word == "(":
            return self._call(name, at)
        if name in self._arrays and name not in self._names:
            self._need("[")
            index = self._expression()
            self._need("]")
            if index.type in REAL:
                self._fail(f"the index of {name} is no whole number", at)
            return Expression("element", self._arrays[name].type, (name, converted(index, "int")))
        if name in ("true", "false"):
            return Expression("constant", "bool", (int(name == "true"),))
        if name not in self._names:
            self._fail(f"{name} is not declared", at)
        inner = self._names[name]
        return Expression("variable", self.types[inner], (inner,))

    def _call(self, name: str, at: int) -> Expression:
        self._need("(")
        self._deeper()
        given: list[Expression] = []
        while not self._take(")"):
            given.append(self._expression())
            if self.word != ")":
                self._need(",")
        self._depth -= 1
        single = name[:-1] if name.endswith("f") and name[:-1] in _REAL_FUNCTIONS else ""
        plain = single or name
        count = _REAL_FUNCTIONS.get(plain, {"min": 2, "max": 2, "abs": 1}.get(plain, 0))
        if not count:
            self._fail(f"{name} is no function that is known here", at)
        if len(given) != count:
            self._fail(f"{name} takes {count} argument{'s' if count > 1 else ''}, not {len(given)}", at)
        kind = max((each.type for each in given), key=RANK.__getitem__)
        if plain in _REAL_FUNCTIONS:
            kind = "float" if single else kind if kind in REAL else "double"
        elif kind == "bool":
            kind = "int"
        if plain == "abs" and kind in REAL:
            plain = "fabs"
        arguments = tuple(converted(each, kind) for each in given)
        if plain in ("plog", "psqrt"):
            size = Expression("fabs", kind, arguments)
            one = converted(Expression("constant", "int", (1,)), kind)
            return (
                Expression("log", kind, (Expression("+", kind, (one, size)),))
                if plain == "plog"
                else Expression("sqrt", kind, (size,))
            )
        return Expression(plain, kind, arguments)


def number(word: str) -> Expression:
    """A literal. Whole numbers are kept as their 32 bits, without a sign."""
    if word[:2] in ("0x", "0X") or not re.search(r"[.eEfF]", word):
        plain = word.rstrip("uU")
        octal = len(plain) > 1 and plain[0] == "0" and plain.isdigit() and all(digit in "01234567" for digit in plain)
        value = int(plain, 16 if plain[:2] in ("0x", "0X") else 8 if octal else 10)
        kind: Type = "unsigned" if plain != word or value > 0x7FFFFFFF else "int"
        return Expression("constant", kind, (value & 0xFFFFFFFF,))
    if word[-1] in "fF":
        return converted(Expression("constant", "double", (float(word[:-1]),)), "float")
    return Expression("constant", "double", (float(word),))


def common(left: Expression, right: Expression) -> Type:
    """The type that both operands become."""
    kind = max(left.type, right.type, key=RANK.__getitem__)
    return "int" if kind == "bool" else kind


def truth(of: Expression) -> Expression:
    """Whether it is not zero."""
    if of.type == "bool":
        return of
    zero: Any = 0.0 if of.type in REAL else 0
    return Expression("!=", "bool", (of, Expression("constant", of.type, (zero,))))


def converted(of: Expression, kind: Type) -> Expression:
    """``of`` as a value of another type; constants at once."""
    if of.type == kind:
        return of
    if kind == "bool":
        return truth(of)
    if of.op == "constant" and of.type not in REAL:
        value = of.arguments[0]
        if kind not in REAL:
            return Expression("constant", kind, (value & 0xFFFFFFFF,))
        if of.type == "int" and value > 0x7FFFFFFF:
            value -= 1 << 32
        if kind == "double" or abs(value) < 1 << 24:
            return Expression("constant", kind, (float(value),))
    return Expression("convert", kind, (of,))
