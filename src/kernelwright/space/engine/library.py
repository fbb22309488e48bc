"""The engine in C, and the arguments of its functions."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path

from kernelwright.space.engine.compiled_c import load_c

SOURCE = Path(__file__).parent / "c" / "engine.c"

_POINTER, _INT, _MASK = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint16
_FUNCTIONS: dict[str, tuple[list[type], type | None]] = {
    "space_root": ([_POINTER, _POINTER], _INT),
    "space_restrict": ([_POINTER, _POINTER, _INT, _MASK], _INT),
    "space_replay": ([_POINTER, _POINTER, _POINTER, _INT], _INT),
    "space_open": ([_POINTER, _POINTER, _POINTER, _INT, _INT], _INT),
    "space_expand": ([_POINTER, _POINTER, _INT, _POINTER, _POINTER], _INT),
    "space_descend": ([_POINTER, _POINTER, _POINTER, _INT, _POINTER, _POINTER], _INT),
    "space_walks": ([_POINTER, _POINTER, _POINTER, _POINTER, _INT, _INT, _POINTER, _POINTER], None),
    "space_enumerate": ([*[_POINTER] * 3, _INT, _INT, *[_POINTER] * 6, ctypes.c_int64], ctypes.c_int64),
    "space_struct_bytes": ([], ctypes.c_int64),
}


@cache
def library() -> ctypes.CDLL:
    """Raises ``ToolError`` when it cannot be compiled."""
    loaded = load_c(SOURCE)
    for name, (arguments, result) in _FUNCTIONS.items():
        function = getattr(loaded, name)
        function.argtypes, function.restype = arguments, result
    return loaded
