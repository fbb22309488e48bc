"""The engine in C: compiled once per machine by the bundled zig, kept in the cache, loaded once per process."""

from __future__ import annotations

import ctypes
import platform
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from kernelwright.cache import cache_folder, content_key, write_atomically
from kernelwright.errors import ToolError

SOURCE = Path(__file__).parent / "c" / "engine.c"
FLAGS = ("-std=gnu11", "-O3", "-g0", "-fPIC", "-shared", "-fno-sanitize=all", "-Wall", "-Wextra", "-Werror")

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
    loaded = ctypes.CDLL(str(_path()))
    for name, (arguments, result) in _FUNCTIONS.items():
        function = getattr(loaded, name)
        function.argtypes, function.restype = arguments, result
    return loaded


def _path() -> Path:
    """The compiled library, compiled now when the cache does not have it."""
    key = content_key([SOURCE.read_bytes(), *FLAGS, platform.machine()])
    path = cache_folder() / "space" / f"{key}.so"
    if path.is_file():
        return path
    made = _compiled()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, made)
    except OSError:
        # A cache that cannot be written to: the library lives as long as the process.
        path = Path(tempfile.mkdtemp(prefix="kernelwright-")) / "space.so"
        path.write_bytes(made)
    return path


def _compiled() -> bytes:
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
        target = Path(folder) / "space.so"
        command = [sys.executable, "-m", "ziglang", "cc", *FLAGS, "-o", str(target), str(SOURCE), "-lm"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode or not target.is_file():
            first = next((line for line in run.stderr.splitlines() if "error" in line), run.stderr.strip()[:200])
            raise ToolError(f"the engine of spaces does not compile: {first}", hint="run `kw doctor`")
        return target.read_bytes()
