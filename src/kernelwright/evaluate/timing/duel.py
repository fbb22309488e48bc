"""Honest measurement: original and variant alternate until they separate, or the budget says tie. No device in here.

Machines drift, clocks ramp, neighbours interfere. So the two are run in pairs, in an order drawn anew for each pair, and only
the ratio inside a pair counts. The median of those ratios gets an interval that may be looked at after every pair: it is
built from a test martingale (Ville's inequality: a fair game's stake of 1 ever reaches 1/alpha with probability alpha at
most), so that stopping when the result looks good does not make it look better than it is. Only signs of differences enter
it: no distribution is assumed, and a single disturbed run moves nothing.

    faster   the whole interval of the ratio original / variant lies above 1.005
    slower   it lies below 1 / 1.005
    tie      it lies between; or the budget was used up first
"""

from __future__ import annotations

import math
import random
import statistics
import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Literal

from kernelwright.errors import DeviceError, Misuse
from kernelwright.lazy_dataclasses import dataclass

TIE = 0.005
"""Gains below this share are ties: no device repeats itself better."""
CONFIDENCE = 0.99


@dataclass(frozen=True)
class Estimate:
    """The median of samples, and the interval in which the median of all possible ones lies."""

    median: float
    low: float
    high: float
    samples: int
    confidence: float

    def __str__(self) -> str:
        return f"{self.median:.6g} [{self.low:.6g}, {self.high:.6g}]"


@dataclass(frozen=True)
class Duel:
    """What came of measuring a variant against its original."""

    verdict: Literal["faster", "slower", "tie"]
    speedup: Estimate
    """Original time over variant time; over 1 the variant is faster. Its interval holds however long it was measured."""
    original: Estimate
    variant: Estimate
    """Microseconds. Theirs are plain intervals of medians, for tables; drift is in them."""
    settled: bool
    """False when the budget ran out before the interval said anything: then it is a tie for want of evidence."""

    def __str__(self) -> str:
        why = "" if self.settled else ", not settled within the budget"
        return f"{self.verdict}: {self.speedup.median:.4f}x [{self.speedup.low:.4f}, {self.speedup.high:.4f}]{why}"


def duel(
    original: Callable[[], float],
    variant: Callable[[], float],
    *,
    tie: float = TIE,
    confidence: float = CONFIDENCE,
    pairs: int = 400,
    seconds: float = 60.0,
    least: int = 1,
    warmup: int = 3,
    seed: int = 0,
    clock: Callable[[], float] = time.monotonic,
) -> Duel:
    """Runs the two, each of which returns its own time in microseconds, until they separate or tie.

    ``pairs`` and ``seconds`` bound the effort, whichever ends first; ``least`` pairs are run in any case, before anything is
    decided; ``warmup`` pairs are thrown away; ``seed`` draws who goes first in each pair.

    Raises ``DeviceError`` for a time that is none: zero, negative, infinite, no number.
    """
    if not (0 < confidence < 1 and tie >= 0 and pairs >= least >= 1):
        raise Misuse("a duel needs a confidence between 0 and 1, a tie of at least 0 and at least one pair")
    draw = random.Random(seed)
    end = clock() + seconds
    for _ in range(warmup):
        _pair(original, variant, draw)
    times: list[tuple[float, float]] = []
    verdict, look = None, least
    while verdict is None:
        times.append(_pair(original, variant, draw))
        over = len(times) >= pairs or (len(times) >= least and clock() >= end)
        if over or len(times) >= look:
            speedup = ever_valid([o / v for o, v in times], confidence)
            verdict = _settled(speedup, tie)
            look = len(times) + 1 + len(times) // 20  # Looking costs, too: the more samples there are, the less often.
        if over:
            break
    sides = [median_interval([pair[side] for pair in times], confidence) for side in (0, 1)]
    return Duel(verdict or "tie", speedup, sides[0], sides[1], verdict is not None)


def _pair(original: Callable[[], float], variant: Callable[[], float], draw: random.Random) -> tuple[float, float]:
    if draw.random() < 0.5:
        first = _time(original())
        return first, _time(variant())
    second = _time(variant())
    return _time(original()), second


def _time(value: float) -> float:
    if not (math.isfinite(value) and value > 0):
        raise DeviceError(
            f"a measured time of {value} us is none",
            hint="launch the kernel several times per sample, so that the clock can see it",
        )
    return value


def _settled(speedup: Estimate, tie: float) -> Literal["faster", "slower", "tie"] | None:
    if speedup.low > 1 + tie:
        return "faster"
    if speedup.high < 1 / (1 + tie):
        return "slower"
    if speedup.low >= 1 / (1 + tie) and speedup.high <= 1 + tie:
        return "tie"
    return None


# -- intervals ---------------------------------------------------------------------------------------------------------


def ever_valid(samples: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """The median, with an interval that is right at every moment at once: it may be looked at after every sample.

    A bound at a value c is ruled out when too many samples lie on one side of it: see ``_wealth``. Too few samples rule
    out nothing: the interval is then unbounded.
    """
    return _order_statistics(samples, confidence, _ever_needed(len(samples), 1 - confidence))


def median_interval(samples: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """The median, with the interval of order statistics for a number of samples that was fixed beforehand.

    (The number below the median is binomial, whatever the distribution.)
    """
    return _order_statistics(samples, confidence, _fixed_needed(len(samples), 1 - confidence))


def _order_statistics(samples: Sequence[float], confidence: float, needed: int) -> Estimate:
    """With ``needed`` of the samples on one side of a value, the median is not on its other side."""
    if not samples:
        raise Misuse("the median of no samples is nothing", hint="measure at least once")
    values, n = sorted(samples), len(samples)
    low = values[n - needed] if needed <= n else -math.inf
    high = values[needed - 1] if needed <= n else math.inf
    return Estimate(statistics.median(values), low, high, n, confidence)


def _wealth(n: int, k: int) -> Fraction:
    """What a stake of 1 has become for a gambler who bet that samples lie above a value, after ``k`` of ``n`` did.

    If the value is the median or more, each lies above with probability at most 1/2 and the game is fair or worse. The
    gambler spreads the stake evenly over all chances p between 1/2 and 1, so its worth is

        2^(n+1) * integral from 1/2 to 1 of p^k (1-p)^(n-k) dp  =  sum of C(n+1, j) for j <= k  /  ((n+1) C(n, k))
    """
    return Fraction(sum(math.comb(n + 1, j) for j in range(k + 1)), (n + 1) * math.comb(n, k))


@cache
def fewest(confidence: float = CONFIDENCE) -> int:
    """The number of pairs from which the interval of a duel is bounded."""
    n = 1
    while _ever_needed(n, 1 - confidence) > n:
        n += 1
    return n


@cache
def _ever_needed(n: int, alpha: float) -> int:
    """The least k of n on one side that the game pays 2/alpha for (one for each side); n + 1 when no k does."""
    return bisect_left(range(n + 1), True, key=lambda k: 2 * k > n and _wealth(n, k) >= 2 / alpha)


@cache
def _fixed_needed(n: int, alpha: float) -> int:
    """The least k of n that a fair coin reaches with probability at most alpha / 2; n + 1 when even n is likelier."""
    tail, k = 0, n + 1
    while k > 0 and (tail + math.comb(n, k - 1)) / 2**n <= alpha / 2:
        tail += math.comb(n, k - 1)
        k -= 1
    return k


# -- choosing ----------------------------------------------------------------------------------------------------------
