"""The virtual GPU: the compiled code of kernels, and launches of it on the memory of an arena, in this process.

    gpu, arena = VirtualGpu(), Arena()
    loaded = load(module, arena)
    done = gpu.run(Execution(loaded, Launch("saxpy", (64, 1, 1), (256, 1, 1), parameters)), arena)

A launch runs to its end or its first fault before the call returns. What a kernel does wrong is part of the result; what
cannot be launched at all is an exception. ``run`` is an executor: what only needs one is given that.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kernelwright.codegen.call_graph import meant_by, stack_is_full
from kernelwright.codegen.simt.launching.compiled_kernel import (
    CompiledKernel,
    HostFault,
    LaunchResult,
    Memory,
    compile_host,
)
from kernelwright.codegen.simt.launching.launch_result import HostOverread
from kernelwright.codegen.simt.launching.watching import Watch
from kernelwright.codegen.simt.lower import lower
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.cuda.names import readable
from kernelwright.device.arena import Arena
from kernelwright.device.describe_access import describe_access
from kernelwright.device.execution import Execution, Loaded
from kernelwright.device.fault import Fault, Kind
from kernelwright.device.geometry import MAX_GRID, check_geometry
from kernelwright.device.locations import location_of
from kernelwright.device.overread import Overread
from kernelwright.device.virtual_gpu.repeated_launches import RepeatedLaunches
from kernelwright.ir.module import Instruction
from kernelwright.launch import Launch, Triple
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.lru import LruCache

if TYPE_CHECKING:
    from kernelwright.device.timing_model.estimate import Estimate

_MESSAGES: dict[str, str] = {
    "barrier": "threads wait at different barriers, or some wait for others that cannot come",
    "trap": "the kernel executed a trap",
    "assert": "an assertion failed",
    "endless": "the kernel does not end: its budget of loop iterations is used up",
    "printf": "the kernel printed more than its buffer holds",
}


@dataclass(frozen=True, init=False)
class Launched:
    """What one launch did."""

    launch: Launch
    fault: Fault | None
    result: LaunchResult
    """Counters per IR block and per access."""
    compiled: CompiledKernel
    """The code that ran; its tables say what the counters count."""
    overreads: tuple[Overread, ...] = ()
    """Reads past a buffer that were let pass."""
    estimate: Estimate | None = None
    """What the timing model says of it (``device/virtual_gpu/launch_estimates.py``), where it was asked."""
    version: str = ""
    """The winner that ran in the kernel's place, where ``Device`` was given some."""

    def __init__(
        self,
        launch: Launch,
        fault: Fault | None,
        result: LaunchResult,
        compiled: CompiledKernel,
        overreads: tuple[Overread, ...] = (),
        estimate: Estimate | None = None,
        version: str = "",
    ) -> None:
        # As in ``Launch``.
        fields = self.__dict__
        fields["launch"], fields["fault"], fields["result"], fields["compiled"] = launch, fault, result, compiled
        fields["overreads"], fields["estimate"], fields["version"] = overreads, estimate, version

    def __repr__(self) -> str:
        came = (
            f"fault: {self.fault}"
            if self.fault is not None
            else f"{self.time_us:.4g} us"
            if self.estimate
            else "no time"
        )
        return f"<launched {readable(self.kernel)}, grid {self.grid}, block {self.block}: {came}>"

    @property
    def kernel(self) -> str:
        """Its mangled name."""
        return self.launch.kernel

    @property
    def grid(self) -> Triple:
        """Blocks along x, y and z."""
        return self.launch.grid

    @property
    def block(self) -> Triple:
        """Threads of a block along x, y and z."""
        return self.launch.block

    @property
    def time_us(self) -> float:
        """Estimated time on the GPU that is simulated, with what launching costs, as events would measure it; 0 without an estimate."""
        return self.estimate.time_us if self.estimate is not None else 0.0

    @property
    def kernel_us(self) -> float:
        """The part of ``time_us`` that the kernel takes, without what launching costs."""
        return self.estimate.kernel_us if self.estimate is not None else 0.0

    @property
    def text(self) -> str:
        """What the kernel printed."""
        return self.result.printed.decode("utf-8", "replace")


