"""What each optimisation is worth: what a row leaves out, and that its figures are those of compiles with these options."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kernelwright.bench.compile import effects, heavy
from kernelwright.bench.compile.effects import GROUPS, add_effects, configurations, left_out, single_steps
from kernelwright.bench.compile.machine_code import CudaFile
from kernelwright.bench.result import Measured
from kernelwright.codegen.cost.ptx_counts import count_instructions

# Spaces to infer, sums that repeat, and a division of 64 bits.
KERNEL = """
__global__ void mixed(float *out, const float *in, long n, long m) {
    __shared__ float tile[33][33];
    float *place = threadIdx.y ? &tile[0][threadIdx.x] : &tile[1][threadIdx.x];
    *place = in[n / m + threadIdx.x];
    __syncthreads();
    for (int i = 0; i < 3; i++) out[(threadIdx.x + i) * m + n] = tile[i][threadIdx.x] + tile[i + 1][threadIdx.x] + *place;
}
"""


def silent(line: str) -> None:
    pass


def test_what_rows_leave_out() -> None:
    """In the paper's order, each with one group fewer; the last that is left out alone is what stood before it was added."""
    found = configurations()
    names = [group.name for group in GROUPS]
    assert names == ["IU", "MSI", "SL", "AA", "bypass"]
    assert list(found) == ["none", *(f"+ {name}" for name in names), *(f"without {name}" for name in names)]
    assert found["none"] == left_out(GROUPS) and not found["+ bypass"].without and not found["+ bypass"].thresholds
    for fewer, more, group in zip(
        ["none", *(f"+ {name}" for name in names)], [f"+ {name}" for name in names], GROUPS, strict=False
    ):
        assert found[fewer].without - found[more].without == set(group.without)
        assert set(found[fewer].thresholds) - set(found[more].thresholds) == set(group.thresholds)
    assert all(found[f"without {group.name}"] == left_out([group]) for group in GROUPS)


def test_counts_are_those_of_such_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effects, "find_nvcc", lambda: None)
    source = tmp_path / "mixed.cu"
    source.write_text(KERNEL)
    (tmp_path / "broken.cu").write_text("__global__ void broken( { }")
    result = Measured("compile")
    files = [CudaFile("mixed", source, ()), CudaFile("broken", tmp_path / "broken.cu", ())]
    add_effects(files, result, silent, times=False)
    rows = {row["optimisations"]: row for row in result.rows}
    assert list(rows) == [*configurations(), *single_steps()] and not result.promises
    assert set(single_steps()) >= {"without slsr", "without inline", "without par"}
    assert all(row["machine instructions over nvcc's"] is None and "estimated time" not in row for row in rows.values())

    def instructions(*words: str) -> int:
        target = tmp_path / "k.ptx"
        command = [sys.executable, "-m", "kernelwright", "compile", str(source), "-o", str(target), "--arch", "sm_80"]
        subprocess.run([*command, *words], check=True, capture_output=True)
        return count_instructions(target.read_text())

    all_of_them, without = instructions(), instructions("--without", "msi")
    assert all_of_them != without
    assert (
        rows["without MSI"]["PTX instructions"] == round(without / all_of_them, 4)
        and rows["without MSI"]["beside"] == "all"
    )
    none = ["--threshold", "inline=22", "--threshold", "unroll-partial=0"]
    none += [word for group in GROUPS for step in group.without for word in ("--without", step)]
    assert rows["+ bypass"]["PTX instructions"] == round(all_of_them / instructions(*none), 4)
    assert rows["without par"]["PTX instructions"] == round(instructions("--without", "par") / all_of_them, 4)
    assert rows["none"]["PTX instructions"] == 1.0 and rows["none"]["beside"] == "none"


def test_times_are_those_of_profiles(monkeypatch: pytest.MonkeyPatch) -> None:
    us = dict.fromkeys(configurations().values(), 2.0)
    us[configurations()["+ bypass"]] = 1.0
    monkeypatch.setattr(effects, "_counted", lambda file, options, assembler: (10, 0))
    monkeypatch.setattr(effects, "find_nvcc", lambda: None)
    monkeypatch.setattr(effects, "_profiled", lambda name, options: us[options])
    result = Measured("compile")
    add_effects([CudaFile("one", Path("a.cu"), ()), CudaFile("one", Path("b.cu"), ())], result, silent)
    rows = {row.get("optimisations", "us"): row for row in result.rows}
    assert rows["+ bypass"]["estimated time"] == 0.5 and rows["without SL"]["estimated time"] == 2.0
    assert rows["us"] == {
        "program, estimated us": "one",
        **{name: us[options] for name, options in configurations().items()},
    }
    (promise,) = result.promises
    assert promise.value == 0.5 and promise.holds


def test_programs_that_are_hard_to_compile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[list[str]] = []

    def timed(
        files: list[Path], flags: list[str], kw: Path, nvcc: str | None, repeat: int
    ) -> dict[str, tuple[float, float]]:
        assert all(file.is_file() for file in files)
        asked.append(flags)
        return {"nvcc": (2.0, 2.0), "first": (3.0, 3.0), "cold": (1.0, 1.5), "cached": (0.1, 0.1)}

    monkeypatch.setattr(heavy, "against_nvcc", timed)
    monkeypatch.setattr(heavy, "eigen_headers", lambda: None)
    result = Measured("compile")
    heavy.add_heavy(result, tmp_path / "kw", "nvcc", silent)
    assert [row["hard to compile"] for row in result.rows] == ["like SHOC's"] and "cmeel-eigen" in result.notes[0]
    assert (
        result.rows[0]["cold / nvcc"],
        result.rows[0]["cold / nvcc, processor"],
        result.rows[0]["cached / nvcc"],
    ) == (0.5, 0.75, 0.05)
    monkeypatch.setattr(heavy, "eigen_headers", lambda: tmp_path)
    heavy.add_heavy(result, tmp_path / "kw", "nvcc", silent)
    assert result.rows[-1]["hard to compile"] == "Eigen's tensors" and f"-I{tmp_path}" in asked[-1]


def test_where_eigen_is_looked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "numpy"
    package.mkdir()
    (package / "__init__.py").touch()
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setattr("importlib.util.find_spec", lambda name: _spec(package) if name == "numpy" else None)
    assert heavy.eigen_headers() is None
    header = tmp_path.joinpath(*heavy.EIGEN, "unsupported", "Eigen", "CXX11", "Tensor")
    header.parent.mkdir(parents=True)
    header.touch()
    assert heavy.eigen_headers() == tmp_path.joinpath(*heavy.EIGEN)


def _spec(package: Path) -> object:
    class Spec:
        submodule_search_locations = (str(package),)

    return Spec()
