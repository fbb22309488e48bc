"""Host IR → a function in memory, and launches of it.

    compiled = compile_host(lower(module, "saxpy", SimtOptions(block=(256, 1, 1))))
    result = compiled.launch(arena, grid=(64, 1, 1), block=(256, 1, 1), packed_args=...)
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from kernelwright.codegen.simt import abi
from kernelwright.codegen.simt.emit import ENTRY
from kernelwright.codegen.simt.library import functions, runtime
from kernelwright.codegen.simt.lower import AccessInfo, HostKernel
from kernelwright.codegen.simt.warp import MODES
from kernelwright.codegen.simt.warp import OPERATIONS as OPERATIONS_OF_WARPS
from kernelwright.errors import DeviceError, ToolError
from kernelwright.passes.llvm import binding

Triple = tuple[int, int, int]

ACCESS = np.dtype(
    [
        ("kind", "u1"), ("space", "u1"), ("size", "u1"), ("components", "u1"), ("align", "u1"), ("form", "u1"),
        ("zero_extend", "u1"), ("segments", "u1"), ("segment_lanes", "u1"), ("spread", "u1"), ("operation", "u1"),
        ("is_float", "u1"), ("footprint", "<u4"), ("stride", "<i8"), ("coefficient", "<i8"), ("root_stride", "<i8"),
    ],
    align=True,
)  # fmt: skip
SITE = np.dtype(
    [
        ("low", "<u8"), ("count", "<u8"), ("sectors", "<i8"), ("waves", "<i8"), ("serial", "<i8"),
        ("in_shared", "<u8"), ("in_local", "<u8"), ("start", "<u8"), ("end", "<u8"), ("writable", "<u4"),
        ("index", "<u4"), ("l1_hits", "<u8"), ("l2_hits", "<u8"), ("looked_up", "<u8"), ("access", "<u8"),
        ("reserved", "<u8", (2,)),
    ]
)  # fmt: skip
FAULT = np.dtype(
    [
        ("kind", "<u4"), ("site", "<u4"), ("block", "<u4"), ("thread", "<u4"), ("address", "<u8"),
        ("size", "<u4"), ("write", "<u4"), ("detail", "<u8", (6,)),
    ]
)  # fmt: skip

POINT = np.dtype(
    [
        ("is_gather", "u1"), ("checked", "u1"), ("operation", "u1"), ("mode", "u1"), ("kind", "<u2"), ("wide", "u1"),
        ("pad", "u1"),
    ]
)  # fmt: skip

KINDS = {"load": 0, "store": 1, "atomic": 2}
OPERATIONS = (
    "add", "sub", "and", "nand", "or", "xor", "xchg", "max", "min", "umax", "umin", "fadd", "fsub", "fmax", "fmin",
    "uinc_wrap", "udec_wrap", "cas", "usub_cond", "usub_sat",
)  # fmt: skip
FAULT_KINDS = (
    "", "out-of-bounds", "misaligned", "barrier", "trap", "assert", "endless", "read-only", "printf",
)  # fmt: skip


ROWS_OF_ORDER = 1 << 16
"""Orders of warps that a schedule draws at most; later blocks use them again."""


class Memory(Protocol):
    """What a launch needs of global memory: the table of buffers (``start``, ``end``, ``index``, ``writable``)."""

    def bounds(self) -> npt.NDArray[Any]: ...


class Schedule(Protocol):
    """An order of blocks, warps and lane groups; ``device.schedule.Schedule`` is one."""

    @property
    def kind(self) -> str: ...

    def blocks(self, count: int) -> list[int]: ...

    def warps(self, block: int, count: int) -> list[int]: ...

    def lane_groups(self, block: int, warp: int) -> list[int]: ...


@dataclass(frozen=True)
class HostFault:
    """Why a launch stopped. ``access`` is the access concerned, ``block`` and ``thread`` are linear numbers."""

    kind: str
    access: AccessInfo | None
    note: tuple[str, Any, Any] | None
    block: int
    thread: int
    address: int
    size: int
    write: bool
    other: int = 0
    detail: tuple[int, ...] = ()


@dataclass(frozen=True)
class LaunchResult:
    """``executions`` and ``lanes`` count per block of ``kernel.blocks``, the others per access of ``kernel.accesses``."""

    fault: HostFault | None
    executions: npt.NDArray[np.int64]
    lanes: npt.NDArray[np.int64]
    sectors: npt.NDArray[np.int64]
    """32-byte sectors of global and local memory."""
    wavefronts: npt.NDArray[np.int64]
    """Turns of shared memory."""
    serial: npt.NDArray[np.int64]
    """Further turns of atomics on one address."""
    printed: bytes
    blocks_done: int
    budget_left: int


class _Context(ctypes.Structure):
    _fields_ = [
        ("budget", ctypes.c_int64), ("shared_host", ctypes.c_uint64), ("local_host", ctypes.c_uint64),
        ("parameters", ctypes.c_uint64), ("symbols", ctypes.c_void_p), ("sites", ctypes.c_void_p),
        ("counts", ctypes.c_void_p), ("functions", ctypes.c_void_p), ("ctaid", ctypes.c_uint32 * 3),
        ("nctaid", ctypes.c_uint32 * 3), ("ntid", ctypes.c_uint32 * 3), ("barrier_result", ctypes.c_uint32),
        ("clock", ctypes.c_uint64), ("true_sites", ctypes.c_void_p), ("n_sites", ctypes.c_uint32),
        ("attention", ctypes.c_uint32), ("shared_size", ctypes.c_uint64), ("local_size", ctypes.c_uint64),
        ("parameter_size", ctypes.c_uint64), ("buffers", ctypes.c_void_p), ("n_buffers", ctypes.c_uint32),
        ("counting", ctypes.c_uint32), ("block_linear", ctypes.c_uint32), ("frame", ctypes.c_void_p),
        ("fault", ctypes.c_void_p), ("check", ctypes.c_void_p), ("cache", ctypes.c_void_p), ("print", ctypes.c_void_p),
        ("print_size", ctypes.c_uint64), ("print_used", ctypes.c_uint64), ("print_lost", ctypes.c_uint64),
    ]  # fmt: skip


class _Launch(ctypes.Structure):
    _fields_ = [
        ("context", _Context), ("kernel", ctypes.c_void_p), ("frames", ctypes.c_void_p),
        ("frame_size", ctypes.c_uint64), ("local_bytes", ctypes.c_uint64), ("local", ctypes.c_void_p),
        ("shared", ctypes.c_void_p), ("n_warps", ctypes.c_uint32), ("n_threads", ctypes.c_uint32),
        ("segments", ctypes.c_uint32), ("n_points", ctypes.c_uint32), ("points", ctypes.c_void_p),
        ("block_order", ctypes.c_void_p), ("warp_order", ctypes.c_void_p), ("warp_rows", ctypes.c_uint32),
        ("n_groups", ctypes.c_uint32), ("groups", ctypes.c_void_p), ("group_rows", ctypes.c_uint32),
        ("watch_every", ctypes.c_uint32), ("first_block", ctypes.c_uint64), ("n_blocks", ctypes.c_uint64),
        ("blocks_done", ctypes.c_uint64),
    ]  # fmt: skip


# -- compiling ---------------------------------------------------------------------------------------------------------


@cache
def _pass_machine(level: int) -> Any:
    """For the passes. An engine takes the machine it is given along, so each gets one of its own."""
    return _machine(level)


def _machine(level: int) -> Any:
    llvm = binding()
    features = llvm.get_host_cpu_features()
    # Whole 512-bit registers, and no hardware bfloat conversion, which drops subnormals.
    flat = features.flatten() + ",-prefer-256-bit,-avx512bf16,-avxneconvert,-avx512fp16"
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=flat, opt=level, jit=True)


def compile_host(kernel: HostKernel) -> CompiledKernel:
    """The kernel as machine code in this process. Raises ``ToolError`` when LLVM refuses the text."""
    llvm = binding()
    try:
        module = llvm.parse_assembly(kernel.text, llvm.create_context())
    except RuntimeError as error:
        first = str(error).strip().splitlines()[0]
        raise ToolError(f"the host code of kernel '{kernel.name}' does not parse: {first}") from error
    level = kernel.options.level
    builder = llvm.create_pass_builder(_pass_machine(level), llvm.create_pipeline_tuning_options(1))
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.add_simplify_cfg_pass()
    passes.add_aggressive_dce_pass()
    passes.run(module, builder)
    engine = llvm.create_mcjit_compiler(module, _machine(level))
    engine.finalize_object()
    return CompiledKernel(kernel, engine)


class CompiledKernel:
    """Machine code of one kernel for one block shape, with the buffers its launches need. Not for several threads."""

    def __init__(self, kernel: HostKernel, engine: Any) -> None:
        self.kernel = kernel
        self._engine = engine
        self._entry = engine.get_function_address(ENTRY)
        self._accesses = _access_table(kernel)
        self._buffers: dict[str, npt.NDArray[np.uint8]] = {}
        self._points = _point_table(kernel)

    def _room(self, name: str, size: int) -> int:
        """The address of a buffer of at least ``size`` bytes at a multiple of 64, kept from launch to launch."""
        have = self._buffers.get(name)
        if have is None or have.size < size + 64:
            have = self._buffers[name] = np.zeros(size + 64, np.uint8)
        address: int = have.ctypes.data
        return (address + 63) // 64 * 64

    def launch(
        self,
        memory: Memory,
        grid: Triple,
        block: Triple,
        packed_args: bytes = b"",
        shared_bytes: int = 0,
        schedule: Schedule | None = None,
        budget: int = 1 << 40,
        symbols: Mapping[str, int] | None = None,
    ) -> LaunchResult:
        """Runs the kernel to its end or its first fault; effects are in the memory.

        ``shared_bytes`` is the dynamic part; ``symbols`` gives the address of each of ``kernel.symbols``; ``budget`` is
        the number of times warps may go back in loops. Raises ``DeviceError`` for a launch that cannot begin.
        """
        kernel = self.kernel
        threads = block[0] * block[1] * block[2]
        self._check_launch(grid, block, packed_args, symbols or {}, schedule)
        warps = (threads + 31) // 32
        launch = _Launch()
        c = launch.context
        shared_size = kernel.shared_total(shared_bytes)
        launch.shared = self._room("shared", max(shared_size, 64))
        launch.frame_size = (kernel.frame_bytes + 63) // 64 * 64
        launch.frames = self._room("frames", warps * launch.frame_size)
        launch.local_bytes = (kernel.local_bytes + 3) // 4 * 4
        launch.local = self._room("local", warps * 32 * launch.local_bytes + 64)
        launch.kernel = self._entry
        launch.n_warps, launch.n_threads = warps, threads
        g = kernel.options.geometry
        launch.segments = 32 // g.per_segment
        launch.n_points = len(kernel.points)
        launch.points = self._points.ctypes.data
        total = grid[0] * grid[1] * grid[2]
        launch.n_blocks = total
        keep = _orders(launch, schedule, total, warps)
        if kernel.options.split and not launch.n_groups:
            whole = np.full(warps, 0xFFFFFFFF, np.uint32)
            launch.groups, launch.n_groups, launch.group_rows = whole.ctypes.data, 1, 1
            keep.append(whole)

        bounds = memory.bounds()
        c.buffers, c.n_buffers = bounds.ctypes.data, len(bounds)
        parameters = self._room("parameters", max(kernel.parameter_bytes, 64))
        ctypes.memmove(parameters, packed_args, len(packed_args))
        c.parameters, c.parameter_size = parameters, kernel.parameter_bytes
        addresses = np.array([(symbols or {})[name] for name in kernel.symbols] or [0], np.uint64)
        c.symbols = addresses.ctypes.data
        c.nctaid, c.ntid = grid, block
        c.shared_size, c.local_size = shared_size, kernel.local_bytes
        c.budget = budget
        sites = self._sites(shared_size)
        c.sites = c.true_sites = sites.ctypes.data
        c.n_sites = len(kernel.accesses)
        c.counting = int(kernel.options.counters)
        counts = np.zeros((len(kernel.blocks), 2), np.int64)
        c.counts = counts.ctypes.data
        c.functions = ctypes.addressof(functions())
        fault = np.zeros(1, FAULT)
        c.fault = fault.ctypes.data
        runtime().simt_run(ctypes.byref(launch))
        del keep
        return self._result(launch, counts, sites, fault[0])

    def _check_launch(
        self, grid: Triple, block: Triple, packed: bytes, symbols: Mapping[str, int], schedule: Schedule | None
    ) -> None:
        name, wanted = self.kernel.name, self.kernel.options.block
        if wanted is not None and tuple(block) != tuple(wanted):
            raise DeviceError(f"Kernel '{name}' was compiled for blocks of {wanted}, not {block}.", hint="compile it for this shape")
        if min(*grid, *block) < 1 or block[0] * block[1] * block[2] > 1024:
            raise DeviceError(f"Kernel '{name}' cannot be launched with grid {grid} and blocks of {block}.")
        if len(packed) < self.kernel.parameter_bytes:
            raise DeviceError(
                f"Kernel '{name}' takes {self.kernel.parameter_bytes} bytes of arguments, {len(packed)} were given."
            )
        if schedule is not None and schedule.kind == "subwarp" and not self.kernel.options.split:
            raise DeviceError(
                f"Kernel '{name}' was compiled for warps that run in step.", hint="compile it with SimtOptions(split=True)"
            )
        missing = [s for s in self.kernel.symbols if s not in symbols]
        if missing:
            raise DeviceError(f"Kernel '{name}' needs the addresses of variables {', '.join(missing)}.")

    def _sites(self, shared_size: int) -> npt.NDArray[Any]:
        sites = np.zeros(max(len(self._accesses), 1), SITE)
        if len(self._accesses):
            n = len(self._accesses)
            sites["index"][:n] = np.arange(n)
            sites["access"][:n] = self._accesses.ctypes.data + np.arange(n) * ACCESS.itemsize
            room = np.where(self._accesses["space"] == 1, shared_size, self.kernel.local_bytes)
            spare = room.astype(np.int64) - self._accesses["footprint"]
            count = np.where(spare >= 0, spare // np.maximum(self._accesses["align"], 1) + 1, 0)
            sites["count"][:n] = np.where(self._accesses["space"] == 0, 0, count)
        return sites

    def _result(self, launch: _Launch, counts: Any, sites: Any, fault: Any) -> LaunchResult:
        kernel = self.kernel
        n = len(kernel.accesses)
        executions = counts[:, 0].copy()
        lanes = counts[:, 1].copy()
        for i, b in enumerate(kernel.blocks):
            if b.whole:
                lanes[i] = executions[i] * kernel.options.geometry.lanes
        at = np.array([a.block for a in kernel.accesses], np.int64)
        runs = executions[at] if n else np.zeros(0, np.int64)
        space = self._accesses["space"][:n]
        in_shared = np.where(space == 1, runs, sites["in_shared"][:n].astype(np.int64))
        return LaunchResult(
            fault=self._fault(fault, launch),
            executions=executions,
            lanes=lanes,
            sectors=sites["sectors"][:n] + runs - in_shared,
            wavefronts=sites["waves"][:n] + in_shared,
            serial=sites["serial"][:n].copy(),
            printed=b"",
            blocks_done=launch.blocks_done,
            budget_left=max(launch.context.budget, 0),
        )

    def _fault(self, record: Any, launch: _Launch) -> HostFault | None:
        kind = FAULT_KINDS[int(record["kind"])]
        if not kind:
            return None
        site = int(record["site"])
        access = self.kernel.accesses[site] if kind in ("out-of-bounds", "misaligned", "read-only") else None
        note = self.kernel.notes[site] if kind in ("trap", "assert") else None
        return HostFault(
            kind, access, note, int(record["block"]), int(record["thread"]), int(record["address"]),
            int(record["size"]), bool(record["write"]), 0, tuple(int(d) for d in record["detail"]),
        )  # fmt: skip


def _access_table(kernel: HostKernel) -> npt.NDArray[Any]:
    table = np.zeros(len(kernel.accesses), ACCESS)
    for row, a in zip(table, kernel.accesses, strict=True):
        row["kind"] = KINDS[a.kind]
        row["space"], row["size"], row["components"], row["align"] = a.space, a.size, a.components, a.align
        row["operation"] = OPERATIONS.index(a.operation) if a.operation else 0
        for field, value in a.form.items():
            row[field] = value
    return table


def _point_table(kernel: HostKernel) -> npt.NDArray[Any]:
    table = np.zeros(len(kernel.points) + 1, POINT)
    kinds: dict[str, int] = {}
    for row, point in zip(table[1:], kernel.points, strict=True):
        row["checked"] = point.checked
        if point.operation:
            name, _, mode = point.operation.partition(" ")
            row["is_gather"], row["operation"], row["mode"] = 1, OPERATIONS_OF_WARPS.index(name), MODES.index(mode)
            row["kind"] = kinds.setdefault(point.operation, len(kinds))
    return table


def _orders(launch: _Launch, schedule: Schedule | None, blocks: int, warps: int) -> list[npt.NDArray[np.uint32]]:
    """Puts the order of a schedule into the launch; the arrays must live as long as it."""
    if schedule is None or schedule.kind == "forward":
        return []
    order = np.array(schedule.blocks(blocks), np.uint32)
    rows = min(blocks, max(1, ROWS_OF_ORDER // warps))
    inner = np.array([schedule.warps(b, warps) for b in range(rows)], np.uint32)
    launch.block_order, launch.warp_order, launch.warp_rows = order.ctypes.data, inner.ctypes.data, rows
    if schedule.kind != "subwarp":
        return [order, inner]
    groups = np.array([[schedule.lane_groups(b, w) for w in range(warps)] for b in range(rows)], np.uint32)
    launch.groups, launch.n_groups, launch.group_rows = groups.ctypes.data, groups.shape[2], rows
    return [order, inner, groups]
