"""The bests of several runs of ``kw evolve`` under the fuzzer: one run to a core, the same answers on any number of cores."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernelwright.device.settings import virtual_gpu
from kernelwright.errors import KernelwrightError
from kernelwright.evaluate.capture.recorded_case import RecordedCase
from kernelwright.evaluate.workload.case import Case
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.evolution.genomes import GENOMES, EvolveRun
from kernelwright.farm import Lost, Pool, Raised, available_cores
from tests.fuzz_variants.fuzzer import Tally, Variant, fuzz

TIMEOUT_S = 24 * 3600.0
"""A run takes as long as it takes."""


@dataclass(frozen=True)
class Asked:
    """What one worker does: ``count`` cases of the best of a run, or of the variant of that name, within ``limit_s`` seconds."""

    folder: Path
    count: int
    seed: int = 0
    variant: str = ""
    limit_s: float = math.inf


def fuzz_run(asked: Asked) -> Tally:
    """On all launches of the run's recordings. Raises ``ValueError`` where there is no such variant."""
    with EvolveRun.open(asked.folder, GENOMES) as run:
        found = run.variant(asked.variant) if asked.variant else run.best
        if found is None:
            raise ValueError("it has no best")
        workload: Workload = run.subject.workload()
        builder = run.kind.builder(workload.modules(), virtual_gpu(run.settings.virtual).arch)
        built = builder.build(found.candidate)
        kernels = {k: b for k, b in built.kernels.items() if k in built.changed}
        variant = Variant({k: b.module for k, b in kernels.items()}, {k: b.guards for k, b in kernels.items()})
        originals = builder.build(run.kind.original).modules
        return fuzz(
            launches_of(workload.in_process, variant), workload.kernel, originals, variant, workload.rules,
            count=asked.count, seed=asked.seed, limit_s=asked.limit_s,
        )  # fmt: skip


def launches_of(given: Iterable[Case | RecordedCase], variant: Variant) -> list[Case | RecordedCase]:
    """Every launch of a changed kernel in the recordings that the cases are from, and the cases that are not recorded."""
    found: dict[object, Case | RecordedCase] = {}
    for case in given:
        if not isinstance(case, RecordedCase):
            found[id(case)] = case
            continue
        of = case.name.partition(f"#{case.recorded.number}")[2]  # which data set: launches are numbered in each
        for launch in case.capture.launches:
            if launch.module == case.recorded.module and launch.kernel in variant.modules and not launch.fault:
                key = (case.capture.path, launch.number)
                found.setdefault(key, RecordedCase(case.capture, launch, case.module, case.rules, of))
    return list(found.values())


def fuzzing() -> Callable[[Asked], Tally | str]:
    """What a worker does with one run; why nothing came of it where it cannot be opened or built."""

    def work(asked: Asked) -> Tally | str:
        try:
            return fuzz_run(asked)
        except KernelwrightError as error:
            return error.message
        except ValueError as error:
            return str(error)

    return work


def fuzz_runs(asked: Sequence[Asked], workers: int) -> Iterator[tuple[Asked, Tally | str]]:
    """Of each run what came of its cases, or why there are none, as they finish."""
    with Pool(fuzzing, workers=max(1, min(workers, len(asked))), timeout_s=TIMEOUT_S) as pool:
        for index, tally in pool.map(asked):
            yield asked[index], str(tally) if isinstance(tally, Lost | Raised) else tally


def main() -> None:
    """Exit code 1 when a case is wrong, or a run could not be fuzzed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz_variants.fuzzer")
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN")
    parser.add_argument("--cases", type=int, default=1000, help="launches of each run")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--variant", default="", help="in the place of each run's best")
    parser.add_argument("--time", type=float, default=math.inf, metavar="SECONDS", help="for each run at most")
    parser.add_argument("--jobs", type=int, default=available_cores(), help="runs at once")
    given = parser.parse_args()
    failed = False
    try:
        folders = dict.fromkeys(given.runs)
        asked = [Asked(folder.resolve(), given.cases, given.seed, given.variant, given.time) for folder in folders]
        for one, tally in fuzz_runs(asked, given.jobs):
            failed |= isinstance(tally, str) or bool(tally.wrong)
            print(f"{one.folder.name}: {tally}", flush=True)
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(1 if failed else 0)
