"""What has to hold for a side of a condition, the change that makes it hold, and that both are found behind other conditions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelwright.device.schedule import Schedule
from kernelwright.evaluate.judging.case_runner import Modules, by_kernel
from kernelwright.evaluate.workload.case import Case
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.ir import Instruction
from kernelwright.ir.control_flow import Dominators
from kernelwright.pipeline import compile as compile_program
from kernelwright.prove import Effort, Prover
from kernelwright.prove.changed_inputs.case_survey import ENTIRELY, MOSTLY, Change, Survey
from kernelwright.prove.changed_inputs.changed_case import SurveyedCase
from kernelwright.prove.checked_run import Device, run_case
from kernelwright.prove.coverage.conditions import Conditions, Goal
from kernelwright.prove.coverage.edited_lines import Edited
from kernelwright.prove.coverage.goal_search import GoalSearch
from kernelwright.prove.coverage.required_relations import Relations, required
from kernelwright.prove.coverage.solved_relations import solved
from kernelwright.prove.domain import Domain
from tests.prove.planted import floats, zeros

SOURCE = """
__constant__ int level = 2;
extern "C" __global__ void deep(const float *in, const int *keys, const int *links, float *out, int n, int limit, float most) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = in[i];
  if (3 * keys[i] + 1 > limit) {
    v += 1.0f;
    if (level == 9 && in[i] < -most) {
      v *= 3.0f;
      if ((links[i] & 255) == 200)
        v -= 8.0f;
    }
  }
  out[i] = v;
}
extern "C" __global__ void either(const int *keys, float *out, int a, int b) {
  int i = threadIdx.x, k = keys[i];
  out[i] = (a > 40 || (b < -3 && k == 77)) ? 1.0f : 2.0f;
}
extern "C" __global__ void hidden(const int *keys, const int *other, const int *third, float *out, int n) {
  int i = threadIdx.x, k = __popc(keys[i]), l = __popc(other[i]), m = __popc(third[i]);
  out[i] = k == 29 && l == 29 && m == 29 ? 1.0f : 2.0f;
}
extern "C" __global__ void agreed(const float *in, float *out) {
  int i = threadIdx.x;
  out[i] = __syncthreads_and(in[i] > 50.0f) ? 1.0f : in[i];
}
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Modules:
    path = tmp_path_factory.mktemp("goals") / "goals.cu"
    path.write_text(SOURCE)
    return by_kernel(compile_program(path).module)


def case(kernel: str) -> Case:
    random = np.random.default_rng(4)
    keys = random.integers(0, 20, 64).astype(np.int32)
    given = {
        "deep": {
            "in": floats(64), "keys": keys, "links": keys.copy(), "out": zeros(64), "n": 64, "limit": 1000, "most": 10.0,
        },
        "either": {"keys": keys, "out": zeros(64), "a": 3, "b": 4},
        "agreed": {"in": floats(64), "out": zeros(64)},
        "hidden": {"keys": keys, "other": keys.copy(), "third": keys.copy(), "out": zeros(64), "n": 64},
    }  # fmt: skip
    return Case((1,), (64,), given[kernel])


def surveyed(modules: Modules, kernel: str) -> Survey:
    one = SurveyedCase(case(kernel))
    run_case(Device(), modules, one, kernel, Schedule.forward())
    return one.survey


def needed(goal: Goal, conditions: Conditions) -> list[Relations]:
    assert isinstance(goal.value, Instruction)
    return required(goal.relation, goal.value.parent, Dominators(conditions.function))


