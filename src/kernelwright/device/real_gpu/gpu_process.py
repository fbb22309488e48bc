"""Inside the process that owns a GPU's context: ``python -m kernelwright.device.real_gpu.gpu_process FD PARENT``.

Requests come one at a time over a socket and are answered one at a time, until its other end is closed. What kernels print
is caught on its way to standard output. The process ends with its parent, in the middle of a kernel too.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

from kernelwright.device.real_gpu.driver import NOT_FOUND, Driver, DriverError
from kernelwright.device.real_gpu.gpu import CudaGpu, CudaLaunched, CudaLoaded, FunctionFacts, Timing, Work
from kernelwright.device.real_gpu.memory import CudaMemory
from kernelwright.device.real_gpu.printf_output import Printed
from kernelwright.device.real_gpu.worker import Buffers, GpuInfo, Image, Job, Request, Response
from kernelwright.errors import DeviceError, KernelwrightError

_PR_SET_PDEATHSIG = 1


class Serving:
    """The GPU and the modules on it, by the keys of their images."""

    def __init__(self) -> None:
        self._driver: Driver | None = None
        self._gpu: CudaGpu | None = None
        self._images: dict[str, Image] = {}
        self._loaded: dict[str, CudaLoaded] = {}
        self._staged: tuple[CudaMemory, tuple[tuple[int, int, int], ...], Buffers] | None = None

    @property
    def poisoned(self) -> bool:
        """Whether the context is lost, so that only a new process helps."""
        return self._gpu is not None and self._gpu.poisoned is not None

    def find(self, ordinal: int) -> str:
        """The GPU's UUID, asked without making a context. Raises ``DeviceError`` for one that this machine lacks."""
        self._driver = Driver()
        count = self._driver.count()
        if not 0 <= ordinal < count:
            raise DeviceError(
                f"there is no GPU number {ordinal}: this machine has {count}", hint="kw doctor lists them"
            )
        self._driver.device(ordinal)
        return self._driver.uuid().hex()

    def begin(self, ordinal: int) -> GpuInfo:
        """Makes the context of GPU number ``ordinal``; what that GPU is."""
        gpu = self._gpu = CudaGpu(ordinal, self._driver)
        p = gpu.properties
        return GpuInfo(ordinal, gpu.name, gpu.arch, p.uuid.hex(), p.driver_version, p)

    def run(self, job: Job, buffers: Buffers) -> tuple[CudaLaunched, dict[int, bytes]]:
        """One launch on fresh ``buffers``; what came of it, and by address those that it changed: none after a fault."""
        self._unstage()
        with self.gpu.memory() as memory:
            work = self._placed(job, buffers, memory)
            launched = self.gpu.launch(work.loaded, work.launch)
            if launched.fault is not None:
                return launched, {}
            after = memory.contents()
            for at, size, address in self._variables(work.loaded, job):
                after[address] = self.gpu.read(at, min(size, len(after[address])))
        before = dict(buffers)
        return launched, {a: data for a, data in after.items() if data != before[a]}

    def time(self, jobs: tuple[Job, ...], buffers: Buffers, rounds: int, warmup: int, cold: bool) -> list[Timing]:
        """The time of each job on the same ``buffers``, which are restored before each sample; otherwise as ``CudaGpu.time``."""
        self._unstage()
        with self.gpu.memory() as memory:
            works = [self._placed(job, buffers, memory, place=not n) for n, job in enumerate(jobs)]
            restore = memory.keep()
            again = [replace(work, restore=restore) for work in works]
            return self.gpu.time(again, rounds=rounds, warmup=warmup, cold=cold)

    def stage(self, buffers: Buffers) -> None:
        """Places buffers for many samples to come."""
        self._unstage()
        memory = self.gpu.memory()
        memory.place(buffers)
        self._staged = memory, memory.keep(), buffers

    def sample(self, job: Job, cold: bool) -> float:
        """Microseconds of one launch on the staged buffers, which are restored first. ``cold``: L2 is emptied first, too."""
        assert self._staged is not None
        memory, restore, buffers = self._staged
        work = replace(self._placed(job, buffers, memory, place=False), restore=restore)
        return self.gpu.time([work], rounds=1, warmup=0, cold=cold)[0].median_us

    def _unstage(self) -> None:
        if self._staged is not None:
            self._staged[0].close()
            self._staged = None

    def forget(self, keys: Sequence[str]) -> None:
        """Drops images by their keys, and takes their modules off the GPU."""
        for key in keys:
            self._images.pop(key, None)
            if key in self._loaded:
                self.gpu.unload(self._loaded.pop(key))

    def facts(self, key: str, kernel: str) -> FunctionFacts:
        """Registers and memory of a kernel of the image ``key``."""
        return self.gpu.facts(self._module(key), kernel)

    def resident_blocks(self, key: str, kernel: str, threads: int, shared_bytes: int) -> int:
        """Blocks of a kernel of the image ``key`` that one multiprocessor holds at a time."""
        return self.gpu.resident_blocks(self._module(key), kernel, threads, shared_bytes)

    @property
    def gpu(self) -> CudaGpu:
        """The GPU; ``begin`` must have been called."""
        assert self._gpu is not None
        return self._gpu

    def learn(self, images: dict[str, Image]) -> None:
        """Keeps images by their keys, to be loaded when they are first used."""
        self._images |= images

    def _module(self, key: str) -> CudaLoaded:
        if key not in self._loaded:
            image = self._images[key]
            self._loaded[key] = self.gpu.load(image.data, image.source)
        return self._loaded[key]

    def _variables(self, loaded: CudaLoaded, job: Job) -> Iterator[tuple[int, int, int]]:
        """Address and size of each device variable on the GPU, and the buffer that stands for it."""
        for name, address in job.variables:
            try:
                at, size = self.gpu.variable(loaded, name)
            except DriverError as error:
                if error.code != NOT_FOUND:
                    raise
                continue  # no kernel mentions it, so code generation has dropped it
            yield at, size, address

    def _placed(self, job: Job, buffers: Buffers, memory: CudaMemory, place: bool = True) -> Work:
        loaded = self._module(job.image.key)
        if place:
            memory.place(buffers)
        content = dict(buffers)
        for at, size, address in self._variables(loaded, job):
            self.gpu.write(at, content[address][:size])
        return Work(loaded, replace(job.launch, parameters=memory.moved(job.launch.parameters)))


TABLE: dict[str, Callable[..., Any]] = {
    "find": Serving.find,
    "begin": Serving.begin,
    "run": Serving.run,
    "time": Serving.time,
    "stage": Serving.stage,
    "sample": Serving.sample,
    "forget": Serving.forget,
    "facts": Serving.facts,
    "resident_blocks": Serving.resident_blocks,
}


def main(arguments: list[str]) -> int:
    """Serves until the other end is closed. Returns the exit code."""
    descriptor, parent = int(arguments[0]), int(arguments[1])
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before the line above
        return 3
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    printed = Printed()
    serving, connection = Serving(), Connection(descriptor)
    while True:
        try:
            request: Request = connection.recv()
        except EOFError:
            return 0
        value, error = None, None
        try:
            serving.learn(dict(request.images or {}))
            value = TABLE[request.method](serving, *request.arguments)
        except KernelwrightError as known:
            error = known
        connection.send(Response(value, error, printed.take(), serving.poisoned))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
