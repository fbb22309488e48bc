"""Which pipes conversions and divisions take, by architecture."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.codegen.machine.assemble import find_assemblers
from kernelwright.codegen.machine.block_counts import machine_code
from kernelwright.codegen.ptx import emit_ptx
from kernelwright.ir import print_module
from kernelwright.pipeline import compile as compile_program

pytestmark = pytest.mark.skipif(not find_assemblers(), reason="neither nvJitLink nor ptxas is installed")


@pytest.mark.parametrize(
    ("arch", "wide"), [("sm_75", "fp64"), ("sm_86", "fp64"), ("sm_89", "fp64"), ("sm_80", "xu"), ("sm_90", "xu")]
)
def test_conversions_of_64_bits_share_few_double_precision_units(arch: str, wide: str, tmp_path: Path) -> None:
    source = tmp_path / "convert.cu"
    source.write_text(
        "__global__ void to_double(double *o, const float *i) { o[threadIdx.x] = i[threadIdx.x]; }\n"
        "__global__ void from_double(float *o, const double *i) { o[threadIdx.x] = i[threadIdx.x]; }\n"
        "__global__ void long_of_float(long long *o, const float *i) { o[threadIdx.x] = i[threadIdx.x]; }\n"
        "__global__ void float_of_long(float *o, const long long *i) { o[threadIdx.x] = i[threadIdx.x]; }\n"
        "__global__ void int_of_float(int *o, const float *i) { o[threadIdx.x] = i[threadIdx.x]; }\n"
    )
    module = compile_program(source, arch=arch).units[0].module
    machine = machine_code(emit_ptx(print_module(module), arch), arch)
    assert len(machine.functions) == 5
    for name, function in machine.functions.items():
        pipes = {
            e.instruction.pipe for of in function.blocks.values() for e in of if e.instruction.kind == "conversion"
        }
        assert pipes == {"xu" if "int_of_float" in name else wide}, name


def test_a_division_is_two_turns_of_the_unit_for_reciprocals(tmp_path: Path) -> None:
    """Measured on an H200: 7.4 lanes a cycle, where a reciprocal has 15.9."""
    source = tmp_path / "divide.cu"
    source.write_text(
        "__global__ void divide(float *o, const float *i) { o[threadIdx.x] = i[threadIdx.x] / i[threadIdx.x + 32]; }\n"
    )
    module = compile_program(source, arch="sm_90").units[0].module
    (function,) = machine_code(emit_ptx(print_module(module), "sm_90"), "sm_90").functions.values()
    straight = [e.instruction for e in next(of for label, of in function.blocks.items() if label == "entry")]
    assert sum(each.pipe == "xu" for each in straight) >= 2
    assert {each.kind for each in straight if each.pipe == "xu"} == {"special", "fp32"}
