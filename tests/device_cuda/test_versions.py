"""Versions of kernels on a real GPU (a stand-in's, here, which adds 2 in the place of 1 for code with WRONG in it)."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kernelwright.codegen.ptx import emit_ptx
from kernelwright.device.versions.comparison import extents_of
from kernelwright.executable import build_executable
from kernelwright.guards import Apart, ArgumentIs, Guard
from kernelwright.ir.kernel_digest import kernel_digest
from kernelwright.kernel_version import Version
from kernelwright.launch_relations import Relation, quantity
from kernelwright.pipeline import Program
from kernelwright.pipeline import compile as compile_program

from .conftest import Fake

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
SOURCE = """
#include <cstdio>
#include <cuda_runtime.h>
VARIABLE
extern "C" __global__ void add_one(float *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += ONE;
}
int main() {
    float host[500] = {}, *p;
    cudaMalloc(&p, sizeof host);
    cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice);
    for (int k = 0; k < 3; k++) add_one<<<4, 128>>>(p, k < 2 ? 500 : 400);
    cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
    printf("%g\\n", host[0]);
    return 0;
}
"""
N_IS_500 = ArgumentIs(1, "i32 500", (500).to_bytes(4, "little"))


def source(folder: Path, variable: bool = False) -> Path:
    path = folder / "adding.cu"
    text = SOURCE.replace("VARIABLE", "__device__ float one = 1;" if variable else "")
    path.write_text(text.replace("ONE", "one" if variable else "1"))
    return path


def version_of(program: Program, *guards: Guard) -> Version:
    (unit,) = program.units
    marked = unit.optimised.replace("\ndefine ", "\n@WRONG = addrspace(1) global i32 0\n\ndefine ", 1)
    return Version(
        "add_one", "adding-1:v2", "clean", kernel_digest(unit.module, "add_one"), extents_of(unit.module.functions["add_one"]),
        marked, guards, tuple(map(str, guards)), {"sm_90": emit_ptx(marked, "sm_90")},
    )  # fmt: skip


@pytest.fixture
def run(python: Callable[[str], str], fake: Fake, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Runs a program with a version on the stand-in: what it printed, and what was counted and said."""

    def go(executable: Path, version: Version) -> dict[str, Any]:
        given = tmp_path / "version.json"
        given.write_text(json.dumps(version.as_json()))
        code = f"""
import json
from pathlib import Path
from kernelwright.device.serving.run_program import run_program
from kernelwright.device.serving.worker import serve
from kernelwright.device.settings import Settings
from kernelwright.kernel_version import version_from_json
settings = Settings.for_device("cuda:0")
versions = [version_from_json(json.loads(Path({str(given)!r}).read_text()))]
def connection(given):
    session = serve(given, lambda: settings, versions=versions)
    return json.dumps({{"rows": session.versions(), "said": session.device.remarks()}}).encode()
ran = run_program([{str(executable)!r}], settings, connection)
print(ran.results[0].decode())
"""
        printed, told = python(code).strip().splitlines()
        return {"printed": printed, **json.loads(told)}

    return go


Run = Callable[..., dict[str, Any]]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return compile_program(source(tmp_path))


@pytest.mark.parametrize(
    ("guards", "printed", "failed"),
    [
        ((), "6", {}),
        ((N_IS_500,), "5", {"argument 1 == i32 500": 1}),
        ((Apart(0), Relation((quantity("bytes", 0),), ">=", (quantity("argument", 1, 4),))), "6", {}),
        (
            (Relation((quantity("bytes", 0),), ">=", (quantity("argument", 1, 5),)),),
            "4",
            {"bytes behind argument 0 >= 5 * argument 1": 2},
        ),
    ],
)
def test_a_version_runs_where_its_checks_hold(
    run: Run, program: Program, tmp_path: Path, guards: tuple[Guard, ...], printed: str, failed: dict[str, int]
) -> None:
    executable, _ = build_executable(program, [], tmp_path / "app")
    found = run(executable, version_of(program, *guards))
    assert found["printed"] == printed
    (row,) = found["rows"]
    used = int(printed) - 3
    assert (row["versions"][0]["launches"], row["original"]["launches"]) == (used, 3 - used)
    assert row["versions"][0]["failed"] == failed and found["said"] == []


def test_a_program_that_carries_its_version(program: Program, tmp_path: Path, fake: Fake, run: Run) -> None:
    version = version_of(program, N_IS_500)
    executable, _ = build_executable(program, [], tmp_path / "app", versions={program.units[0].path: [version]})
    assert run(executable, replace(version, kernel="nothing"))["printed"] == "5"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"original": "0" * 64}, "not the one that the run began with"),
        ({"parameters": ((0, 8),)}, "its parameters are others now"),
        ({"kernel": "add_two"}, "the program has no kernel add_two"),
    ],
)
def test_another_kernel_keeps_its_own(
    run: Run, program: Program, tmp_path: Path, change: dict[str, Any], why: str
) -> None:
    executable, _ = build_executable(program, [], tmp_path / "app")
    found = run(executable, replace(version_of(program), **change))
    assert found["printed"] == "3" and any(why in sentence for sentence in found["said"])


def test_a_kernel_with_device_variables_keeps_its_own(run: Run, tmp_path: Path) -> None:
    program = compile_program(source(tmp_path, variable=True))
    executable, _ = build_executable(program, [], tmp_path / "app")
    found = run(executable, version_of(program))
    assert found["printed"] == "3" and "uses device variable one" in found["said"][0]


@pytest.mark.skipif(NVCC is None, reason="there is no nvcc here")
def test_a_program_that_nvcc_built(run: Run, program: Program, tmp_path: Path) -> None:
    assert NVCC is not None
    executable = tmp_path / "by_nvcc"
    subprocess.run([NVCC, "-w", "-cudart", "shared", "-o", executable, tmp_path / "adding.cu"], check=True)
    found = run(executable, version_of(program, N_IS_500))
    assert found["printed"] == "5"
    assert "was compiled by nvcc" in found["said"][0] and "name and parameters alone" in found["said"][0]
