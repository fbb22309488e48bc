"""Fits a calibration to measured times: one factor after the other, larger steps first, until none helps.

Errors are ratios, so that a kernel of 3 us counts as much as one of 3 ms, and every kernel counts the same however many of
its variants were measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace

from kernelwright.calibration import DEFAULT, FACTORS, NORMS, Calibration
from kernelwright.codegen.cost.block_weights import Weights
from kernelwright.device.timing_model.counters import Observed
from kernelwright.device.timing_model.estimate import LaunchWork, total_us
from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.target import Gpu

STEPS = (2.0, 1.4, 1.15, 1.05, 1.02, 1.005)
"""What a factor is multiplied or divided by, coarse to fine."""
LEAST, MOST = 0.1, 10.0
ROUNDS = 20
"""Times that all factors are gone through with one step, at most."""
LEAST_ROWS = 3
CONSTANTS = (*(name for name in FACTORS if name != "scale"), "norm")
"""What is fitted unless told otherwise: without the scale, which moves what all factors together move."""


@dataclass(frozen=True, eq=False)
class Measured:
    """A variant of a kernel and the time that was measured for it, in microseconds."""

    kernel: str
    variant: str
    observed: Observed
    weights: Weights
    gpu: Gpu
    time_us: float


@dataclass(frozen=True)
class Fit:
    """``before`` and ``after``: mean relative errors. ``rank``: Spearman's correlation of estimated and measured time, by
    kernel with at least three variants."""

    calibration: Calibration
    before: float
    after: float
    rank: Mapping[str, float]

    @property
    def median_rank(self) -> float | None:
        """The median over kernels of ``rank``, -1..1; None when no kernel has three variants."""
        values = sorted(self.rank.values())
        return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2 if values else None


@dataclass
class MeasuredRows:
    """The measurements, taken apart once; their warps run once for each pair of factors on latencies and barriers."""

    rows: Sequence[Measured]
    busy: dict[tuple[int, float, float], Mapping[str, float]] = field(default_factory=dict)
    work: dict[int, LaunchWork] = field(default_factory=dict)

    def estimated(self, index: int, calibration: Calibration) -> float:
        """The time of a row, in microseconds."""
        key = (index, calibration.latency, calibration.barrier)
        row = self.rows[index]
        if key not in self.busy:
            if index not in self.work:
                self.work[index] = LaunchWork(row.observed, row.weights, row.gpu)
            self.busy[key] = self.work[index].parts(calibration.latency, calibration.barrier).busy
        return total_us(self.busy[key], row.gpu, calibration)

    def loss(self, calibration: Calibration, chosen: Sequence[int] | None = None) -> float:
        """Mean over the kernels of the mean squared logarithm of estimated over measured, of all rows or of these."""
        by_kernel: dict[str, list[float]] = {}
        for index in range(len(self.rows)) if chosen is None else chosen:
            row = self.rows[index]
            ratio = self.estimated(index, calibration) / row.time_us
            by_kernel.setdefault(row.kernel, []).append(math.log(ratio) ** 2)
        return math.fsum(math.fsum(v) / len(v) for v in by_kernel.values()) / len(by_kernel)

    def error(self, calibration: Calibration) -> float:
        """The mean relative error."""
        errors = [abs(self.estimated(i, calibration) / row.time_us - 1) for i, row in enumerate(self.rows)]
        return math.fsum(errors) / len(errors)


def fit(
    rows: Sequence[Measured],
    name: str,
    start: Calibration = DEFAULT,
    progress: Callable[[int, float], None] = lambda round, loss: None,
    constants: Sequence[str] = CONSTANTS,
) -> Fit:
    """The calibration under which the estimates come closest to the measured times. Deterministic.

    ``constants``: those that may move. ``progress`` is told the round and the loss. Raises ``Misuse`` for too few rows, times that are
    not positive, or rows
    from several GPUs.
    """
    check_rows(rows)
    kept = MeasuredRows(rows)
    best = closest(kept, constants, start, progress=progress)
    error = kept.error(best)
    made = replace(best, name=name, gpu=rows[0].gpu.called, rows=len(rows), error=error)
    estimated = [kept.estimated(i, best) for i in range(len(rows))]
    return Fit(made, kept.error(start), error, rank_by_kernel(rows, estimated))


def closest(
    kept: MeasuredRows,
    constants: Sequence[str],
    start: Calibration = DEFAULT,
    chosen: Sequence[int] | None = None,
    progress: Callable[[int, float], None] = lambda round, loss: None,
) -> Calibration:
    """``start`` with ``constants`` moved to where the loss over the ``chosen`` rows is least."""
    best, loss, done = start, kept.loss(start, chosen), 0
    for step in STEPS:
        for _ in range(ROUNDS):
            before = loss
            for constant, value in _moves(step, constants):
                candidate = _moved(best, constant, value)
                found = kept.loss(candidate, chosen) if candidate != best else loss
                if found < loss:
                    best, loss = candidate, found
            done += 1
            progress(done, loss)
            if loss >= before * (1 - 1e-6):
                break
    return best


def _moves(step: float, constants: Sequence[str]) -> list[tuple[str, float]]:
    """What may be changed, and by which factor; for the norm, what it may become."""
    norms = [("norm", float(n)) for n in NORMS] if "norm" in constants else []
    return [(n, f) for n in constants if n != "norm" for f in (step, 1 / step)] + norms


def _moved(calibration: Calibration, name: str, value: float) -> Calibration:
    if name == "norm":
        return calibration.changed(name, int(value))
    return calibration.changed(name, _bounded(getattr(calibration, name) * value))


def _bounded(value: float) -> float:
    return min(MOST, max(LEAST, value))


def rank_by_kernel(rows: Sequence[Measured], estimated: Sequence[float]) -> dict[str, float]:
    """Spearman's rank correlation for each kernel with at least three variants whose times differ."""
    by_kernel: dict[str, list[tuple[float, float]]] = {}
    for row, value in zip(rows, estimated, strict=True):
        by_kernel.setdefault(row.kernel, []).append((value, row.time_us))
    found = {}
    for kernel, pairs in by_kernel.items():
        rho = spearman([a for a, _ in pairs], [b for _, b in pairs]) if len(pairs) >= LEAST_ROWS else None
        if rho is not None:
            found[kernel] = rho
    return found


