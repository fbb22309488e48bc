"""Programs that nvcc built, whose runtime ours replaces: on a real GPU their kernels run, on a virtual one they cannot."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from kernelwright.suite import load
from kernelwright.suite.program import SuiteProgram
from tests import kw_process

from .conftest import Fake

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
pytestmark = pytest.mark.skipif(NVCC is None, reason="there is no nvcc here")


def build(program: SuiteProgram, target: Path, runtime: str = "shared") -> Path:
    assert NVCC is not None
    flags = [f"-I{program.folder / f[2:]}" if f.startswith("-I") else f for f in program.flags]
    words = [NVCC, "-w", "-cudart", runtime, *flags, f"-I{program.folder}", "-o", target, *program.source_paths]
    subprocess.run(list(map(str, words)), check=True)
    return target


def kw_run(program: Path, arguments: tuple[str, ...], folder: Path, device: str) -> subprocess.CompletedProcess[str]:
    return kw_process.kw("run", "--device", device, str(program), "--", *arguments, cwd=folder, timeout=60)


@pytest.mark.parametrize(
    ("name", "kernels"),
    [("hotspot", ["advance"] * 2), ("gaussian", ["multipliers", "eliminate"] * 10), ("pathfinder", ["advance"] * 3)],
)
def test_their_kernels_go_to_the_driver(name: str, kernels: list[str], tmp_path: Path, fake: Fake) -> None:
    """The stand-in computes nothing; what arrives there is the question: nvcc's bytes, every launch, memory back and forth."""
    program = load(name)
    executable = build(program, tmp_path / name)
    arguments = program.generate(tmp_path, "tiny", 1)
    done = kw_run(executable, arguments, tmp_path, "cuda:0")
    assert (done.returncode, done.stderr) == (0, "")
    assert all((tmp_path / file).is_file() for file in program.outputs)
    launched = [call.split()[1] for call in fake.named("launch")]
    assert len(launched) == len(kernels)
    assert all(wanted in mangled for wanted, mangled in zip(kernels, launched, strict=True)), launched
    assert fake.named("load") == ["load fat binary"]


def test_on_a_virtual_gpu_launches_are_refused_in_a_sentence(tmp_path: Path) -> None:
    program = load("nn")
    executable = build(program, tmp_path / "nn")
    done = kw_run(executable, program.generate(tmp_path, "tiny", 1), tmp_path, "h200")
    assert done.returncode == 1, "the program's own"
    assert "no kernel image is available" in done.stderr
    assert "kw: the program's device code is nvcc's" in done.stderr and "build it with kw compile" in done.stderr


def test_a_program_with_nvidias_runtime_inside(tmp_path: Path) -> None:
    executable = build(load("nn"), tmp_path / "nn", "static")
    done = kw_run(executable, (), tmp_path, "h200")
    assert "has NVIDIA's CUDA runtime inside" in done.stderr and "only a real GPU serves it" in done.stderr
    assert done.stderr.count("kw:") == 1
