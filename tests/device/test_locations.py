"""Which files are not the user's: a finding is at the line that called into them."""

from __future__ import annotations

import pytest

from kernelwright.device.locations import is_header


@pytest.mark.parametrize(
    ("file", "is_ours"),
    [
        ("/home/me/.venv/lib/python3.12/site-packages/nvidia/cuda_runtime/include/surface_indirect_functions.h", True),
        ("/site-packages/nvidia/cuda_cccl/include/cub/block/block_scan.cuh", True),
        ("/usr/local/cuda/include/surface_indirect_functions.h", True),
        ("/usr/local/cuda-13.0/targets/x86_64-linux/include/cccl/thrust/reduce.h", True),
        ("/opt/cuda-12.4/include/math_functions.hpp", True),
        ("/home/me/src/kernelwright/cuda/include/kernelwright/warp.h", True),
        ("/home/me/kernels/cuda/include/stencil.cuh", False),
        ("/home/me/kernels/cuda-kernels/include/stencil.cuh", False),
        ("app.cu", False),
    ],
)
def test_files_of_headers(file: str, is_ours: bool) -> None:
    assert is_header(file) == is_ours
