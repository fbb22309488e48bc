"""The timing model against the GPU: every prepared variant's time, and how well the estimates rank them.

Every sample begins with an empty L2, as estimates do.
"""

from __future__ import annotations

import gzip
import math
import pickle
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kernelwright.bench.gpu.cases import CASES
from kernelwright.bench.gpu.deadline import NEVER, Deadline
from kernelwright.bench.gpu.images import read_image
from kernelwright.bench.result import Measured, Row, Say
from kernelwright.device.real_gpu.gpu import Timing
from kernelwright.device.real_gpu.worker import Buffers, CudaWorker, GpuInfo, Job
from kernelwright.errors import KernelwrightError
from kernelwright.launch import Launch
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.target import GPUS

ROUNDS = 15
BATCH = 8
"""Variants that are timed in turns with the original."""
LEAST_VARIANTS, LEAST_KERNELS, LEAST_RANK = 100, 6, 0.8
RANK = "rank correlation of estimated and measured time, median of kernels"
TIMEOUT_S = 120.0


@dataclass(frozen=True)
class Timed:
    """One variant with its time, or with the reason why it has none."""

    row: Row
    trouble: str = ""


def gpu_like(info: GpuInfo) -> str | None:
    """The GPU of our tables that this one is, or else one of its architecture; None when there is neither."""
    named = [g.name for g in GPUS.values() if g.name.upper() in info.name.upper()]
    return next(iter(named + [g.name for g in GPUS.values() if g.arch == info.arch]), None)


def calibrate(
    folder: Path, manifest: Mapping[str, Any], worker: CudaWorker, say: Say, until: Deadline = NEVER
) -> Measured:
    """Times every variant of the manifest. A variant that fails is a row without a time, never an error."""
    result = Measured("calibration")
    model = gpu_like(worker.info())
    if model is None:
        result.notes.append(f"the timing model knows no {worker.info().arch}: times are recorded without estimates")
    elif model.upper() not in worker.info().name.upper():
        result.notes.append(f"{worker.info().name} is not in the model's tables: the estimates are for the {model}")
    entries = {entry["kernel"]: entry for entry in manifest["cases"]}
    for kernel in until.before(entries, result):
        say(kernel)
        entry = entries[kernel]
        variants = [v for v in manifest["variants"] if v["case"] == entry["kernel"]]
        result.rows += [t.row for t in _time_case(folder, entry, variants, worker, model)]
    ranks = ranks_of(result.rows)
    measured = sum(1 for r in result.rows if "measured us" in r)
    for kernel, rank in ranks.items():
        result.rows.append({"kernel": kernel, "rank correlation": round(rank, 3)})
    result.at_least("variants measured", measured, LEAST_VARIANTS)
    result.at_least("kernels", len(ranks), LEAST_KERNELS)
    result.at_least(
        RANK,
        statistics.median(ranks.values()) if ranks else None,
        LEAST_RANK,
    )
    return result


def ranks_of(rows: Sequence[Row]) -> dict[str, float]:
    """Spearman's rank correlation by kernel."""
    from kernelwright.device.timing_model.fit import spearman

    found = {}
    for kernel in dict.fromkeys(r["kernel"] for r in rows):
        both = [r for r in rows if r["kernel"] == kernel and "measured us" in r and "estimated us" in r]
        if len(both) >= 3:
            rank = spearman([r["estimated us"] for r in both], [r["measured us"] for r in both])
            if rank is not None:
                found[kernel] = rank
    return found


def fit_rows(folder: Path, rows: Sequence[Row], model: str, name: str) -> dict[str, Any]:
    """A calibration of the model from the measured rows, as JSON, with the errors before and after.

    Raises ``Misuse`` for too few rows, and whatever unpickling raises where another version prepared the folder.
    """
    from kernelwright.device.timing_model.fit import Measured as FitRow
    from kernelwright.device.timing_model.fit import fit

    with gzip.open(folder / "observed.pickle", "rb") as file:
        kept = pickle.load(file)
    gpu = GPUS[model]
    samples = []
    for row in rows:
        known = kept.get(f"{row['kernel']}: {row.get('variant')}")
        if known is not None and "measured us" in row and gpu.arch in known[1]:
            observed, weights = known
            samples.append(FitRow(row["kernel"], row["variant"], observed, weights[gpu.arch], gpu, row["measured us"]))
    found = fit(samples, name)
    return {
        "calibration": found.calibration.as_json(),
        "error before": found.before,
        "error after": found.after,
        "median rank after": found.median_rank,
    }


def _time_case(
    folder: Path, entry: Mapping[str, Any], variants: Sequence[Mapping[str, Any]], worker: CudaWorker, model: str | None
) -> list[Timed]:
    case = next(c for c in CASES if c.kernel == entry["kernel"])
    contents = case.arrays(entry["size"])
    buffers = [(a, data.tobytes()) for a, data in zip(entry["addresses"], contents.values(), strict=True)]
    parameters = case.pack(list(entry["addresses"]), entry["size"])
    jobs = [_job(folder, v, parameters, worker.info().arch) for v in variants]
    original, times = jobs[0], [math.nan] * len(jobs)
    troubles = [""] * len(jobs)
    base: list[float] = []
    for start in range(0, len(jobs), BATCH):
        numbers = range(start, min(start + BATCH, len(jobs)))
        for number, (ratio, trouble, reference) in zip(
            numbers, _ratios(worker, original, [jobs[n] for n in numbers], buffers), strict=True
        ):
            times[number], troubles[number] = ratio, trouble
            if reference:
                base.append(reference)
    reference_us = statistics.median(base) if base else math.nan
    return [
        _row(case.kernel, v, ratio * reference_us, trouble, model)
        for v, ratio, trouble in zip(variants, times, troubles, strict=True)
    ]


def _ratios(worker: CudaWorker, original: Job, jobs: Sequence[Job], buffers: Buffers) -> list[tuple[float, str, float]]:
    """For each job its time as a share of the original's, the reason when it has none, and the original's microseconds."""
    try:
        first, *rest = worker.time([original, *jobs], buffers, rounds=ROUNDS, cold=True, timeout_s=TIMEOUT_S)
        return [(_share(each, first), "", first.median_us) for each in rest]
    except KernelwrightError as error:
        if len(jobs) == 1:
            return [(math.nan, error.message, 0.0)]
        # One of them fails: each by itself.
        return [_ratios(worker, original, [job], buffers)[0] for job in jobs]


def _share(one: Timing, other: Timing) -> float:
    return one.median_us / other.median_us if other.median_us > 0 else math.nan


def _row(kernel: str, variant: Mapping[str, Any], time_us: float, trouble: str, model: str | None) -> Timed:
    row: Row = {"kernel": kernel, "variant": variant["name"], "kind": variant["kind"]}
    if time_us > 0:
        row["measured us"] = round(time_us, 3)
    if model in variant["estimates"]:
        row["estimated us"] = round(variant["estimates"][model], 3)
    if trouble:
        row["failed"] = trouble
    return Timed(row, trouble)


def _job(folder: Path, variant: Mapping[str, Any], parameters: bytes, arch: str) -> Job:
    """Machine code where it was made for this GPU, else PTX."""
    image = read_image(folder / "images", variant["image"], arch, variant["name"])
    grid, block = (_triple(variant[k]) for k in ("grid", "block"))
    return Job(image, Launch(variant["case"], grid, block, parameters))


def _triple(value: Sequence[int]) -> tuple[int, int, int]:
    x, y, z = value
    return x, y, z
