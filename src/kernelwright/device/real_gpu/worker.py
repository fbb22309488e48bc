"""The process that owns a GPU's context, seen from outside: requests, a watchdog, a new process when the context is lost.

    with CudaWorker(0) as gpu:
        image = Image(ptx)
        done, after = gpu.run(Job(image, Launch("saxpy", (64, 1, 1), (256, 1, 1), parameters)), buffers)

The worker starts with the first request. A kernel that fails takes its context with it, one that does not end is killed
with its process: both are faults in the result, and the next request meets a fresh worker. The GPU is locked from then until
``close``, in between too.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any

from kernelwright.cache import content_key
from kernelwright.cuda.wire.protocol import DeviceProperties
from kernelwright.device.fault import Fault
from kernelwright.device.real_gpu.gpu import CudaLaunched, FunctionFacts, Timing
from kernelwright.device.real_gpu.lock import WAIT_S, GpuLock
from kernelwright.errors import DeviceError, KernelwrightError
from kernelwright.launch import Launch
from kernelwright.lazy_dataclasses import dataclass

TIMEOUT_S = 60.0
"""What one request may take before its kernel counts as endless."""
START_S = 120.0
"""What a context may take to come up: the driver wakes GPUs that sleep, one after the other."""

Buffers = Sequence[tuple[int, bytes]]
"""(address, content)."""


@dataclass(frozen=True)
class Image:
    """Machine code (a cubin) or PTX, by content."""

    data: bytes
    source: str = ""
    """For messages."""

    @cached_property
    def key(self) -> str:
        """A hash of ``data``: what the worker knows the image by."""
        return content_key([self.data])


@dataclass(frozen=True)
class Job:
    """A launch and its code. ``variables``: (name, address) of device variables whose content is among the buffers, at that address."""

    image: Image
    launch: Launch
    variables: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class GpuInfo:
    """What a GPU is. ``uuid`` in hexadecimal digits."""

    ordinal: int
    name: str
    arch: str
    uuid: str
    driver_version: int
    properties: DeviceProperties


@dataclass(frozen=True)
class Request:
    """What goes to the worker; the method is one of those in ``serving.TABLE``."""

    method: str
    arguments: tuple[Any, ...] = ()
    images: Mapping[str, Image] | None = None
    """Those it has not seen yet, by key."""


@dataclass(frozen=True)
class Response:
    """What comes back: a value or an error, what kernels printed meanwhile, and whether the context is lost."""

    value: Any = None
    error: Exception | None = None
    text: str = ""
    poisoned: bool = False


class WorkerDied(DeviceError):
    """The process that owns the GPU ended by itself; the next request meets a fresh one."""


class CudaWorker:
    """GPU number ``ordinal`` behind a process of its own. Not for several threads at once.

    ``timeout_s`` is what one launch may take (0: as long as it wants), ``wait_s`` how long to wait for a GPU that another
    process uses. What does not measure need not be ``exclusive``: it takes no lock.
    """

    def __init__(
        self,
        ordinal: int = 0,
        *,
        timeout_s: float = TIMEOUT_S,
        wait_s: float = WAIT_S,
        folder: Path | None = None,
        exclusive: bool = True,
    ) -> None:
        self.ordinal = ordinal
        self.timeout_s = timeout_s
        self.starts = 0
        """How many worker processes there have been."""
        self._wait_s = wait_s
        self._folder = folder
        self._exclusive = exclusive
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._known: set[str] = set()
        self._lock: GpuLock | None = None
        self._info: GpuInfo | None = None
        self._buffers: Buffers = ()
        self._staged_in = 0

    # -- what it does ----------------------------------------------------------------------------------------------

    def info(self) -> GpuInfo:
        """Raises ``ToolError`` without a driver or its binding, ``DeviceError`` for a GPU that is not there."""
        if self._info is None:
            self._start()
        assert self._info is not None
        return self._info

    def run(
        self, job: Job, buffers: Buffers, *, timeout_s: float | None = None
    ) -> tuple[CudaLaunched, dict[int, bytes]]:
        """Runs a launch on memory of its own; returns what came of it and the buffers that changed. ``timeout_s``: in place of the
        worker's own.

        Raises ``DeviceError`` for a launch that the driver refuses.
        """
        self._staged_in = 0
        try:
            response = self._ask("run", (job, tuple(buffers)), [job.image], timeout_s)
        except _Endless as endless:
            return self._endless(job, endless), {}
        launched, after = response.value
        return _with_text(launched, response.text), after

    def time(
        self, jobs: Sequence[Job], buffers: Buffers, *, rounds: int = 21, warmup: int = 3, cold: bool = False,
        timeout_s: float | None = None,
    ) -> list[Timing]:  # fmt: skip
        """The times of launches on the same memory, taken in turns; each sample finds the buffers as given.

        Raises ``DeviceError`` when one of them fails or does not end.
        """
        self._staged_in = 0
        try:
            arguments = (tuple(jobs), tuple(buffers), rounds, warmup, cold)
            response = self._ask("time", arguments, [j.image for j in jobs], timeout_s)
        except _Endless as endless:
            raise DeviceError(
                f"{rounds + warmup} rounds of {', '.join(sorted({j.launch.kernel for j in jobs}))} took longer than "
                f"{endless.seconds:g} s",
                hint="measure fewer rounds, or a smaller input",
            ) from None
        found: list[Timing] = response.value
        return found

    def stage(self, buffers: Buffers) -> None:
        """The memory that ``sample`` runs kernels on, until ``run`` or ``time`` is called."""
        self._buffers, self._staged_in = tuple(buffers), 0

    def sample(self, job: Job, *, cold: bool = False, timeout_s: float | None = None) -> float:
        """One time of a launch in microseconds, for the caller, who decides after each how many more to take (``evaluate.measure``).

        Finds the staged buffers as they were given, every time. Raises ``DeviceError`` when the kernel fails or does not end.
        """
        if self._staged_in != self.starts or self._process is None:
            self._asked("stage", (self._buffers,))
            self._staged_in = self.starts
        found: float = self._asked("sample", (job, cold), [job.image], timeout_s)
        return found

    def forget(self, images: Sequence[Image]) -> None:
        """Takes modules off the GPU that will hardly be asked for again; they travel once more if they are."""
        keys = [image.key for image in images if image.key in self._known]
        if keys and self._process is not None:
            self._asked("forget", (keys,))
            self._known.difference_update(keys)

    def facts(self, image: Image, kernel: str) -> FunctionFacts:
        """Registers and memory of a kernel as the driver loads it."""
        found: FunctionFacts = self._asked("facts", (image.key, kernel), [image])
        return found

    def resident_blocks(self, image: Image, kernel: str, threads: int, shared_bytes: int = 0) -> int:
        """Blocks of ``threads`` threads that one multiprocessor holds at a time; ``shared_bytes`` of dynamic shared memory each."""
        found: int = self._asked("resident_blocks", (image.key, kernel, threads, shared_bytes), [image])
        return found

    def _asked(
        self, method: str, arguments: tuple[Any, ...], images: Sequence[Image] = (), timeout_s: float | None = None
    ) -> Any:
        try:
            return self._ask(method, arguments, images, timeout_s).value
        except _Endless as endless:
            raise DeviceError(f"the GPU's worker did not answer within {endless.seconds:g} s") from None

    def _endless(self, job: Job, endless: _Endless) -> CudaLaunched:
        message = f"the kernel does not end: it was stopped after {endless.seconds:g} seconds"
        return CudaLaunched(job.launch, Fault("endless", message, job.launch.kernel))

    # -- the process -----------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Ends the worker and gives the GPU back."""
        self._stop()
        if self._lock is not None:
            self._lock.give_back()
            self._lock = None

    def __enter__(self) -> CudaWorker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _ask(
        self, method: str, arguments: tuple[Any, ...], images: Sequence[Image] = (), timeout_s: float | None = None
    ) -> Response:
        if self._process is None:
            self._start()
        new = {image.key: image for image in images if image.key not in self._known}
        response = self._exchange(Request(method, arguments, new), timeout_s or self.timeout_s)
        if response.poisoned:
            self._stop()
        else:
            self._known |= new.keys()
        if response.error is not None:
            raise response.error
        return response

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        command = [
            sys.executable,
            "-m",
            "kernelwright.device.real_gpu.gpu_process",
            str(theirs.fileno()),
            str(os.getpid()),
        ]
        with theirs:
            self._process = subprocess.Popen(
                command, pass_fds=[theirs.fileno()], env=environment, stdin=subprocess.DEVNULL
            )
        self._connection = Connection(ours.detach())
        self._known = set()
        self.starts += 1
        try:
            uuid = self._greet("find", self.ordinal)
            if self._lock is None and self._exclusive:
                lock = GpuLock(uuid, wait_s=self._wait_s, folder=self._folder)
                lock.take()
                self._lock = lock
            self._info = self._greet("begin", self.ordinal)
        except BaseException:
            self._stop()
            raise

    def _greet(self, method: str, ordinal: int) -> Any:
        try:
            response = self._exchange(Request(method, (ordinal,)), START_S)
        except _Endless as endless:
            raise DeviceError(
                f"the CUDA driver did not come up within {endless.seconds:g} s", hint="nvidia-smi shows what it does"
            ) from None
        if response.error is not None:
            raise response.error
        return response.value

    def _exchange(self, request: Request, timeout_s: float) -> Response:
        assert self._connection is not None
        try:
            self._connection.send(request)
            if not self._connection.poll(timeout_s or None):
                self._stop()
                raise _Endless(timeout_s)
            response: Response = self._connection.recv()
        except (EOFError, ConnectionError):
            raise self._gone() from None
        except BaseException:
            self._stop()
            raise
        return response

    def _gone(self) -> KernelwrightError:
        """What to say of a worker that ended by itself."""
        assert self._process is not None
        code = self._process.wait()
        self._stop()
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        return WorkerDied(
            f"the GPU's worker process {how}", hint="run it again; dmesg says more when the driver reports an Xid"
        )

    def _stop(self) -> None:
        """Ends the worker at once: the system gives back what it had, and stops its kernels."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


class _Endless(Exception):
    def __init__(self, seconds: float) -> None:
        super().__init__(f"no answer within {seconds:g} s")
        self.seconds = seconds


def _with_text(launched: CudaLaunched, text: str) -> CudaLaunched:
    from dataclasses import replace

    return replace(launched, text=text) if text else launched
