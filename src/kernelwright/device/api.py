"""Kernels from Python, on NumPy arrays.

    import kernelwright as kw

    program = kw.compile("saxpy.cu")
    device = kw.Device("h200")
    done = device.launch(program.kernel("saxpy"), 64, 256, (x, y, 2.0, n))
    done.fault, done.time_us                # None, and what an H200 would take

Arrays are copied to the device for each launch and back after it, into the arrays themselves, as CuPy's ``RawKernel``
changes its arguments in place. A kernel that faults is not an exception: ``done.fault`` says what it did wrong, and arrays
hold what it had written until then.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from kernelwright.device.arguments import Value, pack
from kernelwright.device.fault import Triple
from kernelwright.device.memory import Arena
from kernelwright.device.schedule import Schedule
from kernelwright.device.settings import BUDGET, TIMEOUT_S, device_called
from kernelwright.device.timing import Timing
from kernelwright.device.virtual import Launched, Loaded, VirtualGpu
from kernelwright.errors import Misuse
from kernelwright.pipeline import Kernel, Unit

Extent = int | Sequence[int]
"""One to three numbers, as CUDA's ``dim3``."""
Argument = npt.NDArray[Any] | Value | None
"""An array, or ``None`` for the null pointer; a number; bytes or a structured scalar for a struct passed by value."""

_STOP_EVERY_S = 0.01


class Device:
    """A virtual GPU in this process, by the name of the GPU whose time it estimates: ``auto``, ``h200``, ``a100``, ...

    ``budget`` bounds the loop iterations of a launch and ``timeout_s`` its time (0: no bound): a kernel that exceeds
    either ends with an ``endless`` fault. Ctrl-C ends a launch, too. Without ``timing`` launches are a millisecond or two
    quicker and their ``time_us`` is 0. A module's device variables keep their values from
    launch to launch. Not for several threads at once. Raises ``Misuse`` for a name nobody knows.
    """

    def __init__(
        self, name: str = "auto", *, budget: int = BUDGET, timeout_s: float = TIMEOUT_S, timing: bool = True
    ) -> None:
        self.gpu = device_called(name)
        self.budget = budget
        self.timeout_s = timeout_s
        self._virtual = VirtualGpu(Arena())
        self._timing = Timing(self.gpu, self._virtual.arena, warm=False) if timing else None
        self._loaded: dict[Unit, Loaded] = {}
        # Machine code cannot be interrupted: it runs beside this thread, which can, and which stops it.
        self._beside = ThreadPoolExecutor(1, "kernelwright-device")
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The GPU that is simulated."""
        return self.gpu.name

    def launch(
        self,
        kernel: Kernel,
        grid: Extent,
        block: Extent,
        args: Sequence[Argument] = (),
        *,
        shared_bytes: int = 0,
        schedule: Schedule | None = None,
    ) -> Launched:
        """Runs a kernel on ``args`` and waits for it.

        Arrays must be contiguous; those that share memory share it on the device. A read-only array is read-only there, and a
        kernel that writes it faults. ``shared_bytes``: dynamic shared memory. ``schedule``: another order of blocks, warps
        and lanes, which has no time.

        The result has ``fault`` (None when all went well), ``time_us`` and ``estimate`` (the timing model's), ``text`` (what
        the kernel printed) and ``result`` (counters). Raises ``Misuse`` for arguments that do not fit, ``DeviceError`` for an
        impossible geometry or lack of memory, ``CompileError`` for code that the virtual GPU does not run.
        """
        with self._lock:
            loaded = self._load(kernel)
            arena = self._virtual.arena
            mark = arena.next_address
            function = loaded.module.function(kernel.name)
            names = {id(a): p.name for a, p in zip(args, function.arguments, strict=False) if isinstance(a, np.ndarray)}
            spans = _spans([a for a in args if isinstance(a, np.ndarray)])
            try:
                for span in spans:
                    span.place(arena, " and ".join(dict.fromkeys(names.get(id(a), "an array") for a in span.arrays)))
                values = [_value(argument, spans) for argument in args]
                packed = pack(function, values)
                launched = self._run(loaded, kernel.name, _triple(grid), _triple(block), packed, shared_bytes, schedule)
                for span in spans:
                    span.fetch(arena)
            finally:
                arena.rewind(mark)
        return launched

    def variable(self, kernel: Kernel, name: str, dtype: npt.DTypeLike = np.uint8) -> npt.NDArray[Any]:
        """A ``__device__`` or ``__constant__`` variable of the kernel's file, as an array that reads and writes the device.

        Raises ``Misuse`` when the file has no such variable, or no kernel in it uses it.
        """
        buffers = self._load(kernel).variables.buffers
        if name not in buffers:
            raise Misuse(
                f"{kernel.unit.path} has no device variable {name!r}", hint=f"it has {', '.join(buffers) or 'none'}"
            )
        return self._virtual.arena.view(buffers[name], dtype)

    def close(self) -> None:
        """Releases the device's memory; views of variables must not be used afterwards."""
        self._beside.shutdown()
        self._virtual.arena.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _load(self, kernel: Kernel) -> Loaded:
        loaded = self._loaded.get(kernel.unit)
        if loaded is None:
            loaded = self._loaded[kernel.unit] = self._virtual.load(kernel.unit.module, str(kernel.unit.path))
        return loaded

    def _run(
        self,
        loaded: Loaded,
        name: str,
        grid: Triple,
        block: Triple,
        packed: bytes,
        shared: int,
        schedule: Schedule | None,
    ) -> Launched:
        running = self._beside.submit(self._launch, loaded, name, grid, block, packed, shared, schedule)
        try:
            return running.result(self.timeout_s or None)
        except NotYet:
            return self._stopped(running)
        except KeyboardInterrupt:
            self._stopped(running)
            raise

    def _launch(
        self,
        loaded: Loaded,
        name: str,
        grid: Triple,
        block: Triple,
        packed: bytes,
        shared: int,
        schedule: Schedule | None,
    ) -> Launched:
        if schedule is not None or self._timing is None:
            return self._virtual.launch(
                loaded, name, grid, block, packed, shared, schedule=schedule, budget=self.budget
            )
        prepared = self._virtual.prepare(loaded, name, block, followed=True)
        return self._timing.launch(loaded, prepared, grid, packed, shared, budget=self.budget)

    def _stopped(self, running: Future[Launched]) -> Launched:
        while True:
            self._virtual.stop()
            try:
                return running.result(_STOP_EVERY_S)
            except NotYet:
                continue


