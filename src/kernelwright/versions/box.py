"""Boxes: per threshold an interval. All assignments inside take the same path through the program.

The comparisons of a run are its box: a guard that was taken at values 40 and 90 and not at 10 is so for every threshold above
10 and up to 40. Guards that the run never met are free, and so the box of a run is maximal, whatever its structure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from kernelwright.lazy_dataclasses import dataclass
from kernelwright.versions.program import INFINITE, Compared, Thresholds


@dataclass(frozen=True)
class Interval:
    """The thresholds T with ``above < T <= upto``. None: no bound on that side."""

    above: int | None = None
    """The largest value at which the guard must not be taken."""
    upto: int | None = None
    """The smallest value at which it must be taken."""

    @property
    def is_empty(self) -> bool:
        """Whether no threshold lies in it."""
        return self.above is not None and self.upto is not None and self.above >= self.upto

    def __contains__(self, threshold: int) -> bool:
        return (self.above is None or threshold > self.above) and (self.upto is None or threshold <= self.upto)

    def __and__(self, other: Interval) -> Interval:
        lows = [low for low in (self.above, other.above) if low is not None]
        highs = [high for high in (self.upto, other.upto) if high is not None]
        return Interval(max(lows, default=None), min(highs, default=None))

    def value(self) -> int:
        """A threshold inside, with a margin to both sides.

        Between a loss and a win their geometric middle, since sizes spread over orders of magnitude. A guard that never won
        stays untaken: nothing speaks for its version at larger values. One that never lost is taken from half the smallest
        value it won at. Guards of small numbers compare them negated: for values below 0 both are mirrored, and one that never
        lost is taken up to twice the largest number it won at. Raises ``ValueError`` when nothing is inside.
        """
        if self.is_empty:
            raise ValueError(f"no threshold lies in {self}")
        if self.upto is None:
            return INFINITE
        if self.above is None:
            return max(2 * self.upto, -INFINITE) if self.upto < 0 else self.upto // 2 if self.upto > 1 else self.upto
        if self.above > 0:
            middle = math.isqrt(self.above * self.upto)
        elif self.upto < 0:
            middle = -math.isqrt(self.above * self.upto)
        else:
            middle = (self.above + self.upto) // 2
        return min(max(middle, self.above + 1), self.upto)

    def __str__(self) -> str:
        low = "-inf" if self.above is None else str(self.above)
        return f"({low}, inf]" if self.upto is None else f"({low}, {self.upto}]"

    def as_json(self) -> list[int | None]:
        """``[above, upto]``, null for no bound; ``from_json`` reads it."""
        return [self.above, self.upto]

    @staticmethod
    def from_json(row: Any) -> Interval:
        """Raises ``ValueError`` for what ``as_json`` did not write."""
        if not isinstance(row, list) or len(row) != 2 or not {type(end) for end in row} <= {int, type(None)}:
            raise ValueError("no interval")
        return Interval(*row)


FREE = Interval()
Box = dict[str, Interval]


def box_of(compared: Iterable[Compared], thresholds: Thresholds) -> Box:
    """All assignments that take the path of this run.

    A version that was not run although its threshold was reached is illegal there, as is one of which the program says so: no threshold
    makes it run at that value, which is no constraint.
    """
    box: Box = {}
    for each in compared:
        reached = each.value >= thresholds.get(each.name, INFINITE)
        if each.taken:
            interval = Interval(None, each.value)
        elif reached or not each.legal:
            interval = FREE
        else:
            interval = Interval(each.value, None)
        box[each.name] = box.get(each.name, FREE) & interval
    return box


def intersection(left: Box, right: Box) -> Box | None:
    """What lies in both; None when nothing does."""
    both = {name: left.get(name, FREE) & right.get(name, FREE) for name in {**left, **right}}
    return None if any(interval.is_empty for interval in both.values()) else both


def contains(box: Box, thresholds: Mapping[str, int]) -> bool:
    """Whether thresholds lie in a box; one that is not named is never taken."""
    return all(thresholds.get(name, INFINITE) in interval for name, interval in box.items())


def within(inner: Box, outer: Box) -> bool:
    """Whether everything in ``inner`` is in ``outer``."""
    return all(inner.get(name, FREE) & interval == inner.get(name, FREE) for name, interval in outer.items())


def merged(boxes: Iterable[Box]) -> list[Box]:
    """The same assignments in fewer boxes: those inside others are left out, and neighbours become one."""
    kept: list[Box] = []
    waiting = list(boxes)
    while waiting:
        box = waiting.pop(0)
        if any(within(box, other) for other in kept):
            continue
        joined = next(((other, both) for other in kept if (both := _joined(box, other)) is not None), None)
        if joined is None:
            kept = [other for other in kept if not within(other, box)] + [box]
        else:
            kept.remove(joined[0])
            waiting.insert(0, joined[1])
    return kept


def _joined(left: Box, right: Box) -> Box | None:
    """One box for two that touch in one guard and are equal in all others."""
    differing = [n for n in {**left, **right} if left.get(n, FREE) != right.get(n, FREE)]
    if len(differing) != 1:
        return None
    name = differing[0]
    one, other = left.get(name, FREE), right.get(name, FREE)
    overlap = one & other
    if overlap.above is not None and overlap.upto is not None and overlap.above > overlap.upto:
        return None
    lows, highs = (one.above, other.above), (one.upto, other.upto)
    low = None if None in lows else min(low for low in lows if low is not None)
    high = None if None in highs else max(high for high in highs if high is not None)
    return {**left, name: Interval(low, high)}
