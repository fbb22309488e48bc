"""Derivations grown to a depth: how a first generation gets programs that differ, in a grammar that mostly leads to itself.

begin with the start symbol, and a depth
a symbol drawn from those that are open, wherever it stands: of its alternatives one drawn from those that can end in time
the last open symbol that can lead to the whole depth takes an alternative that does

This is position-independent grow (Fagan, Fenton and O'Neill 2016) over a ramp of depths (Koza 1992). Integers drawn evenly from all
there are, as in paper 001, derive in ``<e> ::= <e>+<e> | <e>*<e> | <v>`` either a single ``<v>`` or nothing that ends.
"""

from __future__ import annotations

import random
from typing import NamedTuple

from kernelwright.errors import Misuse
from kernelwright.grammar.bnf import Grammar
from kernelwright.grammar.genotype import CODON_BITS, Genotype

DEEPER = (1, 6)
"""Rules that a random derivation may be deeper than the shallowest one: the ends of the ramp."""


class _Node(NamedTuple):
    choice: int
    alternatives: int
    """How many there were."""
    inside: list[int]
    """The nodes of the symbols it leads to, the last one first, as ``Grammar.numbered`` has them."""


class _Open(NamedTuple):
    """A symbol without an alternative so far."""

    symbol: int
    left: int
    """Rules that its derivation may be deep."""
    owner: list[int]
    place: int
    """Where the number of its node goes: ``owner[place]``."""


def grown_genotype(
    grammar: Grammar, dice: random.Random, codons: int, longest: int, symbol: int | None = None
) -> Genotype:
    """Integers that derive a program, and random ones behind them, ``codons`` at least; of a depth drawn from the ramp.

    ``longest``: choices that the derivation may take; where one takes more, a shallower one is grown. ``symbol``: the number of
    the rule to begin with, if not the start's. Raises ``Misuse`` when the shallowest takes more, too.
    """
    root = grammar.numbered[1] if symbol is None else symbol
    least = min(grammar.least_depths[root])
    depth = least + dice.randint(*DEEPER)
    while (choices := grow(grammar, dice, depth, longest, root)) is None:
        depth -= 1
        if depth < least:
            raise Misuse(
                f"the shallowest derivations of this grammar take more than {longest} choices",
                hint=f"allow more of them: settings={{'longest': {4 * longest}}}",
            )
    most = 1 << CODON_BITS
    taken = [choice + count * dice.randrange(most // count) for choice, count in choices]
    return tuple(taken + [dice.getrandbits(CODON_BITS) for _ in range(codons - len(taken))])


def grow(
    grammar: Grammar, dice: random.Random, depth: int, longest: int, symbol: int | None = None
) -> list[tuple[int, int]] | None:
    """The choices of a random derivation, leftmost first, each with how many alternatives there were. It is ``depth`` rules deep
    at most, and somewhere exactly as deep, unless the grammar has none such; ``depth`` is at least that of the shallowest one. None
    when it takes more than ``longest`` choices."""
    rules, start = grammar.numbered
    least, recursive = grammar.least_depths, grammar.recursive
    root = start if symbol is None else symbol
    nodes: list[_Node] = []
    top = [0]
    todo = [_Open(root, depth, top, 0)]
    able = int(recursive[root])  # how many of those open can lead as deep as wanted
    is_deep = False
    while todo:
        at = dice.randrange(len(todo))
        todo[at], todo[-1] = todo[-1], todo[at]
        here, left, owner, place = todo.pop()
        able -= recursive[here]
        fitting = [n for n, need in enumerate(least[here]) if need <= left]
        if recursive[here] and not able and not is_deep:
            fitting = [n for n in fitting if any(recursive[each] for each in _symbols(rules[here][n]))] or fitting
        choice = dice.choice(fitting)
        symbols = _symbols(rules[here][choice])
        inside = [0] * len(symbols)
        owner[place] = len(nodes)
        nodes.append(_Node(choice, len(rules[here]), inside))
        is_deep = is_deep or left == 1
        if len(nodes) + len(todo) + len(symbols) > longest:
            return None
        todo += [_Open(each, left - 1, inside, n) for n, each in enumerate(symbols)]
        able += sum(recursive[each] for each in symbols)
    return _in_order(nodes, top[0])


def _in_order(nodes: list[_Node], root: int) -> list[tuple[int, int]]:
    """Leftmost first."""
    found: list[tuple[int, int]] = []
    todo = [root]
    while todo:
        node = nodes[todo.pop()]
        found.append((node.choice, node.alternatives))
        todo += node.inside
    return found


def _symbols(alternative: list[int | str]) -> list[int]:
    return [part for part in alternative if isinstance(part, int)]
