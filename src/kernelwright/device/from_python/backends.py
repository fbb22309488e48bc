"""What ``Device`` runs kernels on: a virtual GPU in this process, or a real one in a process of its own.

Both take modules and launches whose memory lies in ``arena``, and leave there what a kernel has written.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from typing import TYPE_CHECKING, Protocol

from kernelwright.device.arena import Arena
from kernelwright.device.execution import FORWARD, Execution, Loaded
from kernelwright.device.load_module import load
from kernelwright.device.real_gpu.cuda_executor import CudaExecutor
from kernelwright.device.real_gpu.gpu import CudaLaunched
from kernelwright.device.real_gpu.worker import CudaWorker
from kernelwright.device.schedule import Schedule
from kernelwright.device.settings import Settings
from kernelwright.device.timing_model.estimate import Estimate
from kernelwright.device.virtual_gpu.gpu import Launched, VirtualGpu
from kernelwright.device.virtual_gpu.launch_estimates import Timing
from kernelwright.errors import Misuse
from kernelwright.launch import Launch
from kernelwright.pipeline import Unit

if TYPE_CHECKING:
    from kernelwright.device.checking.checked_launches import CheckedRun

_STOP_EVERY_S = 0.01


class Launcher(Protocol):
    arena: Arena
    virtual: VirtualGpu | None
    """The virtual GPU, where it is that."""

    def load(self, unit: Unit) -> Loaded:
        """Puts a file's variables into the arena. Raises ``CompileError``, ``DeviceError``."""

    def run(
        self, loaded: Loaded, launch: Launch, schedule: Schedule | None, check: CheckedRun | None = None
    ) -> Launched | CudaLaunched:
        """``schedule``: another order of blocks and warps than the GPU's own; ``check``: what runs it instead, and looks at what it
        does. Such launches have no time.

        Raises ``DeviceError`` for an impossible geometry, ``CompileError`` for code that the GPU does not run."""

    def estimate(self, loaded: Loaded, launch: Launch) -> Estimate:
        """What a launch would take, from a sample of its blocks where they are alike; memory stays as it is. Raises ``Misuse``
        where nothing is estimated, else as ``Timing.of_sample``."""

    def close(self) -> None:
        """Gives the memory back."""


class VirtualLauncher:
    """Machine code cannot be interrupted: it runs beside the caller's thread, which can, and which stops it."""

    def __init__(self, settings: Settings, timing: bool) -> None:
        self.arena = Arena()
        self._settings = settings
        self._gpu = VirtualGpu(cores=settings.cores)
        self.virtual: VirtualGpu | None = self._gpu
        self._timing = Timing(settings.gpu, self.arena, warm=False) if timing else None
        self._beside = ThreadPoolExecutor(1, "kernelwright-device")

    def load(self, unit: Unit) -> Loaded:
        return load(unit.module, self.arena, str(unit.path))

    def run(
        self, loaded: Loaded, launch: Launch, schedule: Schedule | None, check: CheckedRun | None = None
    ) -> Launched:
        running = self._beside.submit(self._run, loaded, launch, schedule, check)
        try:
            return running.result(self._settings.timeout_s or None)
        except NotYet:
            return self._stopped(running)
        except KeyboardInterrupt:
            self._stopped(running)
            raise

    def _run(self, loaded: Loaded, launch: Launch, schedule: Schedule | None, check: CheckedRun | None) -> Launched:
        settings = self._settings
        execution = Execution(loaded, launch, schedule or FORWARD, settings.budget, overread=settings.overread)
        if check is not None:
            return check(execution, self._gpu, self.arena)
        if schedule is not None or self._timing is None:
            return self._gpu.run(execution, self.arena)
        return self._timing.launch(self._gpu, execution)

    def estimate(self, loaded: Loaded, launch: Launch) -> Estimate:
        """Raises ``Misuse`` for a device without timing."""
        if self._timing is None:
            raise Misuse("a device without timing estimates nothing", hint="leave timing=False out")
        execution = Execution(loaded, launch, FORWARD, self._settings.budget, overread=self._settings.overread)
        return self._timing.of_sample(self._gpu, execution)[0]

    def _stopped(self, running: Future[Launched]) -> Launched:
        while True:
            self._gpu.stop()
            try:
                return running.result(_STOP_EVERY_S)
            except NotYet:
                continue

    def close(self) -> None:
        self._beside.shutdown()
        self.arena.close()


class CudaLauncher:
    """The arena's buffers travel to the GPU with every launch, and what has changed comes back."""

    def __init__(self, settings: Settings) -> None:
        self.arena = Arena()
        self._worker = CudaWorker(settings.ordinal, timeout_s=settings.timeout_s, exclusive=False)
        self._execute = CudaExecutor(self._worker)
        self.virtual: VirtualGpu | None = None

    def load(self, unit: Unit) -> Loaded:
        return load(unit.module, self.arena, str(unit.path))

    def run(
        self, loaded: Loaded, launch: Launch, schedule: Schedule | None, check: CheckedRun | None = None
    ) -> CudaLaunched:
        """Runs a launch and measures it, in microseconds. Raises ``Misuse`` for checks and schedules, which a real GPU does not
        have."""
        if check is not None:
            raise Misuse(
                "a real GPU does not say what a kernel accesses, so nothing can be checked", hint='use Device("h200")'
            )
        if schedule is not None:
            raise Misuse(
                "a real GPU has its own order of blocks and warps", hint='leave schedule out, or Device("h200")'
            )
        return self._execute(Execution(loaded, launch), self.arena)

    def estimate(self, loaded: Loaded, launch: Launch) -> Estimate:
        """Raises ``Misuse``: a real GPU estimates nothing."""
        raise Misuse("a real GPU measures, and estimates nothing", hint='launch there, or Device("h200").estimate')

    def close(self) -> None:
        self._worker.close()
        self.arena.close()
