"""Measuring: intervals that hold, verdicts that are right as often as promised, effort within its bounds."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.errors import DeviceError, Misuse
from kernelwright.evaluate.timing.duel import (
    Duel,
    _ever_needed,
    _fixed_needed,
    _wealth,
    duel,
    ever_valid,
    median_interval,
)


def noisy(time_us: float, rng: random.Random, noise: float = 0.02) -> Callable[[], float]:
    return lambda: time_us * math.exp(rng.gauss(0, noise)) * (1.5 if rng.random() < 0.05 else 1)


def fought(ratio: float, seed: int, *, noise: float = 0.02, pairs: int = 300, confidence: float = 0.99) -> Duel:
    rng = random.Random(seed)
    return duel(noisy(100 * ratio, rng, noise), noisy(100, rng, noise), pairs=pairs, seed=seed, confidence=confidence)


def test_a_clear_difference_is_seen_soon() -> None:
    for seed in range(20):
        won, lost = fought(1.2, seed), fought(1 / 1.2, seed)
        assert (won.verdict, lost.verdict) == ("faster", "slower") and won.settled and lost.settled
        assert won.speedup.samples <= 25 and won.speedup.low > 1.005 and 1.15 < won.speedup.median < 1.25
        assert won.original.median > won.variant.median


def test_the_same_twice_is_a_tie() -> None:
    steady = duel(lambda: 10.0, lambda: 10.0)
    assert (steady.verdict, steady.settled, steady.speedup.samples) == ("tie", True, 11)
    assert duel(lambda: 10.0, lambda: 9.97).verdict == "tie"
    assert duel(lambda: 10.0, lambda: 9.9).verdict == "faster"
    assert duel(lambda: 9.9, lambda: 10.0).verdict == "slower"


def test_equals_are_hardly_ever_told_apart() -> None:
    """100 races between equals at 90 %: at most 10 may be called, and looking after every pair must not add to them."""
    wrong = [fought(1.0, seed, pairs=150, confidence=0.9).verdict for seed in range(100)]
    assert sum(v != "tie" for v in wrong) <= 10


def test_drift_is_shared() -> None:
    clock: Iterator[float] = iter(1 + 0.01 * n for n in range(10_000))
    run = lambda: 100 * next(clock)  # noqa: E731  (the machine slows down by a percent with every run)
    found = duel(run, run, pairs=200)
    assert found.verdict == "tie"


def test_the_budget_says_tie() -> None:
    found = fought(1.004, 3, noise=0.2, pairs=40)
    assert (found.verdict, found.settled, found.speedup.samples) == ("tie", False, 40)
    assert "not settled" in str(found)
    ticks: Iterator[int] = iter(range(1000))
    rng = random.Random(1)
    short = duel(noisy(1, rng), noisy(1, rng), seconds=10, clock=lambda: next(ticks))
    assert not short.settled and short.speedup.samples <= 11


def test_warmup_is_thrown_away_and_order_is_drawn() -> None:
    calls: list[str] = []
    first = iter([1000.0] * 4)

    def run(name: str) -> Callable[[], float]:
        def once() -> float:
            calls.append(name)
            return next(first, 2.0 if name == "o" else 1.0)

        return once

    found = duel(run("o"), run("v"), warmup=2)
    assert found.verdict == "faster" and found.original.high == 2.0
    pairs = ["".join(calls[i : i + 2]) for i in range(0, len(calls), 2)]
    assert set(pairs) == {"ov", "vo"}  # each once per pair, in either order


@pytest.mark.parametrize("time_us", [0.0, -1.0, math.nan, math.inf])
def test_a_time_that_is_none(time_us: float) -> None:
    with pytest.raises(DeviceError, match="is none") as told:
        duel(lambda: 1.0, lambda: time_us)
    assert "several times per sample" in str(told.value)


def test_odd_orders() -> None:
    for options in ({"confidence": 1.0}, {"confidence": 0.0}, {"tie": -0.1}, {"pairs": 0}):
        with pytest.raises(Misuse):
            duel(lambda: 1.0, lambda: 1.0, **options)
    with pytest.raises(Misuse):
        median_interval([])


# -- the numbers behind it ---------------------------------------------------------------------------------------------


def test_wealth_is_the_integral_it_claims_to_be() -> None:
    for n, k in ((1, 0), (1, 1), (5, 3), (12, 12), (30, 20)):
        steps = 20_000
        grid = [0.5 + (i + 0.5) / (2 * steps) for i in range(steps)]
        integral = sum(p**k * (1 - p) ** (n - k) for p in grid) / (2 * steps)
        assert float(_wealth(n, k)) == pytest.approx(2 ** (n + 1) * integral, rel=1e-6)


def test_the_game_is_fair_at_one_half() -> None:
    """What a gambler has is, on average over the next flip of a fair coin, what he had: in exact fractions."""
    for n in range(12):
        for k in range(n + 1):
            assert (_wealth(n + 1, k) + _wealth(n + 1, k + 1)) / 2 == _wealth(n, k)
    assert _wealth(0, 0) == 1


def test_looking_all_the_time_does_not_cheat() -> None:
    """Every sequence of 14 fair flips: the share on which the game ever pays 1/alpha is at most alpha."""
    for alpha in (Fraction(1, 5), Fraction(1, 20)):
        reached = 0
        for flips in product((0, 1), repeat=14):
            heads = 0
            for n, flip in enumerate(flips, start=1):
                heads += flip
                if _wealth(n, heads) >= 1 / alpha:
                    reached += 1
                    break
        assert 0 < Fraction(reached, 2**14) <= alpha


def test_the_least_number_needed() -> None:
    for n in range(1, 60):
        k = _ever_needed(n, 0.05)
        assert k > n or _wealth(n, k) >= 40
        assert _wealth(n, min(k, n + 1) - 1) < 40
        f = _fixed_needed(n, 0.05)
        tail = [sum(math.comb(n, j) for j in range(i, n + 1)) / 2**n for i in range(n + 2)]
        assert tail[f] <= 0.025 < tail[f - 1] and f <= k


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=80), st.sampled_from([0.9, 0.99]))
def test_intervals_hold_their_median(samples: list[float], confidence: float) -> None:
    ever, fixed = ever_valid(samples, confidence), median_interval(samples, confidence)
    assert ever.low <= fixed.low <= fixed.median <= fixed.high <= ever.high
    assert ever.samples == len(samples)
    # The bounds are the closest samples that have enough of all on their outer side.
    needed = _ever_needed(len(samples), 1 - confidence)
    assert ever.low == max((c for c in samples if sum(s >= c for s in samples) >= needed), default=-math.inf)
    assert ever.high == min((c for c in samples if sum(s <= c for s in samples) >= needed), default=math.inf)


def test_a_median_interval_covers_as_often_as_it_says() -> None:
    rng = random.Random(5)
    missed = 0
    for _ in range(400):
        found = median_interval([rng.expovariate(1) for _ in range(25)], 0.9)
        missed += not found.low <= math.log(2) <= found.high
    assert missed <= 55  # 40 on average at most


def test_too_few_samples_bound_nothing() -> None:
    assert ever_valid([1.0] * 5).low == -math.inf and ever_valid([1.0] * 5).high == math.inf