# -- arrays ------------------------------------------------------------------------------------------------------------


@dataclass
class _Span:
    """A stretch of this process's memory that arguments lie in, and where it is on the device."""

    start: int
    end: int
    arrays: list[npt.NDArray[Any]]
    address: int = 0

    def place(self, arena: Arena, name: str) -> None:
        """Copies the stretch to a buffer of its own."""
        is_writable = any(a.flags.writeable for a in self.arrays)
        buffer = arena.allocate(self.end - self.start, name, writable=is_writable, fill=None)
        self.address = buffer.address
        for array in self.arrays:
            self._on_device_bytes(arena, array)[:] = _bytes(array)

    def fetch(self, arena: Arena) -> None:
        """Copies back what a kernel may have written."""
        for array in self.arrays:
            if array.flags.writeable:
                _bytes(array)[:] = self._on_device_bytes(arena, array)

    def on_device(self, array: npt.NDArray[Any]) -> int:
        return self.address + _start(array) - self.start

    def _on_device_bytes(self, arena: Arena, array: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
        return np.frombuffer(arena.bytes(self.on_device(array), array.nbytes), np.uint8)


def _spans(arrays: Sequence[npt.NDArray[Any]]) -> list[_Span]:
    """The arrays' memory in disjoint stretches, in the order of their first argument; empty arrays have none."""
    for array in arrays:
        if not (array.flags.c_contiguous or array.flags.f_contiguous):
            raise Misuse(
                f"an array of shape {array.shape} is not contiguous", hint="give numpy.ascontiguousarray(array)"
            )
        if array.dtype.hasobject or not array.dtype.isnative:
            raise Misuse(
                f"an array of {array.dtype} cannot go to a device", hint="give an array of this machine's numbers"
            )
    spans: list[_Span] = []
    for array in (a for a in arrays if a.nbytes):
        merged = _Span(_start(array), _start(array) + array.nbytes, [array])
        for other in [s for s in spans if s.start < merged.end and merged.start < s.end]:
            spans.remove(other)
            merged = _Span(min(other.start, merged.start), max(other.end, merged.end), [*other.arrays, *merged.arrays])
        spans.append(merged)
    return spans


def _start(array: npt.NDArray[Any]) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def _bytes(array: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    return array.reshape(-1, order="A").view(np.uint8)


def _value(argument: Argument, spans: Sequence[_Span]) -> Value:
    if argument is None:
        return 0
    if not isinstance(argument, np.ndarray):
        return argument
    at = _start(argument)
    return next((s.on_device(argument) for s in spans if s.start <= at < s.end), 0)


def _triple(extent: Extent) -> Triple:
    numbers = [extent] if isinstance(extent, int | np.integer) else list(extent)
    if not 1 <= len(numbers) <= 3:
        raise Misuse(f"{extent} is no grid or block", hint="give one to three numbers, as CUDA's dim3")
    x, y, z = (*(int(n) for n in numbers), 1, 1)[:3]
    return x, y, z
