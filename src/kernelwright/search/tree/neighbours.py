"""Neighbours of the fastest leaves: decisions commute, so most of a leaf's can be kept while any others are taken anew.

now and then, and at first:  descend under a cut that is drawn near the root's bound
else: leaf ← one of the fastest, the faster the more likely;  changed ← some of its decisions, early ones more likely
      descend under the best time: the leaf's own values, but another one drawn by bounds where a decision is changed
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Hashable
from typing import Any

from kernelwright.search.tree.decision_tree import Child, DecisionTree, N, Path
from kernelwright.search.tree.descent import Draw, descend
from kernelwright.search.tree.formulas import near_bound_weights
from kernelwright.search.tree.leaf_search import LeafSearch

FASTEST = 8
"""Leaves whose neighbours are asked."""
FRESH = 0.2
"""The share of leaves that are no leaf's neighbours, once there are as many fast ones as are kept."""
RUNGS = (1.15, 1.3, 1.5, 2.0, 4.0)
"""Cuts of those, in bounds of the root: what is near the least bound is worth most looks, if there is anything."""
CHANGES = (1, 2, 3, 5)
"""Decisions of a fast leaf that are changed; others follow from them. A tree takes those first that tell most about the time."""
ALIKE = 1e-3
"""Of leaves whose times differ by less than this share only the first is kept: they mostly differ in what does not matter."""
WIDTHS = (0.02, 0.05, 0.2, 1.0)
"""How near the least bound of its siblings a child is drawn, in that bound: one of these for each descent."""
TRIES = 200
"""Descents for one leaf before the tree counts as known; the last half begin at the root, all children alike."""


class Neighbours(LeafSearch[N]):
    """See above. Equal decisions are the same one wherever in the tree they are taken."""

    phase = "neighbours"

    def __init__(self, tree: DecisionTree[N], **settings: Any) -> None:
        super().__init__(tree, **settings)
        self._fastest: list[tuple[float, int, frozenset[Hashable]]] = []
        """Of each: its time, when it was told, its decisions."""
        self._width = math.inf
        self._rungs = sorted({1.0 if self._root is None else self._root.bound * rung for rung in RUNGS})

    def _leaf(self) -> Path | None:
        assert self._root is not None
        for tried in range(TRIES):
            draw: Draw[N]
            self._width = self.dice.choice(WIDTHS) if tried < TRIES / 2 else math.inf
            if math.isinf(self._width):
                cut, draw = self.cut, self._near_bound
            elif len(self._fastest) < FASTEST or self.dice.random() < FRESH:
                cut, draw = self._rung(), self._near_bound
            else:
                cut, draw = self.cut, self._changing(self._drawn_leaf(), self.dice.choice(CHANGES))
            found = descend(self.tree, self._root, self.dice, cut, draw=draw)
            self.descents += 1
            self.dead_ends += found.dead_ends
            self.nodes += found.nodes
            if found.path is not None and found.path not in self._known:
                return found.path
            if found.exhausted and cut >= self.cut:
                return None
            if found.exhausted:
                self._rungs.remove(cut)
        return None

    def _rung(self) -> float:
        """The cut of a leaf that is no other's neighbour; one below which nothing was left is not drawn again."""
        return min(self.cut, self.dice.choice(self._rungs)) if self._rungs and self._rungs[0] else self.cut

    def _drawn_leaf(self) -> frozenset[Hashable]:
        weights = [1 / (place + 1) for place in range(len(self._fastest))]
        return self.dice.choices(self._fastest, weights)[0][2]

    def _near_bound(self, children: list[Child[N]]) -> Child[N]:
        return self.dice.choices(children, near_bound_weights([each.bound for each in children], self._width))[0]

    def _changing(self, decisions: frozenset[Hashable], changes: int) -> Draw[N]:
        changed = {int(len(decisions) * self.dice.random() ** 2) for _ in range(changes)}
        drawn = 0

        def draw(children: list[Child[N]]) -> Child[N]:
            nonlocal drawn
            drawn += 1
            others = [each for each in children if each.decision not in decisions]
            if len(others) == len(children) or (others and drawn - 1 in changed):
                return self._near_bound(others)
            return next(each for each in children if each.decision in decisions)

        return draw

    def _learn(self, path: Path, time: float | None) -> None:
        if time is None or not math.isfinite(time):
            return
        if all(abs(time / other - 1) > ALIKE for other, _, _ in self._fastest if other):
            insort(self._fastest, (time, self._told, frozenset(path)))
            del self._fastest[FASTEST:]
