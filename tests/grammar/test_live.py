"""What has no effect is left out, and what may go wrong stays."""

from __future__ import annotations

import pytest

from kernelwright.grammar.c.live import effective, read_by
from kernelwright.grammar.c.parse import parse
from kernelwright.grammar.c.tree import Array, Assign, If, Scope, Statement, While

ARRAYS = {"a": Array("int", 4)}
SCOPE = Scope({"n": "int", "m": "int", "x": "int", "y": "int", "i": "int"}, ARRAYS, frozenset({"n", "m"}))
KNOWN = {"n": (0, 3), "m": (1, 9)}


def shape(statements: tuple[Statement, ...]) -> str:
    words = []
    for each in statements:
        if isinstance(each, Assign):
            words.append(each.name)
        elif isinstance(each, If):
            words.append(f"if({shape(each.then)}|{shape(each.otherwise)})")
        else:
            assert isinstance(each, While)
            words.append(f"while({shape(each.body)})")
    return " ".join(words)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("x = 1; y = 2;", "y"),
        ("x = 1; y = x; x = 3;", "x y"),
        ("y = 1; y = 2;", "y"),
        ("y = y + 1; y = y + 2;", "y y"),
        ("if (n < 2) { x = 1; } y = n;", "y"),
        ("if (n < 2) { x = 1; } else { y = x; x = 4; }", "if(|y)"),
        ("if (n < 2) { x = 1; } y = x;", "if(x|) y"),
        ("x = 5; if (n < 2) { x = 1; } else { x = 2; } y = x;", "if(x|x) y"),
        ("x = a[n]; y = 1;", "y"),
        ("x = a[n + 1]; y = 1;", "x y"),  # may lie outside
        ("x = n / m; y = 1;", "y"),
        ("x = n / y; y = 1;", "x y"),  # may divide by zero
        ("if (n / x) { x = 1; } y = 1;", "if(|) y"),
        ("for (i = 0; i < n; i++) { x = x + i; y = y + 1; x = i; }", "i while(y i)"),
        ("for (i = 0; i < n; i++) { y = y + x; x = i; }", "i while(y x i)"),  # the next round reads it
        ("while (x < 3) { x = x + 1; }", "while(x)"),  # may not end
        ("x = 1; for (i = 0; i < n; i++) { x = 2; } y = i;", "i while(i) y"),
    ],
)
def test_what_is_left(text: str, left: str) -> None:
    statements, _ = parse(text, SCOPE)
    found = effective(statements, {"y"}, ARRAYS, KNOWN)
    assert shape(found) == left
    assert effective(found, {"y"}, ARRAYS, KNOWN) == found


def test_what_code_behind_reads() -> None:
    statements, _ = parse("x = x + i; y = x * 2; i = 4;", SCOPE)
    assert read_by(statements, {"y"}, ARRAYS) == {"x", "i"}
    assert read_by((), {"y"}, ARRAYS) == {"y"}
