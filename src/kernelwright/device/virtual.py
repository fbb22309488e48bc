"""The virtual GPU: memory, modules and launches, in this process.

    gpu = VirtualGpu()
    loaded = gpu.load(ir_text)
    done = gpu.launch(loaded, "saxpy", (64, 1, 1), (256, 1, 1), packed)

A launch runs to its end or its first fault before the call returns. What a kernel does wrong is part of the result; what
cannot be launched at all is an exception.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from kernelwright.codegen.layout import parameter_layout
from kernelwright.codegen.simt.host import CompiledKernel, HostFault, LaunchResult, compile_host
from kernelwright.codegen.simt.lower import lower
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.device.describe import describe_access
from kernelwright.device.fault import Fault, Kind, Triple
from kernelwright.device.memory import Arena
from kernelwright.device.reference.launch import check_geometry, location_of
from kernelwright.device.schedule import Schedule
from kernelwright.device.variables import Variables, load_variables
from kernelwright.errors import DeviceError
from kernelwright.ir import Module, parse_module
from kernelwright.ir.instruction import Instruction

BUDGET = 1 << 34
"""Times that warps may go back in loops during one launch, before it counts as endless."""

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
    compiled: dict[tuple[str, SimtOptions], CompiledKernel] = field(default_factory=dict)


@dataclass(frozen=True)
class Launched:
    """What one launch did."""

    kernel: str
    grid: Triple
    block: Triple
    shared_bytes: int
    fault: Fault | None
    text: str
    """What the kernel printed."""
    result: LaunchResult
    """Counters per IR block and per access."""
    compiled: CompiledKernel
    """The code that ran; its tables say what the counters count."""
    time_us: float = 0.0
    """Estimated time on the GPU that is simulated, 0 without a timing model."""


Estimate = Callable[[Loaded, Launched], float]
"""Estimated microseconds of a launch."""


class VirtualGpu:
    """One virtual device. Not for several threads at once."""

    def __init__(self, arena: Arena | None = None, estimate: Estimate | None = None) -> None:
        self.arena = arena or Arena()
        self.estimate = estimate

    def load(self, module: Module | str, source: str = "") -> Loaded:
        """Puts a module on the device. Raises ``CompileError`` for variables nobody defines, ``DeviceError`` for lack of room."""
        parsed = parse_module(module) if isinstance(module, str) else module
        return Loaded(parsed, load_variables(parsed, self.arena), source)

    def unload(self, loaded: Loaded) -> None:
        """Frees a module's variables."""
        for buffer in loaded.variables.buffers.values():
            if self.arena.find(buffer.address) == buffer:
                self.arena.free(buffer)

    def compile(self, loaded: Loaded, kernel: str, options: SimtOptions) -> CompiledKernel:
        """The kernel's host code for one block shape, made on first use. Raises ``CompileError`` for what cannot run."""
        key = (kernel, options)
        if key not in loaded.compiled:
            loaded.compiled[key] = compile_host(lower(loaded.module, kernel, options))
        return loaded.compiled[key]

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
        check_geometry(kernel, grid, block)
        wanted = parameter_layout(loaded.module.function(kernel)).size
        if len(packed) < wanted:
            raise DeviceError(f"Kernel '{kernel}' takes {wanted} bytes of arguments, {len(packed)} were given.")
        split = schedule is not None and schedule.kind == "subwarp"
        options = replace(options or SimtOptions(), block=block, split=split)
        compiled = self.compile(loaded, kernel, options)
        result = compiled.launch(
            self.arena, grid, block, packed, shared_bytes, schedule, budget, symbols=loaded.variables.addresses
        )
        launched = Launched(
            kernel=kernel,
            grid=grid,
            block=block,
            shared_bytes=shared_bytes,
            fault=self._fault(kernel, grid, block, result.fault) if result.fault else None,
            text=result.printed.decode("utf-8", "replace"),
            result=result,
            compiled=compiled,
        )
        return replace(launched, time_us=self.estimate(loaded, launched)) if self.estimate else launched

    def _fault(self, kernel: str, grid: Triple, block: Triple, found: HostFault) -> Fault:
        """What the runtime recorded, with names and places."""
        origin: Instruction | None = None
        kind, message, buffer = found.kind, _MESSAGES.get(found.kind, found.kind), ""
        if found.access is not None:
            origin = found.access.origin
            align = found.access.align
            kind, message, buffer = describe_access(self.arena, found.address, found.size, align, found.write)
        elif found.note is not None:
            message, origin = found.note[0] or message, found.note[1]
        return Fault(
            kind=_kind(kind),
            message=message,
            kernel=kernel,
            where=location_of(origin) if origin is not None else None,
            thread=_position(found.thread, block),
            block=_position(found.block, grid),
            address=found.address,
            size=found.size,
            write=found.write,
            buffer=buffer,
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


def _position(linear: int, extent: Triple) -> Triple:
    x, y, _ = extent
    return linear % x, linear // x % y, linear // (x * y)