class VirtualGpu:
    """The virtual GPU with the code of the kernels that ran on it. Not for several threads at once.

    A kernel is compiled once per block shape; of more than ``kept`` kernels the code of those used last is kept. ``cores``: on
    how many a launch may run, which changes nothing but its time.
    """

    def __init__(self, kept: int | None = None, *, cores: int = 1, repeated: RepeatedLaunches | None = None) -> None:
        """``repeated``: where launches are looked up that find what earlier ones found; None: all run."""
        self._cores = cores
        self.repeated = repeated
        self._compiled: LruCache[Hashable, CompiledKernel] = LruCache(kept)
        self._running: tuple[str, CompiledKernel] | None = None

    def compile(
        self,
        loaded: Loaded,
        kernel: str,
        block: Triple,
        options: SimtOptions | None = None,
        *,
        split: bool = False,
        followed: bool = False,
    ) -> CompiledKernel:
        """A kernel's code for one block shape, made at first use.

        ``split``: for schedules that split warps; ``followed``: for the timing model, which follows warps. Raises
        ``DeviceError`` for an impossible block, ``CompileError`` for code that the virtual GPU does not run.
        """
        # The code holds its module, so that no other gets its number.
        key = (loaded.key or id(loaded.module), kernel, block, options, split, followed)

        def make() -> CompiledKernel:
            wanted = replace(options or SimtOptions(trace=followed), block=block, split=split)
            check_geometry(kernel, (1, 1, 1), block)
            return compile_host(lower(loaded.module, kernel, wanted))

        return self._compiled.get_or_make(key, make)

    def run(
        self,
        execution: Execution,
        arena: Arena,
        *,
        compiled: CompiledKernel | None = None,
        watch: Watch | None = None,
        memory: Memory | None = None,
        blocks: Sequence[int] | None = None,
    ) -> Launched:
        """Runs a launch on the memory of ``arena``.

        ``compiled``: the code that runs, where it is not the usual one for the schedule. ``memory``: what counts as in
        bounds, where that is not the arena's buffers. ``blocks``: of the grid only these run (linear numbers). Raises
        ``DeviceError`` for an impossible geometry or a parameter buffer that is too short, ``CompileError`` for code that the
        virtual GPU does not run.
        """
        launch, schedule = execution.launch, execution.schedule
        if compiled is None:
            split = schedule.kind == "subwarp"
            compiled = self.compile(execution.loaded, launch.kernel, launch.block, split=split)
        x, y, z = launch.grid
        if not (0 < x <= MAX_GRID[0] and 0 < y <= MAX_GRID[1] and 0 < z <= MAX_GRID[2]):
            check_geometry(launch.kernel, launch.grid, launch.block)
        symbols = execution.loaded.variables.addresses

        def run() -> LaunchResult:
            return compiled.launch(
                memory or arena,
                launch,
                schedule=schedule,
                budget=execution.budget,
                symbols=symbols,
                watch=watch,
                overread=execution.overread,
                blocks=blocks,
                cores=self._cores,
            )

        self._running = launch.kernel, compiled
        try:
            if (
                self.repeated is None
                or memory is not None
                or blocks is not None
                or schedule.kind != "forward"
                or not (watch is None or watch.only_finds)
            ):
                result = run()
            else:
                notes = tuple(watch.written.values()) if watch and watch.written else ()
                result = self.repeated.result_of(
                    lambda: _all_but_memory(compiled, execution, arena, watch), arena, run, notes
                )
        finally:
            self._running = None
        fault = _fault(launch, result.fault, arena) if result.fault else None
        overreads = tuple(_overread(launch, one, arena) for one in result.overreads) if result.overreads else ()
        return Launched(launch, fault, result, compiled, overreads)

    def stop(self) -> bool:
        """Ends the launch that runs, from another thread; its fault is then "endless". False when none runs.

        The kernel may be just about to write its own count over ours, so ask again until the launch has ended.
        """
        running = self._running
        return running is not None and running[1].stop()

    def progress(self) -> tuple[str, int] | None:
        """The kernel that runs and how many of its blocks are done, for another thread; None when none runs."""
        running = self._running
        return (running[0], running[1].blocks_done) if running is not None else None


def _all_but_memory(
    compiled: CompiledKernel, execution: Execution, arena: Arena, watch: Watch | None
) -> tuple[Hashable, ...]:
    """Whatever tells one launch from another besides what lies in memory."""
    launch = execution.launch
    return (
        compiled,
        (arena.device, arena.peers),
        launch.geometry,
        launch.parameters,
        execution.budget,
        (execution.overread, launch.stack_bytes),
        tuple(execution.loaded.variables.addresses.values()),
        watch and (watch.races, watch.unwritten, watch.touched, watch.filler, watch.most_findings),
    )


def _overread(launch: Launch, found: HostOverread, arena: Arena) -> Overread:
    buffer = arena.find(found.buffer)
    assert buffer is not None
    return Overread(
        launch.kernel, found.origin, buffer, found.before, found.count, found.farthest,
        position(found.thread, launch.block), position(found.block, launch.grid), found.address, found.size,
    )  # fmt: skip


def _opens_frame(origin: Instruction) -> bool:
    """Whether an access puts something into the frame of a function that it calls."""
    return origin.opcode == "call" and bool(meant_by(origin))


def _fault(launch: Launch, found: HostFault, arena: Arena) -> Fault:
    """What the runtime recorded, with names and places."""
    origin: Instruction | None = None
    kind, message, buffer = found.kind, _MESSAGES.get(found.kind, found.kind), ""
    if found.access is not None:
        origin = found.access.origin
        align = found.access.align
        if _opens_frame(origin):
            kind, message = "stack", stack_is_full(origin.callee, launch.stack_bytes)
        else:
            kind, message, buffer = describe_access(arena, found.address, found.size, align, found.write)
    elif found.note is not None:
        message, origin = found.note[0] or message, found.note[1]
        if kind in ("out-of-bounds", "misaligned"):
            kind, message, buffer = describe_access(arena, found.address, found.size, found.align, found.write)
    return Fault(
        kind=_kind(kind),
        message=message,
        kernel=launch.kernel,
        where=location_of(origin) if origin is not None else None,
        thread=position(found.thread, launch.block),
        block=position(found.block, launch.grid),
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
        "stack": "stack",
    }
    return known.get(name, "trap")


def position(linear: int, extent: Triple) -> Triple:
    """A linear number of a thread or block as CUDA's three."""
    x, y, _ = extent
    return linear % x, linear // x % y, linear // (x * y)
