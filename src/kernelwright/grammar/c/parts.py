"""Programs that are one formula, computed part by part: a part that an earlier program had is not computed again.

    z = ((x + y) * pdiv(x, (x + y)));
        (x + y)                          -> _0
        pdiv(x, _0)                      -> _1
        (_0 * _1)                        -> _2, the answer

Children of bred programs are mostly made of what their parents had. A part is what stands in parentheses that have none inside, with the
name of the function before them. What it computes is decided by ``parse`` and ``interpret``, once for each form of a part (operators,
function and types), so that the answers are those of ``interpret``, to the bit. Whatever is more than a formula without
conditions, divisions of whole numbers and arrays, or is wrong in any way, is not for here: ``answer`` gives None.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwright.errors import CompileError, DeviceError
from kernelwright.grammar.c.interpret import OPERATIONS, convert, interpret
from kernelwright.grammar.c.parse import NESTING, number, parse_expression
from kernelwright.grammar.c.tree import REAL, Assign, Expression, Scope, Type

MOST_PARTS = 50_000
MOST_BYTES = 64 << 20
"""Of values: then all is forgotten, between two programs."""
MOST_CASES = 8_192
"""Where there are more, computing takes the time, not reading, and few parts would find room."""

_FORMULA = re.compile(r"\s*(\w+)\s*=(?!=)([\w\s().,+*/&|^~-]*);\s*")
_CONDITION = re.compile(r"&&|\|\|")
_PART = re.compile(r"(\w*)\(([^()]*)\)")
_OPERAND = re.compile(r"(\.?\d[\w.]*|[A-Za-z_]\w*)")
_PREFIX = "_"
_WHOLE_DIVISIONS = frozenset({"/", "%"})


class _Operand(NamedTuple):
    """A variable, a literal, or a part."""

    type: Type
    values: NDArray[Any]
    levels: int
    """That it is nested, as ``parse`` counts them, or more."""


class _Form(NamedTuple):
    """What is done with operands ``_0``, ``_1``, ... of given types."""

    tree: Expression
    names: tuple[str, ...]
    levels: int
    is_one_operation: bool
    """On the operands as they are."""


class Parts:
    """Of one problem, whose programs find ``variables`` of the types in ``scope`` and leave their answer in ``answer``."""

    def __init__(self, scope: Scope, variables: Mapping[str, NDArray[Any]], cases: int, answer: str) -> None:
        self._answer, self._type, self._cases = answer, scope.variables[answer], cases
        self._given = {name: _Operand(scope.variables[name], each, 0) for name, each in variables.items()}
        clashes = any(name.startswith(_PREFIX) for name in (*variables, *scope.arrays))
        self._is_usable = cases <= MOST_CASES and not clashes
        self._forms: dict[tuple[str, ...], _Form] = {}
        self._forget()

    def _forget(self) -> None:
        self._operands = dict(self._given)
        self._names: dict[str, str] = {}
        """By the text of a part, what it is called in those around it."""
        self._bytes = 0

    def answer(self, code: str) -> NDArray[Any] | None:
        """What the program leaves in the answer, one value for each case or one for all; None where that is not for here."""
        found = _FORMULA.fullmatch(code) if self._is_usable else None
        if found is None or found[1] != self._answer or _CONDITION.search(code):
            return None
        if self._bytes > MOST_BYTES or len(self._names) > MOST_PARTS:
            self._forget()
        text, names = found[2], self._names
        try:
            with np.errstate(all="ignore"):
                while "(" in text:
                    before = text
                    text = _PART.sub(lambda part: names.get(part[0]) or self._named(part), text)
                    if text == before:
                        return None  # one of them is open
                last = self._computed(text)
        except (CompileError, DeviceError, KeyError, ValueError):
            return None
        if last.levels > NESTING:
            return None
        return last.values if last.type == self._type else convert(last.values, self._type)

    def _named(self, part: re.Match[str]) -> str:
        """Computes a part that is met for the first time. Raises as ``_computed``."""
        found = self._computed(part[2], f"{part[1]}(", ")")
        name = f"{_PREFIX}{len(self._names)}"
        self._names[part[0]], self._operands[name] = name, found
        self._bytes += found.values.nbytes
        return name

    def _computed(self, inside: str, before: str = "", behind: str = "") -> _Operand:
        """Raises ``CompileError``, ``DeviceError``, ``KeyError`` or ``ValueError`` for what is none."""
        pieces = _OPERAND.split(inside)
        operands = [self._operands.get(word) or self._literal(word) for word in pieces[1::2]]
        key = (before, *pieces[::2], *[each.type for each in operands])
        form = self._forms.get(key)
        if form is None:
            form = self._forms[key] = _form(before, pieces[::2], behind, operands)
        tree, names, levels, is_one_operation = form
        values = [each.values for each in operands]
        if is_one_operation:
            found = OPERATIONS[tree.op](*values)
        elif tree.op == "variable":
            return operands[0]._replace(levels=levels + operands[0].levels)
        else:
            found = self._interpreted(tree, dict(zip(names, values, strict=True)))
        return _Operand(tree.type, found, levels + max([each.levels for each in operands], default=0))

    def _literal(self, word: str) -> _Operand:
        if word[0].isalpha() or word[0] == "_":
            raise KeyError(word)
        tree = number(word)
        found = self._operands[word] = _Operand(tree.type, self._interpreted(tree, {}), 0)
        return found

    def _interpreted(self, tree: Expression, variables: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        return interpret((Assign("value", tree),), variables, {}, self._cases)["value"]


def _form(before: str, between: Sequence[str], behind: str, operands: Sequence[_Operand]) -> _Form:
    """Read with a variable in the place of each operand. Raises ``CompileError``, and ``ValueError`` for a division that may fail."""
    names = tuple(f"{_PREFIX}{number}" for number in range(len(operands)))
    scope = Scope({name: each.type for name, each in zip(names, operands, strict=True)}, {}, frozenset(names))
    inside = "".join(piece for pair in zip(between, (*names, ""), strict=True) for piece in pair)
    tree, levels = parse_expression(f"{before}{inside}{behind}", scope)
    if _divides_whole_numbers(tree):
        raise ValueError("a division of whole numbers")
    plain = tuple(Expression("variable", each.type, (name,)) for name, each in zip(names, operands, strict=True))
    return _Form(tree, names, levels, tree.op in OPERATIONS and tree.arguments == plain)


def _divides_whole_numbers(tree: Expression) -> bool:
    return (tree.op in _WHOLE_DIVISIONS and tree.type not in REAL) or any(
        _divides_whole_numbers(each) for each in tree.arguments if isinstance(each, Expression)
    )
