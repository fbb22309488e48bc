"""A tuning in words and as JSON: the forest, who won where and by how much, conflicts and what would resolve them."""

from __future__ import annotations

import math
from typing import Any

from kernelwright.versions.dataset_tuning import Decision
from kernelwright.versions.left_out import left_out, summary
from kernelwright.versions.program import INFINITE
from kernelwright.versions.remedies import piecewise, remedies
from kernelwright.versions.thresholds import DatasetResult, Tuning

RELATIVE = 0.01
"""Measured times that differ by less than this share are the same for a remedy."""


def explanation(tuning: Tuning) -> list[str]:
    """What there is to say, line by line."""
    lines = ["the tuning forest:", *(f"  {line}" for line in tuning.forest.lines() or ["no guard was met"]), ""]
    for dataset in tuning.datasets:
        lines += [*_dataset_lines(dataset), ""]
    lines += ["thresholds:", *(f"  {line}" for line in _threshold_lines(tuning))]
    lines += never_reached_lines(tuning)
    lines += [f"{name} was not tuned in time: the thresholds know nothing of it" for name in tuning.not_done]
    if tuning.conflicts:
        lines += ["", *conflict_lines(tuning)]
    found = left_out(tuning, RELATIVE)
    if found:
        lines += ["", summary(found), *(f"  {each}" for each in found)]
    return lines


def _dataset_lines(dataset: DatasetResult) -> list[str]:
    if not math.isfinite(dataset.best_us):
        return [f"{dataset.name}: every version that was tried failed", *(f"  failed: {f}" for f in dataset.failures)]
    head = f"{dataset.name}: {_time(dataset.best_us)} at best, untuned {_time(dataset.untuned_us)}"
    lines = [f"{head} ({dataset.configurations} configurations)"]
    lines += [f"  {_decision(decision)}" for decision in dataset.decisions]
    lines += [f"  {line}" for line in trouble_lines(dataset)]
    if dataset.slower_than_untuned:
        lines.append(f"  tuned for all datasets it takes {_time(dataset.tuned_us)}, longer than untuned")
    return lines


def trouble_lines(dataset: DatasetResult) -> list[str]:
    """What failed, and what noise hid."""
    lines = [f"failed: {failure}" for failure in dataset.failures]
    if dataset.unresolved:
        lines.append(
            f"its times are noise: differences of up to {100 * dataset.unresolved:.0f} % do not show, and such versions count as "
            "equally fast; kw tune --runs takes more runs"
        )
    return lines


def _decision(decision: Decision) -> str:
    values = ", ".join(str(v) for v in decision.values[:6]) + (", ..." if len(decision.values) > 6 else "")
    text = f"{decision.guard} at {values}: {decision.verdict}, any threshold in {decision.interval}{_margin(decision)}"
    if decision.pieces is not None:
        faster = ", ".join(str(v) for v in decision.pieces) or "none"
        text += f"; NOT MONOTONIC: its version is faster at {faster} only, which one threshold cannot say"
        if remedy := piecewise(decision):
            text += f"; guarded for each piece, {remedy[0]}, it would take {_time(remedy[1])} by the times measured"
    return text + ("; values collected again" if decision.again else "")


def _margin(decision: Decision) -> str:
    """By how much the best candidate won over the next."""
    times = sorted(c.time_us for c in decision.tried if c.time_us is not None)
    inside = [c.time_us for c in decision.tried if c.time_us is not None and c.threshold in decision.interval]
    outside = [c.time_us for c in decision.tried if c.time_us is not None and c.threshold not in decision.interval]
    if not times or not inside or not outside or min(inside) <= 0:
        return ""
    return f", {min(outside) / min(inside):.3g} times as fast as the next"


def _threshold_lines(tuning: Tuning) -> list[str]:
    return [
        f"{name} = {'never' if value == INFINITE else value}   of {tuning.intervals[name]}"
        for name, value in tuning.thresholds.items()
    ]


def never_reached_lines(tuning: Tuning) -> list[str]:
    """A line for each guard that no dataset reached."""
    return [f"guard {name} was never reached: no dataset says anything of it" for name in tuning.never_reached]


def conflict_lines(tuning: Tuning) -> list[str]:
    """The conflicts, what they cost, and what would resolve each."""
    lines = ["no thresholds are best for all datasets:"]
    for conflict in tuning.conflicts:
        lines.append(f"  {conflict}")
        dropped = conflict.datasets[-1]
        loss = next((d.loss for d in tuning.datasets if d.name == dropped), 0.0)
        share = f"{100 * loss:.1f} %" if loss >= 0.001 else "less than 0.1 %"
        costs = f"cost {dropped} {share} of its best time" if math.isfinite(loss) else f"let {dropped} fail"
        lines.append(f"    the thresholds {costs}")
        lines.append(f"    without {' or '.join(conflict.datasets)} there is no such conflict")
    fail = [d.name for d in tuning.datasets if math.isfinite(d.best_us) and not math.isfinite(d.tuned_us)]
    if fail:
        lines.append(f"  whatever the thresholds, a dataset fails: with these {', '.join(fail)}")
    if all(dataset.loss <= RELATIVE for dataset in tuning.datasets):
        return [*lines, f"  no dataset loses {100 * RELATIVE:g} %: other forests are not tried for that"]
    found = remedies(tuning, RELATIVE)
    lines += [f"  {remedy} is best for all of them, by the times measured" for remedy in found]
    if not found:
        lines.append("  or guard a version by another value, elsewhere, or from below, too (docs/tune.md, Conflicts)")
    return lines


def as_json(tuning: Tuning) -> dict[str, Any]:
    """The tuning as one object. Times in microseconds; null for what failed."""
    return {
        "thresholds": tuning.thresholds,
        "intervals": {name: interval.as_json() for name, interval in tuning.intervals.items()},
        "forest": tuning.forest.as_json(),
        "forest_lines": tuning.forest.lines(),
        "runs": tuning.runs,
        "datasets": [_dataset_json(dataset) for dataset in tuning.datasets],
        "conflicts": [conflict.as_json() for conflict in tuning.conflicts],
        "remedies": [remedy.as_json() for remedy in remedies(tuning, RELATIVE)],
        "never_reached": list(tuning.never_reached),
        "not_done": list(tuning.not_done),
        "left_out": [each.as_json() for each in left_out(tuning, RELATIVE)],
    }


def _dataset_json(dataset: DatasetResult) -> dict[str, Any]:
    return {
        "name": dataset.name,
        "untuned_us": _number(dataset.untuned_us),
        "best_us": _number(dataset.best_us),
        "tuned_us": _number(dataset.tuned_us),
        "served": dataset.served,
        "slower_than_untuned": dataset.slower_than_untuned,
        "runs": dataset.runs,
        "configurations": dataset.configurations,
        "boxes": [{name: i.as_json() for name, i in box.items()} for box in dataset.boxes],
        "decisions": [decision.as_json() for decision in dataset.decisions],
        "failures": list(dataset.failures),
        "unresolved": dataset.unresolved,
    }


def _number(time_us: float) -> float | None:
    return time_us if math.isfinite(time_us) else None


def _time(time_us: float) -> str:
    return f"{time_us:.6g} us" if math.isfinite(time_us) else "failed"
