"""A black-box tuner beside ours: OpenTuner, set up as the tool that paper 003 replaces (section 4).

    a threshold            a whole number on a logarithmic scale, from half the smallest value that its guard meets to twice the
                           largest: beyond it, its version is never taken
    the techniques         a bandit over seven Nelder-Mead and Torczon searches
    what is minimised      the sum of the times of all datasets
    memory                 by the path taken: the same combination of versions is not run twice
    the end                MOST_ASKED configurations, LONGEST times our tuning time, or OpenTuner's own: 500 generations in a row
                           without a request

The techniques and the memory are those of the old tool as its source has them; the paper says neither limit nor ranges.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from kernelwright.bench.tune.measured_program import MeasuredProgram
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.versions.configurations import Configuration
from kernelwright.versions.program import INFINITE

SEEDS = (1, 2, 3)
MOST_ASKED = 300
LONGEST = 8.0
"""Times our tuning time, after which a search has lost."""
SCRIPT = Path(__file__).parent / "opentuner_process.py"


@dataclass(frozen=True)
class Effort:
    """What a search had done at some moment."""

    asked: int
    """Configurations of thresholds."""
    runs: int
    """Of the program: those configurations of a dataset that were new."""
    program_us: float
    """Time of the program in these runs."""
    seconds: float
    """Of the search and of these runs, on this machine."""


@dataclass(frozen=True)
class Searched:
    """What one search came to."""

    seed: int
    best_us: float
    """The least sum over the datasets."""
    at_end: Effort
    at_equal: Effort | None
    """When it first was as good as ours; None where it never was."""


def is_installed() -> bool:
    """Whether OpenTuner can be imported, in a process of its own: it changes the logging of the one it is in."""
    return subprocess.run([sys.executable, "-c", "import opentuner"], capture_output=True).returncode == 0


def searched(program: MeasuredProgram, datasets: tuple[str, ...], ours_us: float, ours_s: float, seed: int) -> Searched:
    """OpenTuner's search with one seed. ``ours_us``: what it has to reach; ``ours_s``: how long we took for it."""
    ranges: dict[str, list[int]] = {}
    for dataset in datasets:
        for name, values in program.values(dataset).items():
            known = ranges.setdefault(name, [max(values[0] // 2, 1), 2 * values[-1]])
            ranges[name] = [min(known[0], max(values[0] // 2, 1)), max(known[1], 2 * values[-1])]
    effort, best, equal = Effort(0, 0, 0.0, 0.0), math.inf, None
    seen: set[tuple[str, int]] = set()
    with (
        tempfile.TemporaryDirectory(prefix="kernelwright-") as folder,
        subprocess.Popen(
            [sys.executable, str(SCRIPT)],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process,
    ):
        assert process.stdin is not None and process.stdout is not None
        print(json.dumps({"ranges": ranges, "seed": seed, "most": MOST_ASKED}), file=process.stdin, flush=True)
        begin = time.perf_counter()
        for line in process.stdout:
            waited = time.perf_counter() - begin
            asked = _thresholds(json.loads(line), ranges)
            found = {dataset: program.at(dataset, asked) for dataset in datasets}
            time_us = sum(math.inf if c.times.failed else c.time_us for c in found.values())
            effort = _more(effort, program, found, seen, waited)
            best = min(best, time_us)
            if equal is None and best <= ours_us * (1 + 1e-9):
                equal = effort
            if effort.seconds > LONGEST * ours_s:
                process.kill()
                break
            begin = time.perf_counter()
            print(json.dumps(time_us if math.isfinite(time_us) else 1e12), file=process.stdin, flush=True)
    if not effort.asked:
        raise RuntimeError("OpenTuner ended without asking for anything")
    return Searched(seed, best, effort, equal)


def _thresholds(asked: dict[str, int], ranges: dict[str, list[int]]) -> dict[str, int]:
    """The top of a range stands for never."""
    return {name: value if value < ranges[name][1] else INFINITE for name, value in asked.items()}


def _more(
    before: Effort,
    program: MeasuredProgram,
    found: dict[str, Configuration],
    seen: set[tuple[str, int]],
    waited: float,
) -> Effort:
    new = {dataset: c for dataset, c in found.items() if (dataset, id(c)) not in seen}
    seen |= {(dataset, id(c)) for dataset, c in new.items()}
    times = [c.time_us for c in new.values() if not c.times.failed]
    seconds = sum(program.seconds(dataset, c) for dataset, c in new.items())
    return Effort(
        before.asked + 1, before.runs + len(new), before.program_us + sum(times), before.seconds + waited + seconds
    )
