"""Runs made by another process meanwhile: they are told and not made again, nothing waits for them, and proofs are the same."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kernelwright.device.schedule import Schedule
from kernelwright.errors import DeviceError
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.ir import parse_module, print_module
from kernelwright.prove import Effort, Prover
from kernelwright.prove.checked_run import CaseRun, Device, run_case
from kernelwright.prove.checks import runs_ahead, variant_runs
from kernelwright.prove.checks.known_runs import KnownRun
from kernelwright.prove.checks.runs_ahead import LEAST, AskedRun, Groups, RunsAhead
from kernelwright.prove.checks.variant_runs import VariantRuns
from kernelwright.prove.evidence import Evidence
from kernelwright.prove.fences import Fences
from tests.evaluate.recording import record
from tests.prove.planted import QUICK, planted

RIGHT = KnownRun(None, {}, Fences(), False)
WRONG = KnownRun(Evidence("wrong"), {}, Fences(), False)
Make = Callable[[AskedRun], KnownRun]


def asked(seed: int) -> AskedRun:
    return AskedRun(None, Schedule.random(seed))  # type: ignore[arg-type]


@pytest.fixture
def known() -> dict[AskedRun, KnownRun]:
    return {}


@pytest.fixture
def ahead(known: dict[AskedRun, KnownRun]) -> Iterator[Callable[[Make], RunsAhead]]:
    made: list[RunsAhead] = []

    def begin(make: Make) -> RunsAhead:
        made.append(RunsAhead(make, known.__setitem__, known.__contains__, 1))
        return made[-1]

    yield begin
    for one in made:
        one.close()
        assert not one._others


def taken(ahead: RunsAhead, until: Callable[[], bool]) -> None:
    """Takes what is told until something holds, for ten seconds at most."""
    end = time.monotonic() + 10
    while not until():
        assert time.monotonic() < end
        ahead.take()
        time.sleep(0.001)


def test_all_is_told(ahead: Callable[[Make], RunsAhead], known: dict[AskedRun, KnownRun]) -> None:
    groups = [(asked(2 * n), asked(2 * n + 1)) for n in range(LEAST)]
    wrong = groups[1][0].schedule
    runs = ahead(lambda one: WRONG if one.schedule == wrong else RIGHT)
    runs.begin(groups)
    taken(runs, lambda: runs.is_free)
    assert {one.schedule.seed for one in known} == set(range(2 * LEAST)) - {3}  # behind what is wrong nobody asks
    assert [one.schedule for one, run in known.items() if run.wrong] == [wrong]


def test_a_process_that_ends_early_tells_what_it_has(
    ahead: Callable[[Make], RunsAhead], known: dict[AskedRun, KnownRun]
) -> None:
    groups = [(asked(n),) for n in range(LEAST)]

    def ended(one: AskedRun) -> KnownRun:
        if one.schedule.seed == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        if one.schedule.seed == LEAST + 1:
            raise DeviceError("none")
        return RIGHT

    runs = ahead(ended)
    runs.begin(groups)
    taken(runs, lambda: runs.is_free)
    assert sorted(one.schedule.seed for one in known) == list(range(2, LEAST))
    known.clear()
    runs.begin([(asked(LEAST + n),) for n in range(LEAST)])
    taken(runs, lambda: runs.is_free)
    assert sorted(one.schedule.seed for one in known) == list(range(LEAST + 2, 2 * LEAST))


def test_one_to_which_nothing_is_left_is_ended(
    ahead: Callable[[Make], RunsAhead], known: dict[AskedRun, KnownRun]
) -> None:
    groups = [(asked(n),) for n in range(LEAST)]

    def slow(one: AskedRun) -> KnownRun:
        time.sleep(0 if one.schedule.seed else 60)
        return RIGHT

    runs = ahead(slow)
    runs.begin(groups)
    taken(runs, lambda: len(known) == LEAST - 1)
    assert not runs.is_free  # it is at the first one
    known[groups[0][0]] = RIGHT
    assert runs.is_free


def test_few_runs_are_worth_no_process(ahead: Callable[[Make], RunsAhead]) -> None:
    runs = ahead(lambda one: RIGHT)
    runs.begin([(asked(n),) for n in range(LEAST - 1)])
    assert runs.is_free


# Right on the training cases and wrong on other data; racing; right.
@pytest.mark.parametrize("kernel", ["whole_blocks", "halo_written", "dead_store"])
def test_proofs_are_the_same_with_any_number_of_processes(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one = planted(kernel)
    made: list[str] = []

    def counted(device: Device, modules: Any, case: Any, *rest: Any, **more: Any) -> CaseRun:
        made.append(case.name)
        return run_case(device, modules, case, *rest, **more)

    monkeypatch.setattr(variant_runs, "run_case", counted)
    alone = Prover(one.workload(0), one.original, effort=QUICK).prove(one.variant, speedup=1.5)
    alone_made = len(made)
    taking = RunsAhead.take
    helped = Prover(one.workload(0), one.original, effort=QUICK, processes=3)

    def slowly(ahead: RunsAhead) -> None:
        time.sleep(0.003)  # the others come to something
        taking(ahead)

    monkeypatch.setattr(runs_ahead.RunsAhead, "take", slowly)
    assert helped.prove(one.variant, speedup=1.5).as_json() == alone.as_json()
    assert len(made) - alone_made < alone_made


def test_processes_have_memories_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(tmp_path / "app.capture")
    recorded = Workload.from_capture(tmp_path / "app.capture", launches=[0, 2])
    variant = {kernel: parse_module(print_module(module)) for kernel, module in recorded.modules().items()}
    effort = Effort(orders=2, changes=12, tries=24)
    alone = Prover(recorded, effort=effort).prove(variant).as_json()
    told: list[AskedRun] = []
    keep = VariantRuns._keep

    def kept(runs: VariantRuns, one: AskedRun, run: KnownRun) -> None:
        told.append(one)
        keep(runs, one, run)

    monkeypatch.setattr(VariantRuns, "_keep", kept)
    prover = Prover(recorded, effort=effort, processes=2)
    begin = RunsAhead.begin

    def begun(ahead: RunsAhead, groups: Groups) -> None:
        assert prover.baseline.device._kept is None  # the other process would write to it, too
        begin(ahead, groups)

    monkeypatch.setattr(RunsAhead, "begin", begun)
    assert prover.prove(variant).as_json() == alone
    assert alone["label"] == "clean" and told
