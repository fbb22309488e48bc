"""The score: how much faster on the data sets, each counted alike however large it is.

The time that is made small is the geometric mean of the data sets' times, so that the ratio of two of them is the geometric mean of
the data sets' speed-ups: a set that takes a thousand times as long as another weighs no more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from kernelwright.evaluate.outcome import Ok

TIME_OF_SET = "data set {} us"
"""The figure of an outcome that is one set's time, by its number from 1."""
UNCHANGED = 1e-6
"""A set on which no launch ran a version has the original's time, but for rounding."""


def mean_us(times_us: Sequence[float]) -> float:
    """The geometric mean of the sets' times in microseconds, or of their speed-ups; of a single one, that time."""
    if len(times_us) == 1:
        return times_us[0]
    if not all(times_us):
        return 0.0
    return math.exp(math.fsum(map(math.log, times_us)) / len(times_us))


def per_set(times_us: Sequence[float], sets: Sequence[int]) -> list[float]:
    """The times of cases, summed by the set that each belongs to, numbered from 0."""
    found = [0.0] * (max(sets) + 1)
    for us, number in zip(times_us, sets, strict=True):
        found[number] += us
    return found


def as_figures(times_us: Sequence[float]) -> dict[str, float]:
    """The sets' times as figures of an outcome; none for a single set."""
    return {TIME_OF_SET.format(number): us for number, us in enumerate(times_us, 1)} if len(times_us) > 1 else {}


def of_sets(figures: Mapping[str, Any]) -> str:
    """What to say beside a run's time: that it is a mean of several sets' times, from an outcome's figures; nothing of a single set."""
    count = sum(name.startswith("data set ") and name.endswith(" us") for name in figures)
    return f" (geometric mean of {count} data sets)" if count > 1 else ""


def speedups_by_set(original: Ok, outcome: Ok, base_us: float) -> list[float]:
    """The speed-up on each data set; their geometric mean is ``base_us`` over the outcome's time.

    ``base_us``: what gains are counted from. Where that is less than the original's time, each set's share of it is the original's.
    """
    faster = base_us / original.time_us if original.time_us else 1.0
    before, after = _times(original.metrics), _times(outcome.metrics)
    if len(before) < 2 or len(before) != len(after):
        return [base_us / outcome.time_us if outcome.time_us else 1.0]
    return [faster * one / other if other else 1.0 for one, other in zip(before, after, strict=True)]


def together(first: Sequence[float], second: Sequence[float], neither: Sequence[float]) -> float:
    """The speed-up of a program with two versions of its kernels inside, from theirs on each data set: the first where launches of a
    set fit it, the second where none does. It is at least that: of a set that fits in part, the other launches count as the
    original's.

    ``neither``: the speed-ups of the original itself, which are those of a version that no launch fits.
    """
    chosen = [
        other if math.isclose(one, none, rel_tol=UNCHANGED) else one
        for one, other, none in zip(first, second, neither, strict=True)
    ]
    return mean_us(chosen) if chosen else 1.0


def remarks_on_sets(count: int, repeated: Sequence[int]) -> list[str]:
    """What a person should know of so many sets, of which some, numbered from 0, repeat an earlier one."""
    said = []
    if repeated:
        which = ", ".join(str(number + 1) for number in repeated)
        said.append(f"data set {which} repeats an earlier one: the same launches on the same data show nothing more")
    if count - len(repeated) < 2:
        said.append(
            "there is one data set: whatever holds for it alone will be taken for a rule; give another with --case"
        )
    return said


def _times(figures: Mapping[str, float]) -> list[float]:
    found: list[float] = []
    while (us := figures.get(TIME_OF_SET.format(len(found) + 1))) is not None:
        found.append(us)
    return found
