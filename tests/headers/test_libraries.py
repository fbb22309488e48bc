"""Headers of libraries have NVIDIA's numbers: they are in its documentation, and programs print and store them."""

from __future__ import annotations

import subprocess

import pytest

from kernelwright.cuda.clang import HEADERS, Clang, find_clang

CUFFT = {
    "CUFFT_FORWARD": -1, "CUFFT_INVERSE": 1,
    "CUFFT_C2C": 0x29, "CUFFT_R2C": 0x2A, "CUFFT_C2R": 0x2C, "CUFFT_Z2Z": 0x69, "CUFFT_D2Z": 0x6A, "CUFFT_Z2D": 0x6C,
    "CUFFT_SUCCESS": 0, "CUFFT_INVALID_PLAN": 1, "CUFFT_ALLOC_FAILED": 2, "CUFFT_INVALID_TYPE": 3, "CUFFT_INVALID_VALUE": 4,
    "CUFFT_INTERNAL_ERROR": 5, "CUFFT_EXEC_FAILED": 6, "CUFFT_SETUP_FAILED": 7, "CUFFT_INVALID_SIZE": 8,
    "CUFFT_UNALIGNED_DATA": 9, "CUFFT_INCOMPLETE_PARAMETER_LIST": 10, "CUFFT_INVALID_DEVICE": 11, "CUFFT_PARSE_ERROR": 12,
    "CUFFT_NO_WORKSPACE": 13, "CUFFT_NOT_IMPLEMENTED": 14, "CUFFT_LICENSE_ERROR": 15, "CUFFT_NOT_SUPPORTED": 16,
    "sizeof(cufftHandle)": 4, "sizeof(cufftDoubleComplex)": 16,
}  # fmt: skip


@pytest.fixture(scope="module")
def clang() -> Clang:
    return find_clang()


@pytest.mark.parametrize("header, numbers", [("cufftXt.h", CUFFT)])
@pytest.mark.parametrize("language", ["c", "c++"])
def test_numbers(clang: Clang, language: str, header: str, numbers: dict[str, int]) -> None:
    checks = "".join(f'_Static_assert((int)({name}) == {value}, "{name}");\n' for name, value in numbers.items())
    text = f"#include <{header}>\n{checks if language == 'c' else checks.replace('_Static_assert', 'static_assert')}"
    command = [*clang.command, *clang.header_flags, "-isystem", str(HEADERS), "-x", language, "-fsyntax-only", "-Wall", "-Werror", "-"]  # fmt: skip
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
