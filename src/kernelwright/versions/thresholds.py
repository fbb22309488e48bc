"""Thresholds for a set of datasets: each tuned by itself, then all together (paper 003, Figure 3).

    for each dataset                              its untuned run, which also shows its guards and their values
    say how many runs there will be at most
    for each dataset                              its best boxes of thresholds (``dataset_tuning.py``)
    the largest set of datasets that one assignment serves, and with which none fails that could run (``consistency.py``); of several
    the one with which the others lose the least
    a value inside each interval, with a margin
    every dataset with these values: known already, or run once more; again from the set, where one fails

Where time is up, the thresholds are those of the datasets that are tuned until then.

The guarantee: when the set is all datasets, each takes a path with which it is fastest, as far as times can be told apart and
versions are monotonic. When it is not, no assignment does that, and the loss of the others is told.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from itertools import islice
from typing import TypeVar

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.versions.box import FREE, Box, Interval, merged
from kernelwright.versions.configurations import Configuration, Configurations, OutOfTime
from kernelwright.versions.consistency import Conflict, Joint, all_largest
from kernelwright.versions.dataset_tuning import EVERYTHING, NOTHING_TAKEN, DatasetTuner, Decision, TunedDataset
from kernelwright.versions.forest import Forest, Groups, Observed
from kernelwright.versions.program import INFINITE, TunedProgram, times_as_much
from kernelwright.versions.resolution import Resolution, Verdict

Say = Callable[[str], None]
Found = TypeVar("Found")
MOST_SETS = 64
"""Of equally large sets of datasets, as many are compared by what the others lose."""
MARGIN = math.log(2)
"""By how much less the logarithms of times have to be, all datasets together, for another set than the first. So large that noise decides
nothing: a factor of two in one dataset."""


@dataclass(frozen=True)
class DatasetResult:
    """What tuning came to for one dataset. Times in microseconds, infinite for what failed."""

    name: str
    decisions: tuple[Decision, ...]
    boxes: tuple[Box, ...]
    """The thresholds that are best for this dataset by itself."""
    untuned_us: float
    best_us: float
    """With thresholds of its own."""
    tuned_us: float
    """With the thresholds found for all."""
    served: bool
    """Whether the thresholds found for all are among its best."""
    slower_than_untuned: bool
    failures: tuple[str, ...]
    """What failed, each with the thresholds it failed with."""
    runs: int
    configurations: int
    unresolved: float
    """The largest difference between versions, as a share of the time, that noise hid; 0 where all comparisons were decided."""

    @property
    def loss(self) -> float:
        """How much slower it is than with thresholds of its own: 0.1 is a tenth."""
        return times_as_much(self.tuned_us, self.best_us) - 1 if math.isfinite(self.best_us) else 0.0


@dataclass(frozen=True)
class Tuning:
    """The thresholds found, and everything that speaks for them."""

    thresholds: dict[str, int]
    intervals: dict[str, Interval]
    forest: Forest
    datasets: tuple[DatasetResult, ...]
    conflicts: tuple[Conflict, ...]
    never_reached: tuple[str, ...]
    """Declared guards that no dataset met."""
    measured: dict[str, list[Configuration]] = field(default_factory=dict)
    """Everything that was run, to be given to ``tune`` again."""
    not_done: tuple[str, ...] = ()
    """Datasets for which there was no time, and of which the thresholds know nothing."""

    @property
    def runs(self) -> int:
        """How often the program was run, on all datasets together."""
        return sum(dataset.runs for dataset in self.datasets)


def tune(
    program: TunedProgram,
    datasets: Sequence[str],
    resolution: Resolution | None = None,
    *,
    declared: Forest | None = None,
    measured: Mapping[str, list[Configuration]] | None = None,
    say: Say = lambda _: None,
    watch: Callable[[str, Configuration], None] = lambda *_: None,
    is_over: Callable[[], bool] = lambda: False,
) -> Tuning:
    """Tunes ``program`` on ``datasets``. What ``measured`` knows of a dataset is not run again.

    ``is_over`` is asked before a run: once it says so, no dataset is tuned further that needs one, and the result is of the others. The
    runs that tell what thresholds come to are made in any case, mostly none, else one for each of these.

    Raises ``Misuse`` when there is no dataset, when one is given twice, when no guard is met, or when none runs in any version.
    """
    if not datasets:
        raise Misuse("there is no dataset to tune for", hint="name one or more with --data")
    twice = next((name for name in datasets if list(datasets).count(name) > 1), None)
    if twice is not None:
        raise Misuse(f"dataset {twice} is given twice", hint="name each once: a dataset has one say")
    rule = resolution or (Resolution.exact() if program.deterministic else Resolution.noisy())
    known = measured or {}
    runs = {
        name: Configurations(program, name, rule, known.get(name), lambda c, name=name: watch(name, c), is_over)  # type: ignore[misc]
        for name in datasets
    }
    say(_first_runs([name for name in datasets if all(c.thresholds for c in known.get(name, ()))], len(datasets)))
    untuned = _in_time(runs, lambda _, of: of.untuned())
    if len(untuned) == len(runs) and not any(c.compared or c.failure for c in untuned.values()):
        raise Misuse(
            "the program compares nothing: it has no guard, or does not print what it compares",
            hint="docs/tune.md, What a program has to do",
        )
    say(announcement(untuned, {name: len(found) for name, found in known.items()}))
    observed, groups = Observed(), Groups()
    for edge in sorted(declared.edges) if declared else ():
        groups.join(edge.parent, edge.child)

    def tuned_alone(name: str, of: Configurations) -> TunedDataset:
        result = DatasetTuner(of, observed, groups, declared).tune()
        return result if result.configuration.times.failed else _fastest(result, of)

    tuned = _in_time({name: runs[name] for name in untuned}, tuned_alone)
    measured_now = {name: of.all for name, of in runs.items()}
    not_done = tuple(name for name in datasets if name not in tuned)
    alive = {name: result for name, result in tuned.items() if not result.configuration.times.failed}
    met = {c.name for name in alive for each in runs[name].all for c in each.compared}
    if not_done and not (alive and met):
        return Tuning({}, {}, observed.forest(), (), (), (), measured_now, tuple(datasets))
    if not alive:
        reasons = {str(c.failure) for of in runs.values() for c in of.all if c.failure}
        hint = "run the program by hand; --forget leaves a dataset out"
        raise Misuse(f"no dataset runs in any version: {'; '.join(sorted(reasons))}", hint=hint)
    if not met:
        raise Misuse(
            "no dataset that runs meets a guard, or the program does not print what it compares",
            hint="docs/tune.md, What a program has to do",
        )
    runs = {name: runs[name] for name in tuned}
    for of in runs.values():
        of.finish()
    forest = declared or observed.forest()
    guards = [name for name in (*forest.guards, *observed.order) if name in met or not not_done]
    names, wishes, joint = _for_all(alive, runs, guards, groups)
    intervals = {name: _interval(joint, name) for name in names}
    thresholds = {name: interval.value() for name, interval in intervals.items()}
    results = []
    for name, of in runs.items():
        final = of.at(thresholds)
        results.append(
            _result(name, of, tuned[name], untuned[name], final, wishes.get(name, ()), tuned[name].decisions)
        )
    met = {c.name for of in runs.values() for known in of.all for c in known.compared}
    # What a dataset is found to be served by need not be what it was thought to need: several paths may be as good.
    unserved = {result.name for result in results if not result.served}
    return Tuning(
        thresholds,
        intervals,
        forest,
        tuple(results),
        tuple(conflict for conflict in joint.conflicts if conflict.datasets[-1] in unserved),
        tuple(name for name in names if name not in met),
        measured_now,
        not_done,
    )


def _in_time(runs: Mapping[str, Configurations], work: Callable[[str, Configurations], Found]) -> dict[str, Found]:
    """What ``work`` comes to for each dataset for which it does not end with ``OutOfTime``; where all is known, it takes no run."""
    found = {}
    for name, of in runs.items():
        with suppress(OutOfTime):
            found[name] = work(name, of)
    return found


def _for_all(
    alive: Mapping[str, TunedDataset], runs: Mapping[str, Configurations], guards: Sequence[str], groups: Groups
) -> tuple[list[str], dict[str, list[list[Box]]], Joint]:
    """All guards, per dataset its best boxes in each tree, and what serves all datasets that run.

    Thresholds that let one of them fail may be new to it: then this is one thing more to avoid, until nothing new is learned.
    """
    failing: dict[str, list[Box]] = {}
    widened = False
    while True:
        met = (c.name for name in alive for known in runs[name].all for c in known.compared)
        names = list(dict.fromkeys([*guards, *met]))
        trees = groups.of(names)
        wishes = {name: [_boxes(result, tree) for tree in trees] for name, result in alive.items()}
        known = {name: runs[name].failing() for name in alive}
        joint = _least_loss(islice(all_largest(wishes, trees, known), MOST_SETS), names, alive, runs)
        if joint.conflicts and not widened:
            widened = True
            before = sum(of.runs for of in runs.values())
            for name, result in alive.items():
                _widen(result, runs[name])
            if sum(of.runs for of in runs.values()) > before:
                continue
        if known == failing:
            return names, wishes, joint
        failing = known
        for name in alive:
            runs[name].at({guard: _interval(joint, guard).value() for guard in names})


def _widen(result: TunedDataset, runs: Configurations) -> None:
    """Looks whether guards of which a threshold was reached and the version not run, as it is not legal there, bind nothing on the best
    path either. A program need not say so; then that takes a run, which is made only where something is in conflict."""
    refused = {
        (c.name, c.value) for known in runs.all for c in known.compared
        if not c.taken and any(c.value in box.get(c.name, FREE) for box in known.boxes)
    }  # fmt: skip
    lost: dict[str, list[int]] = {}
    for each in result.configuration.compared:
        if each.legal and not each.taken:
            lost.setdefault(each.name, []).append(each.value)
    # As low as the values allow that were lost, and not refused.
    lower = {
        name: max((value for value in values if (name, value) not in refused), default=EVERYTHING - 1) + 1
        for name, values in lost.items()
        if (name, max(values)) in refused
    }
    if lower and runs.at({**result.thresholds, **lower}) is not result.configuration:
        for name, threshold in lower.items():
            runs.at({**result.thresholds, name: threshold})


def _least_loss(
    joints: Iterable[Joint], names: Sequence[str], alive: Mapping[str, TunedDataset], runs: Mapping[str, Configurations]
) -> Joint:
    """Of sets of as many datasets the first, or another with which all datasets together lose less by more than ``MARGIN``, as far as
    that is known without a run."""

    def loss(joint: Joint) -> float:
        if not joint.conflicts:
            return 0.0
        thresholds = {name: _interval(joint, name).value() for name in names}
        total = 0.0
        for name, best in alive.items():
            known = runs[name].known(thresholds)
            if known is None or known.times.failed:
                return math.inf
            share = times_as_much(known.time_us, best.configuration.time_us)
            total += math.log(share) if share > 0 else 0.0
        return total

    first, *others = joints
    best, least = first, loss(first) if others else 0.0
    for joint in others:
        lost = loss(joint)
        if lost < least - MARGIN:
            best, least = joint, lost
    return best


def _first_runs(new: Sequence[str], datasets: int) -> str:
    if not new:
        return "no run first: of each dataset it is known which thresholds it meets"
    runs = f"{len(new)} run{'s' if len(new) > 1 else ''} first, one of each dataset"
    return f"{runs}{' that is new' if len(new) < datasets else ''}, to see which thresholds it meets"


def announcement(untuned: Mapping[str, Configuration], known: Mapping[str, int]) -> str:
    """How many configurations tuning will run at most, beside repeats against noise and values collected again. ``known``: how many of a
    dataset were measured earlier, which are among them."""
    parts, whole = [], 0
    for name, configuration in untuned.items():
        counts = {c.name: len(configuration.values(c.name)) for c in configuration.compared if c.legal}
        most = sum(most_configurations(m) for m in counts.values())
        whole += most
        thresholds = f"{len(counts)} threshold{'' if len(counts) == 1 else 's'}"
        before = f"; {known[name]} configurations measured before" if known.get(name, 0) > 1 else ""
        parts.append(f"{name} {most} ({thresholds}{before})")
    return f"at most {whole} configurations more: {', '.join(parts)}; repeats and values collected again not counted"


def most_configurations(values: int) -> int:
    """New configurations that a guard with this many distinct values takes at most, where no times tie."""
    return 1 if values == 1 else 2 * math.ceil(math.log2(values + 1)) + 1


def _fastest(result: TunedDataset, runs: Configurations) -> TunedDataset:
    """The untuned program, or whatever else was run, where it is faster than what tuning came to: versions need not be monotonic."""
    best = result
    for each in sorted(runs.all, key=lambda c: c.time_us):
        if each.time_us >= best.configuration.time_us:
            break
        if each.boxes and runs.verdict(each, best.configuration) is Verdict.FASTER:
            best = TunedDataset(each.thresholds, each, (), result.decisions)
    return best


def _boxes(result: TunedDataset, tree: Sequence[str]) -> list[Box]:
    """The best boxes of a dataset, as far as one tree is concerned."""
    return merged({name: box[name] for name in tree if name in box} for box in result.boxes())


def _interval(joint: Joint, name: str) -> Interval:
    return next((box[name] for box in joint.boxes if name in box), FREE)


def _result(
    name: str,
    runs: Configurations,
    best: TunedDataset,
    untuned: Configuration,
    final: Configuration,
    wishes: Sequence[Sequence[Box]],
    decisions: tuple[Decision, ...],
) -> DatasetResult:
    boxes = best.configuration.boxes
    failures = tuple(f"{_words(c.thresholds)}: {c.failure}" for c in runs.all if c.failure is not None)
    served = bool(wishes) and runs.verdict(best.configuration, final) is not Verdict.FASTER
    return DatasetResult(
        name,
        decisions,
        tuple(merged([*boxes, *(box for tree in wishes if len(tree) > 1 for box in tree)])),
        untuned.time_us,
        best.configuration.time_us,
        final.time_us,
        served,
        runs.verdict(untuned, final) is Verdict.FASTER,
        failures,
        runs.runs,
        len(runs.all),
        runs.unresolved,
    )


def _words(thresholds: Mapping[str, int]) -> str:
    low = [f"{name}={value}" for name, value in thresholds.items() if value != INFINITE]
    return ", ".join(low) if low else "no version taken"


__all__ = ["NOTHING_TAKEN", "DatasetResult", "Tuning", "announcement", "most_configurations", "tune"]
