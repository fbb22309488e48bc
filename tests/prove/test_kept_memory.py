"""Runs of recorded cases one after another in one memory, and changes made once: every run is the one it is alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelwright.device.arena import ARENA_BASE, Arena
from kernelwright.device.schedule import Schedule
from kernelwright.evaluate.capture.recorded_case import RecordedCase
from kernelwright.evaluate.workload.case import Case
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.prove.changed_inputs import changed_case
from kernelwright.prove.changed_inputs.change_order import changes
from kernelwright.prove.changed_inputs.changed_case import ChangedCase, SurveyedCase
from kernelwright.prove.checked_run import CaseRun, Device, Runnable, recording_of, run_case
from tests.evaluate.recording import record
from tests.prove.planted import planted

FORWARD = Schedule.forward()
LAUNCHES = [0, 2, 3, 0, 5]
"""Of a kernel without device variables, of others, of one that has some and leaves them changed."""


@pytest.fixture
def recorded(tmp_path: Path) -> Workload:
    record(tmp_path / "app.capture")
    return Workload.from_capture(tmp_path / "app.capture")


def cases_of(recorded: Workload) -> list[RecordedCase]:
    by_number = {one.recorded.number: one for one in recorded.in_process if isinstance(one, RecordedCase)}
    return [by_number[number] for number in LAUNCHES]


def left_by(run: CaseRun) -> dict[str, Any]:
    assert run.output is not None
    return {name: values.tobytes() for name, values in run.output.arrays.items()} | {
        "addresses": [made.regions for made in run.launches],
        "variables": [made.variables for made in run.launches],
        "before": {name: values.tobytes() for name, values in run.output.before.items()},
    }


def test_runs_in_a_memory_that_is_kept_are_those_in_a_new_one(recorded: Workload) -> None:
    device, modules = Device(), recorded.modules()

    def run(case: Runnable) -> dict[str, Any]:
        return left_by(run_case(device, modules, case, "", FORWARD))

    alone = [run(case) for case in cases_of(recorded)]
    with device.memory_kept():
        assert [run(case) for case in cases_of(recorded)] == alone
        # A case that is no recorded one has the first addresses there are, as it has without.
        other = planted("whole_blocks")
        case = other.workload(0).in_process[0]
        assert isinstance(case, Case)
        inside = left_by(run_case(device, other.original, case, "whole_blocks", FORWARD))
        assert [run(case) for case in cases_of(recorded)] == alone
    assert left_by(run_case(device, other.original, case, "whole_blocks", FORWARD)) == inside
    with Arena() as arena:  # nothing is held behind the end
        assert arena.base == cases_of(recorded)[0].capture.base


def test_written_cases_one_after_another_begin_with_no_memory() -> None:
    device, cases = Device(), [("whole_blocks", 0), ("largest", 0), ("whole_blocks", 1), ("whole_blocks", 0)]

    def run(kernel: str, seed: int) -> dict[str, Any]:
        one = planted(kernel)
        return left_by(run_case(device, one.original, one.workload(seed).in_process[0], kernel, FORWARD))

    alone = [run(*case) for case in cases]
    assert alone[0] == alone[3] != alone[2]
    with device.memory_kept():
        assert [run(*case) for case in cases] == alone
    with Arena() as arena:
        assert arena.base == ARENA_BASE


def test_a_change_is_made_once(recorded: Workload, monkeypatch: pytest.MonkeyPatch) -> None:
    device, modules, case = Device(), recorded.modules(), cases_of(recorded)[0]
    survey = SurveyedCase(case)
    run_case(device, modules, survey, "", FORWARD)
    drawn: list[int] = []
    rng = np.random.default_rng
    monkeypatch.setattr(changed_case.np.random, "default_rng", lambda seed: drawn.append(1) or rng(seed))
    tried = [change for change in changes(survey.survey, 3) if change.buffers][:6]
    assert len(tried) == 6
    for change in tried:
        one = ChangedCase(case, change)
        assert recording_of(one) is case
        first = left_by(run_case(device, modules, one, "", FORWARD))
        was, begun = one.changed, len(drawn)
        assert left_by(run_case(device, modules, one, "", FORWARD)) == first
        assert one.changed == was and len(drawn) == begun
        assert left_by(run_case(device, modules, ChangedCase(case, change), "", FORWARD)) == first
