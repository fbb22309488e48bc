"""What a search asks of a tree of decisions. Nodes are opaque; a leaf is named by the decisions that lead to it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeAlias, TypeVar

N = TypeVar("N")
Path: TypeAlias = tuple[Hashable, ...]
"""The decisions from the root to a node, in the order in which they were taken."""


@dataclass(frozen=True, slots=True, eq=False)
class Child(Generic[N]):
    """A node, the decision that leads to it from its parent, and what no leaf below it is faster than, in us; 0 says nothing."""

    decision: Hashable
    node: N
    bound: float = 0.0


class DecisionTree(Protocol[N]):
    """Equal trees give equal children in equal order: searches are repeated by their seed. Which decision is taken first is the
    tree's own affair, and so an option of its maker."""

    def root(self) -> Child[N] | None:
        """The node without decisions; None where the tree has no leaf. Its own decision is ignored."""

    def children(self, node: N, *, bounds: bool = True) -> Sequence[Child[N]] | None:
        """One child for each value of the next decision; none at a dead end, None at a leaf. Without ``bounds`` they are 0."""
