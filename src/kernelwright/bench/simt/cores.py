"""The virtual GPU on one core and on all: the kernels of ``cases.py``, in turns, by the clock on the wall; and PoCL on all cores. How
much several cores gain is asked of long launches: of a short one a third is over before it is known to be worth more than one core.

Of the ratios of turns, which follow one another, the median counts: a core is faster while its neighbours have nothing to do, so that
the best time of one core and the best of several are of different machines. In the same turns arithmetic in registers runs on one
core and on all (``yardstick.py``): what that does not gain is the machine's. PoCL reads how many threads it may have when it starts, so
that it is a process of its own here.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import statistics
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from multiprocessing.resource_tracker import ensure_running
from typing import Any

from kernelwright.bench.result import Measured, Say
from kernelwright.bench.simt.cases import Case, cases_of, long_cases
from kernelwright.bench.simt.executors import Ours, pocl_on
from kernelwright.bench.simt.yardstick import Yardstick

REPEAT = 31
QUICK = 5
START_S = 120.0

Runs = dict[str, Callable[[], float]]
"""By name: runs once, and says how many seconds it took."""


def _row(
    case: Case, one: Ours, several: Ours, cores: int, others: Runs, quick: bool
) -> tuple[dict[str, Any], dict[str, float]]:
    """What a case takes, as a row, and by name what several cores take of the time of the others, which run in the same turns. Raises
    ``RuntimeError`` where results differ."""
    runs = {"one": one.prepared(case, time.perf_counter), "several": several.prepared(case, time.perf_counter)}
    runs |= others
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(QUICK if quick else REPEAT):
        for name, run in runs.items():
            times[name].append(run())
    middle = {name: statistics.median(taken) for name, taken in times.items()}
    ratios = {
        name: statistics.median(a / b for a, b in zip(times["several"], taken, strict=True))
        for name, taken in times.items()
    }
    a, b = one.results(case), several.results(case)
    if any(a[name].tobytes() != b[name].tobytes() for name in case.compared):
        raise RuntimeError(f"{case.name}: the results on one core and on {cores} differ")
    row: dict[str, Any] = {"on several cores": case.name, "launches": len(case.steps)}
    row["spread"] = f"{several.spread(case):.0%}"
    row |= {"one core ms": round(1000 * middle["one"], 2), f"{cores} cores ms": round(1000 * middle["several"], 2)}
    row["share"] = round(ratios["one"], 2)
    if "pocl" in runs:
        row |= {"PoCL ms": round(1000 * middle["pocl"], 2), "ours / PoCL": round(ratios["pocl"], 2)}
    if "arithmetic" in runs:
        pairs = zip(times["arithmetic on all"], times["arithmetic"], strict=True)
        ratios["machine"] = statistics.median(a / b for a, b in pairs)
        row["arithmetic's share"] = round(ratios["machine"], 2)
    return row, ratios


def measure_cores(result: Measured, cases: list[Case], quick: bool, say: Say) -> None:
    """Adds a row for each kernel, and what was promised of several cores."""
    cores = len(os.sched_getaffinity(0))
    if cores < 2:
        result.notes.append("no figures for several cores: this process may use one")
        return
    one, several = Ours(1), Ours(cores)
    pocl = _PoclProcess(quick)
    if pocl.version is None:
        result.notes.append(f"no comparison on {cores} cores: PoCL is not installed")
    ratios = []
    for case in cases:
        say(f"{case.name}, {cores} cores")
        theirs: Runs = {"pocl": partial(pocl.seconds, case.name)} if pocl.version is not None else {}
        row, found = _row(case, one, several, cores, theirs, quick)
        if theirs:
            ratios.append(found["pocl"])
        result.rows.append(row)
    pocl.close()
    shares, machine, one, several, yardstick = [], [], Ours(1), Ours(cores), Yardstick()
    loops: Runs = {"arithmetic": partial(yardstick.seconds, 1), "arithmetic on all": partial(yardstick.seconds, cores)}
    for case in () if quick else long_cases():
        say(f"{case.name}, long, {cores} cores")
        row, found = _row(case, one, several, cores, loops, quick)
        row["on several cores"] += ", long"
        if several.spread(case):
            shares.append(found["one"])
            machine.append(found["machine"])
        result.rows.append(row)
    linear, own, given = 1.2 / cores, _mean(shares), _mean(machine)
    name = f"geometric mean of time on {cores} cores over one, of long launches that are spread"
    result.at_most(name, own, linear)
    result.at_most("the same over that of arithmetic in registers", own / given if own and given else None, 1.2)
    result.at_most(f"geometric mean of our time over PoCL's, both on {cores} cores", _mean(ratios), 0.6)


def _mean(values: list[float]) -> float | None:
    return math.exp(statistics.fmean(map(math.log, values))) if values else None


def start_uninterrupted(process: BaseProcess) -> None:
    """Starts a process that Ctrl-C does not reach, not even while it imports: that is its parent's business, which ends it."""
    ensure_running()  # else it is started with the process, and unblocks the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _PoclProcess:
    """PoCL on all cores."""

    def __init__(self, quick: bool) -> None:
        context = multiprocessing.get_context("spawn")
        self._here, there = context.Pipe()
        self._process = context.Process(target=_serve, args=(there, quick), daemon=True)
        start_uninterrupted(self._process)
        there.close()
        try:
            self.version: str | None = self._here.recv() if self._here.poll(START_S) else None
        except EOFError:
            self.version = None

    def seconds(self, case: str) -> float:
        """One run of a case; endless where there is no PoCL."""
        if self.version is None:
            return math.inf
        self._here.send(case)
        taken: float = self._here.recv()
        return taken

    def close(self) -> None:
        self._here.close()
        self._process.join(10)
        self._process.kill()


def _serve(asked: Connection, quick: bool) -> None:
    pocl = pocl_on(None, Measured("simt"))
    asked.send(None if pocl is None else pocl.version)
    if pocl is None:
        return
    runs = {case.name: pocl.prepared(case, time.perf_counter) for case in cases_of(quick)}
    try:
        while True:
            asked.send(runs[asked.recv()]())
    except EOFError:
        return
