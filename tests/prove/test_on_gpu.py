"""The cases under NVIDIA's checker, with scripts in its place and no GPU: what is run, on what, and what becomes of it."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from kernelwright.bench.prove.planted import Planted
from kernelwright.errors import ToolError
from kernelwright.evaluate.outcome import Ok
from kernelwright.evaluate.workload.subject import Given
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.prove import gpu_cases
from kernelwright.prove.gpu_cases import Watched
from kernelwright.prove.prover import Prover
from kernelwright.prove.sanitizer import FOUND
from tests.prove.planted import QUICK, planted


def given(one: Planted) -> Given:
    """The training cases alone, which can be sent to another process."""
    made = one.workload(0)
    return Given(Workload(made.source, made.kernel, made.cases))


@pytest.fixture
def one() -> Planted:
    return planted("dead_store")


@pytest.fixture
def watched(one: Planted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watched:
    monkeypatch.setattr(gpu_cases, "require_gpu", lambda ordinal: None)
    (tmp_path / "bin").mkdir()
    answer(tmp_path, "true")
    return Watched(given(one), one.original, cuda_path=tmp_path)


def answer(home: Path, body: str) -> None:
    tool = home / "bin" / "compute-sanitizer"
    tool.write_text(f'#!/bin/sh\nfor last; do :; done\necho "$2" >> {home}/calls\ncp "$last" {home}/task\n{body}\n')
    tool.chmod(0o755)


def test_the_original_then_the_variant_under_every_tool(one: Planted, watched: Watched, tmp_path: Path) -> None:
    assert watched(one.variant) == Ok(0.0, 0.0)
    tools = ["memcheck", "racecheck", "initcheck", "synccheck"]
    assert (tmp_path / "calls").read_text().split() == 2 * tools
    subject, texts, ordinal = pickle.loads((tmp_path / "task").read_bytes())
    assert ordinal == 0 and subject.workload().kernel == "dead_store" and "@dead_store" in texts["dead_store"]
    watched(one.variant)  # the original has passed
    assert len((tmp_path / "calls").read_text().split()) == 3 * len(tools)


def test_what_it_finds_fails_the_check(one: Planted, watched: Watched, tmp_path: Path) -> None:
    prover = Prover(one.workload(0), one.original, effort=QUICK, sanitizer=watched)
    assert prover.prove(one.variant).check("compute-sanitizer").status == "passed"
    answer(tmp_path, f"echo '========= Invalid __global__ read of size 4 bytes'; exit {FOUND}")
    check = prover.prove(one.variant).check("compute-sanitizer")
    assert check.status == "failed" and "Invalid __global__ read" in check.detail


def test_an_original_that_does_not_pass_is_no_measure(one: Planted, watched: Watched, tmp_path: Path) -> None:
    answer(tmp_path, f"echo '========= Invalid __global__ read of size 4 bytes'; exit {FOUND}")
    prover = Prover(one.workload(0), one.original, effort=QUICK, sanitizer=watched)
    check = prover.prove(one.variant).check("compute-sanitizer")
    assert check.status == "not run" and check.detail.startswith("the original itself does not pass: memcheck: Invalid")


def test_without_the_tool_or_a_gpu_it_says_which(one: Planted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CUDA_PATH", "CUDA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    with pytest.raises(ToolError, match="not installed"):
        Watched(given(one), one.original)
    prover = Prover(one.workload(0), one.original, effort=QUICK, why_no_sanitizer="there is no GPU")
    assert prover.prove(one.variant).check("compute-sanitizer").detail == "there is no GPU"


def test_the_process_that_is_watched_runs_every_case(
    one: Planted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the reference interpreter where the GPU would be."""
    from kernelwright.device.reference import execute_reference
    from kernelwright.ir import print_module

    class Nowhere:
        def __init__(self, ordinal: int) -> None: ...
        def __enter__(self) -> Nowhere:
            return self

        def __exit__(self, *_: object) -> None: ...

    monkeypatch.setattr(gpu_cases, "CudaWorker", Nowhere)
    monkeypatch.setattr(gpu_cases, "CudaExecutor", lambda worker: execute_reference)
    texts = {kernel: print_module(module) for kernel, module in one.variant.items()}
    (tmp_path / "task").write_bytes(pickle.dumps((given(one), texts, 0)))
    assert gpu_cases.main([str(tmp_path / "task")]) == 0
    texts = {kernel: text.replace("ret void", "call void @llvm.trap()\n  ret void") for kernel, text in texts.items()}
    texts = {kernel: f"{text}\ndeclare void @llvm.trap()\n" for kernel, text in texts.items()}
    (tmp_path / "task").write_bytes(pickle.dumps((given(one), texts, 0)))
    assert gpu_cases.main([str(tmp_path / "task")]) == 1
    assert capsys.readouterr().err.strip()