def spearman(left: Sequence[float], right: Sequence[float]) -> float | None:
    """The correlation of the ranks, equal values sharing theirs; None where one side is all equal."""
    a, b = _ranks(left), _ranks(right)
    mean = (len(a) + 1) / 2
    over = math.fsum((x - mean) * (y - mean) for x, y in zip(a, b, strict=True))
    under = math.fsum((x - mean) ** 2 for x in a) * math.fsum((y - mean) ** 2 for y in b)
    return over / math.sqrt(under) if under else None


def _ranks(values: Sequence[float]) -> list[float]:
    order = sorted(range(len(values)), key=lambda i: values[i])
    ranks = [0.0] * len(values)
    at = 0
    while at < len(order):
        end = at
        while end + 1 < len(order) and values[order[end + 1]] == values[order[at]]:
            end += 1
        for i in order[at : end + 1]:
            ranks[i] = (at + end) / 2 + 1
        at = end + 1
    return ranks


def check_rows(rows: Sequence[Measured]) -> None:
    """Raises ``Misuse`` for rows that make no calibration."""
    if len(rows) < LEAST_ROWS:
        raise Misuse(f"a calibration takes at least {LEAST_ROWS} measurements, not {len(rows)}")
    wrong = next((r for r in rows if not (0 < r.time_us < math.inf)), None)
    if wrong is not None:
        raise Misuse(f"the time measured for {wrong.kernel} ({wrong.variant}) is {wrong.time_us} us")
    names = sorted({r.gpu.called for r in rows})
    if len(names) > 1:
        raise Misuse(
            f"measurements from several GPUs ({', '.join(names)}) make no calibration", hint="fit one GPU at a time"
        )
