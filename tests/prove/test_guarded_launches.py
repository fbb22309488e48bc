"""Programs in which some launches run a variant and others the original, because of its guards."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kernelwright.evaluate.judging.case_runner import Modules, by_kernel
from kernelwright.evaluate.workload.case import Case, Step
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.guards import ArgumentIs, BlockIs, GridIs
from kernelwright.ir import parse_module, print_module
from kernelwright.pipeline import compile as compile_program
from kernelwright.prove import Effort, Proof, Prover

COUNT = 64
SOURCE = """
extern "C" __global__ void twice(int *__restrict__ between, const int *__restrict__ in) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    between[i] = 2 * in[i];
}
extern "C" __global__ void add(int *__restrict__ out, int *__restrict__ between, const int *__restrict__ in, int times) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = between[i] + times * in[i];
    between[i] = 0;
}
"""
ADD_ALONE = ("between[i] + times * in[i]", "between[i] + 3 * in[i]")
NO_STORE = ("between[i] = 2 * in[i];", "{}")
ADD_FOR_BOTH = ("between[i] + times * in[i]", "5 * in[i]")
GIVEN = (GridIs((2, 1, 1)), BlockIs((32, 1, 1)))
THREE_TIMES = ArgumentIs(3, "i32 3", (3).to_bytes(4, "little"))


def compiled(folder: Path, *changes: tuple[str, str]) -> Modules:
    text = SOURCE
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    folder.mkdir()
    path = folder / "kernels.cu"
    path.write_text(text)
    module = compile_program(path).module
    return by_kernel(parse_module(print_module(module)))


def case(times: int) -> Case:
    given = np.arange(1, COUNT + 1, dtype=np.int32)
    out, between = np.zeros(COUNT, np.int32), np.zeros(COUNT, np.int32)
    first = Step((2,), (32,), {"between": between, "in": given}, kernel="twice")
    second = Step((2,), (32,), {"out": out, "between": between, "in": given, "times": times}, kernel="add")
    return Case(launches=(first, second), name=f"{times} times")


def proof_of(tmp_path: Path, *changes: tuple[str, str], held_out: tuple[Case, ...] = ()) -> Proof:
    original, changed = compiled(tmp_path / "original"), compiled(tmp_path / "variant", *changes)
    workload = Workload(tmp_path / "original" / "kernels.cu", "add", (case(3),))
    prover = Prover(workload, original, effort=Effort(changes=12, draws=2), held_out=held_out)
    kernels = {"twice", "add"} if NO_STORE in changes else {"add"}
    return prover.prove(
        {kernel: changed[kernel] for kernel in kernels}, guards={"twice": GIVEN, "add": (*GIVEN, THREE_TIMES)}
    )


def test_kernels_that_depend_on_each_others_variant(tmp_path: Path) -> None:
    """The one leaves out what only the other's original reads, and that one runs wherever the guard does not hold."""
    proof = proof_of(tmp_path, NO_STORE, ADD_FOR_BOTH)
    assert proof.label == "data-specific", str(proof)
    assert proof.check("training").status == "passed" and proof.check("different").status == "failed"


def test_a_kernel_that_stands_by_itself(tmp_path: Path) -> None:
    proof = proof_of(tmp_path, ADD_ALONE)
    assert proof.label == "clean", str(proof)
    assert any("outside what the variant is meant for (argument 3 == i32 3" in note for note in proof.notes)


@pytest.mark.parametrize("times", [3, 4])
def test_held_out_data_run_as_the_program_would(tmp_path: Path, times: int) -> None:
    """On 4 times the changed ``add`` is not used, and the changed ``twice`` is."""
    proof = proof_of(tmp_path, NO_STORE, ADD_FOR_BOTH, held_out=(case(times),))
    held_out = proof.check("held-out")
    assert held_out.status == ("failed" if times == 4 else "passed"), str(proof)
