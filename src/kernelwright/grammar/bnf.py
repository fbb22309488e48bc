"""A grammar in Backus-Naur form: the language that programs are bred in.

    <sum>   ::= <value> + <value> | <value>       a rule: a symbol and its alternatives
    <value> ::= x | 1 | 2                         text outside of angle brackets stands for itself, spaces inside included
              | (<sum>)                           a rule goes on in the next line
    // a comment

``#lesser#``, ``#greater#``, ``#or#`` and ``#nl#`` stand for ``<``, ``>``, ``|`` and a new line, as in paper 001; ``#empty#``
for nothing. Where ``<`` cannot begin a symbol it stands for itself: ``i < n``.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from kernelwright.errors import Misuse, Place
from kernelwright.lazy_dataclasses import dataclass

ESCAPES: Mapping[str, str] = {"#lesser#": "<", "#greater#": ">", "#or#": "|", "#nl#": "\n", "#empty#": ""}

_SYMBOL = re.compile(r"<([A-Za-z][\w-]*)>")
_RULE = re.compile(r"\s*<([A-Za-z][\w-]*)>\s*::=")
_ESCAPE = re.compile("|".join(map(re.escape, ESCAPES)))


@dataclass(frozen=True)
class Symbol:
    """A use of a rule."""

    name: str

    def __str__(self) -> str:
        return f"<{self.name}>"


Alternative = tuple[Symbol | str, ...]


@dataclass(frozen=True)
class Grammar:
    """Rules by the name of their symbol, in the order in which they were written; derivations begin at ``start``.

    Use ``Grammar.parse``: it checks that every symbol has a rule and that every derivation can end.
    """

    rules: Mapping[str, tuple[Alternative, ...]]
    start: str

    @classmethod
    def parse(cls, text: str, start: str = "", file: str = "<grammar>") -> Grammar:
        """``start``: the symbol to begin with; the first rule's without one.

        Raises ``Misuse`` that points at what is wrong: no rule where one should be, a symbol without a rule, two rules of one
        symbol, an empty alternative, a symbol whose derivation never ends.
        """
        rules = {rule.name: rule for rule in _rules(text, file)}
        start = start.strip("<>") or next(iter(rules))
        if start not in rules:
            raise Misuse(f"{file}: there is no rule for the start symbol <{start}>", hint=_there_are(start, rules))
        for rule in rules.values():
            rule.check_symbols(rules)
        grammar = cls({name: rule.alternatives for name, rule in rules.items()}, start)
        for name in grammar.reachable:
            if math.isinf(grammar.depths[name]):
                rule = rules[name]
                raise Misuse(
                    f"a derivation of <{name}> never ends: each of its alternatives leads to one that has no end",
                    place=rule.place(rule.at),
                    hint="give it an alternative of plain text, or of symbols that have one",
                )
        return grammar

    @cached_property
    def depths(self) -> Mapping[str, float]:
        """How many rules deep the shallowest derivation of each symbol is; infinite where there is none."""
        depths = dict.fromkeys(self.rules, math.inf)
        changed = True
        while changed:
            changed = False
            for name, alternatives in self.rules.items():
                found = min(self._depth(each, depths) for each in alternatives)
                if found < depths[name]:
                    depths[name], changed = found, True
        return depths

    @staticmethod
    def _depth(alternative: Alternative, depths: Mapping[str, float]) -> float:
        return 1 + max((depths[part.name] for part in alternative if isinstance(part, Symbol)), default=0)

    @cached_property
    def reachable(self) -> tuple[str, ...]:
        """The symbols that derivations can meet, from ``start`` on."""
        found = {self.start: None}
        todo = [self.start]
        while todo:
            for alternative in self.rules[todo.pop()]:
                for part in alternative:
                    if isinstance(part, Symbol) and part.name not in found:
                        found[part.name] = None
                        todo.append(part.name)
        return tuple(found)

    @cached_property
    def numbered(self) -> tuple[list[list[list[int | str]]], int]:
        """The rules by number, each alternative backwards, as derivations take them from a stack; the start's number."""
        names = {name: n for n, name in enumerate(self.rules)}
        rules = [
            [
                [names[part.name] if isinstance(part, Symbol) else part for part in reversed(each)]
                for each in alternatives
            ]
            for alternatives in self.rules.values()
        ]
        return rules, names[self.start]

    @cached_property
    def led(self) -> list[tuple[int, list[tuple[str, list[Any]]]]]:
        """Of each rule, by number: how many alternatives it has; of each the text before its first symbol, and the rest as ``numbered``
        has it."""
        found = []
        for alternatives in self.numbered[0]:
            split = [
                (each[-1], each[:-1]) if each and isinstance(each[-1], str) else ("", each) for each in alternatives
            ]
            found.append((len(split), split))
        return found

    @cached_property
    def measured(self) -> list[list[tuple[list[int], int, int]]]:
        """Of each alternative of each rule, by number: as ``numbered`` has it, but with ``~n`` for a text of ``n`` letters; how many
        symbols it has; how many letters."""
        rules, _ = self.numbered
        return [
            [
                (
                    [part if isinstance(part, int) else ~len(part) for part in each],
                    sum(isinstance(part, int) for part in each),
                    sum(len(part) for part in each if isinstance(part, str)),
                )
                for each in alternatives
            ]
            for alternatives in rules
        ]

    @cached_property
    def symbols(self) -> list[list[list[int]]]:
        """Of each alternative of each rule, by number: the symbols in it, the last one first."""
        return [
            [[part for part in each if isinstance(part, int)] for each in alternatives]
            for alternatives in self.numbered[0]
        ]

    @cached_property
    def least_depths(self) -> list[list[int]]:
        """Of each alternative of each rule, by number: how many rules deep its shallowest derivation is, its own included."""
        return [[int(self._depth(each, self.depths)) for each in rule] for rule in self.rules.values()]

    @cached_property
    def recursive(self) -> list[bool]:
        """Of each rule, by number: whether its derivations have no greatest depth, as it leads to itself or to one that does."""
        rules, _ = self.numbered
        inside = [{part for each in rule for part in each if isinstance(part, int)} for rule in rules]
        changed = True
        while changed:
            changed = False
            for each in inside:
                more = set[int]().union(*(inside[symbol] for symbol in each)) - each
                each |= more
                changed = changed or bool(more)
        own = [number in each for number, each in enumerate(inside)]
        return [own[number] or any(own[symbol] for symbol in each) for number, each in enumerate(inside)]

    def fitting(self, symbol: int, depth: int) -> tuple[list[int], list[int]]:
        """The alternatives of a rule, by number, whose derivations can be that many rules deep at most; those of them that lead to a
        rule without a greatest depth, or all where none does."""
        found = self._fitting.get((symbol, depth))
        if found is None:
            every = [n for n, need in enumerate(self.least_depths[symbol]) if need <= depth]
            deep = [n for n in every if any(self.recursive[each] for each in self.symbols[symbol][n])]
            found = self._fitting[symbol, depth] = every, deep or every
        return found

    @cached_property
    def _fitting(self) -> dict[tuple[int, int], tuple[list[int], list[int]]]:
        return {}

    @property
    def idle(self) -> tuple[str, ...]:
        """Rules that no derivation meets."""
        return tuple(name for name in self.rules if name not in self.reachable)

    def __str__(self) -> str:
        """As text that parses to an equal grammar, given the same start."""
        lines = []
        for name, alternatives in self.rules.items():
            head = f"<{name}> ::= "
            lines.append(head + " | ".join("".join(map(_escaped, each)) or "#empty#" for each in alternatives))
        return "\n".join(lines)


