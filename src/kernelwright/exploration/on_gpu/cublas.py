"""cuBLAS by its C interface: what an explored kernel is compared with on a GPU."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kernelwright.errors import ToolError


class Blas:
    """cuBLAS in the context that is current. Raises ``ToolError`` where a call fails."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self._handle = ctypes.c_void_p()
        self._call("cublasCreate_v2", ctypes.byref(self._handle))

    def product(self, m: int, n: int, k: int, a: int, b: int, c: int) -> None:
        """C = A * B, row after row: of columns, which cuBLAS has, it is B * A."""
        one, zero = ctypes.byref(ctypes.c_float(1)), ctypes.byref(ctypes.c_float(0))
        pointer = ctypes.c_void_p
        self._call(
            "cublasSgemm_v2", self._handle, 0, 0, n, m, k, one, pointer(b), n, pointer(a), k, zero, pointer(c), n
        )

    def add(self, n: int, alpha: float, x: int, y: int) -> None:
        """y = alpha * x + y."""
        factor = ctypes.byref(ctypes.c_float(alpha))
        self._call("cublasSaxpy_v2", self._handle, n, factor, ctypes.c_void_p(x), 1, ctypes.c_void_p(y), 1)

    def _call(self, name: str, *arguments: Any) -> None:
        status = getattr(self._library, name)(*arguments)
        if status:
            raise ToolError(f"{name} returned {status}")


def find_cublas() -> tuple[Blas | None, str]:
    """cuBLAS, and why there is none."""
    trouble = "libcublas is not found"
    for path in _libraries():
        try:
            return Blas(ctypes.CDLL(path)), ""
        except (OSError, ToolError, AttributeError) as error:
            trouble = str(error)
    return None, trouble


def _libraries() -> Iterator[str]:
    """Where it may lie: as the loader finds it, in NVIDIA's packages, in a toolkit."""
    for version in (13, 12):
        yield f"libcublas.so.{version}"
    folders = [Path(entry) / "nvidia" for entry in sys.path if entry]
    for folder in [*folders, Path("/usr/local/cuda")]:
        yield from map(str, sorted(folder.glob("**/libcublas.so.1*")))
