"""The model's inner loops in C: compiled once per machine by the bundled zig, kept in the cache, loaded once per process."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelwright.cache import cache_folder, content_key, write_atomically
from kernelwright.cuda.clang import ziglang_folder
from kernelwright.errors import ToolError
from kernelwright.long_steps import announced

SOURCE = Path(__file__).parent / "c" / "loops.c"
FLAGS = ("-std=gnu11", "-O2", "-g0", "-fPIC", "-shared", "-fno-sanitize=all", "-Wall", "-Wextra", "-Werror")

STEP = np.dtype(
    [
        ("stall", "<i4"), ("latency", "<i4"), ("release", "<i4"), ("sets", "<i4"), ("frees", "<i4"),
        ("wait_first", "<i4"), ("wait_last", "<i4"), ("barrier", "<i4"), ("blocks", "<i4"), ("own", "<i4"),
    ]
)  # fmt: skip
REQUEST = np.dtype([("access", "<i4"), ("kind", "<i4"), ("block", "<i4"), ("first_line", "<i4"), ("last_line", "<i4")])
KINDS = {"load": 0, "store": 1, "atomic": 2, "local load": 3, "local store": 4}
COLUMNS = ("sectors", "in_l1", "at_l2", "from_dram", "to_dram", "slowest_l1", "slowest_l2", "slowest_dram")

Integers = npt.NDArray[np.int64]


def run_block(
    starts: npt.NDArray[np.int32],
    paths: npt.NDArray[np.int32],
    first: npt.NDArray[np.int32],
    last: npt.NDArray[np.int32],
    steps: npt.NDArray[Any],
    waits: npt.NDArray[np.int32],
    slots: int,
    barrier: tuple[int, int],
    cost: Integers,
    own: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]] | None = None,
) -> tuple[int, int, int]:
    """``model_block`` of loops.c: cycles, barriers, and cycles the barriers themselves took; ``cost`` is added to.

    ``own``: per entry of ``paths`` where its waits begin, and the waits.
    Raises ``ToolError`` when memory runs out.
    """
    begins, known = (_address(each) for each in own) if own is not None else (None, None)
    cycles, barriers, extra = ctypes.c_int64(), ctypes.c_int64(), ctypes.c_int64()
    status = _library().model_block(
        len(starts) - 1, _address(starts), _address(paths), _address(first), _address(last), _address(steps),
        _address(waits), begins, known, slots, *barrier, _address(cost), ctypes.byref(cycles), ctypes.byref(barriers),
        ctypes.byref(extra),
    )  # fmt: skip
    if status:
        raise ToolError("the timing model ran out of memory", hint="watch fewer thread blocks")
    return cycles.value, barriers.value, extra.value


def replay(
    requests: npt.NDArray[Any],
    lines: npt.NDArray[np.uint64],
    l1: tuple[int, int],
    l2: tuple[int, int],
    accesses: int,
    blocks: int,
) -> tuple[Integers, Integers, npt.NDArray[np.uint8]]:
    """``model_caches`` of loops.c; ``l1`` and ``l2`` are sets and ways. Per access the counts of ``COLUMNS``; per block
    sectors read from and written to memory; per line asked for, where the slowest of its sectors came from: L1, L2, memory.
    Raises ``ToolError`` when memory runs out."""
    counts = np.zeros((max(1, accesses), len(COLUMNS)), np.int64)
    by_block = np.zeros((max(1, blocks), 2), np.int64)
    come_from = np.zeros(len(lines), np.uint8)
    status = _library().model_caches(
        len(requests), _address(requests), _address(lines), blocks, *l1, *l2, _address(counts), _address(by_block),
        _address(come_from),
    )  # fmt: skip
    if status:
        raise ToolError("the timing model ran out of memory", hint="watch fewer thread blocks")
    return counts, by_block, come_from


def _address(array: npt.NDArray[Any]) -> int:
    assert array.flags.c_contiguous
    address: int = array.ctypes.data
    return address


@cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(str(_path()))
    pointer, wide, narrow = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32
    library.model_block.argtypes = [narrow, *[pointer] * 8, narrow, wide, wide, *[pointer] * 4]
    library.model_caches.argtypes = [wide, pointer, pointer, narrow, *[ctypes.c_uint64] * 4, *[pointer] * 3]
    return library


def _path() -> Path:
    """The compiled library, compiled now when the cache does not have it. Raises ``ToolError`` when zig cannot."""
    path = kept_path()
    if path.is_file():
        return path
    made = compiled()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, made)
    except OSError:
        # A cache that cannot be written to: the library lives as long as the process.
        path = Path(tempfile.mkdtemp(prefix="kernelwright-")) / "model.so"
        path.write_bytes(made)
    return path


def kept_path() -> Path:
    """Where the cache has it, or would."""
    return cache_folder() / "model" / f"{content_key([SOURCE.read_bytes(), *FLAGS])}.so"


def compiled() -> bytes:
    """Raises ``ToolError`` when zig cannot compile it."""
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
        target = Path(folder) / "model.so"
        command = [str(ziglang_folder() / "zig"), "cc", *FLAGS, "-o", str(target), str(SOURCE)]
        with announced("compiling the timing model (once)"):
            run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode or not target.is_file():
            first = next((line for line in run.stderr.splitlines() if "error" in line), run.stderr.strip()[:200])
            raise ToolError(f"the timing model's C code does not compile: {first}", hint="run `kw doctor`")
        return target.read_bytes()
