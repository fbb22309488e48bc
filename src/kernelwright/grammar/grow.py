"""Derivations grown to a depth: how a first generation gets programs that differ, in a grammar that mostly leads to itself.

begin with the start symbol, and a depth
a symbol drawn from those that are open, wherever it stands: of its alternatives one drawn from those that can end in time
the last open symbol that can lead to the whole depth takes an alternative that does

This is position-independent grow (Fagan, Fenton and O'Neill 2016) over a ramp of depths (Koza 1992). Integers drawn evenly from all
there are, as in paper 001, derive in ``<e> ::= <e>+<e> | <e>*<e> | <v>`` either a single ``<v>`` or nothing that ends.
"""

from __future__ import annotations

import random

from kernelwright.errors import Misuse
from kernelwright.grammar.bnf import Grammar
from kernelwright.grammar.genotype import CODON_BITS, Genotype
from kernelwright.search.generations import below

DEEPER = (1, 6)
"""Rules that a random derivation may be deeper than the shallowest one: the ends of the ramp."""


_Node = tuple[int, int, list[int]]
"""A choice; how many alternatives there were; the nodes of the symbols it leads to, the last one first, as ``Grammar.numbered`` has
them."""

_Open = tuple[int, int, list[int], int]
"""A symbol without an alternative so far; how many rules deep its derivation may be; where the number of its node goes: a list, and
the place in it."""


def grown_genotype(
    grammar: Grammar, dice: random.Random, codons: int, longest: int, symbol: int | None = None
) -> tuple[Genotype, tuple[int, ...]]:
    """Integers that derive a program, and random ones behind them, ``codons`` at least; of a depth drawn from the ramp. The choices
    that are derived.

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
    taken = [choice + count * below(dice, most // count) for choice, count in choices]
    genotype = tuple(taken + [dice.getrandbits(CODON_BITS) for _ in range(codons - len(taken))])
    return genotype, tuple([choice for choice, _ in choices])


def grow(
    grammar: Grammar, dice: random.Random, depth: int, longest: int, symbol: int | None = None
) -> list[tuple[int, int]] | None:
    """The choices of a random derivation, leftmost first, each with how many alternatives there were. It is ``depth`` rules deep
    at most, and somewhere exactly as deep, unless the grammar has none such; ``depth`` is at least that of the shallowest one. None
    when it takes more than ``longest`` choices."""
    recursive, inner, fitting_in = grammar.recursive, grammar.symbols, grammar.fitting
    root = grammar.numbered[1] if symbol is None else symbol
    nodes: list[_Node] = []
    top = [0]
    todo: list[_Open] = [(root, depth, top, 0)]
    able = int(recursive[root])  # how many of those open can lead as deep as wanted
    is_deep = False
    while todo:
        at = below(dice, len(todo))
        todo[at], todo[-1] = todo[-1], todo[at]
        here, left, owner, place = todo.pop()
        able -= recursive[here]
        every, deep = fitting_in(here, left)
        fitting = deep if recursive[here] and not able and not is_deep else every
        choice = fitting[below(dice, len(fitting))]
        symbols = inner[here][choice]
        inside = [0] * len(symbols)
        owner[place] = len(nodes)
        nodes.append((choice, len(inner[here]), inside))
        is_deep = is_deep or left == 1
        if len(nodes) + len(todo) + len(symbols) > longest:
            return None
        for n, each in enumerate(symbols):
            todo.append((each, left - 1, inside, n))
            able += recursive[each]
    return _in_order(nodes, top[0])


def _in_order(nodes: list[_Node], root: int) -> list[tuple[int, int]]:
    """Leftmost first."""
    found: list[tuple[int, int]] = []
    todo = [root]
    while todo:
        choice, alternatives, inside = nodes[todo.pop()]
        found.append((choice, alternatives))
        todo += inside
    return found
