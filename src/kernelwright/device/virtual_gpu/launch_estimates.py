"""Launches on the virtual GPU with their estimated times: what the model needs of each, asked for and kept.

    timing = Timing(gpu("h200"), arena)
    launched = timing.launch(VirtualGpu(), execution)
    launched.time_us, launched.estimate.terms

The first launch of a kernel with a geometry is logged: paths of some warps, addresses of some blocks. Later ones only
count, and take the first one's log, scaled to what they did. A launch that counts what an earlier one counted has its time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from kernelwright.cache import content_key
from kernelwright.codegen.carried_options import carried
from kernelwright.codegen.cost.block_weights import Source, Weights, weigh_all
from kernelwright.codegen.ptx import emit_ptx
from kernelwright.codegen.simt.launching.launch_result import LaunchResult
from kernelwright.cuda.names import readable
from kernelwright.device.arena import Arena
from kernelwright.device.execution import Execution, Loaded
from kernelwright.device.timing_model.counters import BlockTrace, Observed
from kernelwright.device.timing_model.estimate import Estimate, estimate
from kernelwright.device.timing_model.launch_observation import block_labels, observe, watch_of
from kernelwright.device.timing_model.machine_accesses import machine_accesses
from kernelwright.device.virtual_gpu.gpu import Launched, VirtualGpu
from kernelwright.device.virtual_gpu.kept_code import KeptCode
from kernelwright.device.virtual_gpu.sampled_launch import Sample, sample
from kernelwright.errors import DeviceError, KernelwrightError
from kernelwright.ir import print_module
from kernelwright.launch import Launch
from kernelwright.lru import LruCache
from kernelwright.target import Gpu

LOCATION = "\t.loc\t"
KEPT = 512
"""Estimates kept for launches that count the same again."""


def _log_key(trace: tuple[BlockTrace, ...]) -> str:
    """Equal for equal logs."""
    parts = ((each.number, *each.paths, each.requests, each.lines) for each in trace)
    return content_key(p.tobytes() if isinstance(p, np.ndarray) else str(p) for of in parts for p in (len(of), *of))


class L2History:
    """Which buffers the L2 cache still holds from earlier launches: those used last, as far as they fit."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._used: dict[tuple[int, int], None] = {}

    def warm(self, observed: Observed) -> float:
        """The share of what a launch touches that earlier launches left there; the launch's buffers are then the last used."""
        held = self._held()
        total = observed.touched_bytes
        found = sum(held.get(buffer, 0) for buffer in observed.touched)
        for buffer in observed.touched:
            self._used.pop(buffer, None)
            self._used[buffer] = None
        return found / total if total else 0.0

    def _held(self) -> dict[tuple[int, int], int]:
        left, held = self.size, {}
        for start, end in reversed(self._used):
            held[start, end] = min(left, end - start)
            left -= held[start, end]
        return held


