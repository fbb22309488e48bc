"""Which numbers an original makes addresses of, beside what its source says, and that the others lead away without changing it."""

from __future__ import annotations

import numpy as np
import pytest

from kernelwright.device.schedule import Schedule
from kernelwright.evaluate.workload.case import Case
from kernelwright.ir import Module
from kernelwright.pipeline import compile as compile_program
from kernelwright.prove.changed_inputs.case_survey import Change, Survey
from kernelwright.prove.changed_inputs.changed_case import ChangedCase, SurveyedCase
from kernelwright.prove.checked_run import CaseRun, Device, Runnable, run_case
from kernelwright.prove.coverage.followed_indexes import FAR, FollowedIndexes, far_indexes, unfollowed
from kernelwright.prove.instrumentation import ObservedCase

N = 40
KERNELS = """
extern "C" __global__ void some(const float *gain, const int *at, const short *near, const float *table, float *out) {
  int i = threadIdx.x;
  float x = 0;
  if (gain[i] > 1) x = table[at[i]];
  else if (gain[i] > 0) x = table[near[i]];
  out[i] = x;
}
extern "C" __global__ void all(const int *at, float *out) { out[at[threadIdx.x]] = 1; }
extern "C" __global__ void none(const int *at, float *out) { out[threadIdx.x] = at[threadIdx.x]; }
"""
GAIN = (np.arange(N) * 7 % 5 / 2 - 0.5).astype(np.float32)
AT, NEAR = np.arange(N, dtype=np.int32)[::-1].copy(), (3 * np.arange(N) % N).astype(np.int16)


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Module:
    path = tmp_path_factory.mktemp("followed") / "kernels.cu"
    path.write_text(KERNELS)
    return compile_program(path).module


def ran(module: Module, kernel: str, case: Runnable) -> CaseRun:
    return run_case(Device(), {kernel: module}, case, kernel, Schedule.forward())


def surveyed(module: Module, kernel: str, case: Case) -> Survey:
    between = SurveyedCase(case)
    ran(module, kernel, between)
    return between.survey


def observed(indexes: FollowedIndexes, kernel: str, case: Runnable) -> ObservedCase:
    found = ObservedCase(case)
    assert indexes.module is not None and ran(indexes.module, kernel, found).rejected is None
    return found


def some() -> Case:
    table = np.linspace(1, 2, N, dtype=np.float32)
    arguments = {"gain": GAIN, "at": AT, "near": NEAR, "table": table, "out": np.zeros(N, np.float32)}
    return Case(grid=(1,), block=(N,), arguments=arguments)


def test_what_is_not_followed(module: Module) -> None:
    indexes = FollowedIndexes(module, "some")
    made = observed(indexes, "some", some())
    found = {
        b.name: unfollowed(b, made.counters, made.memory).tolist()
        for b in indexes.buffers(surveyed(module, "some", some()))
    }
    assert found == {
        "at": np.flatnonzero(~(GAIN > 1)).tolist(),
        "near": np.flatnonzero(~((GAIN > 0) & (GAIN <= 1))).tolist(),
    }


def test_it_leads_away_and_the_original_does_not_see_it(module: Module) -> None:
    indexes, survey = FollowedIndexes(module, "some"), surveyed(module, "some", some())
    made, tried = observed(indexes, "some", some()), dict[str, set[int]]()
    changes = list(far_indexes(indexes, made.counters, made.memory, survey, None, tried))
    assert sorted(b.compared[0] for c in changes for b, _ in c.buffers) == [-FAR, -(1 << 15), (1 << 15) - 1, FAR]
    expected = ran(module, "some", some()).output
    for change in changes:
        output = ran(module, "some", ChangedCase(some(), change)).output
        assert expected is not None and output is not None
        assert np.array_equal(output.arrays["out"], expected.arrays["out"])
    assert not list(far_indexes(indexes, made.counters, made.memory, survey, None, tried)), "they were tried"


def test_what_the_change_under_it_changes_is_left(module: Module) -> None:
    indexes, survey = FollowedIndexes(module, "some"), surveyed(module, "some", some())
    under = Change("'at' reversed", ((survey.buffers["at"], "reversed"),))
    made = observed(indexes, "some", ChangedCase(some(), under))
    changes = list(far_indexes(indexes, made.counters, made.memory, survey, under, {}))
    assert changes and all([b.name for b, _ in c.buffers] == ["at", "near"] for c in changes)


def test_where_all_are_followed_there_is_nothing_to_change(module: Module) -> None:
    case = Case(grid=(1,), block=(N,), arguments={"at": AT, "out": np.zeros(N, np.float32)})
    indexes = FollowedIndexes(module, "all")
    made = observed(indexes, "all", case)
    assert not list(far_indexes(indexes, made.counters, made.memory, surveyed(module, "all", case), None, {}))


def test_nothing_is_noted_where_no_address_depends_on_memory(module: Module) -> None:
    assert FollowedIndexes(module, "none").module is None
