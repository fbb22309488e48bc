"""A black-box tuner beside ours: OpenTuner, set up as the tool that paper 003 replaces (section 4).

    a threshold            a whole number on a logarithmic scale, from half the smallest value that its guard meets to twice the
                           largest: beyond it, its version is never taken
    the techniques         a bandit over seven Nelder-Mead and Torczon searches
    what is minimised      the sum of the times of all datasets
    memory                 by the paths taken: the same combination of versions, over all datasets, is not run twice; a new one
                           runs every dataset
    before the search      one run of each dataset, which tells the values
    the end                OpenTuner's own: MOST_REQUESTS, those included that it made before, or 500 generations in a row without
                           any; or LONGEST times our tuning time

All of it but LONGEST is the old tool as its source has it (futhark-autotune, before Futhark 0.13; what that does not set is
OpenTuner's default), with one exception in OpenTuner's favour: it is told the values that came up in any configuration, not
only those of the untuned run, so that it can reach whatever we reach.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

from kernelwright.bench.tune.measured_program import MeasuredProgram
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.versions.configurations import Configuration
from kernelwright.versions.program import INFINITE

SEEDS = (1, 2, 3)
MOST_REQUESTS = 10_000
"""OpenTuner's own limit."""
LONGEST = 40.0
"""Times our tuning time, after which a search is ended: what it would have taken is more."""
SCRIPT = Path(__file__).parent / "opentuner_process.py"


@dataclass(frozen=True)
class Effort:
    """What a search had done at some moment."""

    asked: int
    """Configurations of thresholds."""
    runs: int
    """Of the program, on any dataset."""
    program_us: float
    """Time of the program in these runs."""
    own_s: float
    """Processor time of the search itself on this machine."""
    seconds: float
    """Processor time of the search and of these runs."""


@dataclass(frozen=True)
class Searched:
    """What one search came to."""

    seed: int
    best_us: float
    """The least sum over the datasets."""
    at_end: Effort
    at_equal: Effort | None
    """When it first was as good as ours; None where it never was."""
    cut: bool
    """Whether it was ended after LONGEST."""


def is_installed() -> bool:
    """Whether OpenTuner can be imported, in a process of its own: it changes the logging of the one it is in."""
    return subprocess.run([sys.executable, "-c", "import opentuner"], capture_output=True).returncode == 0


def searched(program: MeasuredProgram, datasets: tuple[str, ...], ours_us: float, ours_s: float, seed: int) -> Searched:
    """OpenTuner's search with one seed. ``ours_us``: what it has to reach; ``ours_s``: how long we took for it."""
    ranges = _ranges(program, datasets)
    search = _Search(program, datasets)
    best, equal, cut = math.inf, None, False
    try:
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
            print(
                json.dumps({"ranges": ranges, "seed": seed, "requests": MOST_REQUESTS}), file=process.stdin, flush=True
            )
            ready = process.stdout.readline()  # that Python has started is no part of a search
            began_s = json.loads(ready)["processor_s"] if ready else 0.0
            for line in process.stdout:
                asked = json.loads(line)
                search.own_s = asked["processor_s"] - began_s
                time_us = search.time_us(_thresholds(asked["thresholds"], ranges))
                best = min(best, time_us)
                if equal is None and best <= ours_us * (1 + 1e-9):
                    equal = search.effort()
                if search.effort().seconds > LONGEST * ours_s:
                    cut = True
                    process.kill()
                    break
                print(json.dumps(time_us if math.isfinite(time_us) else 1e12), file=process.stdin, flush=True)
    except BrokenPipeError as error:  # it ended before it had read all it was told, also where it says that all is well
        if not cut:
            raise RuntimeError(f"OpenTuner failed, with exit code {process.returncode}") from error
    if process.returncode and not cut:
        raise RuntimeError(f"OpenTuner failed, with exit code {process.returncode}")
    return Searched(seed, best, search.effort(), equal, cut)


def _ranges(program: MeasuredProgram, datasets: tuple[str, ...]) -> dict[str, tuple[int, int]]:
    found: dict[str, list[int]] = {}
    for dataset in datasets:
        for name, values in program.values(dataset).items():
            found.setdefault(name, []).extend(values)
    return {name: (min(values) // 2, 2 * max(values)) for name, values in found.items()}


def _thresholds(asked: dict[str, int], ranges: dict[str, tuple[int, int]]) -> dict[str, int]:
    """The top of a range stands for never."""
    return {name: value if value < ranges[name][1] else INFINITE for name, value in asked.items()}


class _Search:
    """What one search has asked for, and what that has cost so far."""

    def __init__(self, program: MeasuredProgram, datasets: tuple[str, ...]) -> None:
        self._program = program
        self._datasets = datasets
        self._combinations: dict[tuple[int, ...], float] = {}
        self._seen: set[tuple[str, int]] = set()
        self._asked = self._runs = 0
        self._program_us = self._runs_s = 0.0
        self.own_s = 0.0
        for dataset in datasets:
            self._ran(dataset, program.untuned(dataset))

    def time_us(self, thresholds: dict[str, int]) -> float:
        """The sum over the datasets. A combination of paths that is new is run."""
        self._asked += 1
        found = {dataset: self._program.at(dataset, thresholds) for dataset in self._datasets}
        combination = tuple(id(configuration) for configuration in found.values())
        if combination not in self._combinations:
            for dataset, configuration in found.items():
                self._ran(dataset, configuration)
            self._combinations[combination] = sum(math.inf if c.times.failed else c.time_us for c in found.values())
        return self._combinations[combination]

    def effort(self) -> Effort:
        return Effort(self._asked, self._runs, self._program_us, self.own_s, self.own_s + self._runs_s)

    def _ran(self, dataset: str, configuration: Configuration) -> None:
        """A path costs what its first run took; one that was run before, in another combination, what it takes again."""
        first = (dataset, id(configuration)) not in self._seen
        self._seen.add((dataset, id(configuration)))
        self._runs += 1
        self._runs_s += self._program.seconds(dataset, configuration, first=first)
        if not configuration.times.failed:
            self._program_us += configuration.time_us
