"""What a launch can be watched for: races, unwritten memory, caches. Each costs time, none needs other code."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelwright.codegen.simt.launching.launch_result import FOUND, Found
from kernelwright.codegen.simt.launching.runtime_library import runtime
from kernelwright.codegen.simt.launching.runtime_structs import FINDING, Check, LaunchStruct
from kernelwright.codegen.simt.lower import HostKernel
from kernelwright.errors import DeviceError
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class Caches:
    """The caches that every ``every``-th thread block sees. Sizes in bytes; ``skip``: simulate every 2^skip-th set."""

    l1_bytes: int = 128 << 10
    l1_ways: int = 4
    l2_bytes: int = 4 << 20
    l2_ways: int = 16
    skip: int = 0
    every: int = 16
    events: int = 0
    """How many events of those blocks to keep, in order."""
    blocks: tuple[int, ...] = ()
    """Thread blocks (linear numbers) to look at; any here replace ``every``. Each of their warps has the same share of ``events``."""


@dataclass(frozen=True)
class Watch:
    """``written`` tells, by a buffer's address, which of its bytes hold something; what a launch writes is noted there.

    A buffer without an entry is taken as filled by the host. A byte's flags: 1 it holds something; with ``touched`` also
    2 the launch wrote it, 4 the launch read it.
    """

    races: bool = False
    unwritten: bool = False
    touched: bool = False
    written: Mapping[int, npt.NDArray[np.uint8]] | None = None
    caches: Caches | None = None
    weak: int | None = None
    """Memory is weak (``runtime/weak.c``), with choices drawn from this seed; None: it is sequentially consistent."""
    filler: int = 0
    """The word that a shuffle gives which reads a lane that does not take part, where that is told (``SimtOptions.checked``)."""
    memory_limit: int = 4 << 30
    """Bytes that following accesses may take."""
    most_findings: int = 1000

    @property
    def only_finds(self) -> bool:
        """Whether what it says depends on the launch, memory and ``written`` alone, and is in the launch's result and in ``written``."""
        return self.caches is None and self.weak is None


