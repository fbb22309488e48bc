"""A random way from a node down to a leaf. At a dead end it goes back to the last decision that has another value."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeAlias

from kernelwright.search.tree.decision_tree import Child, DecisionTree, N, Path
from kernelwright.search.tree.formulas import bound_weights

PATIENCE = 100
"""Times that one descent goes back before it is given up."""
Draw: TypeAlias = Callable[[list[Child[N]]], Child[N]]
"""Chooses one of the children that the cut leaves, at least one."""


@dataclass(frozen=True)
class Descent(Generic[N]):
    """``path``: the decisions below the start, to a leaf; None: none was found. ``bound``: of the leaf."""

    path: Path | None
    bound: float
    dead_ends: int
    nodes: int
    """Children made on the way."""
    exhausted: bool = False
    """There is no leaf below the start that the cut leaves."""


def descend(
    tree: DecisionTree[N],
    start: Child[N],
    dice: random.Random,
    cut: float,
    *,
    weighted: bool = True,
    draw: Draw[N] | None = None,
) -> Descent[N]:
    """``cut``: nodes whose bound is not below it are left out. ``weighted``: children with lower bounds are more likely; else all
    have the same probability, and bounds are not asked for. ``draw``: which child it is, instead."""
    path: list[Child[N]] = []
    left: list[list[Child[N]]] = []
    here, dead_ends, nodes, returns = start, 0, 0, 0
    while True:
        children = tree.children(here.node, bounds=weighted)
        if children is None:
            return Descent(tuple(each.decision for each in path), here.bound, dead_ends, nodes)
        nodes += len(children)
        # A child's bound may say less than its parent's; what holds for the parent holds for it.
        left.append([Child(c.decision, c.node, max(c.bound, here.bound)) for c in children if c.bound < cut])
        if not left[-1]:
            dead_ends += not children
            returns += 1
            while left and not left[-1]:
                left.pop()
                if path:
                    path.pop()
            if not left:
                return Descent(None, start.bound, dead_ends, nodes, exhausted=True)
            if returns > PATIENCE:
                return Descent(None, start.bound, dead_ends, nodes)
        here = draw(left[-1]) if draw is not None else _drawn(left[-1], dice, cut, weighted)
        left[-1].remove(here)
        path.append(here)


def _drawn(children: list[Child[N]], dice: random.Random, cut: float, weighted: bool) -> Child[N]:
    if not weighted:
        return children[dice.randrange(len(children))]
    return dice.choices(children, bound_weights([each.bound for each in children], cut))[0]
