"""Which of two configurations is faster, or that it cannot be told: by a rule, never by a coin.

Times of a configuration are pooled over all its runs, so that it is measured once and not once per rival. Two are compared
by the difference of their means beside its uncertainty u, the half width of a 99.9 % interval (Student's t, Welch):

    |difference| > max(u, resolution / 2 of the quicker)   the quicker one is faster
    u <= resolution / 2 of the quicker                     a tie: both are kept as equally good
    otherwise                                              the one with fewer runs is run again, up to a limit, then a tie

So a true difference of ``resolution`` or more is always found, one of zero never, and in between the answer is the right
one or a tie, each but for one case in a thousand. A deterministic program is run once and has no uncertainty.
"""

from __future__ import annotations

import math
import statistics
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import field
from enum import Enum

from kernelwright.lazy_dataclasses import dataclass

# Two-sided 99.9 % quantiles of Student's t by degrees of freedom (NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2:
# upper 0.0005). Between rows the larger one is taken.
_FREEDOM = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 60)
_QUANTILE = (636.6, 31.6, 12.92, 8.610, 6.869, 5.959, 5.408, 5.041, 4.781, 4.587, 4.318, 4.073, 3.850, 3.646, 3.460)


class Verdict(Enum):
    """How the first of two configurations compares with the second."""

    FASTER = "faster"
    SLOWER = "slower"
    TIE = "tie"
    OPEN = "open"
    """More runs may decide it."""


@dataclass(frozen=True)
class Resolution:
    """The rule by which times are compared."""

    relative: float = 0.0
    """Differences of this share of the time or more are found; smaller ones may be ties."""
    least_runs: int = 1
    """Runs of every configuration. With 1, times are taken to be exact."""
    most_runs: int = 1
    """Runs of a configuration after which an undecided comparison is a tie."""

    @staticmethod
    def exact(relative: float = 0.0) -> Resolution:
        """For deterministic programs."""
        return Resolution(relative)

    @staticmethod
    def noisy(relative: float = 0.02, most_runs: int = 40) -> Resolution:
        """For measured times. ``relative``: the share of the time that is to be told apart; at most ``most_runs`` runs each."""
        return Resolution(relative, least_runs=min(4, most_runs), most_runs=most_runs)

    def verdict(self, first: Times, second: Times) -> Verdict:
        """How ``first`` compares with ``second``; one that failed is slower than any that did not. The rule is at the top of this file."""
        if first.failed or second.failed:
            if first.failed and second.failed:
                return Verdict.TIE
            return Verdict.SLOWER if first.failed else Verdict.FASTER
        difference = first.mean - second.mean
        unsure = uncertainty(first, second) if self.most_runs > 1 else 0.0
        least = self.relative / 2 * min(first.mean, second.mean)
        if abs(difference) > max(unsure, least):
            return Verdict.FASTER if difference < 0 else Verdict.SLOWER
        if unsure <= least or min(len(first), len(second)) >= self.most_runs:
            return Verdict.TIE
        return Verdict.OPEN

    def unresolved(self, first: Times, second: Times) -> float:
        """The largest difference, as a share of the quicker time, that the runs there are do not show, where that is more than
        ``relative``; else 0."""
        if self.most_runs == 1 or first.failed or second.failed:
            return 0.0
        quicker = min(first.mean, second.mean) or max(first.mean, second.mean)
        unsure = uncertainty(first, second)
        shows = max(self.relative * quicker, abs(first.mean - second.mean))
        return unsure / quicker if unsure > shows else 0.0


@dataclass
class Times:
    """The times of one configuration, in microseconds; ``failed`` when it has none and never will."""

    values: list[float] = field(default_factory=list)
    failed: bool = False

    def __len__(self) -> int:
        return len(self.values)

    @property
    def mean(self) -> float:
        """Infinite for one that failed: it is slower than whatever runs."""
        return math.inf if self.failed else statistics.fmean(self.values)


def uncertainty(first: Times, second: Times) -> float:
    """Half the width of the 99.9 % interval of the difference of two means, in microseconds."""
    parts = [statistics.variance(t.values) / len(t) if len(t) > 1 else math.inf for t in (first, second)]
    if math.inf in parts:
        return math.inf
    whole = sum(parts)
    if whole == 0.0:
        return 0.0
    freedom = whole**2 / sum(p**2 / (len(t) - 1) for p, t in zip(parts, (first, second), strict=True))
    return _quantile(freedom) * math.sqrt(whole)


def _quantile(freedom: float, rows: Sequence[int] = _FREEDOM) -> float:
    return _QUANTILE[max(bisect_right(rows, freedom + 1e-9) - 1, 0)]
