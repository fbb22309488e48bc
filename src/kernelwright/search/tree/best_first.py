"""Best-first branch and bound: the open node with the least bound is expanded next, until nothing open is faster than the best.

    until a leaf is found:
        node ← the open node with the least bound;  its bound is not below the best time: the best is the optimum
        a leaf: ask for its time
        else: open its children;  every ``expansions`` nodes, descend from the open node with the least bound to a leaf instead

Without descents a large tree has no leaf, and so no cut, for a long time.
"""

from __future__ import annotations

import heapq
import math
from typing import Any

from kernelwright.search.tree.decision_tree import Child, DecisionTree, N, Path
from kernelwright.search.tree.descent import descend
from kernelwright.search.tree.leaf_search import LeafSearch

MOST_OPEN = 40_000
"""Open nodes that are kept; of more, the half with the higher bounds is given up, and the certificate says so."""


class BestFirst(LeafSearch[N]):
    """See above. Finds the fastest leaf of a tree that it can finish, and stops there."""

    phase = "best first"

    def __init__(
        self, tree: DecisionTree[N], *, expansions: int = 16, most_open: int = MOST_OPEN, **settings: Any
    ) -> None:
        super().__init__(tree, **settings)
        self._expansions, self._most = expansions, most_open
        self._number = 0
        self._heap: list[tuple[float, int, int, Path, Child[N]]] = []
        """Of each open node: bound, minus its depth (of equals the deepest first), a number, its path."""
        self._asked_bounds: dict[Path, float] = {}
        self._given_up = math.inf
        """The least bound of the nodes that were given up."""
        if self._root is not None:
            self._push((), self._root, 0.0)

    def _push(self, path: Path, child: Child[N], above: float) -> None:
        self._number += 1
        bound = max(child.bound, above)
        heapq.heappush(self._heap, (bound, -len(path), self._number, path, child))

    def _leaf(self) -> Path | None:
        expanded = 0
        while self._heap and self._heap[0][0] < self.cut:
            bound, _, _, path, child = self._heap[0]
            if expanded >= self._expansions:
                expanded = 0
                found = descend(self.tree, child, self.dice, self.cut)
                self.descents += 1
                self.dead_ends += found.dead_ends
                self.nodes += found.nodes
                if found.path is not None and (*path, *found.path) not in self._known:
                    self._asked_bounds[*path, *found.path] = found.bound
                    return (*path, *found.path)
                continue
            heapq.heappop(self._heap)
            children = self.tree.children(child.node)
            if children is None:
                if path in self._known:
                    continue
                self._asked_bounds[path] = bound
                return path
            expanded += 1
            self.nodes += len(children)
            self.dead_ends += not children
            for each in children:
                self._push((*path, each.decision), each, bound)
            if len(self._heap) > self._most:
                self._heap.sort()
                self._given_up = min(self._given_up, self._heap[self._most // 2][0])
                del self._heap[self._most // 2 :]
        return None

    def _learn(self, path: Path, time: float | None) -> None:
        self._asked_bounds.pop(path, None)

    def _open_bound(self) -> float:
        awaited = min(self._asked_bounds.values(), default=math.inf)
        return min(self._heap[0][0] if self._heap else math.inf, awaited, self._given_up)

    @property
    def open_nodes(self) -> int:
        return len(self._heap)
