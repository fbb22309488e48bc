"""What has been run of one dataset: a configuration is a path through the program, with all thresholds that lead to it.

A path that is known is never run a second time, whatever thresholds ask for it, except where noise asks for more samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import field
from typing import Any

from kernelwright.errors import Misuse
from kernelwright.evaluate.outcome import Rejected, outcome_from_json
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.versions.box import Box, Interval, box_of, contains, intersection, merged
from kernelwright.versions.program import INFINITE, Compared, Ran, Thresholds, TunedProgram
from kernelwright.versions.resolution import Resolution, Times, Verdict


class OutOfTime(Exception):
    """Time is up before a run that was needed: what has been run stays known."""


@dataclass
class Configuration:
    """One path of one dataset."""

    compared: tuple[Compared, ...]
    thresholds: dict[str, int]
    """Those it was first run with."""
    boxes: list[Box]
    """All thresholds known to take this path. Empty where a run did not say what it decided."""
    times: Times = field(default_factory=Times)
    failure: Rejected | None = None

    @property
    def time_us(self) -> float:
        """The mean of its runs; infinite when it failed."""
        return self.times.mean

    def values(self, guard: str) -> list[int]:
        """The distinct values that ``guard`` met where its version may run, in ascending order."""
        return sorted({c.value for c in self.compared if c.name == guard and c.legal})

    def add(self, ran: Ran) -> None:
        """Adds one more run of this path: its time in microseconds, or its failure."""
        if ran.time_us is None:
            self.failure = ran.failure
            self.times.failed = True
        else:
            self.times.values.append(ran.time_us)

    def as_json(self) -> dict[str, Any]:
        """As the evidence file and the journal keep it; ``from_json`` reads it."""
        return {
            "compared": [c.as_json() for c in self.compared],
            "thresholds": self.thresholds,
            "boxes": [{name: i.as_json() for name, i in box.items()} for box in self.boxes],
            "times_us": self.times.values,
            "failure": self.failure.as_json() if self.failure else None,
        }

    @staticmethod
    def from_json(value: Any) -> Configuration:
        """Raises ``Misuse`` for what ``as_json`` did not write."""
        try:
            failure = outcome_from_json(value["failure"]) if value["failure"] is not None else None
            times = [float(time) for time in value["times_us"]]
            thresholds = {name: int(threshold) for name, threshold in value["thresholds"].items()}
            if (failure is None and not times) or not all(0 <= time < math.inf for time in times):
                raise ValueError("it has no time")
            if failure is not None and not isinstance(failure, Rejected):
                raise ValueError("it did not fail")
            return Configuration(
                tuple(Compared.from_json(row) for row in value["compared"]),
                thresholds,
                [{name: Interval.from_json(row) for name, row in box.items()} for box in value["boxes"]],
                Times(times, failed=failure is not None),
                failure,
            )
        except (LookupError, TypeError, ValueError, AttributeError):
            raise Misuse("a measured configuration cannot be read", hint="tune again with --fresh") from None


class Configurations:
    """The configurations of one dataset; runs what is not known yet."""

    def __init__(
        self,
        program: TunedProgram,
        dataset: str,
        resolution: Resolution,
        known: list[Configuration] | None = None,
        watch: Callable[[Configuration], None] = lambda _: None,
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        """``is_over``: asked before a run; where time is up, what needs one raises ``OutOfTime``."""
        self._program = program
        self.dataset = dataset
        self._resolution = resolution
        self._watch = watch
        self._is_over = is_over
        self.all: list[Configuration] = list(known or [])
        self._met = {c.name for each in self.all for c in each.compared}
        self.runs = 0
        """Runs of the program, repeats included."""
        self.new = 0
        """Runs that were the first of their configuration."""
        self.unresolved = 0.0
        """The largest difference, as a share of the time, that noise hid after as many runs as there may be."""

    def untuned(self) -> Configuration:
        """The program with thresholds of its own, which say what it is worth without tuning."""
        known = next((c for c in self.all if not c.thresholds), None)
        return known or self._take({}, self._in_time({}))

    def finish(self) -> None:
        """From now on runs are begun whatever the time is."""
        self._is_over = lambda: False

    def known(self, thresholds: Thresholds) -> Configuration | None:
        """The configuration that ``thresholds`` lead to, where it was run. Guards they do not name are not taken."""
        wanted = self._whole(thresholds)
        return next((c for c in self.all if any(contains(box, wanted) for box in c.boxes)), None)

    def _whole(self, thresholds: Thresholds) -> dict[str, int]:
        return {**dict.fromkeys(sorted(self._met), INFINITE), **thresholds}

    def at(self, thresholds: Thresholds) -> Configuration:
        """The same, which is run where it is not known."""
        wanted = self._whole(thresholds)
        while True:
            known = self.known(wanted)
            if known is not None:
                return known
            ran = self._in_time(wanted)
            named = {c.name for c in ran.compared} - wanted.keys()
            wanted |= dict.fromkeys(sorted(named), INFINITE)
            # An unknown guard may have followed the program's own threshold.
            if all(c.taken is False for c in ran.compared if c.name in named):
                return self._take(wanted, ran)

    def failing(self) -> list[Box]:
        """All thresholds that are known to fail.

        A run that ended before it said what it compared has a box that holds others that ran: it says nothing of thresholds.
        """
        runs = [box for c in self.all if not c.times.failed for box in c.boxes]
        fails = (box for c in self.all if c.times.failed for box in c.boxes)
        return merged(box for box in fails if not any(intersection(box, other) for other in runs))

    def verdict(self, first: Configuration, second: Configuration) -> Verdict:
        """Whether ``first`` is faster, after as many runs as that takes."""
        if first is second:
            return Verdict.TIE
        while (verdict := self._resolution.verdict(first.times, second.times)) is Verdict.OPEN:
            self._refuse_late()
            self._repeat(first if len(first.times) <= len(second.times) else second)
        if verdict is Verdict.TIE:
            self.unresolved = max(self.unresolved, self._resolution.unresolved(first.times, second.times))
        return verdict

    def _take(self, thresholds: dict[str, int], ran: Ran) -> Configuration:
        """Files a run: with its configuration, or as a new one."""
        known = all(c.taken is not None for c in ran.compared)
        boxes = [box_of(ran.compared, thresholds)] if known else []
        same = next((c for c in self.all if c.boxes and known and c.compared == ran.compared), None)
        if same is not None:
            same.boxes = merged([*same.boxes, *boxes])
            if not same.times.failed:
                same.add(ran)
            return same
        found = Configuration(ran.compared, thresholds, boxes)
        found.add(ran)
        self.all.append(found)
        self._met |= {c.name for c in ran.compared}
        self.new += 1
        while not found.times.failed and len(found.times) < self._resolution.least_runs:
            self._repeat(found)
        self._watch(found)
        return found

    def _repeat(self, configuration: Configuration) -> None:
        ran = self._run(configuration.thresholds)
        if ran.time_us is not None and ran.compared != configuration.compared:
            reason = "its comparisons differ from run to run with the same thresholds, so that no time belongs to them"
            ran = Ran(ran.compared, None, Rejected("program", reason))
        configuration.add(ran)

    def _refuse_late(self) -> None:
        if self._is_over():
            raise OutOfTime

    def _in_time(self, thresholds: Thresholds) -> Ran:
        self._refuse_late()
        return self._run(thresholds)

    def _run(self, thresholds: Thresholds) -> Ran:
        self.runs += 1
        return self._program.run(self.dataset, thresholds)
