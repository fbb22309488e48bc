"""Graphs of any nodes, given by a function from a node to its neighbours: orders, back edges, dominators, loop bodies.

Nodes are hashable; all walks take neighbours in the order given, so that results are the same in every run. Walks are
without recursion: kernels can be thousands of blocks deep. For post-dominators, give the reversed graph.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Generic, TypeVar

N = TypeVar("N", bound=Hashable)

Neighbours = Callable[[N], Iterable[N]]


def postorder(roots: Iterable[N], successors: Neighbours[N]) -> list[N]:
    """The nodes that the roots reach, depth first, each after the successors found through it. Reversed, each node comes
    before its successors, back edges aside."""
    done: list[N] = []
    seen: set[N] = set()
    for root in roots:
        if root in seen:
            continue
        seen.add(root)
        stack = [(root, iter(successors(root)))]
        while stack:
            node, rest = stack[-1]
            for successor in rest:
                if successor not in seen:
                    seen.add(successor)
                    stack.append((successor, iter(successors(successor))))
                    break
            else:
                stack.pop()
                done.append(node)
    return done


def back_edges(root: N, successors: Neighbours[N]) -> list[tuple[N, N]]:
    """The edges, as (tail, head), to a node that is still open in the walk of ``postorder``, in the order found."""
    found: list[tuple[N, N]] = []
    seen, open_nodes = {root}, {root}
    stack = [(root, iter(successors(root)))]
    while stack:
        node, rest = stack[-1]
        for successor in rest:
            if successor in open_nodes:
                found.append((node, successor))
            elif successor not in seen:
                seen.add(successor)
                open_nodes.add(successor)
                stack.append((successor, iter(successors(successor))))
                break
        else:
            open_nodes.remove(node)
            stack.pop()
    return found


def immediate_dominators(order: Sequence[N], predecessors: Neighbours[N]) -> dict[N, N]:
    """The immediate dominator of each node, the root's is itself. ``order`` is a reverse postorder that begins with the root.

    Predecessors that are not in the order are ignored, and nodes without any that is have no dominator. Cooper, Harvey and
    Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
    """
    rank = {node: i for i, node in enumerate(order)}
    before = [[rank[p] for p in predecessors(node) if p in rank] for node in order[1:]]
    unknown = -1
    parent = [0] + [unknown] * len(before)
    changed = True
    while changed:
        changed = False
        for node, earlier in enumerate(before, 1):
            new = unknown
            for other in earlier:
                if parent[other] == unknown:
                    continue
                if new == unknown:
                    new = other
                    continue
                while new != other:  # up both ways to where they meet
                    while new > other:
                        new = parent[new]
                    while other > new:
                        other = parent[other]
            if parent[node] != new:
                parent[node] = new
                changed = True
    return {order[i]: order[p] for i, p in enumerate(parent[: len(order)]) if p != unknown}


class DominatorTree(Generic[N]):
    """``a`` dominates ``b`` when every path from the root to ``b`` passes ``a``; a node dominates itself. Made from what
    ``immediate_dominators`` takes; a node in the tree is one with a dominator. Intervals of a walk through the tree answer
    at once."""

    def __init__(self, order: Sequence[N], predecessors: Neighbours[N]) -> None:
        self.parents = immediate_dominators(order, predecessors)
        """The immediate dominator of each node; the root's is itself."""
        below: dict[N, list[N]] = {node: [] for node in self.parents}
        for node, parent in self.parents.items():
            if node is not order[0]:
                below[parent].append(node)
        walk = postorder(order[:1], below.__getitem__)
        self._last = {node: i for i, node in enumerate(walk)}
        self._size = dict.fromkeys(walk, 1)
        for node in walk[:-1]:
            self._size[self.parents[node]] += self._size[node]

    def __contains__(self, node: object) -> bool:
        return node in self.parents

    def dominates(self, a: N, b: N) -> bool:
        """Of nodes in the tree."""
        return 0 <= self._last[a] - self._last[b] < self._size[a]


def loop_body(header: N, latches: Iterable[N], predecessors: Neighbours[N]) -> set[N]:
    """The header and all nodes that reach a latch without passing it: a natural loop."""
    body = {header}
    waiting = list(latches)
    while waiting:
        node = waiting.pop()
        if node not in body:
            body.add(node)
            waiting += predecessors(node)
    return body