class Timing:
    """Times of launches on one GPU. Not for several threads at once.

    ``source`` says what to weigh instructions by: machine code where there is an assembler, unless it says ``ptx``. With
    ``warm``, a launch finds in L2 what those before it left there.
    """

    def __init__(
        self,
        gpu: Gpu,
        arena: Arena,
        *,
        source: Source | None = None,
        warm: bool = True,
        cuda_path: Path | None = None,
        kept: KeptCode | None = None,
    ) -> None:
        """``kept``: made by others before, for the same GPU and source, and added to."""
        self.gpu = gpu
        self.arena = arena
        self.untimed: dict[str, str] = {}
        """Kernels, by mangled name, that the model cannot take; and why."""
        self._source = source
        self._warm = warm
        self._cuda_path = cuda_path
        self._kept = kept
        self._weights = kept.weights if kept is not None else {}
        self.start_over()

    def start_over(self) -> None:
        """Forgets all launches: caches are cold, and the next launch of each kernel is logged again."""
        self._history = L2History(self.gpu.l2_bytes)
        self._logs: dict[tuple[object, ...], tuple[BlockTrace, ...]] = {}
        self._estimates: LruCache[tuple[object, ...], tuple[Observed, Estimate]] = LruCache(KEPT)
        self.last: tuple[Observed, Estimate] | None = None
        """Of the last launch that has an estimate."""

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Launches within leave nothing in the L2 cache for those after."""
        used, last = dict(self._history._used), self.last
        try:
            yield
        finally:
            self._history._used, self.last = used, last

    def launch(self, virtual: VirtualGpu, execution: Execution) -> Launched:
        """Runs a kernel and says how long it would have taken.

        A launch that faults has no estimate, nor has one of a kernel that the model cannot take (``untimed``). Raises
        ``DeviceError`` for an impossible launch.
        """
        loaded, asked = execution.loaded, execution.launch
        watch = None if (id(loaded.module), asked.geometry) in self._logs else watch_of(asked.grid)
        compiled = virtual.compile(loaded, asked.kernel, asked.block, followed=True)
        launched = virtual.run(execution, self.arena, compiled=compiled, watch=watch)
        if launched.fault is not None or launched.kernel in self.untimed:
            return launched
        try:
            self.last = self.examine(loaded, launched)
        except KernelwrightError as error:
            # The kernel has run; that its time is unknown is no reason to fail.
            self.untimed[launched.kernel] = error.message
            return launched
        return replace(launched, estimate=self.last[1])

    def of_sample(self, virtual: VirtualGpu, execution: Execution) -> tuple[Estimate, Sample | None]:
        """What a launch would take, from a sample of its blocks; from all of them where that is not enough (None). Memory, and
        what later launches find in the caches, stay as they are.

        ``sources["blocks"]`` of the estimate says how many ran. Raises ``DeviceError`` for an impossible launch, one that
        faults, and where memory cannot be copied; else as ``examine``.
        """
        loaded = execution.loaded
        with self.aside():
            found = sample(virtual, execution, self.arena)
            if found is None:
                return self.of_all(virtual, execution), None
            observed = self._observed(execution.launch, found.result)
            weights = self.weights(loaded, execution.launch.kernel)
            made = estimate(machine_accesses(observed, weights), weights, self.gpu)
            return replace(made, sources={**made.sources, "blocks": str(found)}), found

    def of_all(self, virtual: VirtualGpu, execution: Execution) -> Estimate:
        """What a launch would take, run whole on a copy of the memory. Raises as ``of_sample``."""
        launch = execution.launch
        with self.arena.aside() as has_copy:
            if not has_copy:
                raise DeviceError("there is no memory for a copy of what the launch writes", hint="free some memory")
            launched = self.launch(virtual, execution)
        if launched.fault is not None:
            raise DeviceError(f"the launch stops with a fault, so it has no time: {launched.fault.message}")
        if launched.estimate is None:
            raise DeviceError(
                f"kernel '{readable(launch.kernel)}' has no estimate: {self.untimed.get(launch.kernel, '')}"
            )
        return launched.estimate

    def _observed(self, launch: Launch, result: LaunchResult) -> Observed:
        bounds = self.arena.bounds()
        buffers = list(zip(bounds["start"].tolist(), bounds["end"].tolist(), strict=True))
        observed = observe(result, launch, buffers)
        return replace(observed, warm=self._history.warm(observed)) if self._warm else observed

    def examine(self, loaded: Loaded, launched: Launched) -> tuple[Observed, Estimate]:
        """What was observed of a launch, accesses as its code makes them, and its estimate. Of a launch that was not logged,
        only what was counted is known.

        A launch is looked at once: asking again finds its own data in the caches. Raises ``CompileError`` for code that has
        no PTX or that the assembler refuses, ``DeviceError`` for a block that does not fit on a multiprocessor.
        """
        shape = (id(loaded.module), launched.launch.geometry)
        bounds = self.arena.bounds()
        buffers = list(zip(bounds["start"].tolist(), bounds["end"].tolist(), strict=True))
        observed = observe(launched.result, launched.launch, buffers)
        if observed.trace:
            self._logs[shape] = observed.trace
        elif shape in self._logs:
            observed = replace(observed, trace=self._logs[shape])
        if self._warm:
            observed = replace(observed, warm=self._history.warm(observed))
        counted = tuple(b.executions for b in observed.blocks) + observed.accesses

        def estimated() -> tuple[Observed, Estimate]:
            weights = self.weights(loaded, launched.kernel)
            as_made = machine_accesses(observed, weights)
            return as_made, estimate(as_made, weights, self.gpu)

        def make() -> tuple[Observed, Estimate]:
            if self._kept is None:
                return estimated()
            # Modules are kept with their weights, so that their numbers stay theirs.
            self.weights(loaded, launched.kernel)
            key = (shape, launched.kernel, counted, observed.warm, observed.buffers, _log_key(observed.trace))
            return self._kept.estimates.get_or_make(key, estimated)

        return self._estimates.get_or_make((shape, counted, observed.warm), make)

    def weights(self, loaded: Loaded, kernel: str) -> Weights:
        """What a kernel's blocks cost, made at the first use of its module. Raises as ``examine``."""
        return self._of_module(loaded)[kernel]

    def _of_module(self, loaded: Loaded) -> Mapping[str, Weights]:
        module, arch = loaded.module, self.gpu.arch
        held = self._weights.get(id(module))
        if held is None:
            ptx = loaded.ptx.get(arch, "")
            if LOCATION not in ptx:  # what programs carry is stripped of source lines
                ptx = emit_ptx(print_module(module), arch, carried(module))
            labels, path = block_labels(module), self._cuda_path
            made = weigh_all(ptx, arch, labels, source=self._source, cuda_path=path, kept=True)
            # The module is kept, so that no other gets its number.
            held = self._weights[id(module)] = (module, made)
        return held[1]
