"""The options that a program's IR carries: they survive LLVM and our own text, and estimates are of code made with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kernelwright.codegen.carried_options import carried, carrying
from kernelwright.codegen.ptx import emit_ptx
from kernelwright.cuda.blob import read
from kernelwright.executable import device_blob
from kernelwright.ir.clone import clone_module
from kernelwright.ir.text.parser import parse_module
from kernelwright.ir.text.printer import print_module
from kernelwright.passes.llvm import parsed
from kernelwright.passes.options import DEFAULT, PassOptions
from kernelwright.pipeline import CompileOptions, Program
from kernelwright.pipeline import compile as compile_program
from tests.run.conftest import kw

DIVIDES = """
extern "C" __global__ void divides(long *p, long m) {
    long sum = 0;
    for (int i = 1; i < 50; i++) sum += p[threadIdx.x] / (m + i);
    p[threadIdx.x] = sum;
}
"""
OPTIONS = (
    PassOptions.of(without=["bypass"]),
    PassOptions.of(level=2, without=["slsr", "msaa"], thresholds={"inline": 22, "unroll": 0}),
)


def program(folder: Path, options: PassOptions) -> Program:
    source = folder / "divides.cu"
    source.write_text(DIVIDES)
    return compile_program(source, options=CompileOptions(passes=options))


@pytest.mark.parametrize("options", OPTIONS)
def test_they_survive(options: PassOptions, tmp_path: Path) -> None:
    (unit,) = program(tmp_path, options).units
    text = read(device_blob(unit)).ir
    module = parse_module(text)
    assert carried(module) == options
    assert carried(parse_module(print_module(clone_module(module)[0]))) == options
    with parsed(text) as by_llvm:
        assert carried(parse_module(str(by_llvm))) == options
    assert emit_ptx(text, "sm_80", options) == emit_ptx(unit.optimised, "sm_80", options)


def test_the_usual_ones_are_not_written(tmp_path: Path) -> None:
    (unit,) = program(tmp_path, DEFAULT).units
    assert read(device_blob(unit)).ir == unit.optimised and carried(parse_module(unit.optimised)) == DEFAULT
    assert carrying(unit.optimised, DEFAULT) is unit.optimised


def test_estimates_are_of_code_made_with_them(tmp_path: Path) -> None:
    """A division that is not bypassed is another division."""
    (tmp_path / "app.cu").write_text(
        DIVIDES
        + "int main() { long *p; cudaMalloc(&p, 2048); divides<<<64, 256>>>(p, 1000); return cudaDeviceSynchronize(); }"
    )

    def estimated(*words: str) -> float:
        ran = kw("profile", "--json", "--device", "h200", *words, "app.cu", cwd=tmp_path)
        return float(json.JSONDecoder().raw_decode(ran.out)[0]["kernels"][0]["time_us"])

    assert estimated() != pytest.approx(estimated("--without", "bypass"), rel=0.02)
