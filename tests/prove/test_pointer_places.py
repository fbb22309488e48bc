"""Pointers that are null, moved by an element, or in another order in memory."""

from __future__ import annotations

import numpy as np
import pytest

from kernelwright.device.schedule import Schedule
from kernelwright.evaluate.capture.capture import Capture
from kernelwright.evaluate.capture.recorded_case import RecordedCase
from kernelwright.ir import parse_module
from kernelwright.prove.changed_inputs.case_survey import Change, Geometry, Survey
from kernelwright.prove.changed_inputs.changed_case import ChangedCase, SurveyedCase
from kernelwright.prove.changed_inputs.pointer_places import place_changes
from kernelwright.prove.checked_run import CaseRun, Device, run_case
from tests.evaluate.recording import record

FORWARD = Schedule.forward()


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Capture:
    path = tmp_path_factory.mktemp("pointers") / "app.capture"
    record(path)
    return Capture.read(path)


def case_of(capture: Capture, kernel: str) -> RecordedCase:
    launch = next(each for each in capture.launches if each.launch.kernel == kernel)
    return RecordedCase(capture, launch, parse_module(capture.ir("app.cu")))


def ran(capture: Capture, kernel: str, change: Change) -> CaseRun:
    case = case_of(capture, kernel)
    return run_case(Device(), {kernel: case.module}, ChangedCase(case, change), kernel, FORWARD)


def surveyed(capture: Capture, kernel: str) -> Survey:
    case = SurveyedCase(case_of(capture, kernel))
    run_case(Device(), {kernel: case_of(capture, kernel).module}, case, kernel, FORWARD)
    return case.survey


def named(capture: Capture, kernel: str) -> dict[str, Change]:
    return {change.words: change for change in place_changes(surveyed(capture, kernel), 0)}


def test_tables_of_pointers_are_put_in_another_order(capture: Capture) -> None:
    assert list(surveyed(capture, "follow").tables) == ["d_pointers"]
    made = named(capture, "follow")
    as_it_is = case_of(capture, "follow").contents("after")["d_out"]
    behind = ran(capture, "follow", made["'d_pointers' with its pointers reversed"]).output
    assert behind is not None and np.array_equal(behind.arrays["d_out"], as_it_is[::-1])
    same = ran(capture, "follow", made["'d_pointers' with its pointers all the last one"]).output
    assert same is not None and set(same.arrays["d_out"].tolist()) == {as_it_is[-1]}
    other = ran(capture, "follow", made["'d_pointers' with its pointers in another order"]).output
    assert other is not None and sorted(other.arrays["d_out"].tolist()) == sorted(as_it_is.tolist())


def test_a_pointer_that_is_only_read_through_is_moved(capture: Capture) -> None:
    made = named(capture, "_Z5scalePKfPffi")
    moved = {words: change for words, change in made.items() if "an element further" in words}
    (words,) = moved
    change = moved[words]
    (pointer,) = change.moved
    assert pointer.element == 4 and not pointer.writes
    found = ran(capture, "_Z5scalePKfPffi", change)
    assert found.output is not None
    assert np.array_equal(found.output.arrays["d_out"], case_of(capture, "_Z5scalePKfPffi").contents("after")["d_out"])
    (launch,) = found.launches
    assert int.from_bytes(launch.launch.parameters[:8], "little") % 256 == 4


def test_null_is_null(capture: Capture) -> None:
    nulls = [change for change in named(capture, "_Z5scalePKfPffi").values() if change.nulls]
    assert len(nulls) == 2
    for change in nulls:
        found = ran(capture, "_Z5scalePKfPffi", change)
        assert found.output is None and found.fault is not None and "the pointer is null" in found.fault.message


def test_changes_add_up(capture: Capture) -> None:
    made = list(named(capture, "_Z5scalePKfPffi").values())
    both = made[0].on_top_of(made[1])
    assert both.moves_launches and len(both.moved) + len(both.nulls) == 2


def test_a_changed_recording_is_changed_again(capture: Capture) -> None:
    """As the first blocks of a large launch are."""
    case = case_of(capture, "_Z5scalePKfPffi")
    launch = case.launch
    fewer = Change("fewer", geometries=(((launch.kernel, Geometry.of(launch)), Geometry((8, 1, 1), launch.block)),))
    null = next(change for change in place_changes(surveyed(capture, launch.kernel), 0) if change.moved)
    twice = ChangedCase(ChangedCase(case, fewer), null)
    found = run_case(Device(), {launch.kernel: case.module}, twice, launch.kernel, FORWARD)
    assert twice.changed and found.output is not None and found.launches[0].launch.grid == (8, 1, 1)
    whole, before = case.contents("after")["d_out"], case.contents("before")["d_out"]
    assert np.array_equal(found.output.arrays["d_out"], [*whole[:32], *before[32:]])
