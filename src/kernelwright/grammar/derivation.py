"""A genotype read by a grammar: integers choose alternatives, and what comes out is the text of a program (paper 001).

begin with the start symbol
the leftmost symbol: its rule has n alternatives; the next integer modulo n is the one to take
every symbol takes an integer, also where there is one alternative only
at the last integer: on from the first
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

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
    rules, start = grammar.numbered
    parts: list[str] = []
    choices: list[int] = []
    codons = len(genotype)
    todo: list[int | str] = [start if symbol is None else symbol]
    while todo:
        part = todo.pop()
        if isinstance(part, str):
            parts.append(part)
            continue
        if len(choices) == limit:
            return None
        alternatives = rules[part]
        choice = genotype[len(choices) % codons] % len(alternatives)
        choices.append(choice)
        todo += alternatives[choice]
    return Derivation("".join(parts), tuple(choices), codons)


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


def spans(grammar: Grammar, derivation: Derivation) -> list[Span]:
    """One for each choice, in their order: derivations are leftmost, so what a symbol leads to stands together."""
    rules, start = grammar.numbered
    symbols: list[int] = []
    inside: list[int] = []
    todo = [start]
    for choice in derivation.choices:
        symbol = todo.pop()
        met = [part for part in rules[symbol][choice] if isinstance(part, int)]
        symbols.append(symbol)
        inside.append(len(met))
        todo += met
    ends: list[int] = []
    found: list[Span] = []
    for at in range(len(symbols) - 1, -1, -1):
        end = at + 1
        for _ in range(inside[at]):
            end = ends.pop()
        ends.append(end)
        found.append(Span(symbols[at], at, end))
    return found[::-1]
