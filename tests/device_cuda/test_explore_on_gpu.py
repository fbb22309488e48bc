"""Explorations whose best kernels are measured on a GPU: a stand-in's, which computes nothing, and answers made up here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kernelwright.cli.commands.explore.result import explore_lines, explore_result
from kernelwright.codegen.toolchain import Gpu
from kernelwright.errors import DeviceError, Misuse, ToolError
from kernelwright.evaluate.run import settings as run_settings
from kernelwright.exploration.decisions import DECISIONS
from kernelwright.exploration.gpu_times import Measured, MeasuredKernel
from kernelwright.exploration.on_gpu import measure as measuring
from kernelwright.exploration.on_gpu.computation import GpuKernel
from kernelwright.exploration.on_gpu.process import ANSWER, REQUEST, image_name, main
from kernelwright.exploration.on_gpu.which import chosen_gpu
from kernelwright.exploration.run import NAIVE, ExploreRun
from kernelwright.stories.explore import explore, proceed

from .conftest import Fake

SETTINGS: dict[str, Any] = {"evaluations": 4, "seed": 5, "batch": 2, "jobs": 1}
STAND_IN = Gpu("Stand-in 0", "sm_90", 1 << 33)


@pytest.fixture(autouse=True)
def stand_in(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_settings, "require_gpu", lambda ordinal: STAND_IN)


def answering(monkeypatch: pytest.MonkeyPatch, *answers: dict[str, Any]) -> list[list[str]]:
    """Each is what the GPU's process says next. Returns the kernels that it was asked for, by their code."""
    asked, left = list[list[str]](), list(answers)

    def ask(run: ExploreRun, kernels: Sequence[tuple[GpuKernel, bytes]]) -> dict[str, Any]:
        asked.append([kernel.kernel for kernel, _ in kernels])
        found = left.pop(0)
        if callable(found.get("kernels")):
            found = {**found, "kernels": found["kernels"](len(kernels))}
        return found

    monkeypatch.setattr(measuring, "_asked", ask)
    return asked


def right(*times: float) -> Any:
    """So many kernels as are asked for take these times; the last is that of all others."""
    return lambda count: [{"outputs": "right", "us": times[min(n, len(times) - 1)]} for n in range(count)]


def test_the_fastest_there_is_the_best(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The third of those asked: the naive kernel is the first, then come those with the least estimates."""
    cublas = {"outputs": "right", "us": 1.5}
    answer = {"gpu": "Stand-in 0", "kernels": right(8.0, 4.0, 2.0, 6.0), "cublas": cublas, "no_cublas": ""}
    asked = answering(monkeypatch, answer)
    run = explore("axpy", (4096,), device="cuda:0", folder=tmp_path / "axpy-1", **SETTINGS)
    found = run.on_gpu
    assert found is not None and len(asked) == 1 and len(asked[0]) == len(found.kernels) == 5
    assert run.settings.gpu == "Stand-in 0" and run.subject.device in ("h100", "h200")
    assert run.best is not None and run.best.name == found.order[0].name == run.tried[1].name != NAIVE
    assert run.speedup == 4.0
    result = explore_result(run)
    there = result["on_gpu"]
    assert (there["best_us"], there["naive_us"], there["cublas_us"]) == (2.0, 8.0, 1.5)
    text = explore_lines(json.loads(json.dumps(result)))
    assert text.startswith(
        f"{run.best.name}: 2.00 us measured on Stand-in 0, 4.00x the naive kernel's speed there (8.00 us)"
    )
    assert "cuBLAS takes 1.50 us there: 0.75x its speed" in text and "5 of 5 kernels ran there and were right" in text
    assert "nothing in the space is estimated faster than" in text
    with ExploreRun.open(run.folder, DECISIONS, write=True) as again:
        before = again.best
        proceed(again, jobs=1)  # nothing is measured anew
        assert again.best == before and len(asked) == 1


def test_a_kernel_that_fails_there_is_left_out_and_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lost = {"failed": 1, "because": "an illegal address"}
    answer = {"gpu": "Stand-in 0", "kernels": right(8.0, 4.0), "cublas": None, "no_cublas": "libcublas is not found"}
    asked = answering(monkeypatch, lost, answer)
    run = explore("axpy", (4096,), device="cuda:0", folder=tmp_path / "axpy-1", **SETTINGS)
    assert [len(each) for each in asked] == [5, 4]
    found = run.on_gpu
    assert found is not None and found.kernels[-1].name == run.tried[0].name and not found.kernels[-1].is_right
    assert run.best is not None and run.best.name == run.tried[1].name
    text = explore_lines(explore_result(run))
    assert "4 of 5 kernels ran there" in text and f"note: {run.tried[0].name} there: an illegal address" in text
    assert "not compared with cuBLAS: libcublas is not found" in text


def test_another_gpu_ends_no_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = {"gpu": "Stand-in 9", "kernels": right(1.0), "cublas": None, "no_cublas": ""}
    answer = {"gpu": "Stand-in 0", "kernels": right(8.0, 4.0), "cublas": None, "no_cublas": ""}
    answering(monkeypatch, other, answer)
    folder = tmp_path / "axpy-1"
    with pytest.raises(Misuse, match="this run is for Stand-in 0, and cuda:0 is Stand-in 9"):
        explore("axpy", (4096,), device="cuda:0", folder=folder, **SETTINGS)
    with ExploreRun.open(folder, DECISIONS, write=True) as run:
        assert run.ended is None and len(run.journal) == 4
        proceed(run, jobs=1)
        assert run.ended is not None and run.on_gpu is not None and len(run.journal) == 4


def test_a_gpu_that_computes_nothing(tmp_path: Path) -> None:
    """The whole way: the process, the driver, the comparison."""
    with pytest.raises(DeviceError, match=r"none of 5 kernels is right on Stand-in 0: Z is off by") as raised:
        explore("axpy", (4096,), device="cuda:0", folder=tmp_path / "axpy-1", **SETTINGS)
    assert "--device" in str(raised.value.hint)


def test_no_gpu_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.undo()
    with pytest.raises((ToolError, DeviceError), match="there is no cuda:7"):
        chosen_gpu("cuda:7")
    assert chosen_gpu("h200").measured == "" and chosen_gpu("h200").modelled == "h200"


def test_a_process_says_what_it_cannot_do(tmp_path: Path) -> None:
    subject = {"computation": "axpy", "sizes": {"n": 64}, "device": "h200"}
    request = {"subject": subject, "beside": str(tmp_path), "ordinal": 64, "kernels": []}
    (tmp_path / REQUEST).write_text(json.dumps(request))
    main(tmp_path)
    assert "refused" in json.loads((tmp_path / ANSWER).read_text())
    assert image_name(3) == "3.image"


def test_what_was_measured_is_kept() -> None:
    some = tuple(MeasuredKernel(f"v{n}", 1.0 + n, "right", 2.0 + n * n) for n in range(6))
    found = Measured("A GPU", (*some, MeasuredKernel("v9", 0.5, "Z is off")), 3.0)
    assert Measured.from_json(json.loads(json.dumps(found.as_json()))) == found
    assert found.rank == pytest.approx(1.0) and found.of("v9") is None and found.of("v2") == 6.0
    assert Measured("A GPU", some[:2]).rank is None
    kernel = GpuKernel("k", (2, 1, 1), (32, 1, 1), ("X", "Y"), {"t": 64}, ("alpha",), (4096,))
    assert GpuKernel.from_json(json.loads(json.dumps(kernel.as_json()))) == kernel
