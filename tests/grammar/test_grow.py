"""Programs grown to a depth: they are derivations, as deep as was asked, and differ in grammars that lead to themselves."""

from __future__ import annotations

import random

import pytest

from kernelwright.errors import Misuse
from kernelwright.grammar import Grammar, derive
from kernelwright.grammar.breeding import Breeding, Dials
from kernelwright.grammar.derivation import spans, text_of
from kernelwright.grammar.grow import grow, grown_genotype
from kernelwright.search.generations import Generations
from tests.grammar.everything import GRAMMAR

PAGIE = Grammar.parse("<e> ::= <e>+<e> | <e>-<e> | <e>*<e> | pdiv(<e>,<e>) | <v>\n<v> ::= x | y | 1.0f")
EVERYTHING = Grammar.parse(GRAMMAR)
LIST = Grammar.parse("<s> ::= <a>;<s> | <a>\n<a> ::= x=<n> | y=<n>\n<n> ::= 1 | 2 | (<n>)")


def depth(grammar: Grammar, choices: list[int]) -> int:
    """Of a derivation, counted from its spans: how many stand inside of one another."""
    found = derive(grammar, choices)
    assert found is not None
    inside = spans(grammar, found)
    return max(sum(a.begin <= b.begin < a.end for a in inside) for b in inside)


@pytest.mark.parametrize("grammar", [PAGIE, EVERYTHING, LIST], ids=["pagie", "everything", "list"])
def test_a_derivation_is_exactly_as_deep_as_asked(grammar: Grammar) -> None:
    dice = random.Random(1)
    least = int(grammar.depths[grammar.start])
    for wanted in range(least, least + 5):
        for _ in range(8):
            choices = grow(grammar, dice, wanted, 4000)
            assert choices is not None and depth(grammar, [choice for choice, _ in choices]) == wanted


def test_a_grammar_with_a_greatest_depth_is_grown_within_it() -> None:
    grammar = Grammar.parse("<s> ::= <a><a>\n<a> ::= 1 | 2")
    choices = grow(grammar, random.Random(1), 9, 100)
    assert choices is not None and depth(grammar, [choice for choice, _ in choices]) == 2
    assert grammar.recursive == [False, False] and LIST.recursive == [True, True, True]
    assert PAGIE.recursive == [True, False]


def test_a_genotype_derives_what_was_grown_and_stays_within_its_bound() -> None:
    dice = random.Random(2)
    for codons, longest in ((221, 221), (5, 40), (60, 9)):
        for _ in range(60):
            genotype, choices = grown_genotype(PAGIE, dice, codons, longest)
            found = derive(PAGIE, genotype, longest)
            assert found is not None and found.choices == choices and found.text == text_of(PAGIE, choices)
            assert found is not None and len(found.choices) <= longest and len(genotype) >= codons
            assert len(found.choices) <= len(genotype) and found.wraps == 0
            assert all(0 <= integer < 1 << 31 for integer in genotype)


def test_the_alternatives_of_the_first_symbol_are_all_taken() -> None:
    dice = random.Random(3)
    firsts = {grown_genotype(EVERYTHING, dice, 1, 4000, symbol=4)[0][0] % 18 for _ in range(400)}
    assert len(firsts) == 18


def test_what_cannot_be_short_enough_is_told() -> None:
    with pytest.raises(Misuse, match="more than 2 choices") as raised:
        grown_genotype(Grammar.parse("<s> ::= <a><a><a>\n<a> ::= x | <s>"), random.Random(1), 10, 2)
    assert "'longest': 8" in str(raised.value)


def test_a_first_generation_of_a_recursive_grammar_is_distinct() -> None:
    generation = Generations(Breeding(PAGIE), seed=1, rates=Dials(population=600)).ask()
    assert len({each.text for each in generation}) == 600
    lengths = sorted(len(each.derivation.choices) for each in generation)
    assert lengths[0] <= 7 and lengths[-1] > 60
    drawn = Generations(Breeding(PAGIE, initial="random"), seed=1, rates=Dials(population=600)).ask()
    assert len({each.text for each in drawn}) < 500
