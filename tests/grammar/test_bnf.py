"""Grammars in Backus-Naur form: what they mean, and what is wrong with those that mean nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.errors import Misuse
from kernelwright.grammar import Grammar, Symbol, load_problem
from kernelwright.grammar.problems import NAMES, path_of
from tests.examples import few


def test_rules_alternatives_and_text() -> None:
    grammar = Grammar.parse("<sum> ::= <value> + <value> | <value>\n<value> ::= x | 1\n   | (<sum>)\n")
    assert grammar.start == "sum"
    assert grammar.rules["sum"] == ((Symbol("value"), " + ", Symbol("value")), (Symbol("value"),))
    assert grammar.rules["value"] == (("x",), ("1",), ("(", Symbol("sum"), ")"))
    assert grammar.depths == {"sum": 2, "value": 1}


def test_escapes_comments_and_signs_that_begin_no_symbol() -> None:
    text = "// the start\n<a> ::= i < 3 #or# b#greater#2#nl# | #empty#\n// between | <nothing>\n  | x<=<b>\n<b> ::= 1"
    grammar = Grammar.parse(text)
    assert grammar.rules["a"] == (("i < 3 | b>2\n",), (), ("x<=", Symbol("b")))


def test_what_is_printed_parses_to_the_same() -> None:
    for name in NAMES:
        grammar = load_problem(path_of(name)).language
        again = Grammar.parse(str(grammar), grammar.start)
        assert (again.rules, again.start) == (grammar.rules, grammar.start)


symbols = st.sampled_from(["a", "b", "c-d"])
words = st.text(alphabet="xy01 +(){};|<>\n", min_size=1, max_size=6).filter(lambda w: w.strip() == w)


@settings(max_examples=few(50), deadline=None)
@given(st.lists(st.lists(st.one_of(words, symbols.map(Symbol)), min_size=1, max_size=4), min_size=1, max_size=4))
def test_any_grammar_survives_being_printed(alternatives: list[list[Symbol | str]]) -> None:
    joined = []
    for each in alternatives:
        parts: list[Symbol | str] = []
        for part in each:
            if parts and isinstance(part, str) and isinstance(parts[-1], str):
                parts[-1] += part
            else:
                parts.append(part)
        joined.append(tuple(parts))
    rules = dict.fromkeys(("a", "b", "c-d"), (("1",), *joined))
    grammar = Grammar(rules, "a")
    assert Grammar.parse(str(grammar)).rules == rules


@pytest.mark.parametrize(
    ("text", "says", "line", "column"),
    [
        ("<a> ::= x | <b>", "<b> has no rule", 1, 13),
        ("<a> ::= x\n<value> ::= <a> | <vaule>", "<vaule> has no rule", 2, 19),
        ("x ::= 1", "begins with a rule", 1, 1),
        ("<a> ::= x\n<a> ::= y", "<a> has two rules", 2, 1),
        ("<a> ::= x | | y", "alternative of <a> is empty", 1, 11),
        ("<a> ::= x |", "alternative of <a> is empty", 1, 11),
        ("<a> ::= x | y |\n<b> ::= z", "alternative of <a> is empty", 1, 15),
        ("<a> ::=", "alternative of <a> is empty", 1, 7),
        ("<a> ::= | x", "alternative of <a> is empty", 1, 7),
        ("<a> ::= x <b> ::= y", "::= stands where no rule begins", 1, 15),
        ("<a> ::= x | <b>\n\n  <b> ::= ( <c> ) | <b> + <b>\n<c> ::= <b>", "<b> never ends", 3, 3),
        ("<a> ::= <a>", "<a> never ends", 1, 1),
    ],
)
def test_what_is_wrong_is_pointed_at(text: str, says: str, line: int, column: int) -> None:
    with pytest.raises(Misuse, match=says.replace("(", r"\(").replace("|", r"\|")) as raised:
        Grammar.parse(text, file="my.bnf")
    place = raised.value.place
    assert place is not None and (place.file, place.line, place.column) == ("my.bnf", line, column)
    assert place.text == text.splitlines()[line - 1] and raised.value.hint


@pytest.mark.parametrize("text", ["", "\n\n", "// nothing"])
def test_an_empty_grammar_is_refused(text: str) -> None:
    with pytest.raises(Misuse, match="no rule"):
        Grammar.parse(text)


def test_a_start_without_a_rule_is_refused_with_a_guess() -> None:
    with pytest.raises(Misuse, match="start symbol <vlaue>") as raised:
        Grammar.parse("<value> ::= x", start="vlaue")
    assert "<value>" in str(raised.value.hint)


def test_a_symbol_that_never_ends_and_is_never_met_does_no_harm() -> None:
    assert Grammar.parse("<a> ::= x\n<b> ::= <b>").idle == ("b",)
