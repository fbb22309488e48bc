"""Which constants measurements identify, and a fit of those alone; the others keep the table's value.

The scale is always fitted: it is what a clock, or a power limit, does to all. Each other constant has to earn its place on rows that it
was not fitted on. The rows are dealt into folds, and with each constant in turn beside those that are in already, a fit of the other
folds is judged on each fold. A constant comes in when the loss on the held-out rows falls by a tenth in all, falls on nearly every
fold, and the folds agree on its value; the best one first, until none does. What comes out as 9.5 in one fold and 0.1 in another is not
identified, however well it fits.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from kernelwright.calibration import DEFAULT, Calibration
from kernelwright.device.timing_model.fit import (
    CONSTANTS,
    LEAST,
    MOST,
    Fit,
    Measured,
    MeasuredRows,
    check_rows,
    closest,
    rank_by_kernel,
)
from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass

FOLDS = 4
LEAST_OF_FOLD = 3
"""Rows without which a fold says nothing."""
GAIN = 0.1
"""By which the held-out loss has to fall."""
AGREEMENT = 1.5
"""Between the largest and the smallest value that folds find."""
FELT = 0.005
"""Change of an estimate, when a constant doubles, from which a row depends on it."""


@dataclass(frozen=True)
class IdentifiedFit:
    """``fitted``: the constants that moved. ``held_out``: Spearman's rank correlation by kernel on rows that were not fitted on, and
    ``plain`` that of the model without calibration; ``held_out_error`` and ``plain_error``: root mean square of the logarithms."""

    fit: Fit
    fitted: tuple[str, ...]
    left_alone: Mapping[str, str]
    held_out: Mapping[str, float]
    plain: Mapping[str, float]
    held_out_error: float
    scaled_error: float
    """Of the scale alone, likewise held out."""


@dataclass(frozen=True)
class _Trial:
    """A set of constants judged on held-out rows."""

    constants: tuple[str, ...]
    by_fold: tuple[Calibration, ...]
    losses: tuple[float, ...]

    @property
    def loss(self) -> float:
        return statistics.fmean(self.losses)


def fit_identified(
    rows: Sequence[Measured], name: str, source: str = "", say: Callable[[str], None] = lambda text: None
) -> IdentifiedFit:
    """A calibration of what ``rows`` identify. Deterministic, whatever the order of the rows. Raises ``Misuse`` as ``fit``, and for fewer
    rows than make folds."""
    check_rows(rows)
    if len(rows) < FOLDS * LEAST_OF_FOLD:
        raise Misuse(
            f"{len(rows)} measurements do not say which constants they identify: {FOLDS * LEAST_OF_FOLD} are the least",
            hint="take more variants: --variants 40",
        )
    rows = sorted(rows, key=lambda row: (row.kernel, row.time_us, row.variant))
    kept = MeasuredRows(rows)
    folds = [tuple(range(fold, len(rows), FOLDS)) for fold in range(FOLDS)]
    best = scaled = _judged(kept, folds, ("scale",))
    reasons = {c: "no estimate depends on it" for c in CONSTANTS if not _matters(kept, c)}
    open_ones = [c for c in CONSTANTS if c not in reasons]
    while open_ones:
        say(f"{', '.join(best.constants)}: held-out error {_percent(best.loss)}")
        trials: dict[str, _Trial] = {}
        for number, constant in enumerate(open_ones, start=1):
            trials[constant] = _judged(kept, folds, (*best.constants, constant))
            say(f"  and {constant} ({number} of {len(open_ones)}): {_percent(trials[constant].loss)}")
        said = {c: _why_not(trial, best, c) for c, trial in trials.items()}
        good = [c for c in open_ones if not said[c]]
        if not good:
            reasons |= said
            break
        chosen = min(good, key=lambda c: trials[c].loss)
        best = trials[chosen]
        open_ones.remove(chosen)
    return _finished(kept, folds, best, scaled, reasons, name, source)


def _finished(
    kept: MeasuredRows,
    folds: Sequence[Sequence[int]],
    best: _Trial,
    scaled: _Trial,
    reasons: Mapping[str, str],
    name: str,
    source: str,
) -> IdentifiedFit:
    rows, made = kept.rows, closest(kept, best.constants)
    error = kept.error(made)
    held = [0.0] * len(rows)
    for fold, calibration in zip(folds, best.by_fold, strict=True):
        for index in fold:
            held[index] = kept.estimated(index, calibration)
    ranks = rank_by_kernel(rows, held)
    made = replace(
        made, name=name, gpu=rows[0].gpu.called, rows=len(rows), error=error, source=source,
        held_out=statistics.median(ranks.values()) if ranks else None,
        left_alone=tuple(f"{constant}: {reason}" for constant, reason in reasons.items()),
    )  # fmt: skip
    fit = Fit(
        made, kept.error(DEFAULT), error, rank_by_kernel(rows, [kept.estimated(i, made) for i in range(len(rows))])
    )
    plain = rank_by_kernel(rows, [kept.estimated(i, DEFAULT) for i in range(len(rows))])
    return IdentifiedFit(fit, best.constants, reasons, ranks, plain, best.loss**0.5, scaled.loss**0.5)


def _judged(kept: MeasuredRows, folds: Sequence[Sequence[int]], constants: tuple[str, ...]) -> _Trial:
    made, losses = [], []
    for fold in folds:
        others = [i for i in range(len(kept.rows)) if i not in fold]
        found = closest(kept, constants, chosen=others)
        made.append(found)
        losses.append(kept.loss(found, fold))
    return _Trial(constants, tuple(made), tuple(losses))


def _matters(kept: MeasuredRows, constant: str) -> bool:
    changed = DEFAULT.changed(constant, 8 if constant == "norm" else 2.0)
    return any(abs(kept.estimated(i, changed) / kept.estimated(i, DEFAULT) - 1) > FELT for i in range(len(kept.rows)))


def _why_not(trial: _Trial, best: _Trial, constant: str) -> str:
    """Why a constant is not identified; empty where it is."""
    values = [float(getattr(each, constant)) for each in trial.by_fold]
    least, most = min(values), max(values)
    if least <= LEAST or most >= MOST:
        return f"the folds drive it to the end of its range ({least:.3g} to {most:.3g})"
    if most > AGREEMENT * least:
        return f"the folds disagree: {least:.3g} to {most:.3g}"
    if trial.loss > (1 - GAIN) * best.loss:
        return f"the held-out error goes from {_percent(best.loss)} to {_percent(trial.loss)}"
    better = sum(one < other for one, other in zip(trial.losses, best.losses, strict=True))
    return "" if better >= FOLDS - 1 else f"it helps on {better} of {FOLDS} folds"


def _percent(loss: float) -> str:
    return f"{100 * loss**0.5:.1f} %"
