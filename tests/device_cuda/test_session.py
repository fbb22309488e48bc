"""Unmodified programs on a real GPU: the whole way from the CUDA runtime to calls of the driver, which a stand-in answers."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kernelwright.executable import build_executable, worker_command
from kernelwright.pipeline import compile as compile_program

from .conftest import Fake

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = compile_program(HERE / "session.cu")
    return build_executable(made, [], tmp_path_factory.mktemp("session") / "session")[0]


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(program: Path, fake: Fake) -> Iterator[Run]:
    def go(part: str, device: str = "cuda:0") -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join(p for p in sys.path if p)
        settings = {"KERNELWRIGHT_DEVICE": device, "KERNELWRIGHT_WORKER": worker_command(), "PYTHONPATH": path}
        return subprocess.run(
            [program, part], capture_output=True, text=True, timeout=60, env={**os.environ, **settings}
        )

    yield go


def test_a_program_runs(run: Run, fake: Fake) -> None:
    done = run("run")
    assert done.stdout.splitlines() == [
        "0 wrong, 0.010 ms",
        "pinned 42",
        "filled 0",
        "symbol 2.5",
        "box 1 2 3 4 0",
        "24 registers, 8 blocks, Stand-in 0 with 132",
        "a kernel speaks",
        "done",
    ]
    assert (done.returncode, done.stderr) == (0, "")
    launches = fake.named("launch")
    assert launches[0].startswith("launch add_one 20480,1,1 256,1,1 shared 0 stream 0x101 arguments")
    assert launches[1].startswith("launch add_one 1,1,1 1,1,1 shared 0 stream (nil) arguments")
    # 20 MiB take two turns through a staging area of 16.
    assert fake.named("copy")[:2] == [f"copy {16 << 20}", f"copy {4 << 20}"]
    assert fake.named("load") == ["load //"]


def test_a_fault_is_told_as_cuda_tells_it_and_stays(run: Run) -> None:
    done = run("fault")
    assert done.stdout.splitlines() == ["fault: cudaErrorIllegalAddress", "afterwards: cudaErrorIllegalAddress"]
    assert "an illegal memory access was encountered" in done.stderr


def test_a_launch_that_is_refused_is_told_once(run: Run) -> None:
    lines = run("wide").stdout.splitlines()
    assert lines in (["wide: cudaErrorInvalidConfiguration"], ["later: cudaErrorInvalidConfiguration"])


def test_a_gpu_that_is_not_there(run: Run) -> None:
    done = run("fault", "cuda:5")
    assert "cudaErrorNoDevice" in done.stdout
    assert "there is no GPU number 5: this machine has 1" in done.stderr
