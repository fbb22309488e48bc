"""Changed inputs: what each way does to memory, numbers and grids; that the original's refusal is respected; recordings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kernelwright.device.schedule import Schedule
from kernelwright.evaluate.judging.case_runner import by_kernel
from kernelwright.evaluate.workload.case import Case
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.ir import parse_module
from kernelwright.launch import Launch
from kernelwright.pipeline import compile as compile_program
from kernelwright.prove import Effort, Prover
from kernelwright.prove.changed_inputs.buffer_values import (
    EACH_COUNTS,
    EVERY_SORT,
    FEW_BOOLEAN_WAYS,
    FEW_WAYS,
    FLOAT_WAYS,
    INTEGER_WAYS,
    UNKNOWN_WAYS,
)
from kernelwright.prove.changed_inputs.case_survey import Change, Geometry
from kernelwright.prove.changed_inputs.change_order import changes
from kernelwright.prove.changed_inputs.changed_case import ChangedCase, SurveyedCase
from kernelwright.prove.changed_inputs.comparison_constants import compared_in, floats_like, ints_like
from kernelwright.prove.changed_inputs.launch_shapes import shape_changes
from kernelwright.prove.changed_inputs.pointer_aliases import alias_changes
from kernelwright.prove.checked_run import Device, run_case
from kernelwright.prove.coverage.accepted_changes import ChangedSet
from kernelwright.prove.coverage.edited_lines import Edited
from kernelwright.prove.coverage.exchanged_values import exchange_changes
from kernelwright.prove.domain import Domain
from tests.evaluate.recording import record
from tests.prove.planted import floats, modules, planted, variant, workload, zeros

FORWARD = Schedule.forward()
KINDS = np.arange(128, dtype=np.int32) % 3
RARE = Case((4,), (32,), {"kind": KINDS, "in": floats(128), "out": zeros(128), "n": 128})


def run(kernel: str, case: Any) -> Any:
    one = planted(kernel)
    return run_case(Device(), one.original, case, kernel, FORWARD)


def accepted(prover: Prover, kernel: str) -> ChangedSet:
    """The changed inputs for variants of a kernel that have no guards."""
    (base,) = prover.changes.bases(prover.baseline.training)
    return prover.changes.of(base, {kernel: Edited()}, Domain({}, prover.baseline.original))


def surveyed(kernel: str) -> Any:
    given: Any = RARE if kernel == "rare_kind" else planted(kernel).case(0)
    case = SurveyedCase(given)
    run_case(Device(), modules() if given is RARE else planted(kernel).original, case, kernel, FORWARD)
    return case.survey


def test_what_a_case_has() -> None:
    survey = surveyed("value_is_key")
    assert {(b.name, str(b.dtype), b.size) for b in survey.buffers.values()} == {
        ("keys", "int32", 512), ("table", "int32", 400), ("out", "int32", 512),
    }  # fmt: skip
    assert [(n.index, n.value) for n in survey.numbers.values()] == [(3, 128)]
    assert list(survey.geometries) == [("value_is_key", Geometry((2, 1, 1), (64, 1, 1)))]


def test_the_same_seed_gives_the_same_changes() -> None:
    survey = surveyed("positive")
    assert list(changes(survey, 3)) == list(changes(survey, 3)) != list(changes(survey, 4))
    words = [change.words for change in changes(survey, 3)]
    assert len(set(words)) == len(words) > 30
    # One of each sort comes first.
    assert any("'in'" in w or "floating" in w for w in words[:5]) and any(w.startswith("grid") for w in words[:5])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("way", FLOAT_WAYS)
def test_ways_of_floats(way: str, dtype: Any) -> None:
    _check_way(FLOAT_WAYS[way], np.linspace(1, 9, 50).astype(dtype))


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
@pytest.mark.parametrize("way", INTEGER_WAYS)
def test_ways_of_integers(way: str, dtype: Any) -> None:
    _check_way(INTEGER_WAYS[way], np.arange(50, 0, -1).astype(dtype))


@pytest.mark.parametrize("way", UNKNOWN_WAYS)
def test_ways_of_words(way: str) -> None:
    _check_way(UNKNOWN_WAYS[way], np.arange(1, 50).astype(np.uint32))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.float16, np.float32])
@pytest.mark.parametrize("way", FEW_WAYS)
def test_after_some_ways_warps_of_a_block_meet_different_values(way: str, dtype: Any) -> None:
    """256 elements, a warp has 32: what one of them has in every element another one has not."""
    values = np.linspace(1, 9, 256).astype(dtype)
    _check_way(FEW_WAYS[way], values)
    warps = FEW_WAYS[way](values.copy(), np.random.default_rng(1)).reshape(8, 32)
    assert warps.dtype == values.dtype
    assert len({float(warp.max()) for warp in warps} | {float(warp.min()) for warp in warps}) > 1
    assert min(float(np.ptp(warp.astype(np.float64))) for warp in warps) < 2  # a warp without


@pytest.mark.parametrize("way", FEW_BOOLEAN_WAYS)
def test_truth_values_of_which_a_warp_may_have_none(way: str) -> None:
    warps = FEW_BOOLEAN_WAYS[way](np.zeros(256, np.uint8), np.random.default_rng(1)).reshape(8, 32)
    assert set(warps.ravel().tolist()) == {0, 1} and any(len(set(warp.tolist())) == 1 for warp in warps)


@pytest.mark.parametrize("way", [*FEW_WAYS, *FEW_BOOLEAN_WAYS])
def test_one_element_has_no_few(way: str) -> None:
    for dtype in (np.int32, np.float32):
        one = np.array([3], dtype)
        assert {**FEW_WAYS, **FEW_BOOLEAN_WAYS}[way](one, np.random.default_rng(1)).shape == (1,)


def _check_way(way: Any, values: NDArray[Any]) -> None:
    before = values.copy()
    with np.errstate(all="ignore"):
        made = np.asarray(way(values, np.random.default_rng(1)), values.dtype)
    assert made.shape == values.shape and np.array_equal(before, values)
    assert way is FLOAT_WAYS["sorted"] or made.tobytes() != before.tobytes()


def test_memory_is_changed_and_the_case_is_not() -> None:
    case = planted("positive").case(0)
    survey = surveyed("positive")
    change = Change("negated", ((survey.buffers["in"], "negated"),))
    values = case.arguments["in"]  # type: ignore[call-overload]
    changed = run("positive", ChangedCase(case, change)).output
    assert np.array_equal(changed.arrays["in"], -values) and np.array_equal(changed.inputs["in"], -values)
    assert np.array_equal(changed.arrays["out"], -run("positive", case).output.arrays["out"])
    assert values.min() > 0


def test_numbers_and_grids_are_changed() -> None:
    case, survey = planted("positive").case(0), surveyed("positive")
    number = next(iter(survey.numbers.values()))
    fewer = ChangedCase(case, Change("n", numbers=((number, (5).to_bytes(4, "little")),)))
    assert np.count_nonzero(run("positive", fewer).output.arrays["out"]) == 5
    smaller = ChangedCase(
        case,
        Change("grid", geometries=((("positive", Geometry((2, 1, 1), (64, 1, 1))), Geometry((1, 1, 1), (64, 1, 1))),)),
    )
    found = run("positive", smaller)
    assert np.count_nonzero(found.output.arrays["out"]) == 64 and found.launches[0].launch.grid == (1, 1, 1)


def test_only_what_the_original_accepts() -> None:
    one = planted("value_is_key")
    found = accepted(Prover(one.workload(0), one.original), "value_is_key")
    names = [reference.case.name for reference in found.references]
    assert not any("'keys' further apart" in name for name in names)  # they would leave the table
    assert any("'keys' all zero" in name for name in names)
    assert found.dropped["that the original does not survive"] >= 2


def test_cases_on_which_the_original_races_are_none() -> None:
    keys = np.random.default_rng(1).permutation(64).astype(np.int32)
    case = Case((2,), (32,), {"keys": keys, "in": np.arange(64, dtype=np.int32), "out": zeros(64, np.int32)})
    prover = Prover(workload("scatter", case), modules(), effort=Effort(tries=96, changes=96))
    found = accepted(prover, "scatter")
    names = [reference.case.name for reference in found.references]
    assert not any("'keys' drawn anew" in name or "'keys' all" in name for name in names if "different" not in name)
    assert any("'keys' reversed" in name for name in names)
    assert sum(count for why, count in found.dropped.items() if "undefined" in why) >= 2
    assert prover.prove(variant("scatter")).label == "clean"


def test_recorded_launches(tmp_path: Path) -> None:
    record(tmp_path / "app.capture")
    recorded = Workload.from_capture(tmp_path / "app.capture", "scale")
    prover = Prover(recorded, effort=Effort(changes=8))
    kernel = recorded.in_process[0].launch.kernel  # type: ignore[union-attr]
    found = accepted(prover, kernel)
    assert len(found.references) >= 8
    negated = next(r for r in found.references if "negated" in r.case.name)
    plain = prover.baseline.training[0]
    assert any(not np.array_equal(negated.output.before[name], values) for name, values in plain.output.before.items())
    assert prover.prove({}).label == "clean"


def test_what_a_kernel_compares_with() -> None:
    text = """
