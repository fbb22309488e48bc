"""C read: what is refused is pointed at."""

from __future__ import annotations

import pytest

from kernelwright.errors import CompileError
from kernelwright.grammar.c.parse import parse
from kernelwright.grammar.c.tree import Array, Assign, If, Scope, While

SCOPE = Scope({"n": "int", "m": "int", "f": "float"}, {"row": Array("int", 4)}, frozenset({"m"}))


def test_conversions_are_written_out() -> None:
    (assign,), _ = parse("f = n / 2;", SCOPE)
    assert isinstance(assign, Assign) and (assign.value.op, assign.value.type) == ("convert", "float")
    (quotient,) = assign.value.arguments
    assert (quotient.op, quotient.type) == ("/", "int")


def test_a_for_is_its_first_part_and_a_while() -> None:
    (first, loop), scope = parse("for (int i = 0; i < m; i++) { n -= i; }", SCOPE)
    assert isinstance(first, Assign) and first.name == "i" and scope.variables["i"] == "int"
    assert isinstance(loop, While) and [s.name for s in loop.body if isinstance(s, Assign)] == ["n", "i"]


def test_a_variable_of_an_inner_block_is_another_one() -> None:
    statements, _scope = parse("{ int n = 1; { int n = 2; n++; } n++; } n = 5;", SCOPE)
    assert [s.name for s in statements if isinstance(s, Assign)] == ["n_", "n__", "n__", "n_", "n"]


def test_else_belongs_to_the_nearest_if() -> None:
    (outer,), _ = parse("if (n) if (m) n = 1; else n = 2;", SCOPE)
    assert isinstance(outer, If) and not outer.otherwise
    assert isinstance(outer.then[0], If) and outer.then[0].otherwise


@pytest.mark.parametrize(
    ("text", "says", "column"),
    [
        ("n = 1", "expected ';', found 'the end'", 6),
        ("n = ;", "expected a value, found ';'", 5),
        ("x = 1;", "x is not declared", 1),
        ("n = x + 1;", "x is not declared", 5),
        ("m = 1;", "m is an input", 1),
        ("row = 1;", "row is an input", 1),
        ("row[1] = 1;", "row is an input", 1),
        ("n = row;", r"expected '\['", 8),
        ("n = row[f];", "index of row", 5),
        ("n = f % 2;", "% takes whole numbers", 7),
        ("n = ~f;", "~ takes a whole number", 5),
        ("n = rand();", "rand is no function", 5),
        ("f = sinf(1, 2);", "sinf takes 1 argument, not 2", 5),
        ("int n2; int n2;", "n2 is declared twice", 13),
        ("int *p;", "plain variables", 5),
        ("long n3;", "long is not declared", 1),
        ("n 1;", "expected an assignment to n", 3),
        ("while (n) { break; }", "break is not declared", 13),
        ("return;", "return is not declared", 1),
        ("n = 1 @ 2;", "expected ';', found '@'", 7),
        ("if n", r"expected '\('", 4),
        ("}", "expected a statement", 1),
        ("{ n = 1;", "expected a statement, found 'the end'", 9),
        ("n = " + "(" * 500 + "1" + ")" * 500 + ";", "nested more than", 126),
    ],
)
def test_what_lies_beyond_is_pointed_at(text: str, says: str, column: int) -> None:
    with pytest.raises(CompileError, match=says) as raised:
        parse(text, SCOPE)
    assert raised.value.place is not None and raised.value.place.column == column
