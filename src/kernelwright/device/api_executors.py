"""What ``Device`` runs kernels on: a virtual GPU in this process, or a real one in a process of its own.

Both take modules and launches whose memory lies in ``arena``, and leave there what a kernel has written.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass
from typing import Protocol

from kernelwright.device.arena import Arena
from kernelwright.device.cuda.executor import CudaExecutor
from kernelwright.device.cuda.gpu import CudaLaunched
from kernelwright.device.cuda.worker import CudaWorker
from kernelwright.device.fault import Triple
from kernelwright.device.kernel_launch import KernelLaunch
from kernelwright.device.schedule import Schedule
from kernelwright.device.settings import Settings
from kernelwright.device.virtual.gpu import Launched, Loaded, VirtualGpu
from kernelwright.device.virtual.launch_estimates import Timing
from kernelwright.errors import Misuse
from kernelwright.pipeline import Unit

_STOP_EVERY_S = 0.01


@dataclass(frozen=True)
class Launch:
    """One launch, its arguments packed."""

    loaded: Loaded
    kernel: str
    grid: Triple
    block: Triple
    packed: bytes
    shared_bytes: int = 0
    schedule: Schedule | None = None


class Launcher(Protocol):
    arena: Arena

    def load(self, unit: Unit) -> Loaded:
        """Puts a file's variables into the arena. Raises ``CompileError``, ``DeviceError``."""

    def run(self, launch: Launch) -> Launched | CudaLaunched:
        """Raises ``DeviceError`` for an impossible geometry, ``CompileError`` for code that the GPU does not run."""

    def close(self) -> None:
        """Gives the memory back."""


class VirtualLauncher:
    """Machine code cannot be interrupted: it runs beside the caller's thread, which can, and which stops it."""

    def __init__(self, settings: Settings, timing: bool) -> None:
        self.arena = Arena()
        self._settings = settings
        self._gpu = VirtualGpu(self.arena)
        self._timing = Timing(settings.gpu, self.arena, warm=False) if timing else None
        self._beside = ThreadPoolExecutor(1, "kernelwright-device")

    def load(self, unit: Unit) -> Loaded:
        return self._gpu.load(unit.module, str(unit.path))

    def run(self, launch: Launch) -> Launched:
        running = self._beside.submit(self._run, launch)
        try:
            return running.result(self._settings.timeout_s or None)
        except NotYet:
            return self._stopped(running)
        except KeyboardInterrupt:
            self._stopped(running)
            raise

    def _run(self, launch: Launch) -> Launched:
        budget = self._settings.budget
        if launch.schedule is not None or self._timing is None:
            return self._gpu.launch(
                launch.loaded, launch.kernel, launch.grid, launch.block, launch.packed, launch.shared_bytes,
                schedule=launch.schedule, budget=budget,
            )  # fmt: skip
        prepared = self._gpu.prepare(launch.loaded, launch.kernel, launch.block, followed=True)
        return self._timing.launch(
            launch.loaded, prepared, launch.grid, launch.packed, launch.shared_bytes, budget=budget
        )

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
        self._variables = VirtualGpu(self.arena)
        self._worker = CudaWorker(settings.ordinal, timeout_s=settings.timeout_s, exclusive=False)
        self._execute = CudaExecutor(self._worker)

    def load(self, unit: Unit) -> Loaded:
        return self._variables.load(unit.module, str(unit.path))

    def run(self, launch: Launch) -> CudaLaunched:
        if launch.schedule is not None:
            raise Misuse(
                "a real GPU has its own order of blocks and warps", hint='leave schedule out, or Device("h200")'
            )
        asked = KernelLaunch(
            launch.loaded.module, launch.kernel, launch.grid, launch.block, launch.packed, launch.shared_bytes,
            launch.loaded.variables, schedule=Schedule.forward(), budget=0,
        )  # fmt: skip
        return self._execute(asked, self.arena)

    def close(self) -> None:
        self._worker.close()
        self.arena.close()
