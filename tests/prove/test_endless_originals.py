"""Inputs on which the original does not end: found out by a run that is neither watched nor counted, and refused as before."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kernelwright.evaluate.judging.case_runner import by_kernel
from kernelwright.evaluate.workload.case import Case
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.pipeline import compile as compile_program
from kernelwright.prove import Prover
from kernelwright.prove.baseline import Reference
from kernelwright.prove.checked_run import CaseRun
from kernelwright.prove.coverage import accepted_changes
from kernelwright.prove.coverage.conditions import Conditions
from kernelwright.prove.instrumentation import ObservedCase
from tests.prove.planted import QUICK

SOURCE = """
extern "C" __global__ void in_steps(const unsigned *ends, volatile int *out) {
  int i = threadIdx.x;
  for (unsigned at = 0; at != ends[i]; at += 2)  // never an odd number
    out[i] += 1;
}
"""
EVEN = np.arange(0, 64, 2, dtype=np.uint32)


def case(ends: np.ndarray) -> Case:
    return Case((1,), (32,), {"ends": ends, "out": np.zeros(32, np.int32)})


@pytest.fixture
def prover(tmp_path: Path) -> Prover:
    (tmp_path / "app.cu").write_text(SOURCE)
    workload = Workload(tmp_path / "app.cu", "in_steps", [case(EVEN)])
    return Prover(workload, by_kernel(compile_program(tmp_path / "app.cu").module), effort=QUICK)


def test_it_is_refused_without_a_watched_run(prover: Prover, monkeypatch: pytest.MonkeyPatch) -> None:
    baseline = prover.baseline
    watched: list[CaseRun] = []
    run = baseline._run

    def told(*given: object, watch: bool = True, **more: object) -> CaseRun:
        made = run(*given, watch=watch, **more)  # type: ignore[arg-type]
        watched.extend([made] if watch else [])
        return made

    monkeypatch.setattr(baseline, "_run", told)
    assert baseline.accept(case(EVEN + 1)) == "that the original does not survive" and not watched
    assert not baseline.ends(case(EVEN + 1)) and baseline.ends(case(EVEN + 2))
    # One that ends is watched, once, as it ever was.
    assert isinstance(baseline.accept(case(EVEN + 2)), Reference) and len(watched) == 1


def test_nothing_is_counted_of_it(prover: Prover, monkeypatch: pytest.MonkeyPatch) -> None:
    original = prover.baseline.original["in_steps"]
    module = Conditions(original, "in_steps").module
    seen = prover.changes._observed(module, "in_steps", ObservedCase(case(EVEN + 2)))
    assert seen is not None and seen.any()
    monkeypatch.setattr(accepted_changes, "run_case", lambda *_, **__: pytest.fail("the counting code was run"))
    assert prover.changes._observed(module, "in_steps", ObservedCase(case(EVEN + 1))) is None
