"""The smallest of a row of times that fall and then rise, with few comparisons: Figure 8 of paper 003.

Candidate k takes a version at all values from the k-th up, the last candidate at none. Two neighbours differ in one value
only, and the monotonic assumption says: if the version wins at that value, it wins at all larger ones. So the faster of two
neighbours tells on which side the optimum lies.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

from kernelwright.lazy_dataclasses import dataclass
from kernelwright.versions.resolution import Verdict


@dataclass(frozen=True)
class Minimum:
    """The candidates ``first`` to ``last`` are equally good; ``best`` is the one to go on with."""

    first: int
    last: int
    best: int
    contradiction: bool = False
    """Whether times were seen that do not fall and then rise; then every candidate was tried, and ``best`` is the best."""


@dataclass(frozen=True)
class Search:
    """A search among ``count`` candidates, of which number ``here`` is known already."""

    count: int
    here: int
    fails: Callable[[int], bool]
    compare: Callable[[int, int], Verdict]
    seen: Callable[[], Sequence[int]]
    """The candidates that were run so far."""

    def minimum(self) -> Minimum:
        """At most 2·⌈log2(count)⌉ new candidates, one more for the end of the row, and more where neighbours tie."""
        found = self._bisect()
        if self.count > 2:
            self.fails(0)  # The end of the row is run, too: it is the first to contradict.
        return self._scan() if self._contradicted(found) else found

    def _bisect(self) -> Minimum:
        low, high = 0, self.count - 1
        while low < high:
            middle = (low + high) // 2
            if self.fails(middle) and self.fails(middle + 1):
                low, high = self._toward_success(low, high, middle)
                continue
            verdict = self.compare(middle, middle + 1)
            if verdict is Verdict.TIE:
                flat = self._flat(middle, low, high)
                if isinstance(flat, Minimum):
                    return flat
                low, high = flat
            elif verdict is Verdict.FASTER:
                high = middle
            else:
                low = middle + 1
        return Minimum(low, low, low)

    def _toward_success(self, low: int, high: int, middle: int) -> tuple[int, int]:
        """Where to go on when both neighbours fail. A version that fails at a value fails in all candidates that take it."""
        if not self.fails(high):
            return middle + 1, high
        if not self.fails(low):
            return low, middle
        alive = next((i for i in range(low, high + 1) if not self.fails(i)), None)
        if alive is None:
            return self.here, self.here
        return (low, middle) if alive < middle else (middle + 1, high)

    def _flat(self, middle: int, low: int, high: int) -> Minimum | tuple[int, int]:
        """Neighbours that tie tell no direction: candidates further away are compared, until one differs on each side."""
        first, last = middle, middle + 1
        while first > low and (verdict := self.compare(first - 1, middle)) is not Verdict.SLOWER:
            if verdict is Verdict.FASTER:
                return low, first - 1
            first -= 1
        while last < high and (verdict := self.compare(last + 1, middle)) is not Verdict.SLOWER:
            if verdict is Verdict.FASTER:
                return last + 1, high
            last += 1
        return Minimum(first, last, self.here if first <= self.here <= last else last)

    def _contradicted(self, found: Minimum) -> bool:
        """Whether something that was run is faster than what the search found, or slower than both of its sides."""
        seen = [i for i in self.seen() if not self.fails(i)]
        if any(self.compare(i, found.best) is Verdict.FASTER for i in seen):
            return True
        left = [i for i in seen if i <= found.best]
        right = [i for i in reversed(seen) if i >= found.best]
        sides = (left, right)
        return any(self.compare(a, b) is Verdict.FASTER for side in sides for a, b in itertools.pairwise(side))

    def _scan(self) -> Minimum:
        """Every candidate, when the row has several valleys."""
        best = self.here
        for index in range(self.count):
            if self.compare(index, best) is Verdict.FASTER:
                best = index
        return Minimum(best, best, best, contradiction=True)


def nonmonotone(values: Sequence[int], times_us: Sequence[float]) -> list[int]:
    """The values at which the version is faster, from the times of all candidates (one more than there are values)."""
    steps = zip(values, times_us, times_us[1:], strict=False)
    return [value for value, taken, left in steps if math.isfinite(taken) and taken < left]
