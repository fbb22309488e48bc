"""Monte-Carlo tree search: the explored part of the tree grows by one node for each leaf (paper 004, section 5.1).

node ← root
while node has children:
    leave out those whose bound is not below the best time; none left: node is closed, begin again
    node ← one without visits, drawn by bounds;  else the one with the best score (TAG or UCT)
give node its children; descend from it at random, weighted by bounds, to a leaf; ask for its time
tell: the time goes to every node on the way; a visit was counted when it was asked, so that leaves asked together differ
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

from kernelwright.search.tree.decision_tree import DecisionTree, N, Path
from kernelwright.search.tree.descent import descend
from kernelwright.search.tree.explored import Branch
from kernelwright.search.tree.formulas import bound_weights, tag_scores, uct_scores
from kernelwright.search.tree.leaf_search import LeafSearch


class Policy(Protocol):
    """Scores children, all visited: the highest is visited next."""

    def __call__(self, visits: Sequence[int], times: Sequence[Sequence[float]], best: float) -> list[float]: ...


class MonteCarlo(LeafSearch[N]):
    """See above. ``kept``: times that each node remembers. ``restart``: evaluations after which statistics are forgotten, while what
    is closed stays closed; None: never."""

    def __init__(
        self,
        tree: DecisionTree[N],
        policy: Policy,
        *,
        phase: str,
        kept: int = 10,
        restart: int | None = None,
        weighted: bool = True,
        **settings: Any,
    ) -> None:
        super().__init__(tree, **settings)
        self.phase = phase
        self._policy, self._kept, self._restart, self._weighted = policy, kept, restart, weighted
        self._trunk: Branch[N] | None = Branch(self._root) if self._root is not None else None
        self._from: dict[Path, Branch[N]] = {}
        """Of each leaf that is awaited, where the explored part of the tree was left on the way to it."""
        self._met: dict[Path, Branch[N]] = {}
        """Leaves that belong to the explored part themselves, until they are told. A descent may have asked them before."""
        self._open = self.nodes

    # -- a leaf --------------------------------------------------------------------------------------------------------

    def _leaf(self) -> Path | None:
        assert self._trunk is not None
        while self._trunk.state == "open":
            here = self._selected(self._trunk)
            if here is None:
                continue
            path = self._below(here)
            if path is None:
                continue
            if here.state == "asked":
                self._met[path] = here
            if path not in self._known:
                self._from[path] = here
                return path
            if path in self._met and path not in self._from:
                self._close_leaf(self._met.pop(path))
        return None

    def _selected(self, here: Branch[N]) -> Branch[N] | None:
        """The unexpanded node to go on from; None where one was closed on the way instead."""
        while here.children is not None:
            live = [each for each in here.children if each.state == "open" and each.bound < self.cut]
            if not live:
                self._shut(here)
                return None
            fresh = [each for each in live if not each.visits]
            if fresh:
                weights = bound_weights([each.bound for each in fresh], self.cut) if self._weighted else None
                here = self.dice.choices(fresh, weights)[0]
            else:
                scores = self._policy([each.visits for each in live], [each.times for each in live], self.best_time)
                here = live[max(range(len(live)), key=scores.__getitem__)]
        return here

    def _below(self, here: Branch[N]) -> Path | None:
        """A leaf below an unexpanded node, which is expanded; None where there is none that the cut leaves."""
        for each in here.line:
            each.visits += 1
        start = here.as_child()
        children = self.tree.children(start.node, bounds=self._cuts or self._weighted)
        if children is None:
            here.state = "asked"
            self._open -= 1
            return here.path
        self._open += len(children) - 1
        self.nodes += len(children)
        self.descents += 1
        if not children:
            self.dead_ends += 1
        here.grow(list(children))
        if not children:
            return None
        found = descend(self.tree, start, self.dice, self.cut, weighted=self._weighted)
        self.dead_ends += found.dead_ends
        self.nodes += found.nodes
        return None if found.path is None else (*here.path, *found.path)

    # -- what is closed ------------------------------------------------------------------------------------------------

    def _shut(self, here: Branch[N]) -> None:
        """No child can be asked: for now, where one is awaited, else for good."""
        assert here.children is not None
        if any(each.state in ("asked", "waiting") for each in here.children):
            here.state = "waiting"
        else:
            here.close(timed=False)

    def _close_leaf(self, leaf: Branch[N]) -> None:
        leaf.close(timed=True)
        for each in leaf.line:
            if each.state == "waiting":
                each.state = "open"

    def _learn(self, path: Path, time: float | None) -> None:
        here = self._from.pop(path)
        if time is not None:
            here.record(time, self._kept)
        if path in self._met:
            self._close_leaf(self._met.pop(path))
        if self._restart and self._told % self._restart == 0 and self._trunk is not None:
            self._trunk.forget()

    def _open_bound(self) -> float:
        return self._trunk.open_bound if self._trunk is not None else math.inf

    @property
    def open_nodes(self) -> int:
        return self._open


def tag(tree: DecisionTree[N], *, kept: int = 10, delta: float = 1.0, **settings: Any) -> MonteCarlo[N]:
    """Threshold ascent. ``delta``: larger is greedier."""

    def policy(visits: Sequence[int], times: Sequence[Sequence[float]], best: float) -> list[float]:
        return tag_scores(visits, times, kept, delta)

    return MonteCarlo(tree, policy, phase="TAG", kept=kept, **settings)


def uct(tree: DecisionTree[N], *, exploration: float = math.sqrt(2), **settings: Any) -> MonteCarlo[N]:
    """Upper confidence bounds applied to trees, with the best time below a child as its value."""

    def policy(visits: Sequence[int], times: Sequence[Sequence[float]], best: float) -> list[float]:
        return uct_scores(visits, times, best, exploration)

    return MonteCarlo(tree, policy, phase="UCT", kept=1, **settings)