define ptx_kernel void @f(i32 %a, float %x, ptr %p) {
  %moved = add i32 %a, -3
  %range = icmp ult i32 %moved, 4
  %above = fcmp ogt float %x, 1.5
  %same = icmp eq i32 %a, 900
  %flag = icmp eq i1 %range, true
  switch i32 %a, label %end [ i32 70, label %call ]
call:
  call void @g(i32 %a)
  br label %end
end:
  ret void
}
define void @g(i32 %b) {
  %deep = icmp slt i32 %b, 55
  ret void
}
define void @never_called(i32 %b) {
  %other = icmp slt i32 %b, 44
  ret void
}
"""
    found = compared_in(parse_module(text).functions["f"])
    assert found == (900, 70, 4, 7, 3, 1.5, 55)


def test_constants_as_elements() -> None:
    assert ints_like((7, 200, 300, 1.5), 8) == (7, -56, 6, -57, 8, -55)
    assert ints_like((-1,), 32, signed=False) == (2**32 - 1, 2**32 - 2, 0)
    assert floats_like((2,), np.dtype(np.float32)) == (
        2.0,
        np.nextafter(np.float32(2), 3),
        np.nextafter(np.float32(2), 1),
    )
    assert floats_like((1e300,), np.dtype(np.float32)) == ()


def test_each_element_can_be_missed() -> None:
    random = np.random.default_rng(0)
    for values in (np.arange(9, dtype=np.int32), np.full(9, 5, np.int32), np.full(1, 2, np.int32)):
        larger_last, smaller_first, halves = (way(values, random) for way in EACH_COUNTS.values())
        assert np.unique(halves[: (values.size + 1) // 2]).size == 1
        if values.size > 1:
            assert np.unique(halves[5:]).size == 1 and halves[0] != halves[-1]
            assert np.unique(larger_last[:-1]).size == 1 and larger_last[-1] > larger_last[0]
            assert np.unique(smaller_first[1:]).size == 1 and smaller_first[0] < smaller_first[1]


def test_what_the_kernel_compares_with_comes_first() -> None:
    words = [change.words for change in changes(surveyed("rare_kind"), 0)]
    first = words.index("'kind' some of them what the kernel compares with")
    assert first < 4 and first < words.index("'kind' in another order")
    assert "'kind' some of them 77" in words and "n of rare_kind: 128 -> 77" in words


def test_blocks_whose_warps_have_two_rows_or_are_not_full() -> None:
    _, _, ragged = shape_changes("k", Geometry((2, 1, 1), (64, 1, 1)), 1024)
    assert [change.geometries[0][1].block for change in ragged] == [(16, 4, 1), (63, 1, 1)]
    _, _, ragged = shape_changes("k", Geometry((2, 1, 1), (16, 4, 1)), 1024)
    assert [change.geometries[0][1].block for change in ragged] == [(15, 4, 1)]


def test_values_between_whole_numbers() -> None:
    made = FLOAT_WAYS[EVERY_SORT](np.ones(1000, np.float32), np.random.default_rng(0))
    assert {0.5, -1.5, 2.5, np.nextafter(np.float32(0.5), np.float32(0))} <= set(made)


def test_cases_are_strings_for_people() -> None:
    names = [change.words for change in changes(surveyed("square"), 0)]
    assert any(name.startswith("width of square: 16 -> 15") for name in names), names
    assert any(name == "grid of square: 2x2x1 -> 1x2x1" for name in names)


ALIASED = """
extern "C" __global__ void shared(const float *a, float *out, float *more, float *unused, const float *__restrict__ kept, float *few, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = a[i] + kept[i]; more[i] = a[i]; if (i < 4) few[i] = 1.0f;
}
"""


def test_pointers_that_may_share_memory(tmp_path: Path) -> None:
    """Not what is not used, what the source promises to be apart, what is shorter than the other, or what shares it already."""
    (tmp_path / "shared.cu").write_text(ALIASED)
    modules = by_kernel(compile_program(tmp_path / "shared.cu").module)
    rows = {name: np.arange(64, dtype=np.float32) for name in ("a", "out", "unused", "kept")}
    few = np.zeros(4, np.float32)
    arguments = {**rows, "more": rows["out"], "few": few, "n": 64}
    ordered = {name: arguments[name] for name in ("a", "out", "more", "unused", "kept", "few", "n")}
    surveyed = SurveyedCase(Case((1,), (64,), ordered))
    run_case(Device(), modules, surveyed, "shared", Schedule.forward())
    assert [pointer.name for pointer in surveyed.survey.pointers.values()] == ["a", "out", "more", "kept", "few"]
    found = list(alias_changes(surveyed.survey, 3))
    pairs = [(one.name, other.name) for change in found for one, other in change.aliases]
    assert pairs[0] == ("out", "a") and set(map(frozenset, pairs)) == {
        frozenset(pair) for pair in (("out", "a"), ("more", "a"), ("few", "a"), ("few", "out"), ("few", "more"))
    }
    assert len({change.seed for change in found}) == len(found) == 5
    launch = Launch("shared", (1, 1, 1), (64, 1, 1), bytes(range(56)))
    changed = found[0].launch(launch)
    assert changed.parameters[8:16] == launch.parameters[:8] and changed.parameters[16:] == launch.parameters[16:]
    assert found[0].launch(replace(launch, kernel="other")) == replace(launch, kernel="other")
    both = found[0].on_top_of(found[1])
    assert len(both.aliases) == 2 and both.moves_launches


def test_what_threads_tell_each_other_is_changed_and_nothing_else() -> None:
    def words(kernel: str) -> list[str]:
        functions = [planted(kernel).original[kernel].functions[kernel]]
        return [change.words for change in exchange_changes(functions, surveyed(kernel), 0)]

    assert words("positive") == []
    assert len(words("warp_sum")) == len(FEW_WAYS) and all("'in'" in each for each in words("warp_sum"))


WEIGHTS = """
struct Weights { float w[49]; };
extern "C" __global__ void weighted(float *out, const float *in, Weights f) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 49; ++k) sum += in[i] * f.w[@];
    out[i] = sum;
}
"""


def test_all_numbers_of_a_large_structure_are_changed(tmp_path: Path) -> None:
    """Also those behind the first, which alone are changed one by one: a filter passed by value, equal in training from some weight on."""
    modules = []
    for name, index in (("original", "k"), ("variant", "k > 40 ? 40 : k")):
        path = tmp_path / f"{name}.cu"
        path.write_text(WEIGHTS.replace("@", index))
        modules.append(by_kernel(compile_program(path).module))
    weights = np.linspace(1, 2, 49, dtype=np.float32)
    weights[40:] = weights[40]
    case = Case((2,), (32,), {"out": zeros(64), "in": floats(64), "f": weights.tobytes()})
    prover = Prover(Workload(tmp_path / "original.cu", "weighted", (case,)), modules[0], effort=Effort(draws=0))
    different = prover.prove(modules[1]).check("different")
    assert different.status == "failed" and any("the fields of f" in str(one) for one in different.evidence)
