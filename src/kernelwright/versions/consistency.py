"""Which datasets can be served by one assignment of thresholds: the largest set of them, over all thresholds jointly.

Each dataset has, per tree of the forest, the boxes of thresholds that are best for it: one, or several where versions tie. A
set of datasets is consistent when in every tree one box of each can be chosen so that they have a threshold in common with which
no other dataset fails that could run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations
from typing import Any

from kernelwright.lazy_dataclasses import dataclass
from kernelwright.versions.avoidance import Choice, avoiding, is_met
from kernelwright.versions.box import FREE, Box, Interval, intersection, merged

Wishes = Mapping[str, Sequence[Sequence[Box]]]
"""Per dataset and tree the boxes that are best for it."""
Trees = Sequence[Sequence[str]]
"""Per tree its guards."""
Failing = Mapping[str, Sequence[Box]]
"""Per dataset the boxes with which it fails, over all trees."""


@dataclass(frozen=True)
class Conflict:
    """Datasets no assignment serves together."""

    datasets: tuple[str, ...]
    guard: str
    """The guard whose intervals have nothing in common; empty when several together have not."""
    intervals: tuple[Interval, ...] = ()
    """What each of them needs there."""
    lets_fail: tuple[str, ...] = ()
    """Datasets that fail with what is best for all of these."""

    def __str__(self) -> str:
        if self.lets_fail:
            return f"thresholds that are best for {_listed(self.datasets)} let {_listed(self.lets_fail)} fail"
        if not self.guard:
            return f"no thresholds are best for {', '.join(self.datasets)} together"
        wants = (f"{d} needs {_words(self.guard, i)}" for d, i in zip(self.datasets, self.intervals, strict=True))
        return "; ".join(wants)

    def as_json(self) -> dict[str, Any]:
        """A row of ``conflicts`` in ``kw tune --json``."""
        return {
            "datasets": list(self.datasets),
            "guard": self.guard,
            "intervals": [interval.as_json() for interval in self.intervals],
            "lets_fail": list(self.lets_fail),
        }


@dataclass(frozen=True)
class Joint:
    """A largest consistent set of datasets, and a box for each tree that is best for all of them."""

    datasets: tuple[str, ...]
    boxes: tuple[Box, ...]
    conflicts: tuple[Conflict, ...]


def all_largest(wishes: Wishes, trees: Trees, failing: Failing | None = None) -> Iterator[Joint]:
    """As few datasets fail as can be; then as many are served as can be: all sets of so many, first what keeps what comes first.

    ``failing``: what is known to make a dataset fail. A failure is an infinite loss: no gain of others is worth it.
    """
    known = {name: list((failing or {}).get(name, ())) for name in wishes}
    for count in range(len(wishes) + 1):
        for given_up in combinations(reversed(list(wishes)), count):
            running = {name: each for name, each in wishes.items() if name not in given_up}
            found = _largest(running, trees, {name: known[name] for name in running})
            first = next(found, None)
            if first is not None:
                yield from (_with_conflicts(*each, wishes, trees, known) for each in chain([first], found))
                return
    raise AssertionError("nothing is avoided where all datasets are given up")


def _largest(wishes: Wishes, trees: Trees, failing: Failing) -> Iterator[tuple[tuple[str, ...], Choice]]:
    """The largest sets with what is best for all in one and lets none of ``failing`` fail; none where nothing does that."""
    avoided, tree_of = [box for boxes in failing.values() for box in boxes], _tree_of(trees)
    start = avoiding([[{}] for _ in trees], avoided, tree_of)
    if start is None:
        return
    wanted = 1

    def extend(
        kept: tuple[str, ...], rest: list[str], common: Choice, *, is_growing: bool
    ) -> Iterator[tuple[tuple[str, ...], Choice]]:
        """Sets that ``kept`` grows into, in order, of at least as many as are wanted; ``is_growing``: each larger than the last."""
        nonlocal wanted
        for number, name in enumerate(rest):
            if len(kept) + len(rest) - number < wanted:
                return
            following = _narrowed(common, wishes[name])
            safe = avoiding(following, avoided, tree_of) if all(following) else None
            if safe is not None:
                if len(kept) + 1 >= wanted:
                    wanted += is_growing
                    yield (*kept, name), safe
                yield from extend((*kept, name), rest[number + 1 :], following, is_growing=is_growing)

    nothing: Choice = [[{}] for _ in trees]
    if not list(extend((), list(wishes), nothing, is_growing=True)):
        yield (), start
        return
    wanted -= 1
    yield from extend((), list(wishes), nothing, is_growing=False)


def _with_conflicts(kept: tuple[str, ...], safe: Choice, wishes: Wishes, trees: Trees, failing: Failing) -> Joint:
    """The set ``kept``, served by all that ``safe`` holds, as the answer."""
    dropped = [name for name in wishes if name not in kept]
    for name in dropped:
        # What is still free in a tree goes to the datasets that lose in another.
        safe = [_common(boxes, wishes[name][tree]) or boxes for tree, boxes in enumerate(safe)]
    conflicts = tuple(_conflict(wishes, kept, name, trees, failing) for name in dropped)
    return Joint(kept, tuple(boxes[0] for boxes in safe), conflicts)


def _narrowed(common: Choice, wish: Sequence[Sequence[Box]]) -> Choice:
    return [_common(boxes, wish[tree]) for tree, boxes in enumerate(common)]


def _tree_of(trees: Trees) -> dict[str, int]:
    return {guard: number for number, tree in enumerate(trees) for guard in tree}


def _common(left: Sequence[Box], right: Sequence[Box]) -> list[Box]:
    return merged(both for a in left for b in right if (both := intersection(a, b)) is not None)


def _conflict(wishes: Wishes, kept: Sequence[str], dropped: str, trees: Trees, failing: Failing) -> Conflict:
    """Why ``dropped`` does not fit: the first kept dataset with which it has nothing in common, or all together, or another dataset
    that fails with what all of these have in common."""
    for name in kept:
        for tree in range(len(trees)):
            mine, others = wishes[dropped][tree], wishes[name][tree]
            if not _common(mine, others):
                guard = next((g for g in _names(mine, others) if not _overlap(mine[0], others[0], g)), "")
                intervals = (others[0].get(guard, FREE), mine[0].get(guard, FREE)) if guard else ()
                return Conflict((name, dropped), guard, intervals)
    together: Choice = [[{}] for _ in trees]
    for name in (*kept, dropped):
        together = _narrowed(together, wishes[name])
    fails = (
        [n for n in wishes if any(is_met(together, box, _tree_of(trees)) for box in failing[n])]
        if all(together)
        else []
    )
    return Conflict((*kept, dropped), "", lets_fail=tuple(fails))


def _names(left: Sequence[Box], right: Sequence[Box]) -> list[str]:
    return list(dict.fromkeys(name for box in (*left, *right) for name in box))


def _overlap(left: Box, right: Box, guard: str) -> bool:
    return not (left.get(guard, FREE) & right.get(guard, FREE)).is_empty


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + (" and " if names[1:] else "") + names[-1]


def _words(guard: str, interval: Interval) -> str:
    """An interval of a threshold, in words."""
    if interval.above is None and interval.upto is None:
        return f"any threshold of {guard}"
    if interval.upto is None:
        return f"{guard} above {interval.above}"
    return f"{guard} at most {interval.upto}" + ("" if interval.above is None else f" and above {interval.above}")