@dataclass
class _Rule:
    """A rule as it was read; ``at`` and the numbers in ``uses`` count characters from the beginning of the text."""

    name: str
    text: str
    file: str
    at: int
    alternatives: tuple[Alternative, ...] = ()
    uses: tuple[tuple[str, int], ...] = ()

    def place(self, at: int) -> Place:
        return _place(self.text, self.file, at)

    def check_symbols(self, rules: Mapping[str, _Rule]) -> None:
        for name, at in self.uses:
            if name not in rules:
                raise Misuse(f"<{name}> has no rule", place=self.place(at), hint=_there_are(name, rules))


def _rules(text: str, file: str) -> Iterator[_Rule]:
    seen: dict[str, int] = {}
    for at, block in _blocks(text, file):
        head = _RULE.match(block)
        assert head is not None
        rule = _Rule(head[1], text, file, at + block.index("<"))
        if rule.name in seen:
            raise Misuse(
                f"<{rule.name}> has two rules",
                place=rule.place(rule.at),
                hint=f"the other is in line {rule.place(seen[rule.name]).line}; put all its alternatives into one",
            )
        seen[rule.name] = rule.at
        _read_alternatives(rule, block, head.end(), at)
        yield rule
    if not seen:
        raise Misuse(f"{file}: there is no rule in this grammar", hint="as <sum> ::= <sum> + x | x")


