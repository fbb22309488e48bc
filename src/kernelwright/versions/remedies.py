"""What resolves a conflict: the reordered and the duplicated forest of paper 003, section 3.4 and Figure 6, built and tuned.

    reordered     V1 if rows >= T1, else V2 if elements >= T2, else V3
                  V2 if elements >= T2, else V1 if rows >= T1, else V3
    duplicated    V1 if rows >= T1, else V1 if -(rows) >= T1', else V2 ...      the version wins at both ends

For a chain of guards, each of which every dataset meets at one value, the times of all versions are known after tuning. So
another forest of the same versions is tuned on what was measured, without a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations
from typing import Any

from kernelwright.evaluate.outcome import Rejected
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.versions.configurations import Configuration
from kernelwright.versions.dataset_tuning import Decision
from kernelwright.versions.forest import Forest
from kernelwright.versions.program import INFINITE, Compared, Ran, Thresholds
from kernelwright.versions.resolution import Resolution
from kernelwright.versions.thresholds import Tuning, tune

MOST_GUARDS = 5
"""A longer chain has too many orders to try."""


@dataclass(frozen=True)
class Rule:
    """A guard of the forest that is tried, and whose version it takes."""

    guard: str
    """The guard of the measured program that the version belongs to."""
    from_below: bool = False
    """Whether it takes the version for small values: it compares the negated one."""

    @property
    def name(self) -> str:
        """What its threshold is called: the guard's name, in ``-(...)`` where the negated value is compared."""
        return f"-({self.guard})" if self.from_below else self.guard


@dataclass(frozen=True)
class Remedy:
    """A forest of the same versions with thresholds that are best for all datasets."""

    kind: str
    """``reordered`` or ``duplicated``."""
    rules: tuple[Rule, ...]
    tuning: Tuning

    def __str__(self) -> str:
        parts = [f"the version of {r.guard} where {r.name} >= {_threshold(self.tuning, r.name)}" for r in self.rules]
        return f"{self.kind}: {', else '.join(parts)}, else the last version"

    def as_json(self) -> dict[str, Any]:
        """Kind, guards with the versions they take, and thresholds by guard."""
        guards = [{"name": rule.name, "version_of": rule.guard} for rule in self.rules]
        return {"kind": self.kind, "guards": guards, "thresholds": self.tuning.thresholds}


@dataclass(frozen=True)
class Measured:
    """A chain of versions as tables: per dataset the value of each guard, and the time of each version."""

    guards: tuple[str, ...]
    values: Mapping[str, Mapping[str, int]]
    times_us: Mapping[str, Mapping[str, float | None]]
    """By the version's guard, the last one's by an empty name; None where it failed."""


class RecordedProgram:
    """A program whose versions are guarded by ``rules``, and take the times that were measured."""

    deterministic = True

    def __init__(self, measured: Measured, rules: tuple[Rule, ...]) -> None:
        self._measured = measured
        self._rules = rules

    def run(self, dataset: str, thresholds: Thresholds) -> Ran:
        compared: list[Compared] = []
        version = ""
        for rule in self._rules:
            value = self._measured.values[dataset][rule.guard]
            value = -value if rule.from_below else value
            taken = value >= thresholds.get(rule.name, INFINITE)
            compared.append(Compared(rule.name, value, taken))
            if taken:
                version = rule.guard
                break
        time_us = self._measured.times_us[dataset][version]
        failure = Rejected("program", "it failed when it was measured") if time_us is None else None
        return Ran(tuple(compared), time_us, failure)


