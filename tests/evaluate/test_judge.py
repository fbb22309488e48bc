"""The judge: what it accepts, what it rejects and where, and what it says about a workload that judges badly."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kernelwright.device.schedule import Schedule
from kernelwright.errors import Misuse
from kernelwright.evaluate.judging.case_runner import Argument
from kernelwright.evaluate.outcome import Ok, Rejected
from kernelwright.evaluate.workload.case import Case
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.ir import parse_module
from tests.evaluate import kernels
from tests.evaluate.judged import Judged

SCHEDULES = (Schedule.forward(), Schedule.reverse(), Schedule.random(1))


def scaled(n: int = 8, factor: float = 3.0) -> Case:
    values = np.random.default_rng(n).random(n, dtype=np.float32)
    arguments: dict[str, Argument] = {"in": values, "out": np.zeros(n, np.float32), "factor": factor, "n": n}
    return Case(((n + 3) // 4,), (4,), arguments, name=f"n={n}")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "kernels.ll"
    path.write_text(kernels.text())
    return path


def judged(source: Path, *cases: Case, kernel: str = "scale", **more: Any) -> Judged:
    schedules = more.pop("schedules", SCHEDULES[:1])
    workload = Workload(source, kernel, cases or (scaled(), scaled(13)), **more)
    return Judged(workload, schedules, budget=100_000)


def test_the_original_is_exact(source: Path) -> None:
    workload = Workload(source, "scale", (scaled(), scaled(13)))
    judge = Judged(workload)
    original = judge()
    assert (
        isinstance(original, Ok)
        and original.error == 0
        and original.time_us == original.metrics["instructions"] > 21 * 13
    )
    assert judge(workload.modules()) == original
    assert judge.warnings == []


@pytest.mark.parametrize(
    ("change", "stage", "says"),
    [
        (("fmul float %v, %factor", "fadd float %v, %factor"), "compare", "case 'n=8': 'out' error"),
        (("load float, ptr %from", "load float, ptr null"), "fault", "out-of-bounds"),
    ],
)
def test_wrong_candidates_are_rejected(source: Path, change: tuple[str, str], stage: str, says: str) -> None:
    judge = judged(source, scaled(8), scaled(12))
    outcome = judge(kernels.module(replacing=change))
    assert isinstance(outcome, Rejected) and outcome.stage == stage and says in outcome.reason


def test_a_case_that_does_not_fill_its_blocks_sees_a_missing_guard(source: Path) -> None:
    changed = kernels.module(replacing=("icmp slt i32 %i, %n", "icmp sle i32 %i, %n"))
    assert isinstance(judged(source, scaled(8))(changed), Ok)
    outcome = judged(source, scaled(8), scaled(13))(changed)
    assert isinstance(outcome, Rejected) and outcome.stage == "fault"


def test_kernels_that_are_not_given_are_the_originals(source: Path) -> None:
    judge = judged(source)
    changed = kernels.module("add", replacing=("add i32 %v, %step", "sub i32 %v, %step"))
    assert isinstance(judge({"add": changed}), Ok)  # this workload never launches it


def test_errors_within_tolerance_are_told(source: Path) -> None:
    judge = judged(source, tolerance="relative 1%")
    changed = kernels.module(replacing=("fmul float %v, %factor", "fmul float %v, 3.015625"))
    outcome = judge(changed)
    assert isinstance(outcome, Ok) and outcome.error == pytest.approx(0.015625 / 3, rel=1e-4)
    assert isinstance(judged(source, tolerance="relative 0.5%")(changed), Rejected)


def test_a_tolerance_alone_is_about_the_change(source: Path) -> None:
    changed = kernels.module(replacing=("fmul float %v, %factor", "fmul float %v, 3.015625"))
    assert isinstance(judged(source, tolerance=0.01)(changed), Ok)
    assert isinstance(judged(source)(changed), Rejected)


def test_an_order_dependent_candidate(source: Path) -> None:
    values: dict[str, Argument] = {"values": np.zeros(8, np.int32), "step": 1}
    # Every thread adds to the first element, without an atomic.
    racy = kernels.module(replacing=("getelementptr i32, ptr %values, i64 %w", "getelementptr i32, ptr %values, i64 0"))
    case = Case((2,), (4,), values)
    assert isinstance(judged(source, case, kernel="add")(racy), Rejected)
    # One that writes its own number is right for one order only.
    last = kernels.text("last")
    path = source.with_name("last.ll")
    path.write_text(last.replace("store i32 %i, ptr %out", "store i32 7, ptr %out"))
    case = Case((1,), (8,), {"out": np.zeros(1, np.int32)})
    judge = judged(path, case, kernel="last", schedules=SCHEDULES)
    outcome = judge(parse_module(last))
    assert isinstance(outcome, Rejected) and outcome.stage == "order" and "reverse" in outcome.reason
    assert isinstance(judged(path, case, kernel="last")(parse_module(last)), Ok)


def test_an_endless_candidate(source: Path) -> None:
    path = source.with_name("spin.ll")
    path.write_text(kernels.text("spin").replace("sge i32 %v, 0", "sgt i32 %v, 0"))
    judge = judged(path, Case((1,), (1,), {"out": np.zeros(1, np.int32)}), kernel="spin")
    outcome = judge(kernels.module("spin"))
    assert isinstance(outcome, Rejected) and outcome.stage == "timeout"


# -- the workload's own faults -----------------------------------------------------------------------------------------


def test_an_original_that_fails(source: Path) -> None:
    case = Case((2,), (4,), {"in": np.zeros(8, np.float32), "out": np.zeros(4, np.float32), "factor": 1.0, "n": 8})
    with pytest.raises(Misuse, match="the original case fails: fault: out-of-bounds"):
        judged(source, case)


def test_an_original_whose_output_depends_on_the_order(source: Path) -> None:
    case = Case((1,), (8,), {"out": np.zeros(1, np.int32)})
    outcome = judged(source, case, kernel="last", schedules=SCHEDULES)()
    assert isinstance(outcome, Rejected) and outcome.stage == "order" and "under schedule reverse" in outcome.reason
    assert isinstance(judged(source, case, kernel="last", schedules=SCHEDULES, tolerance="absolute 7")(), Ok)


def oracle(case: Case) -> Mapping[str, NDArray[Any]]:
    given = case.arguments
    assert isinstance(given, Mapping)
    return {"out": np.asarray(given["in"], np.float64) * 3}


def test_an_oracle_is_an_independent_word(source: Path) -> None:
    judge = judged(source, oracle=oracle, tolerance="ulp 1")
    assert isinstance(judge(kernels.module()), Ok)
    assert isinstance(judged(source, scaled(8, factor=2.0), oracle=oracle)(), Rejected)
    with pytest.raises(Misuse, match="'up', which is no output"):
        judged(source, oracle=lambda case: {"up": np.zeros(8)})
    outcome = judged(source, oracle=lambda case: {"out": np.zeros(5)})()
    assert isinstance(outcome, Rejected) and "shape" in outcome.reason


def test_outputs_the_oracle_does_not_know_are_the_originals(source: Path) -> None:
    judge = judged(source, oracle=oracle, tolerance="ulp 1")
    spoils = kernels.module(
        replacing=("store float %p, ptr %to", "store float %p, ptr %to\n  store float 0.0, ptr %from")
    )
    outcome = judge(spoils)
    assert isinstance(outcome, Rejected) and "'in'" in outcome.reason


def test_a_tolerance_that_doing_nothing_would_pass_is_told(source: Path) -> None:
    hot = np.linspace(320, 345, 8, dtype=np.float32)
    case = Case((2,), (4,), {"in": hot, "out": np.zeros(8, np.float32), "factor": 1.0006, "n": 8})
    (said,) = judged(source, case, tolerance="gevo 1%").warnings
    assert "'out': copying 'in' to it would pass" in said
    assert judged(source, case, tolerance=0.01).warnings == []
    # And the rule that is meant turns the copy down.
    copies = kernels.module(replacing=("fmul float %v, %factor", "fmul float %v, 1.0"))
    assert isinstance(judged(source, case, tolerance="gevo 1%")(copies), Ok)
    assert isinstance(judged(source, case, tolerance=0.01)(copies), Rejected)