def _blocks(text: str, file: str) -> Iterator[tuple[int, str]]:
    """A rule with the lines it goes on in, comments blanked out; where it begins."""
    begin, block, at = 0, "", 0
    for line in text.splitlines(keepends=True):
        shown = " " * len(line) if line.lstrip().startswith("//") else line
        if _RULE.match(shown):
            if block:
                yield begin, block
            begin, block = at, shown
        elif block:
            block += shown
        elif shown.strip():
            column = len(shown) - len(shown.lstrip())
            raise Misuse(
                "a grammar begins with a rule", place=_place(text, file, at + column), hint="as <sum> ::= <sum> + x | x"
            )
        at += len(line)
    if block:
        yield begin, block


def _read_alternatives(rule: _Rule, block: str, begin: int, offset: int) -> None:
    if "::=" in block[begin:]:
        at = offset + block.index("::=", begin)
        raise Misuse("::= stands where no rule begins", place=rule.place(at), hint="begin a rule on a line of its own")
    alternatives, uses = [], []
    at = begin
    for piece in block[begin:].split("|"):
        if not piece.strip():
            raise Misuse(
                f"an alternative of <{rule.name}> is empty",
                place=rule.place(offset + at - 1),
                hint="write #empty# for nothing, #or# for |",
            )
        parts: list[Symbol | str] = []
        for word, name, column in _words(piece):
            parts.append(Symbol(name) if name else word)
            if name:
                uses.append((name, offset + at + column))
        alternatives.append(tuple(parts))
        at += len(piece) + 1
    rule.alternatives, rule.uses = tuple(alternatives), tuple(uses)


def _words(piece: str) -> Iterator[tuple[str, str, int]]:
    """Text, or the name of a symbol, with where it stands; the space around an alternative belongs to none."""
    lead = len(piece) - len(piece.lstrip())
    body = piece.strip()
    at = 0
    for found in _SYMBOL.finditer(body):
        if plain := _plain(body[at : found.start()]):
            yield plain, "", lead + at
        yield "", found[1], lead + found.start()
        at = found.end()
    if plain := _plain(body[at:]):
        yield plain, "", lead + at


def _plain(text: str) -> str:
    """What a terminal stands for: a line break in the grammar is a space."""
    return _ESCAPE.sub(lambda found: ESCAPES[found[0]], re.sub(r"\s*\n\s*", " ", text))


def _escaped(part: Symbol | str) -> str:
    if isinstance(part, Symbol):
        return str(part)
    back = {text: name for name, text in ESCAPES.items() if text}
    return "".join(back.get(letter, letter) for letter in part)


def _place(text: str, file: str, at: int) -> Place:
    line = text.count("\n", 0, at)
    begin = text.rfind("\n", 0, at) + 1
    return Place(file, line + 1, at - begin + 1, text[begin:].split("\n", 1)[0])


def _there_are(name: str, rules: Mapping[str, object]) -> str:
    near = difflib.get_close_matches(name, rules, n=2)
    return f"did you mean {' or '.join(f'<{each}>' for each in near)}?" if near else f"there are <{'>, <'.join(rules)}>"