def test_what_has_to_hold_on_the_way(modules: Modules) -> None:
    conditions = Conditions(modules["deep"], "deep")
    innermost = next(goal for goal in conditions.goals if goal.line == 11 and goal.held)
    (relations,) = needed(innermost, conditions)
    assert [relation.predicate for relation in relations] == ["slt", "sge", "eq", "olt", "eq"]
    change = solved(relations, conditions.function, surveyed(modules, "deep"), "aimed")
    assert change is not None
    numbers = {number.name: number.value for number, _ in change.numbers}
    assert numbers == {"level": 2}
    filled = {buffer.name: (way, buffer.compared) for buffer, way in change.buffers}
    assert filled["keys"] == (MOSTLY, (334,)) and filled["links"] == (MOSTLY, (200,))
    ((way, (below,)),) = (filled["in"],)
    assert way == MOSTLY and below < -10.0


def test_of_what_may_hold_in_several_ways_each_is_an_alternative(modules: Modules) -> None:
    conditions = Conditions(modules["either"], "either")
    survey = surveyed(modules, "either")
    found = {
        change.words.split(", aimed")[0]
        for goal in conditions.goals
        for relations in needed(goal, conditions)
        if (change := solved(relations, conditions.function, survey, "aimed")) is not None
    }
    assert {"a of either: 3 -> 41", "b of either: 4 -> -4, 'keys' most 77"} <= found, found


def sides(modules: Modules, kernel: str, effort: Effort) -> tuple[str, ...]:
    prover = Prover(Workload(Path(__file__), kernel, (case(kernel),)), modules, effort=effort)
    (base,) = prover.changes.bases(prover.baseline.training)
    return prover.changes.of(base, {kernel: Edited()}, Domain({}, modules)).unseen


def test_sides_behind_three_conditions_are_seen(modules: Modules) -> None:
    unseen = sides(modules, "deep", Effort(changes=20))
    assert not [words for words in unseen if "true" in words], unseen


def test_what_all_threads_are_asked_is_made_true_for_all(modules: Modules) -> None:
    conditions = Conditions(modules["agreed"], "agreed")
    whole = next(goal for goal in conditions.goals if goal.held and goal.words.startswith("the condition"))
    (relations,) = needed(whole, conditions)
    change = solved(relations, conditions.function, surveyed(modules, "agreed"), "aimed", everywhere=True)
    assert change is not None
    ((buffer, way),) = change.buffers
    assert way == ENTIRELY and buffer.name == "in" and buffer.compared[0] > 50.0
    assert not sides(modules, "agreed", Effort(changes=8))


def test_what_has_shown_the_parts_is_put_together(modules: Modules) -> None:
    """Of a number of bits nothing is turned round. Each of three buffers has a way that shows its part."""
    conditions, survey = Conditions(modules["hidden"], "hidden"), surveyed(modules, "hidden")
    ways = {"keys": "negated", "other": "reversed", "third": "sorted"}
    parts = [goal for goal in conditions.goals if goal.held and goal.value.opcode == "icmp"]  # type: ignore[attr-defined]
    whole = conditions.goals[-2]
    assert len(parts) == 3 and whole.words.endswith("true")

    def count(change: Change) -> Any:
        """A comparison is seen true where its buffer is changed in the way that shows it, the whole where all are."""
        counters = np.full(2 * len(conditions.goals), 64, np.int64)
        counters[1::2] = 0
        shown = [ways[buffer.name] == way for buffer, way in change.buffers if buffer.name in ways]
        for part, name in zip(parts, ways, strict=True):
            counters[2 * part.probe + 1] = (name, ways[name]) in [(buffer.name, way) for buffer, way in change.buffers]
        counters[2 * whole.probe + 1] = len(shown) == 3 and all(shown)
        return counters

    accepted: list[Change] = []

    def accept(change: Change) -> bool:
        accepted.append(change)
        return True

    search = GoalSearch(conditions, survey, 0, admits=lambda change: True, count=count, accept=accept)
    for name, way in ways.items():
        change = Change(way, ((survey.buffers[name], way),))
        search.saw(change, count(change))
    assert search.look_for([whole], aims=8) == []
    assert [(buffer.name, way) for buffer, way in accepted[-1].buffers] == list(ways.items())
