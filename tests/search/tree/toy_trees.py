"""Trees whose every leaf is known: a time is a sum of one term per decision, plus a term for some pairs."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from typing import Any

from kernelwright.search import Result
from kernelwright.search.tree.decision_tree import Child, Path
from kernelwright.search.tree.leaf_search import LeafSearch


class ToyTree:
    """``widths``: values of each decision. A node is a tuple of decisions; ``share``: how much of what is certain the bound knows."""

    def __init__(self, widths: Sequence[int], seed: int, *, share: float = 1.0, dead: float = 0.0) -> None:
        dice = random.Random(seed)
        self.widths, self.share = tuple(widths), share
        self.terms = [[dice.uniform(0, 10) / (level + 1) for _ in range(n)] for level, n in enumerate(widths)]
        self.pairs = {
            (level, a, b): dice.uniform(0, 3)
            for level in range(len(widths) - 1)
            for a in range(widths[level])
            for b in range(widths[level + 1])
        }
        every = list(itertools.product(*(range(n) for n in widths[: max(1, len(widths) - 1)])))
        self.dead = {each for each in every if dice.random() < dead}
        self.made = 0

    def time(self, path: Path) -> float:
        pairs = sum(self.pairs[level, a, b] for level, (a, b) in enumerate(itertools.pairwise(path)))  # type: ignore[index]
        return 1 + sum(self.terms[level][value] for level, value in enumerate(path)) + pairs  # type: ignore[call-overload,misc]

    def bound(self, path: Path) -> float:
        rest = sum(min(some) for some in self.terms[len(path) :])
        return self.share * (self.time(path) + rest)

    def leaves(self) -> list[tuple[int, ...]]:
        every = itertools.product(*(range(n) for n in self.widths))
        return [path for path in every if path[:-1] not in self.dead]

    def optimum(self) -> float:
        return min(map(self.time, self.leaves()))

    def root(self) -> Child[Any]:
        return Child(None, (), self.bound(()))

    def children(self, node: tuple[int, ...], *, bounds: bool = True) -> list[Child[Any]] | None:
        self.made += 1
        if len(node) == len(self.widths):
            return None
        if node in self.dead:
            return []
        found = [(*node, value) for value in range(self.widths[len(node)])]
        return [Child(each[-1], each, self.bound(each) if bounds else 0.0) for each in found]


def run(search: LeafSearch[Any], time: Callable[[Path], float | None], most: int = 10**6) -> list[float | None]:
    """Until the end, or ``most`` leaves; the times told, in order."""
    told: list[float | None] = []
    while len(told) < most and (batch := search.ask()):
        times = [time(path) for path in batch]
        search.tell(
            [Result(path, None if t is None else (t,), cause="none") for path, t in zip(batch, times, strict=True)]
        )
        told += times
    return told
