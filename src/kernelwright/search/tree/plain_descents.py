"""Random descents from the root, each by itself: weighted by bounds and the best time, or all children alike."""

from __future__ import annotations

from typing import Any

from kernelwright.search.tree.decision_tree import DecisionTree, N, Path
from kernelwright.search.tree.descent import descend
from kernelwright.search.tree.leaf_search import LeafSearch

TRIES = 200
"""Descents for one leaf before the tree counts as known: a small one runs out of leaves."""


class PlainDescents(LeafSearch[N]):
    """``weighted``: children are drawn in proportion to how far their bound is below the best time; else all alike, and nothing is
    cut."""

    def __init__(self, tree: DecisionTree[N], *, weighted: bool, **settings: Any) -> None:
        super().__init__(tree, cuts=weighted, **settings)
        self._weighted = weighted
        self.phase = "weighted descents" if weighted else "uniform descents"

    def _leaf(self) -> Path | None:
        assert self._root is not None
        for _ in range(TRIES):
            found = descend(self.tree, self._root, self.dice, self.cut, weighted=self._weighted)
            self.descents += 1
            self.dead_ends += found.dead_ends
            self.nodes += found.nodes
            if found.path is not None and found.path not in self._known:
                return found.path
            if found.exhausted:
                return None
        return None

    def _learn(self, path: Path, time: float | None) -> None:
        pass


def weighted(tree: DecisionTree[N], **settings: Any) -> PlainDescents[N]:
    """As descents are below the nodes of the paper's search (paper 004, section 5.1)."""
    return PlainDescents(tree, weighted=True, **settings)


def uniform(tree: DecisionTree[N], **settings: Any) -> PlainDescents[N]:
    """What a search gains is what it finds beyond this."""
    return PlainDescents(tree, weighted=False, **settings)
