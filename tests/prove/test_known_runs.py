"""Runs that are known from an earlier proof: they are not made again, and every proof says what it says without them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kernelwright.evaluate.judging.case_runner import Modules
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.guards import ArgumentIs, BlockIs, GridIs, Guard
from kernelwright.ir import parse_module, print_module
from kernelwright.prove import Effort, Prover
from kernelwright.prove.checked_run import CaseRun, Device, Runnable, run_case
from kernelwright.prove.checks import variant_runs
from kernelwright.prove.checks.known_runs import KnownRuns
from tests.evaluate.recording import record
from tests.prove.planted import QUICK, planted

Asked = tuple[Modules, dict[str, Sequence[Guard]]]


def proofs(prover: Prover, asked: Sequence[Asked], *, kept: bool) -> list[Any]:
    """The proofs of variants one after the other; without ``kept``, each forgets the runs of those before."""
    found = []
    for variant, guards in asked:
        if not kept:
            prover.known = KnownRuns()
        found.append(prover.prove(variant, guards=guards, speedup=1.5).as_json())
    return found


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The cases that variants are run on, a name for each run."""
    made: list[str] = []

    def counted(device: Device, modules: Modules, case: Runnable, *rest: Any, **more: Any) -> CaseRun:
        made.append(case.name)
        return run_case(device, modules, case, *rest, **more)

    monkeypatch.setattr(variant_runs, "run_case", counted)
    return made


def again(given: Modules) -> Modules:
    """The same code in modules of its own."""
    return {kernel: parse_module(print_module(module)) for kernel, module in given.items()}


# Wrong on other data, racing, leaning on lock-step.
@pytest.mark.parametrize("kernel", ["whole_blocks", "halo_written", "warp_sum"])
def test_proofs_are_the_same_with_and_without_runs_that_are_known(kernel: str, runs: list[str]) -> None:
    one = planted(kernel)
    whole = (128).to_bytes(4, "little")
    guards: dict[str, Sequence[Guard]] = (
        {kernel: [ArgumentIs(2, "i32 128", whole), BlockIs((64, 1, 1)), GridIs((2, 1, 1))]}
        if kernel == "whole_blocks"
        else {}
    )
    asked: list[Asked] = [
        (one.variant, {}),
        (again(one.variant), guards),
        (again({kernel: one.original[kernel]}), {}),
        (again(one.variant), {}),
    ]
    found = proofs(Prover(one.workload(0), one.original, effort=QUICK), asked, kept=True)
    kept = len(runs)
    assert found == proofs(Prover(one.workload(0), one.original, effort=QUICK), asked, kept=False)
    # Of four proofs, two are of other code; with guards the launches of a host program may be shared out anew.
    assert len(runs) - kept > (1.3 if guards else 1.5) * kept
    assert found[0]["checks"] == found[3]["checks"] != found[2]["checks"]


def test_of_two_kernels_the_one_that_is_not_changed_again_is_not_run_again(tmp_path: Path, runs: list[str]) -> None:
    record(tmp_path / "app.capture")
    recorded = Workload.from_capture(tmp_path / "app.capture", launches=[0, 2])
    originals = recorded.modules()
    scale, follow = "_Z5scalePKfPffi", "follow"
    wrong = parse_module(print_module(originals[follow]).replace("store float %v, ptr %to", "store float 1.0, ptr %to"))
    asked: list[Asked] = [
        (again({scale: originals[scale]}), {}),
        (again({scale: originals[scale], follow: originals[follow]}), {}),
        ({**again({scale: originals[scale]}), follow: wrong}, {}),
    ]
    effort = Effort(orders=1, changes=4, tries=8)
    found = proofs(Prover(recorded, effort=effort), asked, kept=True)
    of_scale = sum(name.startswith(scale) for name in runs)
    kept = len(runs)
    assert found == proofs(Prover(recorded, effort=effort), asked, kept=False)
    assert [each["label"] for each in found] == ["clean", "clean", "wrong"]
    # Anew for the second; the third is wrong on its training cases, and not asked more.
    assert sum(name.startswith(scale) for name in runs[kept:]) == 2 * of_scale + 1 > 20
