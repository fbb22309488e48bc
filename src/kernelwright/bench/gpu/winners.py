"""What searches have found, on the GPU: are the variants right there, are they faster, and does the virtual GPU rank them so?

original   our own -O3, with the post-passes that variants get unless it is faster without
variant    what a run stands for, or the fastest that is right on its training cases
nvcc       the same kernel by ``nvcc -O3``

Each launch is measured in turns, two kernels at a time on the same memory, until they separate (``evaluate.measure.duel``); a
program is the sum of its launches, each as often as it stands for others. Outputs come first, several times over: where the
original's own lie a little beside the recorded ones (units that approximate, sums in another order), the variant's are compared
with the original's; where they are quite others, no label is judged. A program that fails is a row with the reason.
"""

from __future__ import annotations

import math
import statistics
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from kernelwright.bench.gpu.calibrate import gpu_like
from kernelwright.bench.gpu.carried import IMAGES, REGULAR, CarriedCase, CarriedRun, CarriedVariant, Memory, as_type
from kernelwright.bench.gpu.deadline import NEVER, Deadline
from kernelwright.bench.gpu.images import read_image
from kernelwright.bench.gpu.nvcc import compile_kernels, kernel_image
from kernelwright.bench.result import Measured, Row, Say
from kernelwright.device.real_gpu.worker import CudaWorker, Image, Job
from kernelwright.errors import DeviceError, KernelwrightError, Misuse
from kernelwright.evaluate.timing.duel import CONFIDENCE, TIE, Estimate, duel, median_interval
from kernelwright.evaluate.workload.comparison import Change, Given, Ignore, judge
from kernelwright.evaluate.workload.rule_text import Rules, parse_rules
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.suite import load

TIMES = 3
"""How often outputs are looked at: a result that depends on the order of threads may be right once."""
PAIRS, PROGRAM_S = 200, 10.0
"""Of one duel, and seconds for all duels of one variant with one baseline."""
RANKED_PAIRS, RANKED_S = 25, 2.0
"""The same for variants that are only ranked."""
ALONE = 15
"""Samples of a launch that both sides share."""
NEAR = Rules(default=Change(0.01))
"""How far the original's outputs may lie from the recorded ones and still be the same program's."""
UNLIKE = "the original's outputs are others than those recorded"
CLAIMS = frozenset({"proven", "clean", "as safe as the original", "benign", "data-specific"})
"""Labels that call a variant right on the training cases, on any GPU."""

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Ratio:
    """A whole program against another: microseconds of both, and how many times faster the second is. (low, median, high)."""

    first_us: tuple[float, float, float]
    second_us: tuple[float, float, float]
    speedup: tuple[float, float, float]
    parts: tuple[tuple[float, float], ...] = ()
    """Microseconds of each launch, of both."""

    @property
    def verdict(self) -> str:
        """``faster`` or ``slower`` when the whole interval lies beyond ``TIE``, else ``tie``."""
        low, _, high = self.speedup
        return "faster" if low > 1 + TIE else "slower" if high < 1 / (1 + TIE) else "tie"

    @property
    def settled(self) -> bool:
        """Whether the interval says so, rather than too little."""
        low, _, high = self.speedup
        return self.verdict != "tie" or (low >= 1 / (1 + TIE) and high <= 1 + TIE)


def whole(parts: Sequence[tuple[float, Estimate, Estimate, Estimate]]) -> Ratio:
    """A program from its launches: (weight, first's time, second's time, first / second).

    The ratios' intervals hold for the program's under the shares that its launches have of the first's time, as measured.
    """

    def total(which: int) -> tuple[float, float, float]:
        low, median, high = (
            sum(part[0] * value for part, value in zip(parts, values, strict=True))
            for values in zip(*(_bounds(part[which]) for part in parts), strict=True)  # type: ignore[arg-type]
        )
        return low, median, high

    first = total(1)

    def over(bounds: Sequence[float]) -> float:
        if any(bound <= 0 for bound in bounds):
            return 0.0
        second = sum(part[0] * part[1].median / bound for part, bound in zip(parts, bounds, strict=True))
        return first[1] / second if second else math.inf

    low, median, high = (over(bounds) for bounds in zip(*(_bounds(part[3]) for part in parts), strict=True))
    each = tuple((one.median, other.median) for _, one, other, _ in parts)
    return Ratio(first, total(2), (low, median, high), each)


