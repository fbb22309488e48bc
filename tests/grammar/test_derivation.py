"""From integers to programs: the paper's rules, against a reading of them by recursion."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.grammar import Grammar, derive, load_problem
from kernelwright.grammar.bnf import Symbol
from kernelwright.grammar.derivation import extent, layout, spans, steps, text_of
from kernelwright.grammar.genotype import crossover, exchange, mutate, random_genotype, unrolled
from kernelwright.grammar.problems import path_of
from tests.examples import few

GRAMMAR = Grammar.parse("<e> ::= <e> + <e> | <v> | (<e>)\n<v> ::= x | y<one>\n<one> ::= 1")
genotypes = st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=30).map(tuple)


class Reader:
    """The paper's rules as they stand: an integer for every symbol, modulo the alternatives, on from the first at the end."""

    def __init__(self, grammar: Grammar, genotype: tuple[int, ...], limit: int) -> None:
        self.grammar, self.genotype, self.left, self.at = grammar, genotype, limit, 0

    def text(self, name: str) -> str:
        if not self.left:
            raise RecursionError
        self.left -= 1
        alternatives = self.grammar.rules[name]
        chosen = alternatives[self.genotype[self.at % len(self.genotype)] % len(alternatives)]
        self.at += 1
        return "".join(self.text(part.name) if isinstance(part, Symbol) else part for part in chosen)


@settings(max_examples=few(100), deadline=None)
@given(genotypes)
def test_a_derivation_is_what_the_rules_say(genotype: tuple[int, ...]) -> None:
    reader = Reader(GRAMMAR, genotype, 60)
    try:
        expected = reader.text("e")
    except RecursionError:
        assert derive(GRAMMAR, genotype, 60) is None
        return
    found = derive(GRAMMAR, genotype, 60)
    assert found is not None and found.text == expected
    assert len(found.choices) == reader.at and found.used == min(reader.at, len(genotype))
    assert found.wraps == (reader.at - 1) // len(genotype)


def test_an_example_by_hand() -> None:
    found = derive(GRAMMAR, (3, 1, 4, 5, 1, 7))
    # 3 % 3 = 0: <e> + <e>; 1 % 3 = 1: <v>; 4 % 2 = 0: x; 5 % 3 = 2: (<e>); 1 % 3 = 1: <v>; 7 % 2 = 1: y<one>; on from 3: 1
    assert found is not None
    assert (found.text, found.choices, found.wraps, found.used) == ("x + (y1)", (0, 1, 0, 2, 1, 1, 0), 1, 6)


def test_what_takes_too_long_has_no_program() -> None:
    assert derive(GRAMMAR, (0,)) is None
    with pytest.raises(ValueError, match="at least one"):
        derive(GRAMMAR, ())


def test_equal_programs_have_equal_keys() -> None:
    one, other = derive(GRAMMAR, (1, 0)), derive(GRAMMAR, (4, 2, 9, 9))
    assert one is not None and other is not None and one.key == other.key
    third = derive(GRAMMAR, (1, 1))
    assert third is not None and third.key != one.key


def test_a_derivation_is_told_step_by_step() -> None:
    found = derive(GRAMMAR, (0, 1, 0, 1, 1))
    assert found is not None
    assert steps(GRAMMAR, found) == ["<e>", "<e> + <e>", "<v> + <e>", "x + <e>", "x + <v>", "x + y<one>", "x + y1"]


@settings(max_examples=few(60), deadline=None)
@given(genotypes)
def test_a_span_derives_the_part_of_its_symbol(genotype: tuple[int, ...]) -> None:
    found = derive(GRAMMAR, genotype, 60)
    if found is None:
        return
    for span in spans(GRAMMAR, found):
        part = derive(GRAMMAR, found.choices[span.begin : span.end], 60, span.symbol)
        assert part is not None and part.text in found.text and len(part.choices) == span.end - span.begin
    symbols, letters = layout(GRAMMAR, found.choices)
    for span in spans(GRAMMAR, found):
        end, length = extent(GRAMMAR, found.choices, symbols, span.begin)
        begin = letters[span.begin]
        text = text_of(GRAMMAR, found.choices[span.begin : end], span.symbol)
        assert end == span.end and found.text[begin : begin + length] == text
    whole = spans(GRAMMAR, found)[0]
    assert (whole.begin, whole.end) == (0, len(found.choices))


@settings(max_examples=few(60), deadline=None)
@given(genotypes, st.integers(0, 2**32))
def test_operators_keep_what_they_should(genotype: tuple[int, ...], seed: int) -> None:
    rng = random.Random(seed)
    other = random_genotype(rng, len(genotype) + 3)
    a, b = crossover(genotype, other, rng)
    assert (len(a), len(b)) == (len(other), len(genotype))
    assert all(x in (y, z) for x, y, z in zip(a, genotype, other, strict=False))
    assert sorted((*a, *b)) == sorted((*genotype, *other))
    changed = mutate(genotype, rng, 0.1, within=2)
    assert len(changed) == len(genotype) and changed[2:] == genotype[2:]
    one, two = slice(0, min(2, len(genotype))), slice(1, 3)
    c, d = exchange(genotype, one, other, two)
    assert c[: two.stop - two.start] == other[two] and sorted((*c, *d)) == sorted((*genotype, *other))


def test_unrolled_reads_the_same() -> None:
    genotype = (0, 1, 1, 2, 1)
    found = derive(GRAMMAR, genotype)
    assert found is not None and found.wraps
    long = unrolled(genotype, len(found.choices))
    again = derive(GRAMMAR, long)
    assert again is not None and again.text == found.text and again.wraps == 0
    assert unrolled((1, 2, 3), 2) == (1, 2, 3)


@pytest.mark.parametrize(
    ("name", "characters", "codons"), [("keijzer6", 7, 5), ("search", 199, 63), ("multiplier5", 124, 41)]
)
def test_random_programs_are_as_large_as_those_measured(name: str, characters: int, codons: int) -> None:
    """Medians over 300 random genotypes of 221 integers, against those of an earlier reading of the paper's listings."""
    grammar = load_problem(path_of(name)).language
    rng = random.Random(1)
    found = [d for d in (derive(grammar, random_genotype(rng)) for _ in range(300)) if d]
    texts, counts = sorted(len(d.text) for d in found), sorted(len(d.choices) for d in found)
    assert texts[150] == pytest.approx(characters, rel=0.6) and counts[150] == pytest.approx(codons, rel=0.4)
