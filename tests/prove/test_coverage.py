"""Conditions: which sides were seen, what decides them, inputs aimed at the others; and that everything a launch is given changes."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelwright.device.schedule import Schedule
from kernelwright.evaluate.judging.case_runner import Modules, by_kernel
from kernelwright.evaluate.workload.case import Case
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.guards import ArgumentIs, BlockIs, GridIs
from kernelwright.ir import Value
from kernelwright.launch import Launch
from kernelwright.pipeline import compile as compile_program
from kernelwright.prove import Effort, Prover
from kernelwright.prove.changed_inputs.case_survey import ALL_AT_ONCE, Change, Geometry, Survey
from kernelwright.prove.changed_inputs.change_order import changes
from kernelwright.prove.changed_inputs.changed_case import ChangedCase, SurveyedCase
from kernelwright.prove.checked_run import CaseRun, Device, LaunchMade, run_case
from kernelwright.prove.checks.variant_runs import CheckInputs, VariantRuns
from kernelwright.prove.coverage.aimed_changes import edit_changes
from kernelwright.prove.coverage.condition_sources import roots_of, sources_of
from kernelwright.prove.coverage.conditions import Conditions
from kernelwright.prove.coverage.edited_lines import Edited, edited_lines
from kernelwright.prove.domain import Domain
from tests.prove.planted import floats, planted, zeros

SOURCE = """
struct Box { int low; float scale; const float *table; char kind; };
__constant__ float factor = 2.0f;
__device__ int steps = 3;
__device__ int unused = 4;
static const __device__ float fixed[4] = {1, 2, 3, 4};
extern "C" __global__ void all_kinds(const float *in, float *out, Box box, const bool *flags, int n) {
  extern __shared__ float s[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  s[threadIdx.x] = in[i] * factor;
  float v = s[threadIdx.x] + fixed[i & 3];
  for (int k = 0; k < steps && k < 8; ++k) v += box.scale;
  if (flags[i] && in[i] > 100.0f && box.low == 77) v = 0.0f;
  out[i] = fminf(v, 1000.0f);
}
extern "C" __global__ __launch_bounds__(64) void bounded(float *out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f; }
extern "C" __global__ void linked(float **rows, float *out) { out[threadIdx.x] = rows[0][threadIdx.x]; }
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Modules:
    path = tmp_path_factory.mktemp("coverage") / "kinds.cu"
    path.write_text(SOURCE)
    return by_kernel(compile_program(path).module)


def case() -> Case:
    box = struct.pack("<ifQbxxxxxxx", 5, 0.5, 0, 2)
    flags = np.ones(128, np.bool_)
    given = {"in": floats(128), "out": zeros(128), "box": box, "flags": flags, "n": 128}
    return Case((2,), (64,), given, shared_bytes=512)


def surveyed(modules: Modules, given: Case, kernel: str) -> Survey:
    one = SurveyedCase(given)
    run = run_case(Device(), modules, one, kernel, Schedule.forward())
    assert run.output is not None, run.rejected
    return one.survey


def run(modules: Modules, change: Change) -> CaseRun:
    return run_case(Device(), modules, ChangedCase(case(), change), "all_kinds", Schedule.forward())


def test_everything_that_a_launch_is_given_is_found(modules: Modules) -> None:
    survey = surveyed(modules, case(), "all_kinds")
    assert {n.words for n in survey.numbers.values()} == {
        "box.0 of all_kinds", "box.1 of all_kinds", "box.3 of all_kinds", "n of all_kinds", "'factor'", "'steps'",
    }  # fmt: skip
    # Neither variables of other kernels nor tables that the host cannot set, nor pointers in structures.
    assert set(survey.buffers) == {"in", "out", "flags"}
    assert survey.buffers["flags"].boolean
    assert survey.pointed["all_kinds", 0] == "in"
    words = [change.words for change in changes(survey, 0)]
    for begin in (
        "grid of all_kinds: 2x1x1 -> 2x2x1",
        "block of all_kinds: 64x1x1 -> 32x2x1",
        "dynamic shared memory",
        "'steps': 3 -> ",
    ):
        assert any(word.startswith(begin) for word in words), begin


@pytest.mark.parametrize(
    ("name", "value", "is_other"),
    [
        ("'factor'", 4.0, True),
        ("'steps'", 5, True),
        ("box.1 of all_kinds", 9.0, True),
        ("box.3 of all_kinds", 7, False),
    ],
)
def test_numbers_in_memory_and_in_structures_are_changed(
    modules: Modules, name: str, value: float, is_other: bool
) -> None:
    survey = surveyed(modules, case(), "all_kinds")
    number = next(n for n in survey.numbers.values() if n.words == name)
    raw = number.raw_of(value)
    assert raw is not None
    before, after = (run(modules, c) for c in (Change("nothing"), Change("other", numbers=((number, raw),))))
    assert before.output is not None and after.output is not None
    assert np.array_equal(before.output.arrays["out"], after.output.arrays["out"]) != is_other


def test_truth_values_stay_truth_values(modules: Modules) -> None:
    flags = surveyed(modules, case(), "all_kinds").buffers["flags"]
    for way in flags.ways:
        made = run(modules, Change(way, ((flags, way),)))
        assert made.output is not None and set(np.unique(made.output.inputs["flags"].view(np.uint8))) <= {0, 1}


def test_blocks_stay_within_their_bounds(modules: Modules) -> None:
    survey = surveyed(modules, Case((2,), (64,), {"out": zeros(256)}), "bounded")
    assert survey.threads["bounded"] == 64
    blocks = [after.block for change in changes(survey, 0) for _, after in change.geometries]
    assert (32, 2, 1) in blocks and max(x * y * z for x, y, z in blocks) <= 64


def test_both_sides_of_every_condition_are_looked_for(modules: Modules) -> None:
    """A float above 100, a field that is 77 and a flag, all at once: nothing in training comes near."""
    prover = Prover(Workload(Path(__file__), "all_kinds", (case(),)), modules, effort=Effort(changes=30))
    (base,) = prover.changes.bases(prover.baseline.training)
    found = prover.changes.of(base, {"all_kinds": Edited()}, Domain({}, modules))
    assert found.goals >= 12
    assert not [words for words in found.unseen if "line 14" in words or "line 10" in words], found.unseen
    assert any("aimed at" in one.case.name for one in found.references)
    again = prover.changes.of(base, {"all_kinds": Edited()}, Domain({}, modules))
    assert again is found
    other = Prover(Workload(Path(__file__), "all_kinds", (case(),)), modules, effort=Effort(changes=30))
    names = [
        r.case.name
        for r in other.changes.of(other.baseline.training[0], {"all_kinds": Edited()}, Domain({}, modules)).references
    ]
    assert names == [r.case.name for r in found.references]


def test_what_a_condition_depends_on(modules: Modules) -> None:
    conditions = Conditions(modules["all_kinds"], "all_kinds")
    of_field = [g for g in conditions.goals if g.line == 14]
    found: set[Any] = set()
    for goal in of_field:
        sources = sources_of(conditions.function, goal.value)
        found |= {*sources.arguments, *(("pointer", p) for p in sources.pointers), *sources.constants}
    assert {(2, 0), ("pointer", 0), ("pointer", 3), 77, 100.0} <= found
    loop = [sources_of(conditions.function, g.value) for g in conditions.goals if g.line == 13]
    assert any("steps" in sources.variables for sources in loop)


def test_cases_are_chosen_by_what_they_cover(modules: Modules) -> None:
    def of(n: int, grid: int) -> Case:
        given = dict(case().arguments)  # type: ignore[arg-type]
        return Case((grid,), (64,), {**given, "n": n}, shared_bytes=512, name=f"{n} in {grid}")

    workload = Workload(Path(__file__), "all_kinds", (of(0, 1), of(128, 2), of(127, 2), of(64, 1)))
    prover = Prover(workload, modules, effort=Effort(changes=0, draws=0))
    chosen = [one.case.name for one in prover.changes.bases(prover.baseline.training)]
    assert len(chosen) == 2 and "0 in 1" not in chosen  # the cheapest runs next to nothing


def test_of_a_large_launch_the_first_blocks_are_a_case_of_their_own() -> None:
    """Many changes are tried of these; of the whole only a few would be."""
    one = planted("whole_blocks")
    given = Case((64,), (64,), {"in": floats(4096), "out": zeros(4096), "n": np.int32(4096)}, name="large")
    workload = Workload(one.workload(0).source, "whole_blocks", (given,))
    whole = Prover(workload, one.original).baseline.training[0]
    effort = Effort(work=50 * 10 * whole.run.work, changes=40)  # ten of the whole
    prover = Prover(workload, one.original, effort=effort)
    part, rest = prover.changes.bases(prover.baseline.training)
    assert part.case.name == "large, whole_blocks on 16x1x1 blocks of 64x1x1" and rest.case.name == "large"
    assert part.run.work <= whole.run.work / 3.9
    found = prover.changes.of(part, {"whole_blocks": Edited()}, Domain({}, prover.baseline.original))
    assert len(found.references) >= 30
    shapes = {each.run.launches[0].launch.grid for each in found.references}
    assert (16, 1, 1) in shapes and max(x * y * z for x, y, z in shapes) < 64
    fixed = {"whole_blocks": [GridIs((64, 1, 1))]}
    runs = VariantRuns(prover.baseline, prover.changes, one.variant, fixed, CheckInputs())
    assert [base.case.name for base in runs._bases()] == ["large"]


def test_guards_are_asked_before_a_change_is_made(modules: Modules) -> None:
    def broken(*guards: Any) -> str:
        launch = Launch("bounded", (2, 1, 1), (64, 1, 1), bytes(8))
        made = CaseRun("", Schedule.forward(), launches=[LaunchMade(launch, (), ())])
        change = Change("", geometries=((("bounded", Geometry.of(launch)), Geometry((2, 2, 1), (64, 1, 1))),))
        return Domain({"bounded": guards}, modules).broken_by_change(made, change)

    assert broken(GridIs((2, 1, 1))) == "grid == 2x1x1"
    assert broken(BlockIs((64, 1, 1)), ArgumentIs(0, "ptr null", bytes(8))) == ""
    assert broken() == ""


def test_changes_on_top_of_each_other(modules: Modules) -> None:
    survey = surveyed(modules, case(), "all_kinds")
    one, two = (n for n in survey.numbers.values() if n.words in ("'factor'", "'steps'"))
    values = survey.buffers["in"]
    first = Change("a", ((values, "negated"),), ((one, b"1234"),))
    second = Change("b", ((values, ALL_AT_ONCE),), ((one, b"5678"), (two, b"9abc")))
    both = second.on_top_of(first)
    assert both.words == "a; b" and both.buffers == ((values, ALL_AT_ONCE),)
    assert dict(both.numbers) == {one: b"5678", two: b"9abc"}


def test_lines_that_differ(modules: Modules, tmp_path: Path) -> None:
    path = tmp_path / "kinds.cu"
    path.write_text(SOURCE.replace("box.low == 77", "box.low == 78").replace("100.0f", "101.0f"))
    other = by_kernel(compile_program(path).module)
    kernel = "all_kinds"
    assert edited_lines(modules[kernel].functions[kernel], modules[kernel].functions[kernel]) == Edited()
    # LLVM has merged the comparison with 77, so that it has no line.
    assert edited_lines(modules[kernel].functions[kernel], other[kernel].functions[kernel]).lines == {0, 14}


def test_what_an_edit_depends_on_is_changed_first(modules: Modules, tmp_path: Path) -> None:
    """A field is compared with something else: it is among the first that are changed."""
    path = tmp_path / "kinds.cu"
    path.write_text(SOURCE.replace("box.low == 77", "box.low == 78"))
    kernel = "all_kinds"
    original = modules[kernel].functions[kernel]
    edited = edited_lines(original, by_kernel(compile_program(path).module)[kernel].functions[kernel])
    assert (2, 0) in edited.arguments or (2, None) in edited.arguments
    words = [change.words for change in edit_changes(original, edited, surveyed(modules, case(), kernel), 0)]
    assert any(said.startswith("box.0 of all_kinds: 5 -> ") for said in words[:6]), words
    assert not list(edit_changes(original, Edited(), surveyed(modules, case(), kernel), 0))


def test_what_is_stored_to_shared_memory_is_read_off_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unrolled kernel loads from shared memory at as many places as it stores there; each of the edited ones is asked about. Of twice
    as many steps, a pair of load and edit costs what it did: four times the addresses, not eight times."""
    asked: list[int] = []
    for steps in (8, 16):
        path = tmp_path / f"steps{steps}.cu"
        lines = "\n".join(f"  s[threadIdx.x + {i}] = s[threadIdx.x] * 2 + {i}; __syncthreads();" for i in range(steps))
        head = "__global__ void steps(int *out) {\n  __shared__ int s[256];\n  s[threadIdx.x] = out[threadIdx.x];\n"
        path.write_text(f"{head}{lines}\n  out[threadIdx.x] = s[threadIdx.x];\n}}\n")
        original = next(iter(by_kernel(compile_program(path).module).values()))
        path.write_text(path.read_text().replace("* 2", "* 3"))
        variant = next(iter(by_kernel(compile_program(path).module).values()))
        counted: list[Value] = []

        def counting(pointer: Value, counted: list[Value] = counted) -> Iterator[Value]:
            counted.append(pointer)
            return roots_of(pointer)

        monkeypatch.setattr("kernelwright.prove.coverage.condition_sources.roots_of", counting)
        one, other = (next(f for f in m.functions.values() if not f.is_declaration) for m in (original, variant))
        assert edited_lines(one, other).pointers == {0}
        asked.append(len(counted))
    assert asked[1] < 5 * asked[0], asked
