"""Accesses of a thread that may meet: how far apart they are, beside NumPy, and inputs with which they do meet."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelwright.device.schedule import Schedule
from kernelwright.evaluate.workload.case import Case
from kernelwright.ir import Module
from kernelwright.pipeline import compile as compile_program
from kernelwright.prove.changed_inputs.case_survey import Change
from kernelwright.prove.changed_inputs.changed_case import ChangedCase, SurveyedCase
from kernelwright.prove.checked_run import CaseRun, Device, Runnable, run_case
from kernelwright.prove.coverage.meeting_changes import meeting_changes
from kernelwright.prove.coverage.meetings import Meetings, Noted
from kernelwright.prove.instrumentation import ObservedCase

N = 24
KERNELS = """
#define I (blockIdx.x * blockDim.x + threadIdx.x)
extern "C" __global__ void indexed(int *data, const short *index, int n) {
  int i = I, x = data[i];
  if (i < n) data[32 + index[i]] = 3 * x;
}
extern "C" __global__ void shifted(double *data, int shift, int pitch) {
  double x = data[I];
  data[I + shift * pitch] = x + 1;
}
extern "C" __global__ void flagged(float *row, const bool *flag, const int *key, int w) {
  int i = I;
  float kept = row[i * w];
  if (flag[i] && key[i] != 7) row[i * w + key[i]] = kept + 1;
}
struct Places { int from, to; };
extern "C" __global__ void fields(float *data, Places p) {
  float kept = data[I + (p.from & 15)];
  data[I + (p.to & 15)] = kept + 1;
}
extern "C" __global__ void plane(float *data, const int *to) {
  int i = I;
  float kept = data[2];
  if (i == 0) data[(to[2 * i] & 7) * 16 + (to[2 * i + 1] & 15)] = kept + 1;
}
extern "C" __global__ void apart(int *out, const int *in) { out[I] = in[I] + 1; }
extern "C" __global__ void fixed(int *out) { out[I + 64] = out[I] + 1; }
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Module:
    path = tmp_path_factory.mktemp("meetings") / "kernels.cu"
    path.write_text(KERNELS)
    return compile_program(path).module


def ran(module: Module, kernel: str, case: Runnable) -> CaseRun:
    return run_case(Device(), {kernel: module}, case, kernel, Schedule.forward())


def noted(module: Module, kernel: str, case: Runnable) -> tuple[Meetings, list[list[Noted]], ObservedCase]:
    meetings, observed = Meetings(module, kernel), ObservedCase(case)
    assert meetings.module is not None
    assert ran(meetings.module, kernel, observed).rejected is None
    return meetings, meetings.noted(observed.counters), observed


def made(module: Module, kernel: str, case: Case) -> list[Change]:
    meetings, executions, observed = noted(module, kernel, case)
    survey = SurveyedCase(case)
    ran(module, kernel, survey)
    return list(meeting_changes(meetings, executions, observed.memory, survey.survey, 0))


def case_of(**arguments: object) -> Case:
    return Case(grid=(1,), block=(N,), arguments=arguments)


INDEX = (5 * np.arange(N) % 23 - 9).astype(np.int16)


def indexed() -> Case:
    return case_of(data=np.arange(100, dtype=np.int32), index=INDEX, n=np.int32(N - 2))


def test_how_far_apart_they_are_and_what_was_read(module: Module) -> None:
    meetings, (executions,), observed = noted(module, "indexed", indexed())
    ((begin, _, _),) = [each for each in observed.memory if each[2] == "index"]
    (pair,) = meetings.pairs
    (moving,) = pair.moving
    assert moving.step == 4 and moving.of_second
    found = sorted((address - begin, value, one.apart) for one in executions for address, value in one.read)
    assert found == [(2 * i, int(INDEX[i]), 4 * (32 + int(INDEX[i]) - i)) for i in range(N - 2)]


def test_with_the_changed_inputs_they_meet(module: Module) -> None:
    first = made(module, "indexed", indexed())[0]
    _, (executions,), _ = noted(module, "indexed", ChangedCase(indexed(), first))
    assert [one.apart for one in executions] == [0] * (N - 2)
    output = ran(module, "indexed", ChangedCase(indexed(), first)).output
    assert output is not None
    expected = np.arange(100, dtype=np.int32)
    expected[: N - 2] *= 3
    assert np.array_equal(output.arrays["data"], expected)


def test_arguments_and_what_they_are_multiplied_with(module: Module) -> None:
    case = case_of(data=np.arange(400, dtype=np.float64), shift=np.int32(5), pitch=np.int32(30))
    meetings, (executions,), _ = noted(module, "shifted", case)
    assert {one.apart for one in executions} == {8 * 150}
    changes = made(module, "shifted", case)
    values = {(n.name, int.from_bytes(raw, "little", signed=True)) for c in changes for n, raw in c.numbers}
    assert values == {("shift", 0), ("pitch", 0)}
    assert meetings.pairs[0].words == 1


def test_fields_of_a_structure(module: Module) -> None:
    """Of both the number is known that makes them meet."""
    case = case_of(data=np.zeros(64, np.float32), p=np.array([20, 5], np.int32).tobytes())
    changes = made(module, "fields", case)
    values = {(n.offset, int.from_bytes(raw, "little", signed=True)) for c in changes for n, raw in c.numbers}
    assert values == {(8, 21), (12, 4)}


def test_what_the_branches_before_ask_for_is_put_under(module: Module) -> None:
    """With flags that are not set nothing is noted; where few are, all can be."""
    flags = np.arange(N) % 8 == 3
    case = case_of(row=np.zeros(8 * N, np.float32), flag=flags, key=np.full(N, 3, np.int32), w=np.int32(8))
    changes = made(module, "flagged", case)
    meeting = [{one.apart for one in noted(module, "flagged", ChangedCase(case, change))[1][0]} for change in changes]
    assert {0} in meeting[:1]
    assert any("'flag' all 1" in change.words for change in changes)


@pytest.mark.parametrize("kernel", ["apart", "fixed"])
def test_nothing_is_noted_where_data_decide_nothing(module: Module, kernel: str) -> None:
    meetings = Meetings(module, kernel)
    assert meetings.pairs == [] and meetings.module is None


def kept(module: Module, kernel: str, case: Case) -> Callable[[Change], bool]:
    return lambda change: ran(module, kernel, ChangedCase(case, change)).rejected is None


def test_they_are_changes_like_all_others(module: Module) -> None:
    """Each can be put on top of another, and is made again."""
    changes = made(module, "indexed", indexed())
    assert changes and len(set(changes)) == len(changes) and all(map(kept(module, "indexed", indexed()), changes))
    assert made(module, "indexed", indexed()) == changes


def test_a_row_and_a_column_are_moved_together(module: Module) -> None:
    places = 7 * np.arange(2 * N, dtype=np.int32) % 11
    places[0] = 3
    case = case_of(data=np.zeros(16 * (N + 16), np.float32), to=places)

    def apart(change: Change) -> set[int]:
        _, (executions,), _ = noted(module, "plane", ChangedCase(case, change))
        return {one.apart for one in executions}

    steps = {moving.step for moving in Meetings(module, "plane").pairs[0].moving}
    assert steps == {4, 64} and {0} in map(apart, made(module, "plane", case))