def piecewise(decision: Decision) -> tuple[str, float] | None:
    """Where a version that is not monotonic is the faster one, in words, and the time of the dataset with a guard for each such piece: the
    time without it, less what it gains at each value. None where a candidate failed, or where it gains nowhere."""
    times = {each.threshold: each.time_us for each in decision.tried}
    row = [times.get(threshold) for threshold in (*decision.values, INFINITE)]
    found = [time_us for time_us in row if time_us is not None]
    if not decision.pieces or len(found) < len(row):
        return None
    gains = {v: left - taken for v, taken, left in zip(decision.values, found, found[1:], strict=False)}
    runs: list[list[int]] = []
    for value in decision.pieces:
        index = decision.values.index(value)
        if runs and decision.values.index(runs[-1][-1]) == index - 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    words = [_range(run[0], run[-1], decision.values[0], decision.values[-1]) for run in runs]
    return " or ".join(words), found[-1] - sum(gains[value] for value in decision.pieces)


def _range(first: int, last: int, least: int, most: int) -> str:
    if first == least:
        return f"at most {last}"
    return f"at least {first}" if last == most else f"from {first} to {last}"


def remedies(tuning: Tuning, relative: float = 0.0) -> list[Remedy]:
    """The first reordered and the first duplicated forest without a conflict; none where there is no conflict, or the program
    is no chain, or where no dataset loses. ``relative``: the share of the time below which times are the same."""
    if all(dataset.loss <= relative for dataset in tuning.datasets):
        return []
    measured = measured_chain(tuning)
    if measured is None or not tuning.conflicts or len(measured.guards) > MOST_GUARDS:
        return []
    rule = Resolution.exact(relative)
    found = (
        _resolved("reordered", measured, _reordered(measured), rule),
        _resolved("duplicated", measured, _duplicated(measured), rule),
    )
    return [remedy for remedy in found if remedy is not None]


def _resolved(
    kind: str, measured: Measured, forests: Iterator[tuple[Rule, ...]], resolution: Resolution
) -> Remedy | None:
    for rules in forests:
        declared = Forest.chain([rule.name for rule in rules])
        tuning = tune(RecordedProgram(measured, rules), list(measured.values), resolution, declared=declared)
        if not tuning.conflicts:
            return Remedy(kind, rules, tuning)
    return None


def _reordered(measured: Measured) -> Iterator[tuple[Rule, ...]]:
    for order in permutations(measured.guards):
        if order != measured.guards:
            yield tuple(Rule(guard) for guard in order)


def _duplicated(measured: Measured) -> Iterator[tuple[Rule, ...]]:
    """Each guard twice, from above and from below, the second time anywhere after the first."""
    plain = [Rule(guard) for guard in measured.guards]
    for number, guard in enumerate(measured.guards):
        for place in range(number + 1, len(plain) + 1):
            yield (*plain[:place], Rule(guard, from_below=True), *plain[place:])


def measured_chain(tuning: Tuning) -> Measured | None:
    """The tables behind a tuning; None where the program is no chain, or a dataset met a guard at several values."""
    guards = tuning.forest.guards
    if Forest.chain(guards) != tuning.forest:
        return None
    values: dict[str, Mapping[str, int]] = {}
    times: dict[str, Mapping[str, float | None]] = {}
    for name, configurations in tuning.measured.items():
        versions = {version: c for c in configurations if (version := _version(c, guards)) is not None}
        if set(versions) != {*guards, ""}:
            return None
        values[name] = {c.name: c.value for c in versions[""].compared}
        times[name] = {v: None if c.times.failed else c.time_us for v, c in versions.items()}
    return Measured(guards, values, times)


def _version(configuration: Configuration, guards: tuple[str, ...]) -> str | None:
    """The guard whose version a configuration ran, empty for the last version; None where it ran no single one."""
    names = tuple(c.name for c in configuration.compared)
    taken = [c.name for c in configuration.compared if c.taken]
    if names != guards[: len(names)] or len(taken) > 1 or (not taken and names != guards):
        return None
    if taken and taken[0] != names[-1]:
        return None
    return taken[0] if taken else ""


def _threshold(tuning: Tuning, name: str) -> str:
    value = tuning.thresholds[name]
    return "infinity" if value == INFINITE else str(value)
