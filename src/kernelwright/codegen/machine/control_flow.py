"""Dominators and loop depths of control flow given as numbers: what PTX and machine code have in common."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from kernelwright.ir.control_flow import immediate_dominators


class Flow:
    """A graph of blocks 0, 1, ...; ``successors[n]`` are those that may come right after block ``n``. Block 0 is the entry."""

    def __init__(self, successors: Sequence[Sequence[int]]) -> None:
        self.successors = [list(dict.fromkeys(each)) for each in successors]

    @cached_property
    def order(self) -> list[int]:
        """The blocks that the entry reaches, in reverse postorder."""
        done: list[int] = []
        seen = {0}
        stack = [(0, iter(self.successors[0]))] if self.successors else []
        while stack:
            node, rest = stack[-1]
            following = next((each for each in rest if each not in seen), None)
            if following is None:
                done.append(node)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(self.successors[following])))
        return done[::-1]

    @cached_property
    def predecessors(self) -> list[list[int]]:
        found: list[list[int]] = [[] for _ in self.successors]
        for node in self.order:
            for target in self.successors[node]:
                found[target].append(node)
        return found

    @cached_property
    def parents(self) -> dict[int, int]:
        """The immediate dominator of each reachable block; the entry is its own."""
        return immediate_dominators(self.order, self.predecessors) if self.order else {}

    def dominates(self, a: int, b: int) -> bool:
        """Whether every path from the entry to ``b`` passes ``a``. False where either is unreachable."""
        if a not in self.parents or b not in self.parents:
            return False
        while b != a:
            up = self.parents[b]
            if up == b:
                return False
            b = up
        return True

    @cached_property
    def headers(self) -> set[int]:
        """Blocks that a later block jumps back to: the heads of loops."""
        place = {node: i for i, node in enumerate(self.order)}
        return {target for node in self.order for target in self.successors[node] if place[target] <= place[node]}

    @cached_property
    def depths(self) -> dict[int, int]:
        """How many natural loops each reachable block lies in."""
        found = dict.fromkeys(self.order, 0)
        for header in self.headers:
            latches = [n for n in self.predecessors[header] if self.dominates(header, n)]
            body = {header} if latches else set()
            waiting = [n for n in latches if n != header]
            while waiting:
                node = waiting.pop()
                if node not in body:
                    body.add(node)
                    waiting += self.predecessors[node]
            for node in body:
                found[node] += 1
        return found
