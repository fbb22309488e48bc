"""What a grid and a block may be, on every GPU we know."""

from __future__ import annotations

from kernelwright.cuda.names import readable
from kernelwright.errors import DeviceError
from kernelwright.launch import Triple

MAX_THREADS = 1024
MAX_BLOCK = (1024, 1024, 64)
MAX_GRID = (2**31 - 1, 65535, 65535)
"""CUDA C Programming Guide, "Features and Technical Specifications"."""


def check_geometry(kernel_name: str, grid: Triple, block: Triple) -> None:
    """Raises ``DeviceError`` for a grid or block that no GPU accepts."""
    threads = block[0] * block[1] * block[2]
    for what, sizes, limits in (("grid", grid, MAX_GRID), ("block", block, MAX_BLOCK)):
        if any(not 1 <= n <= limit for n, limit in zip(sizes, limits, strict=True)):
            raise DeviceError(f"Kernel '{readable(kernel_name)}' cannot be launched with a {what} of {sizes}: each number must be "
                              f"at least 1, and at most {limits}.")  # fmt: skip
    if threads > MAX_THREADS:
        raise DeviceError(
            f"Kernel '{readable(kernel_name)}' cannot be launched with {threads} threads per block; the most is {MAX_THREADS}.",
            hint="use smaller blocks and more of them",
        )
