"""What programs learn from the names of include guards: every header of ours has its counterpart's, and nvcc's are there at once."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from kernelwright.cuda.toolkit import wheel_headers
from kernelwright.errors import ToolError

from .conftest import HEADERS, CudaCompiler

# What `nvcc -E -Xcompiler -dM` of CUDA 13.0 defines before the first line of a program, but for sm_100's.
AT_ONCE = """
__CHANNEL_DESCRIPTOR_H__ __COMMON_FUNCTIONS_H__ __CUDA_DEVICE_RUNTIME_API_H__ __CUDA_RUNTIME_API_H__ __CUDA_RUNTIME_H__
__DEVICE_ATOMIC_FUNCTIONS_H__ __DEVICE_DOUBLE_FUNCTIONS_H__ __DEVICE_FUNCTIONS_H__ __DEVICE_LAUNCH_PARAMETERS_H__
__DEVICE_TYPES_H__ __DRIVER_FUNCTIONS_H__ __DRIVER_TYPES_H__ __HOST_CONFIG_H__ __HOST_DEFINES_H__ __MATH_FUNCTIONS_H__
__SM_20_ATOMIC_FUNCTIONS_H__ __SM_20_INTRINSICS_H__ __SM_30_INTRINSICS_H__ __SM_32_ATOMIC_FUNCTIONS_H__
__SM_32_INTRINSICS_H__ __SM_35_ATOMIC_FUNCTIONS_H__ __SM_35_INTRINSICS_H__ __SM_60_ATOMIC_FUNCTIONS_H__
__SM_61_INTRINSICS_H__ __SM_70_RT_H__ __SM_80_RT_H__ __SM_90_RT_H__ __TEXTURE_INDIRECT_FUNCTIONS_H__ __TEXTURE_TYPES_H__
__VECTOR_FUNCTIONS_H__ __VECTOR_TYPES_H__ CUDART_VERSION __CUDACC_VER_MAJOR__ __CUDACC_VER_MINOR__
"""


def demanded(names: list[str]) -> str:
    return "".join(f"#ifndef {name}\n#error {name}\n#endif\n" for name in names)


def counterparts() -> dict[str, str]:
    """Of each header that both NVIDIA and we have, NVIDIA's include guard."""
    try:
        folders = [Path(folder) for folder in wheel_headers().folders]
    except ToolError:
        return {}
    found = {}
    for header in sorted(HEADERS.rglob("*.h")):
        name = str(header.relative_to(HEADERS))
        for folder in folders:
            if (folder / name).is_file() and not name.startswith(("thrust/", "cub/")):
                text = (folder / name).read_text(errors="replace")
                guards = re.findall(
                    r"#\s*(?:if\s+!\s*defined\s*\(|ifndef\s+)(\w+_[Hh]_*)\s*\)?\s*\n\s*#\s*define\s+\1\s*\n", text
                )
                if guards:
                    found[name] = guards[0]
    return found


@pytest.mark.parametrize("side", ["device", "host"])
def test_what_nvcc_defines_is_there_at_once(compile_cuda: CudaCompiler, side: str) -> None:
    compiled = compile_cuda(demanded(AT_ONCE.split()), side=side)
    assert compiled.ok, compiled.errors


def test_every_header_has_the_guard_of_its_counterpart(compile_cuda: CudaCompiler) -> None:
    names = counterparts()
    if not names:
        pytest.skip("NVIDIA's header wheels are not installed")
    assert len(names) > 30
    includes = "".join(f"#include <{name}>\n" for name in names)
    compiled = compile_cuda(includes + demanded(list(names.values())), side="host")
    assert compiled.ok, compiled.errors


def test_plain_c_sees_the_types_headers_by_name(tmp_path: Path) -> None:
    """A C file that includes one header, as helper libraries do."""
    for header, guard in [("driver_types.h", "__DRIVER_TYPES_H__"), ("vector_types.h", "__VECTOR_TYPES_H__")]:
        source = tmp_path / "one.c"
        source.write_text(f"#include <{header}>\n{demanded([guard])}int unused;\n")
        done = subprocess.run(
            ["cc", "-I", str(HEADERS), "-c", str(source), "-o", str(tmp_path / "one.o")], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr


def test_random_numbers_in_plain_cpp_are_those_of_device_code(tmp_path: Path) -> None:
    """A header that host and device code share includes curand_kernel.h. The numbers: see test_random.py."""
    source = tmp_path / "numbers.cpp"
    source.write_text("""
#include <curand_kernel.h>
#include <stdio.h>
int main() {
    curandState a; curandStatePhilox4_32_10_t b;
    curand_init(1234, 0, 0, &a); curand_init(1234, 0, 0, &b);
    unsigned first = curand(&a), second = curand(&b);
    printf("%u %u", first, second);
}
""")
    program = tmp_path / "numbers"
    done = subprocess.run(["c++", "-I", str(HEADERS), str(source), "-o", str(program)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert subprocess.run([str(program)], capture_output=True, text=True).stdout == "624778773 546353992"


def test_eigen_is_told_that_one_function_may_have_a_body_for_each_side(compile_cuda: CudaCompiler) -> None:
    """It asks ``__NVCC__``, which we define, before it includes this header; Eigen's half has operators for each side then."""
    text = '#define EIGEN_COMP_NVCC 130000\n#include <cuda_fp16.h>\nstatic_assert(EIGEN_COMP_NVCC == 0 && __NVCC__ == 1, "");\n'
    for side in ("device", "host"):
        compiled = compile_cuda(text, side=side)
        assert compiled.ok, compiled.errors
    assert not compile_cuda("#include <cuda_fp16.h>\nint a = EIGEN_COMP_NVCC;").ok
