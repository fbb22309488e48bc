"""What all strategies over trees share: batches of leaves, the best, the cut, the certificate.

while batch := search.ask():                    # paths of leaves, each asked once
    search.tell([Result(path, (time_us,)) or Result(path, None, cause=...) for path in batch])
    search.certificate                          # nothing in the tree is faster
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Generic

from kernelwright.search.strategy import Budget, Progress, Result
from kernelwright.search.tree.decision_tree import Child, DecisionTree, N, Path


class LeafSearch(Generic[N]):
    """A strategy (``search.strategy.Strategy``). Children have ``_leaf`` and ``_learn``. The same seed, tree and times give the same
    questions; ``batch`` is part of that, for several leaves are asked before the first is told."""

    phase = "search"

    def __init__(
        self,
        tree: DecisionTree[N],
        *,
        seed: int = 0,
        budget: Budget | None = None,
        batch: int = 1,
        gap: float = 0.0,
        cuts: bool = True,
        known: float = math.inf,
    ) -> None:
        """``gap``: stop when the best is at most this share slower than the certificate. ``cuts``: whether bounds and the best
        time leave nodes out; ``known``: so does this time, which some leaf is known to have. Raises ``ValueError`` for a batch or a
        gap that makes no sense."""
        if batch < 1 or gap < 0:
            raise ValueError(f"a batch of {batch} and a gap of {gap}; at least 1 and 0 are needed")
        self.tree = tree
        self.dice = random.Random(seed)
        self._budget = budget or Budget()
        self._batch, self._gap, self._cuts, self._known_time = batch, gap, cuts, known
        self._root: Child[N] | None = tree.root()
        self._asked: list[Path] | None = None
        self._known: set[Path] = set()
        self._told = self._accepted = self._batches = 0
        self._concluding = False
        self.best: Result[Path] | None = None
        self.dead_ends = 0
        self.descents = 0
        """Ways down, those that ended nowhere included."""
        self.nodes = 1 if self._root is not None else 0
        """Nodes made so far."""

    # -- ask and tell --------------------------------------------------------------------------------------------------

    def ask(self) -> list[Path]:
        """Leaves that were never asked; the same until they are told; [] when the budget, the gap or the tree is at its end."""
        if self._asked is None:
            self._asked = self._next()
            self._batches += bool(self._asked)
        return list(self._asked)

    def tell(self, results: Sequence[Result[Path]]) -> None:
        """Of the batch, in its order. Raises ``ValueError`` for results of others."""
        if self._asked is None or [each.candidate for each in results] != self._asked:
            raise ValueError(f"{len(results)} results that are not those of the leaves asked, in order")
        self._asked = None
        for each in results:
            self._told += 1
            time = each.objectives[0] if each.objectives is not None else None
            if time is not None:
                self._accepted += 1
                if time < self.best_time:
                    self.best = each
            self._learn(each.candidate, time)

    def conclude(self) -> None:
        self._concluding = True

    def _next(self) -> list[Path]:
        left = math.inf if self._budget.evaluations is None else self._budget.evaluations - self._told
        found: list[Path] = []
        if self._concluding or self._root is None or self.proven_gap <= self._gap:
            return found
        while len(found) < min(self._batch, left):
            path = self._leaf()
            if path is None:
                break
            self._known.add(path)
            found.append(path)
        return found

    def _leaf(self) -> Path | None:
        """A leaf that is not known; None where there is none now."""
        raise NotImplementedError

    def _learn(self, path: Path, time: float | None) -> None:
        """What came of a leaf; None: it was rejected."""
        raise NotImplementedError

    # -- what is known -------------------------------------------------------------------------------------------------

    @property
    def best_time(self) -> float:
        """inf while there is none."""
        return self.best.objectives[0] if self.best is not None and self.best.objectives else math.inf

    @property
    def cut(self) -> float:
        """Nodes whose bound is not below it are left out."""
        return min(self.best_time, self._known_time) if self._cuts else math.inf

    @property
    def certificate(self) -> float:
        """No leaf of the tree is faster than this, as far as bounds are right and rejected leaves are no candidates: the least
        bound of what was neither timed nor rejected, or the best time. inf for a tree without any leaf."""
        return min(self.best_time, self._known_time, self._open_bound())

    @property
    def proven_gap(self) -> float:
        """By what share the best is at most slower than the fastest leaf of the tree; inf while that is unknown."""
        proven = self.certificate
        return self.best_time / proven - 1 if 0 < proven < math.inf and self.best is not None else math.inf

    def _open_bound(self) -> float:
        return self._root.bound if self._root is not None else math.inf

    @property
    def open_nodes(self) -> int:
        """Nodes that are kept to go on from."""
        return 0

    @property
    def progress(self) -> Progress[Path]:
        front = (self.best,) if self.best is not None else ()
        return Progress(self.phase, self._batches, self.open_nodes, self._told, self._accepted, self.best, front)
