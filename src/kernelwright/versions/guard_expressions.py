"""The numbers that guards of Python versions compare: expressions over a function's arguments, compiled once.

    rows * columns          names are arguments, or what ``sizes`` derives from them
    a.shape[0] // 32        arrays have shape, size, ndim and nbytes

Only arithmetic of whole numbers, ``min``, ``max``, ``abs`` and ``len``: an expression does nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass

_CALLS = {"min": min, "max": max, "abs": abs, "len": len}
_ATTRIBUTES = frozenset({"shape", "size", "ndim", "nbytes"})
_PLAIN = (
    ast.Expression, ast.BinOp, ast.UnaryOp, ast.Name, ast.Load, ast.Constant, ast.Subscript, ast.Add, ast.Sub, ast.Mult,
    ast.FloorDiv, ast.Mod, ast.USub, ast.UAdd,
)  # fmt: skip


@dataclass(frozen=True)
class GuardExpression:
    """An expression, the names in it, and the function of these names, by position, to its value."""

    text: str
    names: tuple[str, ...]
    function: Callable[..., Any]

    def value(self, given: Mapping[str, Any]) -> int:
        """Its value for these names. Raises ``Misuse`` for a name that is missing, or a value that is no whole number."""
        try:
            found = self.function(*[given[name] for name in self.names])
        except KeyError as error:
            known = ", ".join(given) or "nothing"
            raise Misuse(
                f"the guard {self.text!r} needs {error.args[0]}, and there is {known}",
                hint="derive it from the arguments with sizes=",
            ) from None
        if isinstance(found, int):
            return found
        try:
            return int(found.__index__())
        except AttributeError:
            raise Misuse(f"the guard {self.text!r} is {found!r}, no whole number", hint="divide with //") from None


def guard_expression(text: str) -> GuardExpression:
    """The expression that ``text`` is. Raises ``Misuse`` for what is none, or does more than compute."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        raise Misuse(f"the guard {text!r} is no expression: {error.msg}", hint="as in rows * columns") from None
    for node in ast.walk(tree):
        _check(node, text)
    found = (node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    names = tuple(dict.fromkeys(name for name in found if name not in _CALLS))
    code = compile(f"lambda {', '.join(names)}: {ast.unparse(tree)}", f"<guard {text}>", "eval")
    return GuardExpression(text, names, eval(code, {"__builtins__": {}, **_CALLS}))


def _check(node: ast.AST, text: str) -> None:
    """Raises ``Misuse`` for a part that an expression may not have."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CALLS and not node.keywords:
        return
    if isinstance(node, ast.Attribute) and node.attr in _ATTRIBUTES:
        return
    if isinstance(node, ast.Constant) and (not isinstance(node.value, int) or isinstance(node.value, bool)):
        raise Misuse(f"the guard {text!r} has {node.value!r} in it", hint="guards compare whole numbers")
    if not isinstance(node, _PLAIN):
        raise Misuse(
            f"the guard {text!r} is more than arithmetic of whole numbers",
            hint="+ - * // % min max abs len, and shape, size, ndim and nbytes of arrays",
        )
