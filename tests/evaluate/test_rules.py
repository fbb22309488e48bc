"""Rules as text, both ways, and the table that gives each output its rule."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.errors import Misuse
from kernelwright.evaluate.workload.comparison import (
    Absolute,
    Change,
    Exact,
    Gevo,
    Ignore,
    Metric,
    Relative,
    Rule,
    Spread,
    Ulp,
)
from kernelwright.evaluate.workload.rule_text import Entry, Rules, parse_rule, parse_rules, rules_from

NUMBERS = st.floats(min_value=0, allow_nan=False, allow_infinity=False)
NAMES = st.from_regex(r"[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)?:[a-z_][a-z0-9_]*", fullmatch=True)
RULES = st.one_of(
    st.just(Exact()),
    st.just(Ignore()),
    *(st.builds(kind, NUMBERS) for kind in (Absolute, Ulp, Change, Spread, Gevo)),
    st.builds(Relative, NUMBERS, NUMBERS),
    st.builds(Metric, NAMES, NUMBERS),
)
PATTERNS = st.text(st.characters(codec="ascii", exclude_characters=";:\n\r*"), min_size=1).map(str.strip).filter(
    lambda s: bool(s) and " as " not in f" {s} "
)  # fmt: skip
TABLES = st.builds(
    Rules,
    st.lists(st.builds(Entry, PATTERNS, RULES, st.sampled_from(["", "float32", "<i4"])), min_size=1).map(tuple),
    RULES,
)


@given(RULES)
def test_what_prints_also_parses(rule: Rule) -> None:
    assert parse_rule(str(rule)) == rule


@given(TABLES)
def test_tables_print_and_parse(table: Rules) -> None:
    assert parse_rules(str(table)) == table


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("exact", Exact()),
        ("  absolute   0.5 ", Absolute(0.5)),
        ("relative 1e-3", Relative(1e-3)),
        ("relative 1e-3 floor 1e-6", Relative(1e-3, 1e-6)),
        ("ulp 4", Ulp(4)),
        ("change 1%", Change(0.01)),
        ("spread 2.5%", Spread(0.025)),
        ("gevo 1%", Gevo(0.01)),
        ("metric mine.scores:wrong 0.1", Metric("mine.scores:wrong", 0.1)),
        ("1%", Change(0.01)),
        ("0", Exact()),
        (".5", Change(0.5)),
        ("ignore", Ignore()),
    ],
)
def test_texts_people_write(text: str, rule: Rule) -> None:
    assert parse_rule(text) == rule


@pytest.mark.parametrize(
    "text",
    ["", "exactly", "exact 1", "absolute", "absolute x", "absolute -1", "absolute nan", "absolute inf", "relative 1 floor",
     "relative 1 roof 2", "1 2", "-1%", "metric f 0.1", "metric mod:f", "metric mod: 1", "metric 1mod:f 1",
     "metric mod:<lambda> 1", "%", "1%%"],
)  # fmt: skip
def test_what_is_no_rule_names_the_forms(text: str) -> None:
    with pytest.raises(Misuse) as wrong:
        parse_rule(text)
    assert wrong.value.hint and (repr(text) in wrong.value.message or "metric" in text)


def test_a_table_gives_each_output_its_rule() -> None:
    table = parse_rules("scores: exact; temp* as float32: relative 1e-3 floor 1e-6\n *: gevo 1%")
    assert table.of("scores") == Exact()
    assert table.of("temp_out") == Relative(1e-3, 1e-6)
    assert table.type_of("temp_out") == np.float32 and table.type_of("scores") is None
    assert table.of("anything else") == Gevo(0.01)
    assert parse_rules("change 1%").of("x") == Change(0.01)
    assert parse_rules("a: ignore").of("b") == Exact()


@pytest.mark.parametrize(
    ("text", "says"),
    [("a exact; b: exact", "which output"), ("a: nonsense", "no rule"), ("a as float31: exact", "element type"),
     ("a as object: exact", "element type"), (" ; ", "empty")],
)  # fmt: skip
def test_tables_that_make_no_sense(text: str, says: str) -> None:
    with pytest.raises(Misuse, match=says):
        parse_rules(text)


def test_rules_from_whatever_a_workload_states() -> None:
    assert rules_from(0) == Rules() == rules_from(0.0)
    assert rules_from(0.01).of("x") == Change(0.01)
    assert rules_from("ulp 2").of("x") == Ulp(2)
    assert rules_from(Gevo(0.1)).of("x") == Gevo(0.1)
    table = rules_from({"out": "ulp 2", "*": Gevo(0.1)})
    assert table.of("out") == Ulp(2) and table.of("x") == Gevo(0.1)
    for wrong in (-1.0, math.nan, math.inf):
        with pytest.raises(Misuse, match="tolerance"):
            rules_from(wrong)
