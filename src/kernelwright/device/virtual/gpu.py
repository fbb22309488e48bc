"""The virtual GPU: memory, modules and launches, in this process.

    gpu = VirtualGpu()
    loaded = gpu.load(ir_text)
    done = gpu.launch(loaded, "saxpy", (64, 1, 1), (256, 1, 1), packed)

A launch runs to its end or its first fault before the call returns. What a kernel does wrong is part of the result; what
cannot be launched at all is an exception.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kernelwright.codegen.simt.lower import lower
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.codegen.simt.running.compiled_kernel import CompiledKernel, HostFault, LaunchResult, compile_host
from kernelwright.codegen.simt.running.watching import Watch
from kernelwright.device.arena import Arena, Buffer
from kernelwright.device.describe_access import describe_access
from kernelwright.device.fault import Fault, Kind, Triple
from kernelwright.device.geometry import MAX_GRID, check_geometry
from kernelwright.device.locations import location_of
from kernelwright.device.schedule import Schedule
from kernelwright.device.settings import BUDGET
from kernelwright.device.variables import Variables, load_variables
from kernelwright.ir import Module, parse_module
from kernelwright.ir.module import Instruction

if TYPE_CHECKING:
    from kernelwright.device.model.estimate import Estimate

_MESSAGES: dict[str, str] = {
    "barrier": "threads wait at different barriers, or some wait for others that cannot come",
    "trap": "the kernel executed a trap",
    "assert": "an assertion failed",
    "endless": "the kernel does not end: its budget of loop iterations is used up",
    "printf": "the kernel printed more than its buffer holds",
}


@dataclass
class Loaded:
    """A module on the device, its variables in memory."""

    module: Module
    variables: Variables
    source: str = ""
    ptx: Mapping[str, str] = field(default_factory=dict)
    """By architecture, as far as it is known already."""
    prepared: dict[tuple[str, Triple, SimtOptions | None, bool, bool], Prepared] = field(default_factory=dict)


@dataclass(frozen=True)
class Launched:
    """What one launch did."""

    kernel: str
    grid: Triple
    block: Triple
    shared_bytes: int
    fault: Fault | None
    result: LaunchResult
    """Counters per IR block and per access."""
    compiled: CompiledKernel
    """The code that ran; its tables say what the counters count."""
    estimate: Estimate | None = None
    """What the timing model says of it (``device/virtual/launch_estimates.py``), where it was asked."""

    @property
    def time_us(self) -> float:
        """Estimated time on the GPU that is simulated; 0 without an estimate."""
        return self.estimate.time_us if self.estimate is not None else 0.0

    @property
    def text(self) -> str:
        """What the kernel printed."""
        return self.result.printed.decode("utf-8", "replace")


class VirtualGpu:
    """One virtual device. Not for several threads at once."""

    def __init__(self, arena: Arena | None = None) -> None:
        self.arena = arena or Arena()
        self._running: Prepared | None = None

    def load(
        self,
        module: Module | str,
        source: str = "",
        placed: Mapping[str, Buffer] | None = None,
        fresh: Mapping[str, Buffer] | None = None,
        ptx: Mapping[str, str] | None = None,
    ) -> Loaded:
        """Puts a module on the device. Raises ``CompileError`` for variables nobody defines, ``DeviceError`` for lack of room.

        ``placed``: variables that are in memory already and keep their values; ``fresh``: those whose memory is there, but
        not yet their initial values. ``ptx``: what the timing model would otherwise make itself, by architecture.
        """
        parsed = parse_module(module) if isinstance(module, str) else module
        return Loaded(parsed, load_variables(parsed, self.arena, placed, fresh), source, ptx or {})

    def unload(self, loaded: Loaded) -> None:
        """Frees a module's variables."""
        for buffer in loaded.variables.buffers.values():
            if self.arena.find(buffer.address) == buffer:
                self.arena.free(buffer)

    def prepare(
        self,
        loaded: Loaded,
        kernel: str,
        block: Triple,
        options: SimtOptions | None = None,
        *,
        split: bool = False,
        followed: bool = False,
    ) -> Prepared:
        """A kernel ready for launches with one block shape; its host code is made at first use.

        ``split``: for schedules that split warps; ``followed``: for the timing model, which follows warps.

        Raises ``DeviceError`` for an impossible block, ``CompileError`` for code that the virtual GPU does not run.
        """
        asked = (kernel, block, options, split, followed)
        found = loaded.prepared.get(asked)
        if found is None:
            wanted = replace(options or SimtOptions(trace=followed), block=block, split=split)
            check_geometry(kernel, (1, 1, 1), block)
            found = Prepared(self, loaded, kernel, block, compile_host(lower(loaded.module, kernel, wanted)))
            loaded.prepared[asked] = found
        return found

    def launch(
        self,
        loaded: Loaded,
        kernel: str,
        grid: Triple,
        block: Triple,
        packed: bytes,
        shared_bytes: int = 0,
        *,
        schedule: Schedule | None = None,
        budget: int = BUDGET,
        options: SimtOptions | None = None,
    ) -> Launched:
        """Runs a kernel. ``packed``: the parameter buffer, each parameter at its natural alignment.

        Raises ``DeviceError`` for an impossible geometry or a wrong parameter buffer, ``CompileError`` for code that the
        virtual GPU does not run.
        """
        split = schedule is not None and schedule.kind == "subwarp"
        prepared = self.prepare(loaded, kernel, block, options, split=split)
        return prepared.launch(grid, packed, shared_bytes, schedule=schedule, budget=budget)

    def stop(self) -> bool:
        """Ends the launch that runs, from another thread; its fault is then "endless". False when none runs.

        The kernel may be just about to write its own count over ours, so ask again until the launch has ended.
        """
        running = self._running
        return running is not None and running.compiled.stop()

    def progress(self) -> tuple[str, int] | None:
        """The kernel that runs and how many of its blocks are done, for another thread; None when none runs."""
        running = self._running
        return (running.kernel, running.compiled.blocks_done) if running is not None else None


