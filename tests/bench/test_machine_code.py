"""Machine code beside nvcc's: which files are taken, what the ratios and promises are, and what is said of the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.bench.compile import machine_code
from kernelwright.bench.compile.machine_code import CudaFile, KernelCode, compare, program_files
from kernelwright.bench.compile.measure import measure_programs
from kernelwright.bench.gpu.nvcc import find_nvcc
from kernelwright.bench.result import Measured
from kernelwright.errors import Misuse

KERNELS = """
namespace { __global__ void hidden(float *out) { out[threadIdx.x] = 1; } }
static __global__ void own(float *out) { out[threadIdx.x] = 2; }
__global__ void scale(float *out, float by) { out[threadIdx.x] *= by; }
void launch(float *out) { hidden<<<1, 32>>>(out); own<<<1, 32>>>(out); }
"""


def silent(line: str) -> None:
    del line


def given(monkeypatch: pytest.MonkeyPatch, ours: dict[str, KernelCode], theirs: dict[str, KernelCode]) -> Measured:
    """What is measured when the compilers make these."""
    monkeypatch.setattr(machine_code, "find_nvcc", lambda: "nvcc")
    monkeypatch.setattr(machine_code, "compile_here", lambda *_: (ours, ""))
    monkeypatch.setattr(machine_code, "compile_by_nvcc", lambda *_: (theirs, ""))
    result = Measured("compile")
    compare([CudaFile("app", Path("app.cu"), ())], result, silent)
    return result


def test_ratios_are_ours_over_nvccs_and_the_worst_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = {"small": KernelCode(50, 10, 0), "large": KernelCode(400, 64, 16)}
    theirs = {"small": KernelCode(100, 20, 0), "large": KernelCode(100, 32, 0)}
    result = given(monkeypatch, ours, theirs)
    assert [(row["kernel"], row["ratio"], row["ratio of registers"]) for row in result.rows] == [
        ("large", 4.0, 2.0),
        ("small", 0.5, 0.5),
    ]
    assert [(p.value, p.holds) for p in result.promises] == [(1.414, False), (1.0, True), (2.0, False)]


def test_a_kernel_of_one_compiler_alone_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    result = given(
        monkeypatch, {"both": KernelCode(1, 1, 0), "ours": KernelCode(1, 1, 0)}, {"both": KernelCode(1, 1, 0)}
    )
    assert len(result.rows) == 1
    assert result.notes == ["app: only one compiler has ours"]


def test_without_nvcc_nothing_is_promised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_code, "find_nvcc", lambda: None)
    result = Measured("compile")
    compare([CudaFile("app", Path("app.cu"), ())], result, silent)
    assert result.rows == []
    assert [p.holds for p in result.promises] == [None] * 3
    assert result.notes == ["nvcc is not on this machine: machine code is not compared"]


def test_a_folder_is_searched_and_a_place_without_cuda_is_refused(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "k.cu").write_text(KERNELS)
    (tmp_path / "empty").mkdir()
    (file,) = program_files([tmp_path])
    assert (file.program, file.flags) == ("deep/k", (f"-I{tmp_path / 'deep'}",))
    for nothing in (tmp_path / "empty", tmp_path / "none.cu"):
        with pytest.raises(Misuse, match="there is no CUDA file at"):
            program_files([nothing])


@pytest.mark.skipif(find_nvcc() is None, reason="needs nvcc")
def test_both_compilers_name_a_kernel_alike_and_a_broken_file_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "kernels.cu").write_text(KERNELS)
    (tmp_path / "broken.cu").write_text("__global__ void broken( { }")
    result = measure_programs([tmp_path], silent)
    kernels = [row for row in result.rows if "kernel" in row]
    assert sorted(row["kernel"] for row in kernels) == ["hidden", "own", "scale"]
    assert len(result.notes) == 1 and result.notes[0].startswith(
        "broken.cu of broken is left out: we do not compile it"
    )
    assert all(0 < row["registers"] <= 32 and row["instructions"] > 2 for row in kernels)
