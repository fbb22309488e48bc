"""C files of a space: compiled once per machine by the bundled zig, kept in the cache, loaded once per process."""

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
from kernelwright.long_steps import announced

FLAGS = (
    "-std=gnu11", "-O3", "-mcpu=baseline", "-g0", "-fPIC", "-shared", "-fno-sanitize=all", "-ffp-contract=off",
    "-Wall", "-Wextra", "-Werror",
)  # fmt: skip


@cache
def load_c(source: Path) -> ctypes.CDLL:
    """A file with the headers beside it. Raises ``ToolError`` when it cannot be compiled."""
    headers = [path.read_bytes() for path in sorted(source.parent.glob("*.h"))]
    key = content_key([source.read_bytes(), *headers, *FLAGS, platform.machine()])
    path = cache_folder() / "space" / f"{key}.so"
    if not path.is_file():
        path = _kept(_compile(source), path)
    return ctypes.CDLL(str(path))


def _kept(made: bytes, path: Path) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, made)
    except OSError:
        # A cache that cannot be written to: the library lives as long as the process.
        path = Path(tempfile.mkdtemp(prefix="kernelwright-")) / path.name
        path.write_bytes(made)
    return path


def _compile(source: Path) -> bytes:
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
        target = Path(folder) / "library.so"
        command = [sys.executable, "-m", "ziglang", "cc", *FLAGS, "-o", str(target), str(source), "-lm"]
        with announced("compiling the engine of spaces (once)"):
            run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode or not target.is_file():
            first = next((line for line in run.stderr.splitlines() if "error" in line), run.stderr.strip()[:200])
            raise ToolError(f"{source.name} does not compile: {first}", hint="run `kw doctor`")
        return target.read_bytes()
