"""Kernels of one subject, run on the virtual GPU: outputs beside NumPy's, time by the timing model.

    trials = Trials(subject)
    trials.of([kernel, ...])                      # the first blocks of each grid; what they count is multiplied up
    trials.whole(kernel)                          # every block, and the first ones under other schedules

Blocks of a grid do the same on other data, so a search looks at few; the winner is run as a whole.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kernelwright.cache import content_key
from kernelwright.device.arena import Arena, Buffer
from kernelwright.device.arguments import pack
from kernelwright.device.execution import FORWARD, Execution
from kernelwright.device.load_module import load, unload
from kernelwright.device.schedule import Schedule
from kernelwright.device.timing_model.cut_launch import multiplied
from kernelwright.device.timing_model.estimate import Estimate, estimate
from kernelwright.device.timing_model.launch_observation import observe, watch_of
from kernelwright.device.virtual_gpu.gpu import Launched, VirtualGpu
from kernelwright.errors import CompileError, DeviceError
from kernelwright.evaluate.judging.fitness import Evaluated
from kernelwright.evaluate.outcome import Metrics, Ok, Outcome, Rejected
from kernelwright.exploration.bundle import Bundler, Compiled
from kernelwright.exploration.subject import Subject
from kernelwright.launch import Launch, Triple
from kernelwright.space.computation.family import SEED, TOLERANCE, shaped_view
from kernelwright.space.cuda_source import GeneratedKernel
from kernelwright.target import WARP

BLOCKS = 8
"""Of a grid that run in a trial at most: enough for neighbours."""
MOST_WORK = 1 << 24
"""Iterations of the computation, of lanes that idle in their warp, too, that a trial runs: some seconds. Of a grid whose blocks do
more fewer run; a block that does more by itself is not tried."""
OTHER_SCHEDULES = (Schedule.random(1), Schedule.subwarp(4, 2))
BUDGET = 1 << 32
KEPT = 8


class Trials:
    """Holds inputs and expected outputs of a subject. Candidates run in this process, which may die of them."""

    def __init__(self, subject: Subject, seed: int = SEED) -> None:
        """``seed``: of the inputs."""
        self.subject = subject
        self._gpu = subject.gpu
        self._bundler = Bundler(self._gpu.arch)
        self._virtual = VirtualGpu(KEPT)
        self._inputs = subject.family.inputs(subject.declared, seed)
        self._expected = subject.family.expected(subject.declared, self._inputs)
        self._owner = 0
        self._arena: Arena
        self._buffers: dict[str, Buffer] = {}
        self._scratch: dict[str, Buffer] = {}
        """Of the last launch: temporaries in global memory."""

    def of(self, kernels: Sequence[GeneratedKernel]) -> list[Evaluated]:
        """What came of each, in order."""
        begin = time.perf_counter()
        compiled = self._bundler.compile(kernels)
        build = (time.perf_counter() - begin) / max(1, len(kernels))
        return [self._evaluated(kernel, made, build) for kernel, made in zip(kernels, compiled, strict=True)]

    def whole(self, kernel: GeneratedKernel) -> Outcome:
        """Every block in order, then the first ones in other orders of blocks, warps and lanes."""
        (made,) = self._bundler.compile([kernel])
        if isinstance(made, CompileError):
            return Rejected("compile", made.message)
        found = self._tried(kernel, made, kernel.grid)
        if isinstance(found, Rejected):
            return found
        for schedule in OTHER_SCHEDULES:
            again = self._run(kernel, made, self._cut(kernel), schedule)
            wrong = self._compared(kernel, again, self._cut(kernel))
            if isinstance(wrong, Rejected):
                return Rejected("order", f"under schedule {schedule}, {wrong.reason}")
        return found

    # -- one kernel ----------------------------------------------------------------------------------------------------

    def _evaluated(self, kernel: GeneratedKernel, made: Compiled | CompileError, build: float) -> Evaluated:
        key = content_key([kernel.source, str(kernel.grid), str(kernel.block)])
        if isinstance(made, CompileError):
            return Evaluated(Rejected("compile", made.message), key, {}, {"build": build})
        begin = time.perf_counter()
        found = self._tried(kernel, made, self._cut(kernel))
        return Evaluated(found, key, {}, {"build": build, "run": time.perf_counter() - begin})

    def _tried(self, kernel: GeneratedKernel, made: Compiled, grid: Triple) -> Ok | Rejected:
        try:
            launched = self._run(kernel, made, grid)
            error = self._compared(kernel, launched, grid)
            if isinstance(error, Rejected):
                return error
            return _as_outcome(self._estimated(launched, made, kernel), error)
        except DeviceError as error:
            return Rejected("launch", error.message)
        except CompileError as error:
            return Rejected("compile", error.message)

    def _use_own_memory(self) -> None:
        """Inputs and outputs in memory that no other process sees: workers are copies of the process that made this object, and
        an arena would be one memory for all of them."""
        if self._owner == os.getpid():
            return
        if self._owner:
            self._arena.close()
        self._owner, self._arena = os.getpid(), Arena()
        for name, array in self._inputs.items():
            # What reads an input that a wrong kernel has overwritten would be wrong, too.
            self._buffers[name] = self._arena.allocate(array.nbytes, name, writable=name in self._expected)
            self._arena.view(self._buffers[name], np.float32)[:] = array

    def _run(self, kernel: GeneratedKernel, made: Compiled, grid: Triple, schedule: Schedule = FORWARD) -> Launched:
        self._use_own_memory()
        for name in self._expected:
            self._arena.view(self._buffers[name], np.float32)[:] = np.nan
        loaded = load(made.module, self._arena)
        mark = self._arena.next_address
        try:
            # As large as the whole grid needs, since the model asks whether it fits the cache; pages that nothing writes take no memory.
            elements = kernel.scratch_elements(dict(self.subject.sizes))
            self._scratch = {name: self._arena.allocate(4 * n, name, fill=None) for name, n in elements.items()}
            places = {name: buffer.address for name, buffer in {**self._buffers, **self._scratch}.items()}
            scalars = self.subject.family.scalars
            arguments = kernel.arguments(places, scalars, dict(self.subject.sizes))
            parameters = pack(made.module.function(made.name), arguments)
            launch = Launch(made.name, grid, kernel.block, parameters, 0)
            followed = schedule == FORWARD
            code = self._virtual.compile(
                loaded, made.name, kernel.block, split=schedule.kind == "subwarp", followed=followed
            )
            execution = Execution(loaded, launch, schedule, BUDGET)
            watch = watch_of(grid) if followed else None
            return self._virtual.run(execution, self._arena, compiled=code, watch=watch)
        finally:
            self._arena.rewind(mark)
            unload(loaded, self._arena)

    def _compared(self, kernel: GeneratedKernel, launched: Launched, grid: Triple) -> float | Rejected:
        """The error over all outputs. Of a cut grid only what was written is compared."""
        if launched.fault is not None:
            stage = "timeout" if launched.fault.kind == "endless" else "fault"
            return Rejected(stage, launched.fault.message)
        largest = 0.0
        for name, expected in self._expected.items():
            array = self.subject.declared.arrays[name]
            found = shaped_view(array, self._arena.view(self._buffers[name], np.float32))
            written: npt.NDArray[np.bool_] = ~np.isnan(found)
            if grid == kernel.grid and not written.all():
                missing = int(written.size - written.sum())
                return Rejected("compare", f"{missing} elements of {name} are not written, or are no numbers")
            if not written.any():
                return Rejected("compare", f"nothing of {name} is written")
            scale = max(float(np.abs(expected).max()), 1e-30)
            error = float(np.abs(found[written] - expected[written]).max()) / scale
            if not error <= TOLERANCE:
                return Rejected("compare", f"{name} is off by {error:.3g} of its largest value")
            largest = max(largest, error)
        return largest

    def _estimated(self, launched: Launched, made: Compiled, kernel: GeneratedKernel) -> Estimate:
        buffers = [*self._buffers.values(), *self._scratch.values()]
        bounds = [(buffer.address, buffer.address + buffer.size) for buffer in buffers]
        seen = observe(launched.result, launched.launch, bounds)
        return estimate(multiplied(seen, kernel.grid), made.weights, self._gpu, by_line=False)

    def _cut(self, kernel: GeneratedKernel) -> Triple:
        """Generated grids have one axis."""
        return max(1, min(BLOCKS, kernel.grid[0], MOST_WORK // block_work(self.subject, kernel))), 1, 1

    def close(self) -> None:
        """Releases the device memory, where it was made here."""
        if self._owner:
            self._arena.close()


def block_work(subject: Subject, kernel: GeneratedKernel) -> int:
    """Iterations of one block, at least 1: a warp takes as long for one lane as for all."""
    lanes = -(-kernel.threads // WARP) * WARP
    return max(1, subject.work * lanes // (kernel.grid[0] * kernel.threads))


def _as_outcome(found: Estimate, error: float) -> Ok:
    figures = {
        "registers": float(found.registers),
        "dram_bytes": found.dram_bytes,
        "instructions": float(sum(found.instructions.values())),
        "with_launch_us": found.time_us,
    }
    return Ok(found.kernel_us, error, Metrics(figures))
