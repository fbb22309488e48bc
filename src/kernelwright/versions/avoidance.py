"""Thresholds that avoid boxes with which a dataset fails: what is left of the boxes that may be chosen, per tree of the forest.

A threshold of one guard outside its interval is enough to leave a box. So each box is left at one of its guards, on one side, and the
box that leaves the fewest ways is taken first, as solvers of constraints do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kernelwright.versions.box import Box, Interval, intersection

Choice = list[list[Box]]
"""Per tree the boxes of which one may be chosen, each by itself."""


def avoiding(choice: Choice, avoided: Sequence[Box], tree_of: Mapping[str, int]) -> Choice | None:
    """``choice`` narrowed so that whatever is chosen lies outside all of ``avoided``; None where nothing does.

    ``tree_of``: the tree of each guard. Untaken guards come first, since they are what a program does that is not tuned.
    """
    met = [box for box in avoided if is_met(choice, box, tree_of)]
    if not met:
        return choice
    ways = min((_ways(choice, box, tree_of) for box in met), key=len)
    for way in ways:
        if (found := avoiding(way, met, tree_of)) is not None:
            return found
    return None


def is_met(choice: Choice, avoided: Box, tree_of: Mapping[str, int]) -> bool:
    """Whether something that may be chosen lies in ``avoided``."""
    parts: list[Box] = [{} for _ in choice]
    for name, interval in avoided.items():
        parts[tree_of[name]][name] = interval
    return all(
        any(intersection(box, part) is not None for box in boxes) for boxes, part in zip(choice, parts, strict=True)
    )


def _ways(choice: Choice, avoided: Box, tree_of: Mapping[str, int]) -> list[Choice]:
    """``choice`` on each side of each interval of ``avoided``, as far as something is left."""
    sides = [
        *((name, Interval(above=i.upto)) for name, i in avoided.items() if i.upto is not None),
        *((name, Interval(upto=i.above)) for name, i in avoided.items() if i.above is not None),
    ]
    found = []
    for name, side in sides:
        tree = tree_of[name]
        left = [both for box in choice[tree] if (both := intersection(box, {name: side})) is not None]
        if left:
            found.append([*choice[:tree], left, *choice[tree + 1 :]])
    return found
