"""A genotype read by a grammar: integers choose alternatives, and what comes out is the text of a program (paper 001).

begin with the start symbol
the leftmost symbol: its rule has n alternatives; the next integer modulo n is the one to take
every symbol takes an integer, also where there is one alternative only
at the last integer: on from the first
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice
from typing import Any, NamedTuple

from kernelwright.cache import content_key
from kernelwright.grammar.bnf import Grammar
from kernelwright.lazy_dataclasses import dataclass

CODONS = 4000
"""Integers that one derivation may take. The paper's wraps without limit; one this long is on its way to no end."""


@dataclass(frozen=True)
class Derivation:
    """A program. ``choices``: the alternative taken at each step, which is what two equal derivations share."""

    text: str
    choices: tuple[int, ...]
    codons: int
    """How many integers the genotype has; ``used`` are those that were read, each perhaps several times."""

    @property
    def used(self) -> int:
        """How many integers of the genotype were read at least once."""
        return min(len(self.choices), self.codons)

    @property
    def wraps(self) -> int:
        """How often it went on from the first integer."""
        return (len(self.choices) - 1) // self.codons if self.choices else 0

    @property
    def key(self) -> str:
        """Equal for derivations of the same program."""
        return content_key([self.text])


def derive(
    grammar: Grammar, genotype: Sequence[int], limit: int = CODONS, symbol: int | None = None
) -> Derivation | None:
    """The program of a genotype; None when it takes more than ``limit`` integers. ``symbol``: the number of the rule to begin
    with, if not the start's. Raises ``ValueError`` for an empty genotype."""
    if not genotype:
        raise ValueError("a genotype has at least one integer")
    rules = grammar.led
    parts: list[str] = []
    choices: list[int] = []
    todo: list[Any] = [None, grammar.numbered[1] if symbol is None else symbol]
    say, take, choose = parts.append, todo.pop, choices.append
    for codon in islice(cycle(genotype), limit + 1):
        part = take()
        while part.__class__ is str:
            say(part)
            part = take()
        if part is None:
            return Derivation("".join(parts), tuple(choices), len(genotype))
        count, alternatives = rules[part]
        choice = codon % count
        choose(choice)
        lead, rest = alternatives[choice]
        say(lead)
        todo += rest
    return None


def text_of(grammar: Grammar, choices: Sequence[int], symbol: int | None = None) -> str:
    """The text that whole choices derive. ``symbol`` as for ``derive``."""
    rules = grammar.led
    parts: list[str] = []
    todo: list[Any] = [grammar.numbered[1] if symbol is None else symbol]
    for choice in choices:
        part = todo.pop()
        while part.__class__ is str:
            parts.append(part)
            part = todo.pop()
        lead, rest = rules[part][1][choice]
        parts.append(lead)
        todo += rest
    parts += todo[::-1]
    return "".join(parts)


def steps(grammar: Grammar, derivation: Derivation) -> list[str]:
    """The derivation told step by step: what stands there before each choice, and at last the program."""
    rules, start = grammar.numbered
    names = list(grammar.rules)
    done: list[str] = []
    todo: list[int | str] = [start]
    told = []
    for choice in derivation.choices:
        while isinstance(todo[-1], str):
            done.append(str(todo.pop()))
        rest = "".join(each if isinstance(each, str) else f"<{names[each]}>" for each in reversed(todo))
        told.append("".join(done) + rest)
        todo += rules[todo.pop()][choice]  # type: ignore[index]
    return [*told, derivation.text]


class Span(NamedTuple):
    """The choices that one symbol led to, those of the symbols inside included: from ``begin`` up to ``end``."""

    symbol: int
    """Its number among the grammar's rules."""
    begin: int
    end: int


class Layout(NamedTuple):
    """By the number of a choice: its symbol's number among the grammar's rules, and where its text begins."""

    symbols: list[int]
    letters: list[int]


def layout(grammar: Grammar, choices: Sequence[int], symbol: int | None = None) -> Layout:
    """Of whole choices. ``symbol`` as for ``derive``."""
    measured = grammar.measured
    symbols: list[int] = []
    begins: list[int] = []
    todo = [grammar.numbered[1] if symbol is None else symbol]
    letters = 0
    for choice in choices:
        part = todo.pop()
        while part < 0:
            letters += ~part
            part = todo.pop()
        symbols.append(part)
        begins.append(letters)
        todo += measured[part][choice][0]
    return Layout(symbols, begins)


def extent(grammar: Grammar, choices: Sequence[int], symbols: Sequence[int], at: int) -> tuple[int, int]:
    """What the symbol of a choice led to, those of the symbols inside included: one behind its last choice, and how many letters. A
    derivation is leftmost, so the choices of a symbol stand together, and so does its text."""
    measured = grammar.measured
    open_ones, letters = 1, 0
    while open_ones:
        _, inside, length = measured[symbols[at]][choices[at]]
        open_ones += inside - 1
        letters += length
        at += 1
    return at, letters


def spans(grammar: Grammar, derivation: Derivation) -> list[Span]:
    """One for each choice, in their order."""
    choices = derivation.choices
    symbols = layout(grammar, choices).symbols
    return [Span(symbol, at, extent(grammar, choices, symbols, at)[0]) for at, symbol in enumerate(symbols)]
