"""A program of several versions whose every path is run once, whichever caller asks: the virtual GPU gives the same time again."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from kernelwright.cuda.link import LinkOptions
from kernelwright.executable import build_executable, worker_command
from kernelwright.pipeline import compile as compile_program
from kernelwright.suite.multiversion.table import MultiVersionProgram
from kernelwright.versions.configurations import Configuration, Configurations
from kernelwright.versions.program import INFINITE, Ran, Thresholds, TunedProgram
from kernelwright.versions.resolution import Resolution
from kernelwright.versions.running.external_program import ExternalProgram
from kernelwright.versions.running.resident_runner import ResidentRunner
from kernelwright.versions.running.runner_commands import cuda_program
from kernelwright.versions.thresholds import Tuning, tune

DEVICE = "h200"
TIMEOUT_S = 300.0
MOST_ENUMERATED = 40
"""Paths of a dataset; a program with more is not searched exhaustively."""


def built_program(
    program: MultiVersionProgram, folder: Path, resident: ResidentRunner | None = None
) -> ExternalProgram:
    """``program`` compiled for the virtual GPU. ``resident``: what runs it, else a new one."""
    source, executable = folder / f"{program.name}.cu", folder / program.name
    source.write_text(program.text())
    link = LinkOptions(device=DEVICE, worker=worker_command())
    build_executable(compile_program(source), [], executable, link)
    return cuda_program(executable, DEVICE, TIMEOUT_S, resident)


class MeasuredProgram:
    """A program, what is known of it by dataset, and the seconds that its runs took by ``clock``."""

    deterministic = True

    def __init__(self, program: TunedProgram, clock: Callable[[], float] = time.perf_counter) -> None:
        self._program = program
        self._clock = clock
        self._seconds: dict[tuple[str, tuple[object, ...]], float] = {}
        self._repeated: dict[tuple[str, tuple[object, ...]], float] = {}
        self._known: dict[str, Configurations] = {}

    def run(self, dataset: str, thresholds: Thresholds) -> Ran:
        begin = self._clock()
        ran = self._program.run(dataset, thresholds)
        self._seconds.setdefault((dataset, ran.compared), self._clock() - begin)
        return ran

    def seconds(self, dataset: str, configuration: Configuration, *, first: bool = True) -> float:
        """What a run of this configuration took on this machine: its first one, which may compile kernels, or another."""
        key = (dataset, configuration.compared)
        if first:
            return self._seconds[key]
        if key not in self._repeated:
            begin = self._clock()
            self._program.run(dataset, configuration.thresholds)
            self._repeated[key] = self._clock() - begin
        return self._repeated[key]

    def untuned(self, dataset: str) -> Configuration:
        """The program with thresholds of its own."""
        return self._known[dataset].untuned()

    def tuned(self, datasets: tuple[str, ...]) -> Tuning:
        """The thresholds that our tuner finds for ``datasets``; what it ran is known from then on."""
        tuning = tune(self, datasets)
        for name, found in tuning.measured.items():
            self._known[name] = Configurations(self, name, Resolution.exact(), list(found))
        return tuning

    def at(self, dataset: str, thresholds: Thresholds) -> Configuration:
        """What ``thresholds`` lead to, which is run where it is not known."""
        return self._known[dataset].at(thresholds)

    def values(self, dataset: str) -> Mapping[str, list[int]]:
        """The values at which each guard was met, in ascending order."""
        found: dict[str, set[int]] = {}
        for configuration in self._known[dataset].all:
            for each in configuration.compared:
                found.setdefault(each.name, set()).add(each.value)
        return {name: sorted(values) for name, values in found.items()}

    def least_us(self, dataset: str) -> tuple[int, float] | None:
        """How many paths there are, and the least time of all; None where there are too many.

        Every path is reached from the one on which nothing is taken by changing thresholds one by one, each to a value that the
        guard has met anywhere, or beyond. Knows nothing of monotonicity, intervals or the tuner's decisions.
        """
        reached: dict[int, Configuration] = {}
        waiting: list[dict[str, int]] = [{}]
        while waiting:
            thresholds = waiting.pop()
            here = self.at(dataset, thresholds)
            if id(here) in reached:
                continue
            reached[id(here)] = here
            if len(reached) > MOST_ENUMERATED:
                return None
            met = dict.fromkeys(each.name for each in here.compared)
            values = self.values(dataset)
            choices = [(name, value) for name in met for value in (*values[name], INFINITE)]
            waiting += [
                {**thresholds, name: value} for name, value in choices if thresholds.get(name, INFINITE) != value
            ]
        times = [math.inf if c.times.failed else c.time_us for c in reached.values()]
        return len(reached), min(itertools.chain(times, [math.inf]))
