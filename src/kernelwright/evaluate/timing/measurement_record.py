"""What was measured on a real GPU, as the journal keeps it: a kernel is measured once, in a resumed run too."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from enum import Enum
from typing import Any

from kernelwright.evaluate.outcome import Rejected, outcome_from_json
from kernelwright.evaluate.timing.data_sets import mean_us, per_set
from kernelwright.lazy_dataclasses import dataclass


class Effort(Enum):
    """How much a comparison of two kernels may cost, as ``measure.duel`` has it: pairs in any case, pairs and seconds at most."""

    SEARCH = (1, 60, 2.0)
    """Thousands of candidates: what is not settled soon is a tie."""
    FINAL = (60, 400, 30.0)
    """What is going to be told to people."""

    def __init__(self, least: int, pairs: int, seconds: float) -> None:
        self.least = least
        self.pairs = pairs
        self.seconds = seconds


@dataclass(frozen=True)
class Timed:
    """One launch. Microseconds, with the interval of their median; 0 ``samples``: taken from launches like it."""

    kernel: str
    us: float
    low: float
    high: float
    samples: int


@dataclass(frozen=True)
class Measured:
    """The launches of one case, of a program in which the kernels of ``keys`` differ from the original's."""

    case: int
    keys: Mapping[str, str]
    effort: Effort
    launches: tuple[Timed, ...] = ()
    error: float = 0.0
    rejected: Rejected | None = None

    def as_json(self) -> dict[str, Any]:
        """As the journal keeps it: each launch as kernel, median, low and high in microseconds, and samples; or the rejection."""
        value: dict[str, Any] = {"case": self.case, "keys": dict(self.keys), "effort": self.effort.name}
        if self.rejected is not None:
            return value | {"rejected": self.rejected.as_json()}
        launches = [[each.kernel, each.us, each.low, each.high, each.samples] for each in self.launches]
        return value | {"error": self.error, "launches": launches}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Measured:
        """What ``as_json`` wrote. Raises ``KeyError``, ``TypeError`` or ``ValueError`` for anything else."""
        where = int(value["case"]), dict(value["keys"]), Effort[value["effort"]]
        if "rejected" in value:
            rejected = outcome_from_json(value["rejected"])
            assert isinstance(rejected, Rejected)
            return cls(*where, rejected=rejected)
        return cls(*where, tuple(Timed(*each) for each in value["launches"]), float(value["error"]))


@dataclass
class Known:
    """What has been measured, by case and kernels; of several, the one that cost more."""

    fresh: list[Measured] = field(default_factory=list)
    """What was added in this session, in order."""
    _found: dict[tuple[int, frozenset[tuple[str, str]]], Measured] = field(default_factory=dict)

    @classmethod
    def of(cls, journal: Iterable[Mapping[str, Any]]) -> Known:
        """From what ``as_json`` wrote."""
        made = cls()
        for value in journal:
            made.add(Measured.from_json(value))
        made.fresh.clear()
        return made

    def find(self, case: int, keys: Mapping[str, str], effort: Effort) -> Measured | None:
        """What was measured with at least that much effort. What was rejected is not tried again."""
        found = self._found.get((case, frozenset(keys.items())))
        if found is None or (found.rejected is None and found.effort.pairs < effort.pairs):
            return None
        return found

    def add(self, measured: Measured) -> None:
        """Adds a measurement; it replaces an earlier one of the same case and kernels."""
        self._found[measured.case, frozenset(measured.keys.items())] = measured
        self.fresh.append(measured)


@dataclass(frozen=True)
class Total:
    """All launches of all cases, weighted: the geometric mean over the data sets."""

    us: float
    low: float
    high: float
    kernels: Mapping[str, float]
    """By kernel, on all data sets together."""
    sets: Sequence[float]
    """By data set."""


def total(measured: Sequence[Measured], weights: Sequence[float], sets: Sequence[int]) -> Total:
    """The interval is that of the worst case, in which all launches lie at the same end of theirs. ``sets``: by case, its data set."""
    pairs = list(zip(weights, measured, strict=True))
    weighted = [(w, each) for w, case in pairs for each in case.launches]
    kernels: dict[str, float] = {}
    for weight, each in weighted:
        kernels[each.kernel] = kernels.get(each.kernel, 0.0) + weight * each.us
    us, low, high = (
        per_set([w * math.fsum(getattr(each, name) for each in case.launches) for w, case in pairs], sets)
        for name in ("us", "low", "high")
    )
    return Total(mean_us(us), mean_us(low), mean_us(high), kernels, us)
