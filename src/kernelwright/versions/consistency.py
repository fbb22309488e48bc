"""Which datasets can be served by one assignment of thresholds: the largest set of them, over all thresholds jointly.

Each dataset has, per tree of the forest, the boxes of thresholds that are best for it: one, or several where versions tie. A
set of datasets is consistent when in every tree one box of each can be chosen so that they have a threshold in common.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kernelwright.lazy_dataclasses import dataclass
from kernelwright.versions.box import FREE, Box, Interval, intersection, merged

Wishes = Mapping[str, Sequence[Sequence[Box]]]
"""Per dataset and tree the boxes that are best for it."""


@dataclass(frozen=True)
class Conflict:
    """Datasets no assignment serves together."""

    datasets: tuple[str, ...]
    guard: str
    """The guard whose intervals have nothing in common; empty when several together have not."""
    intervals: tuple[Interval, ...] = ()
    """What each of them needs there."""

    def __str__(self) -> str:
        if not self.guard:
            return f"no thresholds are best for {', '.join(self.datasets)} together"
        wants = (f"{d} needs {_words(self.guard, i)}" for d, i in zip(self.datasets, self.intervals, strict=True))
        return "; ".join(wants)

    def as_json(self) -> dict[str, Any]:
        return {
            "datasets": list(self.datasets),
            "guard": self.guard,
            "intervals": [interval.as_json() for interval in self.intervals],
        }


@dataclass(frozen=True)
class Joint:
    """The largest consistent set of datasets, and a box for each tree that is best for all of them."""

    datasets: tuple[str, ...]
    boxes: tuple[Box, ...]
    conflicts: tuple[Conflict, ...]


def largest_consistent(wishes: Wishes, trees: int) -> Joint:
    """Of several largest sets the one that keeps the datasets that come first."""
    best: tuple[str, ...] = ()
    names = list(wishes)

    def extend(kept: tuple[str, ...], rest: list[str], common: list[list[Box]]) -> None:
        nonlocal best
        if len(kept) > len(best):
            best = kept
        for number, name in enumerate(rest):
            if len(kept) + len(rest) - number <= len(best):
                return
            following = [_common(boxes, wishes[name][tree]) for tree, boxes in enumerate(common)]
            if all(following):
                extend((*kept, name), rest[number + 1 :], following)

    extend((), names, [[{}] for _ in range(trees)])
    common: list[list[Box]] = [[{}] for _ in range(trees)]
    for name in best:
        common = [_common(boxes, wishes[name][tree]) for tree, boxes in enumerate(common)]
    dropped = [name for name in names if name not in best]
    for name in dropped:
        # What is still free in a tree goes to the datasets that lose in another.
        common = [_common(boxes, wishes[name][tree]) or boxes for tree, boxes in enumerate(common)]
    conflicts = tuple(_conflict(wishes, best, name, trees) for name in dropped)
    return Joint(best, tuple(boxes[0] for boxes in common), conflicts)


def _common(left: Sequence[Box], right: Sequence[Box]) -> list[Box]:
    return merged(both for a in left for b in right if (both := intersection(a, b)) is not None)


def _conflict(wishes: Wishes, kept: Sequence[str], dropped: str, trees: int) -> Conflict:
    """Why ``dropped`` does not fit: the first kept dataset with which it has nothing in common, or all together."""
    for name in kept:
        for tree in range(trees):
            mine, others = wishes[dropped][tree], wishes[name][tree]
            if not _common(mine, others):
                guard = next((g for g in _names(mine, others) if not _overlap(mine[0], others[0], g)), "")
                intervals = (others[0].get(guard, FREE), mine[0].get(guard, FREE)) if guard else ()
                return Conflict((name, dropped), guard, intervals)
    return Conflict((*kept, dropped), "")


def _names(left: Sequence[Box], right: Sequence[Box]) -> list[str]:
    return list(dict.fromkeys(name for box in (*left, *right) for name in box))


def _overlap(left: Box, right: Box, guard: str) -> bool:
    return not (left.get(guard, FREE) & right.get(guard, FREE)).is_empty


def _words(guard: str, interval: Interval) -> str:
    """An interval of a threshold, in words."""
    if interval.above is None and interval.upto is None:
        return f"any threshold of {guard}"
    if interval.upto is None:
        return f"{guard} above {interval.above}"
    return f"{guard} at most {interval.upto}" + ("" if interval.above is None else f" and above {interval.above}")
