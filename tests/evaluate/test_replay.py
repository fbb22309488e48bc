"""Replay on the reference executor: recordings repeat themselves, changed kernels are found out."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from kernelwright.device.arena import Arena
from kernelwright.device.reference import execute_reference
from kernelwright.device.schedule import Schedule
from kernelwright.errors import DeviceError, Misuse, ToolError
from kernelwright.evaluate import Workload, load_workload
from kernelwright.evaluate.capture.capture import Capture
from kernelwright.evaluate.capture.recorded_case import RecordedCase
from kernelwright.evaluate.capture.replay import replay
from kernelwright.evaluate.judging.case_runner import by_kernel
from kernelwright.evaluate.outcome import Ok, Rejected
from kernelwright.evaluate.workload.rule_text import parse_rules
from kernelwright.ir import Module, parse_module
from tests.evaluate.judged import Judged
from tests.evaluate.recording import Recorder


def module_of(capture: Capture, old: str = "", new: str = "") -> Module:
    text = capture.ir("app.cu")
    assert old in text
    return parse_module(text.replace(old, new) if old else text)


def test_every_launch_repeats_itself(capture: Capture) -> None:
    done = list(replay(capture, execute_reference))
    assert [one.launch.number for one in done] == list(range(7))
    assert all(one.as_recorded and one.error == 0 for one in done), list(map(str, done))
    assert str(done[0]).endswith("as recorded") and "fails as it did" in str(done[6])
    assert all(one.seconds > 0 for one in done)


def test_in_any_order_and_one_kernel_alone(capture: Capture) -> None:
    done = list(replay(capture, execute_reference, kernel="scale", schedule=Schedule.reverse()))
    assert [one.launch.number for one in done] == [0, 1] and all(one.as_recorded for one in done)
    with pytest.raises(Misuse, match="no launch of 'scalp'") as told:
        list(replay(capture, execute_reference, kernel="scalp"))
    assert "_Z5scale" in str(told.value)


def test_a_changed_kernel_is_found_out(capture: Capture) -> None:
    changed = module_of(capture, "fmul float %v, %factor", "fadd float %v, %factor")
    done = list(replay(capture, execute_reference, kernel="scale", modules=by_kernel(changed)))
    assert not any(one.as_recorded for one in done)
    assert "'d_out' error" in str(done[0]) and done[0].error > 0
    assert done[0].verdicts["d_in"].accepted


def test_rules_see_numbers_not_bytes(capture: Capture) -> None:
    changed = by_kernel(module_of(capture, "fmul float %v, %factor", "fmul float %v, 2.015625"))
    for rules, right in (("relative 1%", True), ("relative 0.1%", False), ("change 2%", True), ("change 1%", False)):
        (first, *_) = replay(capture, execute_reference, kernel="scale", modules=changed, rules=parse_rules(rules))
        assert first.as_recorded == right, str(first)
    # Doubling changes the largest value, 60, by 64: the last four are cleared.
    assert first.error == pytest.approx(0.015625 * 60 / 64)
    # What no load or store tells can be said.
    half = parse_rules("d_out as float16: relative 1%; *: exact")
    (first, *_) = replay(capture, execute_reference, kernel="scale", modules=changed, rules=half)
    assert not first.as_recorded


def test_only_what_a_launch_can_reach_is_touched(capture: Capture) -> None:
    module = module_of(capture)
    reached = [{s.buffer.name for s in RecordedCase(capture, one, module).reached} for one in capture.launches]
    variables = {"table", "launches"}
    assert reached[0] == {"d_in", "d_out"} | variables
    assert reached[2] == {"d_pointers", "d_out", "d_in"} | variables  # d_in through pointers in memory
    assert reached[5] == {"d_integers"} | variables


def test_what_buffers_hold_is_told_by_the_kernel(capture: Capture) -> None:
    module = module_of(capture)
    names = [{b.name: b.address for b in RecordedCase(capture, one, module).names.values()} for one in capture.launches]
    types = [RecordedCase(capture, one, module).types for one in capture.launches]
    assert types[0][names[0]["d_in"]] == np.float32 == types[0][names[0]["table"]]
    assert types[0][names[0]["launches"]] == np.int32 == types[5][names[5]["d_integers"]]
    assert names[2]["d_pointers"] not in types[2]


def test_a_kernel_with_variables_of_its_own(capture: Capture) -> None:
    """A pass may add a constant table that the recorded module does not have."""
    text = capture.ir("app.cu").replace(
        "%v = load float, ptr addrspace(4) %at",
        "%mine = getelementptr [4 x float], ptr addrspace(4) @copy, i64 0, i64 %r\n  %v = load float, ptr addrspace(4) %mine",
    )
    text += (
        "\n@copy = private addrspace(4) constant [4 x float] [float 1.0, float 2.0, float 4.0, float 8.0], align 4\n"
    )
    changed = parse_module(text)
    done = list(replay(capture, execute_reference, kernel="count", modules=by_kernel(changed)))
    assert len(done) == 2 and all(one.as_recorded for one in done), list(map(str, done))


def test_managed_variables_are_buffers_of_their_own(tmp_path: Path) -> None:
    """They lie in one section of the program: the second one was taken for the first, and neither for a buffer to change."""
    path = tmp_path / "managed.capture"
    with Arena() as arena:
        program = Recorder(path, "count", arena=arena, managed=True)
        counted = program.buffer("d_counted", np.zeros(8, np.float32))
        for _ in range(3):
            program.launch("count", 1, 8, struct.pack("<Q", counted.address))
        program.writer.finish(0, {})
    capture = Capture.read(path)
    done = list(replay(capture, execute_reference))
    assert len(done) == 3 and all(one.as_recorded for one in done), list(map(str, done))
    case = RecordedCase(capture, capture.launches[2], module_of(capture))
    before = case.contents("before")
    assert before.keys() == {"table", "launches", "d_counted"}
    assert before["table"].tolist() == [1, 2, 4, 8] and before["launches"].tolist() == [2]
    assert before["launches"].dtype == np.int32 and case.contents("after")["launches"].tolist() == [3]


def test_a_kernel_that_stops_failing_is_told(capture: Capture) -> None:
    text = (
        capture.ir("app.cu").replace("%v = load i32, ptr %at", "%v = add i32 0, 0").replace("store i32 %s, ptr %at", "")
    )
    done = list(replay(capture, execute_reference, kernel="add", modules=by_kernel(parse_module(text))))
    assert not done[1].as_recorded and "runs to its end; when it was recorded it failed" in str(done[1])


def test_addresses_that_are_taken(capture: Capture) -> None:
    with Arena() as arena:
        assert arena.base == capture.base
        with pytest.raises(DeviceError, match="recorded at address") as told:
            list(replay(capture, execute_reference))
        assert "close the other arena" in str(told.value)
    assert all(one.as_recorded for one in replay(capture, execute_reference))


def test_a_module_without_the_kernel(capture: Capture) -> None:
    with pytest.raises(ToolError, match="does not define kernel 'follow'"):
        RecordedCase(capture, capture.launches[2], parse_module("; nothing"))


# -- recordings as workloads -------------------------------------------------------------------------------------------


def test_a_recording_is_a_workload(recorded: Path) -> None:
    workload = load_workload(recorded)
    # The second scale equals the first, and the last launch failed.
    assert [case.name for case in workload.cases] == [
        "_Z5scalePKfPffi #0", "follow #2", "count #3", "count #4", "add #5"
    ]  # fmt: skip
    judge = Judged(workload)
    original = judge()
    assert isinstance(original, Ok) and original.error == 0 and original.time_us > 0
    slower = parse_module(workload.capture.ir("app.cu").replace("add i32 %v, %step", "sub i32 %v, %step"))  # type: ignore[union-attr]
    outcome = judge(slower)
    assert isinstance(outcome, Rejected) and "case 'add #5': 'd_integers'" in outcome.reason


def test_a_workload_of_one_kernel(recorded: Path) -> None:
    workload = Workload.from_capture(recorded, "scale", tolerance="relative 1%")
    assert workload.kernel == "scale" and len(workload.cases) == 1
    judge = Judged(workload)
    text = workload.capture.ir("app.cu")  # type: ignore[union-attr]
    outcome = judge(parse_module(text.replace("fmul float %v, %factor", "fmul float %v, 2.015625")))
    assert isinstance(outcome, Ok) and outcome.error == pytest.approx(0.0078125)


def test_chosen_launches_and_none(recorded: Path) -> None:
    assert len(Workload.from_capture(recorded, "count", launches=[4]).cases) == 1
    for kernel, launches in (("nothing", None), ("scale", [4]), ("add", [6])):
        with pytest.raises(Misuse, match="no launch"):
            Workload.from_capture(recorded, kernel, launches=launches)


def test_fingerprints_of_recordings(recorded: Path) -> None:
    every = {Workload.from_capture(recorded, launches=[n]).fingerprint() for n in range(6)}
    assert len(every) == 5  # 0 and 1 are the same
