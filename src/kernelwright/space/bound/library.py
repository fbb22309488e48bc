"""The functions of ``c/bound.c``."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path

from kernelwright.space.engine.compiled_c import load_c


@cache
def bound_library() -> ctypes.CDLL:
    """Raises ``ToolError`` when it cannot be compiled."""
    loaded = load_c(Path(__file__).parent / "c" / "bound.c")
    pointer, real, integer = ctypes.c_void_p, ctypes.c_double, ctypes.c_int64
    loaded.bound_terms.argtypes = [pointer, pointer, real, real, pointer, pointer]
    loaded.bound_terms.restype = real
    loaded.bound_many.argtypes = [pointer, pointer, integer, integer, real, real, pointer]
    loaded.bound_many.restype = None
    loaded.bound_struct_bytes.restype = integer
    return loaded