class Watching:
    """A watch during one launch."""

    def __init__(self, watch: Watch, launch: LaunchStruct, bounds: npt.NDArray[Any]) -> None:
        self.watch = watch
        self.launch = launch
        self.check = 0
        self.cache = 0
        self.weak = 0
        self._library = runtime()
        self._keep: list[npt.NDArray[Any]] = []
        context = launch.context
        if watch.races or watch.unwritten:
            new = self._library.simt_check_new
            new.restype, new.argtypes = ctypes.c_void_p, [ctypes.c_uint32] * 3 + [ctypes.c_uint64, ctypes.c_uint32]
            self.check = (
                new(launch.n_threads, watch.races, watch.unwritten, watch.memory_limit, watch.most_findings)
                or self._no_memory()
            )
            if watch.unwritten:
                self._follow_written(launch, bounds)
            passed = np.zeros((launch.n_warps, launch.n_points + 1), np.uint32)
            record = Check.from_address(self.check)
            record.n_points, record.passed, record.filler = launch.n_points + 1, passed.ctypes.data, watch.filler
            self._keep.append(passed)
            context.check = self.check
        if watch.weak is not None:
            new = self._library.simt_weak_new
            new.restype, new.argtypes = ctypes.c_void_p, [ctypes.c_uint32, ctypes.c_uint64, ctypes.c_uint64]
            self.weak = new(launch.n_threads, watch.weak, watch.memory_limit) or self._no_memory()
            context.weak = self.weak
        if watch.caches is not None:
            c = watch.caches
            new = self._library.simt_cache_new
            new.restype = ctypes.c_void_p
            new.argtypes = [
                ctypes.c_uint64, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint64,
                ctypes.c_uint64,
            ]  # fmt: skip
            sizes = c.l1_bytes, c.l1_ways, c.l2_bytes, c.l2_ways, c.skip, c.events, len(c.blocks)
            self.cache = new(*sizes) or self._no_memory()
            context.cache, launch.watch_every = self.cache, 0 if c.blocks else c.every
            if c.blocks:
                chosen = np.array(c.blocks, np.uint32)
                launch.watch_list, launch.n_watch_list = chosen.ctypes.data, len(chosen)
                self._keep.append(chosen)

    def _no_memory(self) -> int:
        raise DeviceError("There is no memory left to watch the launch.", hint="watch smaller inputs")

    def _follow_written(self, launch: LaunchStruct, bounds: npt.NDArray[Any]) -> None:
        record = Check.from_address(self.check)
        record.touched = self.watch.touched
        shared = np.zeros(launch.context.shared_size + 16, np.uint8)
        local = np.zeros(launch.n_threads * launch.context.local_size + 16, np.uint8)
        flags = np.zeros(len(bounds) + 1, np.uint64)
        known = self.watch.written or {}
        for i, start in enumerate(bounds["start"].tolist()):
            array = known.get(start)
            if array is not None:
                flags[i] = array.ctypes.data
        record.shared_written, record.local_written = shared.ctypes.data, local.ctypes.data
        record.written = flags.ctypes.data
        self._keep += [shared, local, flags]

    def found(self, kernel: HostKernel) -> tuple[tuple[Found, ...], bool]:
        """What was noticed, and whether the checker had to stop looking."""
        lacking = bool(self.weak and self._library.simt_weak_incomplete(ctypes.c_void_p(self.weak)))
        if not self.check:
            return (), lacking
        record = Check.from_address(self.check)
        count = record.n_findings
        rows = np.zeros(count, FINDING)
        if count:
            ctypes.memmove(rows.ctypes.data, record.findings, rows.nbytes)
        return tuple(_found(row, kernel) for row in rows), lacking or bool(record.incomplete)

    def events(self) -> tuple[npt.NDArray[np.uint64], int, int]:
        """What the watched blocks did, how much of it was not kept as there was no room, and how much beyond the share of its warp."""
        if not self.cache:
            return np.zeros(0, np.uint64), 0, 0
        get = self._library.simt_cache_events
        get.restype = ctypes.c_void_p
        n, lost, beyond = ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_uint64()
        where = get(ctypes.c_void_p(self.cache), ctypes.byref(n), ctypes.byref(lost), ctypes.byref(beyond))
        made = np.zeros(n.value, np.uint64)
        if n.value:
            ctypes.memmove(made.ctypes.data, where, made.nbytes)
        return made, lost.value, beyond.value

    def close(self) -> None:
        """Frees what the watch has in C, and takes it off the launch. A second call does nothing."""
        if self.check:
            self._library.simt_check_free(ctypes.c_void_p(self.check))
        if self.cache:
            self._library.simt_cache_free(ctypes.c_void_p(self.cache))
        if self.weak:
            self._library.simt_weak_free(ctypes.c_void_p(self.weak))
        self.check = self.cache = self.weak = 0
        self.launch.context.check = self.launch.context.cache = self.launch.context.weak = None
        self.launch.watch_every = self.launch.n_watch_list = 0


def _found(row: Any, kernel: HostKernel) -> Found:
    def origin(site: int) -> Any:
        if site >> 31:
            return kernel.notes[~site & 0xFFFFFFFF].origin
        if site >> 30:
            return kernel.points[(site & 0x3FFFFFFF) - 1].origin
        return kernel.accesses[site].origin

    def verb(write: int, atomic: int) -> str:
        return "atomic" if atomic else "write" if write else "read"

    kind, site = FOUND[int(row["kind"])], int(row["site"])
    other = origin(int(row["other_site"])) if kind == "race" else None
    if kind == "passed":
        other = kernel.points[(site & 0x3FFFFFFF) - 1].passing
    return Found(
        kind=kind,
        scope=("warp", "block", "grid")[int(row["scope"])],
        origin=origin(site),
        other=other,
        block=int(row["block"]),
        thread=int(row["thread"]),
        other_block=int(row["other_block"]),
        other_thread=int(row["other_thread"]),
        address=int(row["address"]),
        size=int(row["size"]),
        verbs=(verb(row["other_write"], row["other_atomic"]), verb(row["write"], row["atomic"])),
        benign=bool(row["benign"]),
        count=int(row["count"]),
    )