def _bounds(estimate: Estimate) -> tuple[float, float, float]:
    return max(estimate.low, 0.0), estimate.median, estimate.high


@dataclass(frozen=True)
class Outputs:
    """What became of a program's outputs. ``found``: by case, of the first time; empty for one that did not run."""

    trouble: str
    found: tuple[Arrays, ...] = ()

    @property
    def ran(self) -> bool:
        """Whether the program ran and left outputs."""
        return bool(self.found)


@dataclass(frozen=True)
class Measure:
    """What the original's outputs on this GPU are worth as a measure: sentences, empty where all is well."""

    differs: str = ""
    """From the recorded ones."""
    unlike: bool = False
    """By more than approximation explains."""
    repeats: str = ""
    """From themselves, when it runs again."""

    @property
    def doubt(self) -> str:
        """Why a variant cannot be judged by it."""
        if self.repeats:
            return "the original differs from run to run"
        return UNLIKE if self.unlike else ""


def run_winners(
    folder: Path, programs: Sequence[str], worker: CudaWorker, say: Say, until: Deadline = NEVER
) -> Measured:
    """Measures what ``prepare_winners`` wrote to ``folder``. Whatever fails is a row with its reason, never an error."""
    result = Measured("winners")
    model = gpu_like(worker.info())
    if model is None:
        result.notes.append(f"the timing model knows no {worker.info().arch}: no estimates beside the times")
    elif model.upper() not in worker.info().name.upper():
        result.notes.append(f"{worker.info().name} is not in the model's tables: the estimates are for the {model}")
    if not programs:
        result.notes.append("no winners were prepared: kw bench evolve leaves runs that they are taken from")
    ranks: list[Row] = []
    with tempfile.TemporaryDirectory() as scratch:
        for program in until.before(programs, result):
            place = folder / program
            paths = sorted(place.glob("*.json"))
            if not paths:
                result.rows.append({"program": program, "run": "", "failed": f"{place} holds no run"})
            for path in paths:
                say(f"{program}, {path.stem}")
                try:
                    bench = _Bench(CarriedRun.read(path), place, worker, model, Path(scratch))
                    rows, rank = bench.rows()
                except (KernelwrightError, OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
                    reason = getattr(error, "message", "") or f"{type(error).__name__}: {error}"
                    rows, rank = [{"program": program, "run": path.stem, "failed": reason}], []
                result.rows += rows
                ranks += rank
    result.rows += [*ranks, *headlines(result.rows)]
    _promise(result, programs)
    return result


def headlines(rows: Sequence[Row]) -> list[Row]:
    """Mean gains by arm, as the GPU has them and as the virtual one, and how alike the two rank all winners."""
    from kernelwright.device.timing_model.fit import spearman

    found: list[Row] = []
    timed = [row for row in rows if "over ours" in row]
    # Data with regularities of their own tell nothing of the program.
    plain = [row for row in timed if row["outputs"] == "right" and not row["program"].endswith(REGULAR)]
    for arm, wanted in (("found", "winners right on the training cases"), ("clean", "winners with the label clean")):
        own: dict[str, Row] = {}
        for row in (r for r in plain if r["arm"] == arm and r["over ours"] is not None):
            if arm == "found" or row["label"] in ("proven", "clean"):
                best = own.get(row["program"])
                own[row["program"]] = row if best is None or row["over ours"] > best["over ours"] else best
        if own:
            line: Row = {"mean gain of": wanted, "programs": len(own)}
            for column, name in (("over ours", "over ours %"), ("over nvcc", "over nvcc %"), ("virtual", "virtual %")):
                values = [row[column] for row in own.values() if row.get(column) is not None]
                if values:
                    line[name] = round(100 * (statistics.fmean(values) - 1), 1)
            found.append(line)
    both = [row for row in timed if None not in (row.get("virtual"), row["over ours"])]
    rank = spearman([r["virtual"] for r in both], [r["over ours"] for r in both]) if len(both) >= 3 else None
    if rank is not None:
        found.append({"ranking of": "all winners", "variants": len(both), "rank correlation": round(rank, 3)})
    return found


def _promise(result: Measured, programs: Sequence[str]) -> None:
    judged = [row["label holds"] for row in result.rows if row.get("label holds") in ("yes", "NO")]
    result.at_most("winners whose label does not hold on the GPU", judged.count("NO") if judged else None, 0)
    measured = {row["program"] for row in result.rows if "program" in row and "over ours" in row}
    origins = [row["original's outputs"] for row in result.rows if "original's outputs" in row]
    doubted = {row["run"] for row in result.rows if UNLIKE in row.get("label holds", "")}
    result.at_most("runs whose original gives others than it did when recorded", len(doubted) if origins else None, 0)
    result.at_least("programs measured", len(measured) if programs else None, len(programs))


class _Bench:
    """One run on the GPU."""

    def __init__(self, run: CarriedRun, place: Path, worker: CudaWorker, model: str | None, scratch: Path) -> None:
        self._run = run
        self._images = place / IMAGES
        self._memory = Memory(place)
        self._worker = worker
        self._model = model
        self._arch = worker.info().arch
        self._rules = parse_rules(run.tolerance)
        self._scratch = scratch / run.program
        self._expected: list[Arrays] = [
            {b.name: self._memory.typed(b, "after") for b in case.buffers if b.after} for case in run.cases
        ]

    def rows(self) -> tuple[list[Row], list[Row]]:
        """A row for each winner, and rows of the variants that are ranked. Raises ``DeviceError`` for an original that fails."""
        original = self._jobs(self._run.original)
        measure = self._settle_expected(original)
        winners = [variant for variant in self._run.variants if variant.role != "other"]
        nvcc, no_nvcc = self._nvccs()
        rows, figures = [], []
        for number, variant in enumerate(winners):
            row, over_ours = self._row(variant, original, measure, nvcc, no_nvcc, whole_story=number == 0)
            rows.append(row)
            if over_ours is not None:
                figures.append((variant, over_ours))
        return rows, self._ranks(original, figures)

    def _row(
        self, variant: CarriedVariant, original: Sequence[Job], measure: Measure, nvcc: Sequence[Job], no_nvcc: str,
        *, whole_story: bool,
    ) -> tuple[Row, float | None]:  # fmt: skip
        """What is to be said of a winner. ``whole_story``: also of the baselines, once for each run."""
        run = self._run
        row: Row = {
            "program": run.program, "run": run.run, "arm": run.arm, "variant": variant.name, "role": variant.role,
            "label": variant.label,
        }  # fmt: skip
        try:
            jobs = self._jobs(variant)
        except OSError as error:
            return {**row, "failed": f"its code is missing: {error}"}, None
        outputs = self._outputs(jobs)
        row["outputs"] = outputs.trouble or "right"
        row["label holds"] = _holds(variant.label, outputs, measure)
        if whole_story:
            row["original's outputs"] = measure.differs or "right"
        virtual, base = (each.estimated_us(self._model, run.cases) for each in (variant, run.original))
        row["virtual"] = round(base / virtual, 4) if base and virtual else None
        if not outputs.ran:
            return {**row, "failed": outputs.trouble}, None
        try:
            ours = self._compared(original, jobs, PAIRS, PROGRAM_S)
        except DeviceError as error:
            return {**row, "failed": error.message}, None
        row |= {"ours": run.original.name, "ours us": _times(ours.first_us), "variant us": _times(ours.second_us)}
        row |= {"over ours": _figure(ours.speedup[1]), "interval": _interval(ours.speedup), "verdict": _said(ours)}
        row["launches"] = self._launches(variant, ours)
        row |= self._over_nvcc(nvcc, no_nvcc, jobs, whole_story)
        return row, ours.speedup[1]

    def _launches(self, variant: CarriedVariant, ours: Ratio) -> list[list[Any]]:
        """Kernel, weight, and microseconds of each launch: of original and variant as measured, and as the virtual GPU told them."""
        told = [each.estimates.get(self._model or "") for each in (self._run.original, variant)]
        estimated = zip(*told, strict=True) if all(told) else ((None, None) for _ in ours.parts)
        return [
            [case.kernel, case.weight, *(round(us, 3) for us in measured), *(us and round(us, 3) for us in virtual)]
            for case, measured, virtual in zip(self._run.cases, ours.parts, estimated, strict=True)
        ]

    def _over_nvcc(self, nvcc: Sequence[Job], no_nvcc: str, jobs: Sequence[Job], whole_story: bool) -> Row:
        if no_nvcc:
            return {"nvcc": no_nvcc}
        try:
            row: Row = {}
            if whole_story:
                outputs = self._outputs(nvcc, times=1)
                row["nvcc's outputs"] = outputs.trouble or "right"
            theirs = self._compared(nvcc, jobs, PAIRS, PROGRAM_S)
        except DeviceError as error:
            return {"nvcc": error.message}
        return {
            **row, "nvcc us": _times(theirs.first_us), "over nvcc": _figure(theirs.speedup[1]),
            "interval over nvcc": _interval(theirs.speedup), "verdict over nvcc": _said(theirs),
        }  # fmt: skip

    # -- jobs ----------------------------------------------------------------------------------------------------------

    def _jobs(self, variant: CarriedVariant) -> list[Job]:
        return [
            case.job(read_image(self._images, key, self._arch, f"{self._run.program}, {variant.name}"))
            for case, key in zip(self._run.cases, variant.images, strict=True)
        ]

    def _nvccs(self) -> tuple[list[Job], str]:
        """nvcc's kernels: by this machine's own, which fits the driver, or as they were prepared; why there are none."""
        folder, trouble = self._scratch, ""
        if not any(folder.glob(f"*.{self._arch}.cubin")):
            try:
                program = load(self._run.program.removesuffix(REGULAR))
                trouble = compile_kernels(program, self._arch, folder)
            except Misuse as error:
                trouble = error.message
        if trouble:
            folder = self._images
            if not any(folder.glob(f"nvcc-*.{self._arch}.cubin")):
                return [], trouble
        found: dict[str, Image] = {}
        for kernel in dict.fromkeys(case.kernel for case in self._run.cases):
            image = kernel_image(folder, kernel, self._arch)
            if image is None:
                return [], f"nvcc's code has no {kernel}"
            found[kernel] = image
        return [case.job(found[case.kernel]) for case in self._run.cases], ""

    # -- outputs -------------------------------------------------------------------------------------------------------

    def _settle_expected(self, original: Sequence[Job]) -> Measure:
        """Looks at what the original gives, and makes it the measure where it is not what was recorded.

        Raises ``DeviceError`` when the original does not run to its end here.
        """
        outputs = self._outputs(original)
        if not outputs.ran:
            raise DeviceError(f"the original fails: {outputs.trouble}")
        if not outputs.trouble:
            return Measure()
        far = (
            self._compare(case, found, self._compared_at_all(expected), NEAR)
            for case, found, expected in zip(self._run.cases, outputs.found, self._expected, strict=True)
        )
        unlike = any(far)
        self._expected = list(outputs.found)
        again = self._outputs(original)
        if not again.ran:
            raise DeviceError(f"the original fails: {again.trouble}")
        return Measure(outputs.trouble, unlike, again.trouble)

    def _compared_at_all(self, expected: Arrays) -> Arrays:
        return {name: values for name, values in expected.items() if not isinstance(self._rules.of(name), Ignore)}

    def _outputs(self, jobs: Sequence[Job], times: int = TIMES) -> Outputs:
        """Runs every launch and compares what it leaves."""
        found: list[Arrays] = []
        trouble = ""
        for case, job, expected in zip(self._run.cases, jobs, self._expected, strict=True):
            buffers = self._memory.before(case)
            for number in range(times):
                try:
                    launched, after = self._worker.run(job, buffers)
                except DeviceError as error:
                    return Outputs(f"{case.name}: {error.message}")
                if launched.fault is not None:
                    return Outputs(f"{case.name}: {launched.fault.message}")
                arrays = {
                    b.name: as_type(after[b.address], b.type) if b.address in after else self._memory.typed(b, "before")
                    for b in case.buffers
                }
                if number == 0:
                    found.append({name: arrays[name] for name in expected})
                trouble = trouble or self._compare(case, arrays, expected, self._rules)
        return Outputs(trouble, tuple(found))

    def _compare(self, case: CarriedCase, found: Arrays, expected: Arrays, rules: Rules) -> str:
        """The first output that is not accepted; nothing where all are."""
        before = {b.name: self._memory.typed(b, "before") for b in case.buffers}
        for name, values in expected.items():
            others = tuple(
                v for n, v in before.items() if n != name and v.shape == values.shape and v.dtype == values.dtype
            )
            verdict = judge(rules.of(name), found[name], values, Given(before[name], others))
            if not verdict.accepted:
                return f"{case.name}: '{name}' {verdict.sentence}"
        return ""

    # -- times ---------------------------------------------------------------------------------------------------------

    def _compared(self, first: Sequence[Job], second: Sequence[Job], pairs: int, seconds: float) -> Ratio:
        """Raises ``DeviceError`` when a launch fails meanwhile."""
        differ = [one.image.key != other.image.key for one, other in zip(first, second, strict=True)]
        many = max(sum(differ), 1)
        confidence = 1 - (1 - CONFIDENCE) / many  # of each, so that all hold together
        parts = []
        for case, one, other, is_other in zip(self._run.cases, first, second, differ, strict=True):
            self._worker.stage(self._memory.before(case))
            if is_other:
                result = duel(
                    partial(self._worker.sample, one, cold=case.is_first), partial(self._worker.sample, other, cold=case.is_first),
                    confidence=confidence, pairs=pairs, seconds=seconds / many,
                )  # fmt: skip
                parts.append((case.weight, result.original, result.variant, result.speedup))
            else:
                alone = median_interval([self._worker.sample(one, cold=case.is_first) for _ in range(ALONE)])
                parts.append((case.weight, alone, alone, Estimate(1.0, 1.0, 1.0, ALONE, confidence)))
        return whole(parts)

    def _ranks(self, original: Sequence[Job], figures: Sequence[tuple[CarriedVariant, float]]) -> list[Row]:
        """The run's other variants, measured more shortly, and how alike model and GPU rank them all."""
        from kernelwright.device.timing_model.fit import spearman

        base = self._run.original.estimated_us(self._model, self._run.cases)
        if not base:
            return []
        pairs = [(base / us, speedup) for v, speedup in figures if (us := v.estimated_us(self._model, self._run.cases))]
        rows: list[Row] = []
        for variant in (v for v in self._run.variants if v.role == "other"):
            row: Row = {"ranked": self._run.run, "variant": variant.name}
            us = variant.estimated_us(self._model, self._run.cases)
            try:
                ratio = self._compared(original, self._jobs(variant), RANKED_PAIRS, RANKED_S)
            except (DeviceError, OSError) as error:
                rows.append({**row, "failed": getattr(error, "message", "") or str(error)})
                continue
            if us:
                pairs.append((base / us, ratio.speedup[1]))
                row["virtual"] = round(base / us, 4)
            rows.append({**row, "over ours": _figure(ratio.speedup[1]), "interval": _interval(ratio.speedup)})
        rank = spearman([a for a, _ in pairs], [b for _, b in pairs]) if len(pairs) >= 3 else None
        if rank is not None:
            rows.append({"ranking of": self._run.run, "variants": len(pairs), "rank correlation": round(rank, 3)})
        return rows


def _holds(label: str, outputs: Outputs, measure: Measure) -> str:
    """Whether what a label says of the training cases is so on the GPU."""
    if label not in CLAIMS:
        return "claims nothing here"
    # A variant that faults is wrong beside any original.
    if measure.unlike or (measure.repeats and outputs.trouble):
        return f"not judged: {measure.doubt}" if outputs.ran else "NO"
    return "NO" if outputs.trouble else "yes"


def _said(ratio: Ratio) -> str:
    return ratio.verdict if ratio.settled else "tie for want of evidence"


def _figure(value: float) -> float | None:
    return round(value, 4) if math.isfinite(value) else None


def _interval(values: tuple[float, float, float]) -> list[float | None]:
    return [_figure(values[0]), _figure(values[2])]


def _times(values: tuple[float, float, float]) -> str:
    low, median, high = (f"{value:.4g}" for value in values)
    return f"{median} [{low}, {high}]"
