"""The runtime in C: compiled once per machine by the bundled zig, kept in the cache, loaded once per process."""

from __future__ import annotations

import ctypes
import os
import platform
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from kernelwright.cache import cache_folder, content_key, write_atomically
from kernelwright.codegen.simt.emission import struct_offsets
from kernelwright.codegen.simt.emission.row_functions import ROWS
from kernelwright.codegen.simt.launching.runtime_structs import LaunchStruct, SpreadStruct
from kernelwright.cuda.clang import ziglang_folder
from kernelwright.errors import ToolError
from kernelwright.long_steps import announced
from kernelwright.passes.llvm import binding

SOURCES = Path(__file__).parents[1] / "runtime"
FLAGS = (
    "-O2",
    "-fPIC",
    "-shared",
    "-fno-math-errno",
    "-ffp-contract=off",
    "-fno-sanitize=all",
    "-std=gnu17",
)


def _processor() -> str:
    """What ``-march=native`` depends on."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    wanted = ("model name", "flags", "cpu family", "model")
    return "\n".join(dict.fromkeys(line for line in lines if line.split("\t")[0].strip() in wanted))


def library_path() -> Path:
    """The compiled runtime, compiled now when the cache does not have it. Raises ``ToolError`` when zig cannot."""
    path = kept_path()
    if path.is_file():
        return path
    made = compiled()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, made)
        path.chmod(0o755)
    except OSError:
        # A cache that cannot be written to: the library lives as long as the process.
        path = Path(tempfile.mkdtemp(prefix="kernelwright-")) / "simt.so"
        path.write_bytes(made)
    return path


def kept_path() -> Path:
    """Where the cache has it, or would. Raises ``ToolError`` where the sources are missing."""
    files = sorted(SOURCES.glob("*.[ch]"))
    if not files:
        # An empty library would be kept for all who come after.
        raise ToolError(f"{SOURCES} has no sources of the virtual GPU", hint="install Kernelwright again")
    key = content_key([*(f.name for f in files), *(f.read_bytes() for f in files), *_options(), _processor()])
    return cache_folder() / "simt" / f"{key}.so"


def _options(processor: str = "native") -> list[str]:
    return [*FLAGS, f"-march={processor}", *struct_offsets.macros()]


def compiled(processor: str = "native") -> bytes:
    """The runtime for a kind of processor, as zig's ``-march`` names it. Raises ``ToolError`` when zig cannot compile it."""
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
        target = Path(folder) / "simt.so"
        files = map(str, sorted(SOURCES.glob("*.c")))
        command = [
            str(ziglang_folder() / "zig"), "cc", *_options(processor), "-o", str(target), *files, "-lm", "-lpthread"
        ]  # fmt: skip
        with announced("compiling the virtual GPU (once)"):
            run = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
        if run.returncode or not target.is_file():
            first = next((line for line in run.stderr.splitlines() if "error" in line), run.stderr.strip()[:200])
            raise ToolError(f"the runtime of the virtual GPU does not compile: {first}", hint="run `kw doctor`")
        return target.read_bytes()


@cache
def runtime() -> ctypes.CDLL:
    """The loaded runtime; generated code finds its functions by their names."""
    library = ctypes.CDLL(str(library_path()))
    library.simt_run.argtypes = [ctypes.c_void_p]
    library.simt_run.restype = None
    library.simt_halt.argtypes, library.simt_halt.restype = [ctypes.c_void_p], None
    library.simt_run_spread.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.simt_run_spread.restype = ctypes.c_uint32
    library.simt_launch_bytes.restype = library.simt_spread_bytes.restype = library.simt_overreads_bytes.restype = (
        ctypes.c_uint64
    )
    assert library.simt_launch_bytes() == ctypes.sizeof(LaunchStruct), "runtime_structs.py and launch.h disagree"
    assert library.simt_spread_bytes() == ctypes.sizeof(SpreadStruct), "runtime_structs.py and spread.h disagree"
    for name, address in _addresses(library).items():
        binding().add_symbol(name, address)
    return library


@cache
def addresses() -> dict[str, int]:
    """By name, where the functions are that generated code calls."""
    return _addresses(runtime())


def _addresses(library: ctypes.CDLL) -> dict[str, int]:
    names = [f"simt_{name}" for name in struct_offsets.FUNCTIONS] + [f"row_{name}" for name in ROWS]
    return {name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in names}
