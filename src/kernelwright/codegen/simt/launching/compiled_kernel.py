"""Host IR → a function in memory, and launches of it.

compiled = compile_host(lower(module, "saxpy", SimtOptions(block=(256, 1, 1))))
result = compiled.launch(arena, Launch("saxpy", (64, 1, 1), (256, 1, 1), parameters))
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from time import perf_counter, thread_time
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from kernelwright.codegen.simt.analyses.launch_forms import Numbers
from kernelwright.codegen.simt.emission.struct_offsets import PATTERN_BYTES, SHARED_SLACK
from kernelwright.codegen.simt.launching import runtime_structs
from kernelwright.codegen.simt.launching.host_code import HostCode, host_code
from kernelwright.codegen.simt.launching.kernel_tables import access_table, point_table
from kernelwright.codegen.simt.launching.launch_result import NO_EVENTS, Found, HostFault, LaunchResult
from kernelwright.codegen.simt.launching.overread_table import OverreadTable
from kernelwright.codegen.simt.launching.runtime_library import runtime
from kernelwright.codegen.simt.launching.runtime_structs import ACCESS, BUFFER, SITE
from kernelwright.codegen.simt.launching.spread import Spreading
from kernelwright.codegen.simt.launching.watching import Caches, Watch, Watching
from kernelwright.codegen.simt.lower import HostKernel, lower
from kernelwright.codegen.simt.program.lane_scalars import LOCAL_BASE
from kernelwright.cuda.names import readable
from kernelwright.errors import DeviceError
from kernelwright.launch import STACK_BYTES, Launch, Triple

PATIENCE = 4.0
"""How often the time it took to make a kernel's first code its launches take before better code is made: as long as that
takes to make."""
ROWS_OF_ORDER = 1 << 16
"""Orders of warps that a schedule draws at most; later blocks use them again."""
PRINT_BYTES = 8 << 20
"""Room for what a launch prints."""
SHARED_LIMIT = 1 << 20
FRESH_STACK = 1 << 10
"""Bytes of a thread's stack that are unwritten when a block begins: as many as a GPU's threads have by themselves."""
MOST_AT_ONCE = 16 << 30
"""Bytes that blocks may take which all run at the same time."""
HOST_NS = 10_000_000_000
"""How long a block waits for what only the host can bring."""
NEAR = 1 << 32
"""Faults so close to the structs passed by value missed one of them."""


class Memory(Protocol):
    """What a launch needs of global memory: the table of buffers (``start``, ``end``, ``index``, ``writable``), and
    whether the host may write there while kernels run."""

    @property
    def host_writes(self) -> bool:
        """Whether the host may write to memory that kernels reach while they run."""

    def bounds(self) -> npt.NDArray[Any]:
        """A row for each buffer, sorted by address; read-only."""


class Schedule(Protocol):
    """An order of blocks, warps and lane groups; ``device.schedule.Schedule`` is one."""

    @property
    def kind(self) -> str:
        """``forward``, ``reverse``, ``random``, ``subwarp`` or ``weak``."""

    @property
    def seed(self) -> int:
        """What orders are drawn from; of no meaning for ``forward`` and ``reverse``."""

    def __hash__(self) -> int: ...

    def blocks(self, count: int) -> list[int]:
        """The linear numbers of ``count`` blocks in the order they start."""

    def warps(self, block: int, count: int) -> list[int]:
        """The ``count`` warps of a block in the order they run between two barriers."""

    def lane_groups(self, block: int, warp: int) -> list[int]:
        """Masks of lanes in the order the groups of a warp run; together they are all 32 lanes."""


@lru_cache(maxsize=32)
def _drawn(
    schedule: Schedule, blocks: int, warps: int
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """The orders of blocks, of the warps of some blocks, and their groups of lanes. Drawing them takes longer than a launch
    runs, and the same schedule gives the same again."""
    order = np.array(schedule.blocks(blocks), np.uint32)
    rows = min(blocks, max(1, ROWS_OF_ORDER // warps))
    inner = np.array([schedule.warps(b, warps) for b in range(rows)], np.uint32)
    if schedule.kind == "subwarp":
        return (
            order,
            inner,
            np.array([[schedule.lane_groups(b, w) for w in range(warps)] for b in range(rows)], np.uint32),
        )
    return order, inner, np.full((1, warps, 1), 0xFFFFFFFF, np.uint32)


# -- compiling ---------------------------------------------------------------------------------------------------------


def compile_host(kernel: HostKernel) -> CompiledKernel:
    """The kernel as machine code in this process. Raises ``ToolError`` when LLVM refuses the text."""
    level = kernel.options.level
    adaptive = level is None
    code = host_code(kernel.name, kernel.text, level or 0, shares=level == 0)
    return CompiledKernel(kernel, code, PATIENCE * code.made_in_s if adaptive else math.inf)


class CompiledKernel:
    """Machine code of one kernel for one block shape, with the buffers its launches need. Not for several threads."""

    def __init__(self, kernel: HostKernel, code: HostCode, patience: float = math.inf) -> None:
        self._patience = patience
        """Seconds of running after which the code is made again, better."""
        self._running: runtime_structs.LaunchStruct | None = None
        self._rooms: dict[str, tuple[npt.NDArray[np.uint8], int]] = {}
        n = max(len(kernel.accesses), 1)
        true, blind, counts = np.zeros(n, SITE), np.zeros(n, SITE), np.zeros(2 * len(kernel.blocks), np.int64)
        blind["index"] = np.arange(n)
        self._live = (true, blind, counts)
        self._patterns = np.zeros(n * PATTERN_BYTES, np.uint8)
        self._fault = runtime_structs.Fault()
        self._overreads = OverreadTable()
        self._bounds: npt.NDArray[Any] | None = None
        self._bounds_at = self._table = 0
        self._run = runtime().simt_run
        self._prints = kernel.prints
        self.launches = 0
        """Launches that might have run on several cores."""
        self._spreading = Spreading(kernel)
        self._take(kernel, code)

    def _take(self, kernel: HostKernel, code: HostCode) -> None:
        """From now on run this code: of the same kernel, with blocks and accesses numbered alike."""
        self.kernel = kernel
        self._code = code
        self._accesses = access_table(kernel)
        self._points = point_table(kernel)
        self._sites: dict[int, npt.NDArray[Any]] = {}
        self._shape: tuple[Triple, int] | None = None
        self._launch = self._prepared()
        self._context = self._launch.context
        self._request = memoryview(self._launch.request).cast("B")
        self._reference = ctypes.byref(self._launch)

    def _prepared(self) -> runtime_structs.LaunchStruct:
        """What is the same in every launch."""
        kernel, launch = self.kernel, runtime_structs.LaunchStruct()
        launch.kernel = self._code.address
        launch.frame_size = (kernel.frame_bytes + 63) // 64 * 64
        self._take_stack(launch, STACK_BYTES)
        launch.segments = 32 // kernel.options.geometry.per_segment
        launch.n_points, launch.points = len(kernel.points), self._points.ctypes.data
        launch.n_counts = len(self._live[2])
        c = launch.context
        c.parameters = self._room("parameters", max(kernel.parameter_bytes, 64))
        held = (ctypes.c_uint8 * max(kernel.parameter_bytes, 1)).from_address(c.parameters)
        self._parameters = memoryview(held).cast("B")
        c.by_value_size = max((at + size for _, size, at in kernel.by_value), default=0)
        host = c.by_value_host = self._room("by value", max(c.by_value_size, 64))
        self._structs = np.array([(host + at, host + at + size, 0, 0) for _, size, at in kernel.by_value], BUFFER)
        c.by_value, c.n_by_value = self._structs.ctypes.data, len(self._structs)
        c.true_sites, c.blind_sites, c.counts = (a.ctypes.data for a in self._live)
        c.patterns = self._patterns.ctypes.data
        c.n_sites, c.counting = len(kernel.accesses), int(kernel.options.counters)
        c.fault = ctypes.addressof(self._fault)
        if kernel.prints:
            c.print, c.print_size = self._room("print", PRINT_BYTES), PRINT_BYTES
        return launch

    def _take_stack(self, launch: runtime_structs.LaunchStruct, stack_bytes: int) -> None:
        """Local memory of a thread, with its stack behind it where it has one."""
        size = self.kernel.local_bytes + (stack_bytes if self.kernel.has_stack else 0)
        launch.local_bytes = (size + 3) // 4 * 4
        # Frames are written before they are read; of a long stack hardly anything is used, and clearing it takes longer than the block.
        launch.fresh_bytes = min(launch.local_bytes, (self.kernel.local_bytes + FRESH_STACK + 3) // 4 * 4)
        launch.context.local_size = size
        self._stack_bytes, self._shape = stack_bytes, None

    @property
    def spread(self) -> int:
        """Launches that ran on several cores."""
        return self._spreading.spread

    @property
    def blocks_done(self) -> int:
        """Blocks that the launch under way has finished, for another thread."""
        running = self._running
        return int(running.blocks_done) if running is not None else 0

    def stop(self) -> bool:
        """Takes what is left of the budget of the launch under way, from another thread; False when there is none.

        A warp may be about to write back its own count, so this is called until the launch has ended.
        """
        running = self._running
        if running is not None:
            runtime().simt_halt(ctypes.byref(running))
        return running is not None

    def _room(self, name: str, size: int) -> int:
        """The address of a buffer of at least ``size`` bytes at a multiple of 64, kept from launch to launch."""
        have = self._rooms.get(name)
        if have is None or have[0].size < size + 64:
            made = np.zeros(size + 64, np.uint8)
            have = self._rooms[name] = (made, (made.ctypes.data + 63) // 64 * 64)
        return have[1]

    def launch(
        self,
        memory: Memory,
        asked: Launch,
        *,
        schedule: Schedule | None = None,
        budget: int = 1 << 40,
        symbols: Mapping[str, int] | None = None,
        watch: Watch | None = None,
        overread: int | None = None,
        blocks: Sequence[int] | None = None,
        cores: int = 1,
    ) -> LaunchResult:
        """Runs the kernel to its end or its first fault; effects are in the memory.

        ``symbols`` gives the address of each of ``kernel.symbols``; ``budget`` is the number of times warps may go back in
        loops; ``overread`` the byte that a read past a buffer gives, None where what only GPUs let pass is a fault. ``blocks``: of
        the grid only these run (linear numbers), in the order given, whatever the schedule says of blocks. ``cores``: on how many the
        launch may run, which changes nothing but the time. Raises ``DeviceError`` for a
        launch that cannot begin.
        """
        if self._patience < 0:
            self._improve()
        kernel, launch, parameters = self.kernel, self._launch, asked.parameters
        if kernel.has_stack and asked.stack_bytes != self._stack_bytes:
            self._take_stack(launch, asked.stack_bytes)
            self._sites.clear()
        if self._shape != (asked.block, asked.shared_bytes):
            self._take_shape(asked.block, asked.shared_bytes)
        x, y, z = asked.grid
        if x < 1 or y < 1 or z < 1:
            raise DeviceError(f"Kernel '{readable(kernel.name)}' cannot be launched with grid {asked.grid}.")
        if len(parameters) < kernel.parameter_bytes:
            raise DeviceError(
                f"Kernel '{readable(kernel.name)}' takes {kernel.parameter_bytes} bytes of arguments, {len(parameters)} were given."
            )
        if kernel.waits_for_grid and asked.is_cooperative:
            self._check_residence(x * y * z)
        keep: list[npt.NDArray[Any]] = []
        ordered = kernel.options.split or (schedule is not None and schedule.kind != "forward")
        if ordered:
            keep = self._take_order(schedule, x * y * z)
        if blocks is not None:
            keep.append(np.array(blocks, np.uint32))
            launch.block_order, launch.n_order = keep[-1].ctypes.data, len(blocks)
        symbols_at = self._symbols(symbols or {}, keep) if kernel.symbols else 0
        bounds = memory.bounds()
        if bounds is not self._bounds:
            self._bounds, self._bounds_at, self._table = bounds, bounds.ctypes.data, self._table + 1
        past = self._overreads.prepare(overread, self._context)
        runtime_structs.REQUEST.pack_into(
            self._request, 0, budget, symbols_at, self._bounds_at, len(bounds), x, y, z, past, asked.is_cooperative, self._table
        )  # fmt: skip
        if kernel.parameter_bytes:
            self._parameters[:] = parameters[: kernel.parameter_bytes]
            for offset, size, at in kernel.by_value:
                ctypes.memmove(launch.context.by_value_host + at, launch.context.parameters + offset, size)
        if schedule is not None and schedule.kind == "weak":
            watch = replace(watch or Watch(), weak=schedule.seed)
        watching = Watching(watch, launch, bounds) if watch is not None else None
        spreading = self._spreading if cores > 1 and not (ordered or blocks is not None or watch is not None) else None
        launch.patience_ns = HOST_NS if memory.host_writes else 0
        self._running = launch
        begin = perf_counter() if self._patience < math.inf else 0.0
        try:
            if spreading is None or spreading.is_off or x * y * z < 2:
                self._run(self._reference)
            else:
                self._run_spread(spreading, asked, cores, symbols or {}, budget)
            if begin:
                self._patience -= perf_counter() - begin
            return self._result(watching)
        finally:
            self._running = None
            if watching is not None:
                watching.close()
            if ordered or blocks is not None:
                launch.n_order = 0
                launch.block_order = launch.warp_order = launch.groups = None
                launch.n_groups = 0

    def _check_residence(self, blocks: int) -> None:
        launch = self._launch
        size = blocks * (launch.n_warps * (launch.frame_size + 32 * launch.local_bytes) + launch.context.shared_size)
        if size > MOST_AT_ONCE:
            raise DeviceError(
                f"Kernel '{readable(self.kernel.name)}' waits for all of its {blocks} blocks, which take {size >> 30} GiB here.",
                hint="launch fewer blocks",
            )

    def _run_spread(
        self, spreading: Spreading, asked: Launch, cores: int, symbols: Mapping[str, int], budget: int
    ) -> None:
        """Runs a launch, from where it is worth it on several cores."""
        self.launches += 1
        launch = self._launch
        x, y, z = asked.grid
        blocks = x * y * z
        begin = thread_time()
        launch.pause_ns = spreading.pause_ns(blocks)
        self._run(self._reference)
        launch.pause_ns = 0
        if launch.context.budget < 0:
            return
        spreading.looked(launch.blocks_done, thread_time() - begin)
        if launch.blocks_done == blocks:
            return
        assert self._bounds is not None
        numbers = Numbers(asked.grid, asked.block, asked.parameters, symbols, budget)
        if not spreading.run(launch, blocks, cores, numbers, self._bounds):
            launch.goes_on = 1
            self._run(self._reference)

    def _improve(self) -> None:
        """Better code for what is run a lot."""
        self._patience = math.inf
        options = replace(self.kernel.options, level=1)
        better = lower(self.kernel.module, self.kernel.name, options)
        self._take(better, host_code(better.name, better.text, 1))

    def _take_shape(self, block: Triple, shared_bytes: int) -> None:
        """What depends on the block's shape and on shared memory, kept while they stay the same."""
        kernel, launch, c = self.kernel, self._launch, self._launch.context
        name, options = kernel.name, kernel.options
        if options.block is not None and tuple(block) != tuple(options.block):
            raise DeviceError(
                f"Kernel '{readable(name)}' was compiled for blocks of {options.block}, not {block}.",
                hint="compile it for this shape",
            )
        threads = block[0] * block[1] * block[2]
        if min(block) < 1 or threads > 1024:
            raise DeviceError(f"Kernel '{readable(name)}' cannot be launched with blocks of {block}.")
        if not 0 <= shared_bytes <= SHARED_LIMIT:
            raise DeviceError(f"Kernel '{readable(name)}' cannot have {shared_bytes} bytes of dynamic shared memory.")
        self._shape = None
        warps = (threads + 31) // 32
        shared_size = kernel.shared_total(shared_bytes)
        launch.n_warps, launch.n_threads = warps, threads
        launch.shared = self._room("shared", shared_size + 2 * SHARED_SLACK) + SHARED_SLACK
        launch.frames = self._room("frames", warps * launch.frame_size)
        launch.local = self._room("local", warps * 32 * launch.local_bytes + 64)
        launch.new_shape, launch.fresh_sites = 1, self._fresh_sites(shared_size)
        c.ntid = block
        c.shared_size, c.dynamic_shared, c.block_shared = shared_size, shared_bytes, shared_size
        self._shape = (block, shared_bytes)

    def _fresh_sites(self, shared_size: int) -> int:
        """Nothing counted, no buffer known; shared and local memory are where they always are."""
        fresh = self._sites.get(shared_size)
        if fresh is None:
            n = len(self._accesses)
            fresh = self._sites[shared_size] = np.zeros(max(n, 1), SITE)
            if n:
                fresh["index"] = np.arange(n)
                fresh["access"] = self._accesses.ctypes.data + np.arange(n) * ACCESS.itemsize
                room = np.where(self._accesses["space"] == 1, shared_size, self._launch.context.local_size)
                spare = room.astype(np.int64) - self._accesses["footprint"]
                count = np.where(spare >= 0, spare // np.maximum(self._accesses["align"], 1) + 1, 0)
                fresh["count"] = np.where(self._accesses["space"] == 0, 0, count)
        return int(fresh.ctypes.data)

    def _take_order(self, schedule: Schedule | None, blocks: int) -> list[npt.NDArray[Any]]:
        """Puts the order of a schedule into the launch; the arrays must live as long as it."""
        launch, split = self._launch, self.kernel.options.split
        warps = launch.n_warps
        if schedule is None or schedule.kind == "forward":
            groups = np.full((1, warps, 1), 0xFFFFFFFF, np.uint32)
            launch.groups, launch.n_groups, launch.group_rows = groups.ctypes.data, 1, 1
            return [groups]
        if schedule.kind == "subwarp" and not split:
            raise DeviceError(
                f"Kernel '{readable(self.kernel.name)}' was compiled for warps that run in step.",
                hint="compile it with SimtOptions(split=True)",
            )
        order, inner, groups = _drawn(schedule, blocks, warps)
        launch.block_order, launch.warp_order, launch.warp_rows = order.ctypes.data, inner.ctypes.data, len(inner)
        if not split:
            return [order, inner]
        launch.groups, launch.n_groups, launch.group_rows = groups.ctypes.data, groups.shape[2], len(groups)
        return [order, inner, groups]

    def _symbols(self, known: Mapping[str, int], keep: list[npt.NDArray[Any]]) -> int:
        missing = [s for s in self.kernel.symbols if s not in known]
        if missing:
            raise DeviceError(
                f"Kernel '{readable(self.kernel.name)}' needs the addresses of variables {', '.join(missing)}."
            )
        addresses = np.array([known[name] for name in self.kernel.symbols], np.uint64)
        keep.append(addresses)
        return int(addresses.ctypes.data)

    def _result(self, watching: Watching | None) -> LaunchResult:
        launch, c = self._launch, self._context
        sites, _, counts = self._live
        found: tuple[Found, ...] = ()
        incomplete, lost, beyond, events = False, 0, 0, NO_EVENTS
        if watching is not None:
            found, incomplete = watching.found(self.kernel)
            events, lost, beyond = watching.events()
        printed, prints_lost = b"", 0
        if self._prints:
            printed, prints_lost = ctypes.string_at(c.print, c.print_used), c.print_lost
        return LaunchResult(
            self.kernel,
            self._host_fault() if self._fault.kind else None,
            printed,
            prints_lost,
            launch.blocks_done,
            max(c.budget, 0),
            counts.tobytes(),
            sites.tobytes(),
            self._accesses,
            self._overreads.found(self.kernel),
            found,
            incomplete,
            events,
            lost,
            beyond,
            tuple(self.kernel.points[point - 1].origin for point in c.met) if c.met[0] else (),
        )

    def _host_fault(self) -> HostFault:
        record, kernel = self._fault, self.kernel
        site, number = record.site, record.kind
        note = other = None
        if number == runtime_structs.AT_BARRIER:
            note = ("", kernel.points[site - 1].origin)
            other = kernel.points[record.detail[0] - 1].origin if record.detail[0] else None
        elif number in runtime_structs.AT_NOTE:
            is_assert = runtime_structs.FAULT_KINDS[number] == "assert"
            assert self._bounds is not None
            message = _assertion(record, self._bounds) if is_assert else runtime_structs.MESSAGES.get(number, "")
            note = (message, kernel.notes[site].origin)
        elif number == runtime_structs.AT_WAIT:
            note = (runtime_structs.WAITS, kernel.points[site - 1].origin)
        elif number == runtime_structs.AT_GRID:
            alone = runtime_structs.NOT_ALL if self._context.cooperative else runtime_structs.NOT_COOPERATIVE
            note = (alone, kernel.points[site - 1].origin)
        address = record.address
        if abs(address - self._context.by_value_host) < NEAR:
            # Each thread has its own copy in local memory: where this process keeps one for all concerns no thread.
            address = (address - self._context.by_value_host) % NEAR + LOCAL_BASE
        return HostFault(
            kind=runtime_structs.FAULT_KINDS[number],
            access=kernel.accesses[site] if number in runtime_structs.AT_ACCESS else None,
            note=note,
            block=record.block,
            thread=record.thread,
            address=address,
            size=record.size,
            write=bool(record.write),
            other=other,
            align=record.detail[0] if number == runtime_structs.MISALIGNED_BULK else 1,
        )


def _assertion(record: runtime_structs.Fault, bounds: npt.NDArray[Any]) -> str:
    """``file:line: function: assertion `text` failed``, with what can be read of it."""
    what, where, line, who = record.detail[0], record.detail[1], record.detail[2], record.detail[3]
    return f"{_text(where, bounds)}:{line}: {_text(who, bounds)}: assertion `{_text(what, bounds)}` failed"


def _text(address: int, bounds: npt.NDArray[Any]) -> str:
    for row in bounds:
        if row["start"] <= address < row["end"]:
            raw = ctypes.string_at(address, min(int(row["end"]) - address, 4096))
            return raw.split(b"\0")[0].decode("utf-8", "replace")
    return "?"


__all__ = [
    "Caches", "CompiledKernel", "Found", "HostFault", "LaunchResult", "Memory", "Schedule", "Watch", "compile_host",
]  # fmt: skip
