"""The part of a tree that a search has seen: statistics of its nodes, and what is still open below each."""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Iterator
from typing import Generic, Literal

from kernelwright.search.tree.decision_tree import Child, N, Path

State = Literal["open", "asked", "waiting", "closed"]
"""``asked``: a leaf whose time is awaited; ``waiting``: nothing below can be asked before one that is asked is told; ``closed``:
nothing is left below that could still be asked."""


class Branch(Generic[N]):
    """A node and what is known of it."""

    __slots__ = ("bound", "children", "decision", "node", "open_bound", "parent", "state", "times", "visits")

    def __init__(self, child: Child[N], parent: Branch[N] | None = None) -> None:
        self.decision = child.decision
        self.parent = parent
        self.node: N | None = child.node
        """Forgotten once it has children: these have what is needed."""
        # A parent's bound holds for its children, whose own may say less.
        self.bound: float = max(child.bound, parent.bound) if parent is not None else child.bound
        self.children: list[Branch[N]] | None = None
        self.visits = 0
        self.times: list[float] = []
        """The best seen below it, ascending."""
        self.state: State = "open"
        self.open_bound = self.bound
        """What nothing below it that has not been timed is faster than; inf where all is timed, or there is nothing."""

    @property
    def path(self) -> Path:
        """The decisions from the root to it, in order; empty for the root."""
        found = []
        here = self
        while here.parent is not None:
            found.append(here.decision)
            here = here.parent
        return tuple(reversed(found))

    @property
    def line(self) -> Iterator[Branch[N]]:
        """It, its parent, and so on to the root."""
        here: Branch[N] | None = self
        while here is not None:
            yield here
            here = here.parent

    def as_child(self) -> Child[N]:
        """The node with its decision and bound, before it is grown."""
        assert self.node is not None
        return Child(self.decision, self.node, self.bound)

    def grow(self, children: list[Child[N]]) -> None:
        """Replaces the node by its children; without any the branch is closed. Bounds of the branches above are brought up to date."""
        self.children = [Branch(each, self) for each in children]
        self.node = None
        if not children:
            self.state = "closed"
        self._settle()

    def close(self, *, timed: bool) -> None:
        """``timed``: all below it is timed or impossible. Else what is left there is only too slow, and its bound still counts."""
        self.state = "closed"
        if timed:
            self.open_bound = math.inf
            if self.parent is not None:
                self.parent._settle()

    def _settle(self) -> None:
        for here in self.line:
            if here.children is not None:
                found = min((each.open_bound for each in here.children), default=math.inf)
                if found == here.open_bound:
                    return
                here.open_bound = found

    def record(self, time: float, kept: int) -> None:
        """A time seen below it."""
        for here in self.line:
            insort(here.times, time)
            del here.times[kept:]

    def forget(self) -> None:
        """Statistics go, what is closed stays closed."""
        waiting = [self]
        while waiting:
            here = waiting.pop()
            here.visits, here.times = 0, []
            waiting += here.children or []