class Prepared:
    """A kernel ready for launches with one block shape. Not for several threads at once."""

    def __init__(self, gpu: VirtualGpu, loaded: Loaded, kernel: str, block: Triple, compiled: CompiledKernel) -> None:
        self.kernel = kernel
        self.block = block
        self.compiled = compiled
        """The code that runs; its tables say what the counters count."""
        self._gpu = gpu
        self._loaded = loaded

    def for_log(self) -> Prepared:
        """The same kernel made for launches whose warps are followed."""
        return self._gpu.prepare(self._loaded, self.kernel, self.block, followed=True)

    def for_split(self) -> Prepared:
        """The same kernel made for schedules that split warps."""
        return self._gpu.prepare(self._loaded, self.kernel, self.block, split=True)

    def launch(
        self,
        grid: Triple,
        packed: bytes,
        shared_bytes: int = 0,
        *,
        schedule: Schedule | None = None,
        budget: int = BUDGET,
        watch: Watch | None = None,
    ) -> Launched:
        """Runs the kernel. Raises ``DeviceError`` for an impossible grid or a parameter buffer that is too short."""
        x, y, z = grid
        if not (0 < x <= MAX_GRID[0] and 0 < y <= MAX_GRID[1] and 0 < z <= MAX_GRID[2]):
            check_geometry(self.kernel, grid, self.block)
        gpu = self._gpu
        gpu._running = self
        try:
            result = self.compiled.launch(
                gpu.arena,
                grid,
                self.block,
                packed,
                shared_bytes,
                schedule,
                budget,
                self._loaded.variables.addresses,
                watch,
            )
        finally:
            gpu._running = None
        fault = self._fault(grid, result.fault) if result.fault else None
        return Launched(self.kernel, grid, self.block, shared_bytes, fault, result, self.compiled)

    def _fault(self, grid: Triple, found: HostFault) -> Fault:
        """What the runtime recorded, with names and places."""
        origin: Instruction | None = None
        kind, message, buffer = found.kind, _MESSAGES.get(found.kind, found.kind), ""
        if found.access is not None:
            origin = found.access.origin
            align = found.access.align
            kind, message, buffer = describe_access(self._gpu.arena, found.address, found.size, align, found.write)
        elif found.note is not None:
            message, origin = found.note[0] or message, found.note[1]
            if kind in ("out-of-bounds", "misaligned"):
                kind, message, buffer = describe_access(
                    self._gpu.arena, found.address, found.size, found.align, found.write
                )
        return Fault(
            kind=_kind(kind),
            message=message,
            kernel=self.kernel,
            where=location_of(origin) if origin is not None else None,
            thread=position(found.thread, self.block),
            block=position(found.block, grid),
            address=found.address,
            size=found.size,
            write=found.write,
            buffer=buffer,
            other=location_of(found.other) if found.other is not None else None,
        )


def _kind(name: str) -> Kind:
    known: dict[str, Kind] = {
        "out-of-bounds": "out-of-bounds",
        "read-only": "out-of-bounds",
        "misaligned": "misaligned",
        "use-after-free": "use-after-free",
        "barrier": "barrier",
        "trap": "trap",
        "assert": "assert",
        "endless": "endless",
    }
    return known.get(name, "trap")


def position(linear: int, extent: Triple) -> Triple:
    """A linear number of a thread or block as CUDA's three."""
    x, y, _ = extent
    return linear % x, linear // x % y, linear // (x * y)
