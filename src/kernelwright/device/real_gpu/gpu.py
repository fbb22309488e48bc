"""A real GPU: memory, modules, launches and times, in this process, behind the methods that the virtual one has.

    gpu = CudaGpu(0)
    loaded = gpu.load(ptx)
    done = gpu.launch(loaded, Launch("saxpy", (64, 1, 1), (256, 1, 1), parameters))
    done.fault, done.time_us

After a fault the context is lost, as CUDA has it: ``poisoned`` says so, and everything else raises. ``CudaWorker`` runs one
of these in a process of its own and starts a new one then; use that, unless this process is expendable.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import NoReturn

from kernelwright.cuda.names import readable
from kernelwright.cuda.wire.protocol import DeviceProperties
from kernelwright.device.fault import Fault, Kind
from kernelwright.device.real_gpu.driver import NOT_FOUND, Driver, DriverError
from kernelwright.device.real_gpu.memory import CudaMemory
from kernelwright.device.real_gpu.properties import properties_of_gpu
from kernelwright.errors import DeviceError, Misuse
from kernelwright.launch import Launch, Triple
from kernelwright.lazy_dataclasses import dataclass

_KINDS: dict[int, Kind] = {
    700: "out-of-bounds",
    702: "endless",
    710: "assert",
    714: "stack",
    715: "trap",
    716: "misaligned",
    717: "out-of-bounds",
    718: "trap",
    719: "trap",
}
"""CUresult -> what it is as a fault."""

MAX_DYNAMIC_SHARED = 8
SHARED_BYTES, LOCAL_BYTES, REGISTERS = 1, 3, 4
"""CUfunction_attribute."""
DEFAULT_SHARED = 48 << 10
"""What a block gets without asking (CUDA C++ Programming Guide, "Shared Memory" of compute capability 7.x)."""

WAIT_NS = 100_000
"""The GPU is kept busy so long while the host queues what is measured, so that the host's own time is not."""
WAIT_PTX = """.version 6.0
.target sm_60
.address_size 64
.visible .entry kw_wait(.param .u64 nanoseconds)
{
    .reg .u64 %now, %end, %span;
    .reg .pred %again;
    ld.param.u64 %span, [nanoseconds];
    mov.u64 %now, %globaltimer;
    add.u64 %end, %now, %span;
loop:
    mov.u64 %now, %globaltimer;
    setp.lt.u64 %again, %now, %end;
    @%again bra loop;
    ret;
}
"""

WAIT = Launch("kw_wait", (1, 1, 1), (1, 1, 1), WAIT_NS.to_bytes(8, "little"))


@dataclass
class CudaLoaded:
    """A module in the GPU's memory."""

    handle: int
    source: str = ""
    functions: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class CudaLaunched:
    """What one launch did. ``time_us``: between two events around it, what the host needed to start it included (``time``
    measures without); 0 when it did not end well.
    """

    launch: Launch
    fault: Fault | None
    time_us: float = 0.0
    text: str = ""
    """What the kernel printed, where a worker has caught it."""
    estimate: None = None
    """A GPU has none."""
    version: str = ""
    """As ``virtual_gpu.gpu.Launched`` has it."""

    @property
    def kernel(self) -> str:
        """Its mangled name."""
        return self.launch.kernel

    @property
    def grid(self) -> Triple:
        """Blocks in x, y and z."""
        return self.launch.grid

    @property
    def block(self) -> Triple:
        """Threads of a block in x, y and z."""
        return self.launch.block

    @property
    def result(self) -> NoReturn:
        """Counters, of a virtual GPU. Raises ``Misuse``."""
        raise Misuse("a real GPU counts nothing", hint="a virtual one does, as kw.Device('h200')")


@dataclass(frozen=True)
class Work:
    """A launch that is timed. ``restore``: (to, from, bytes) copied before each sample, for kernels that change their input."""

    loaded: CudaLoaded
    launch: Launch
    restore: tuple[tuple[int, int, int], ...] = ()


@dataclass(frozen=True)
class Timing:
    """Microseconds between two events around a launch: the median of the samples and what half of them lie between."""

    median_us: float
    low_us: float
    high_us: float
    samples: tuple[float, ...]

    @property
    def spread(self) -> float:
        """How far apart the middle half of the samples lies, as a share of the median."""
        return (self.high_us - self.low_us) / self.median_us if self.median_us else 0.0

    @classmethod
    def of(cls, samples: Sequence[float]) -> Timing:
        """The quartiles of the samples, in microseconds; a single one is all three. There must be one at least."""
        if len(samples) == 1:
            return cls(samples[0], samples[0], samples[0], tuple(samples))
        import statistics

        low, median, high = statistics.quantiles(samples, n=4, method="inclusive")
        return cls(median, low, high, tuple(samples))


@dataclass(frozen=True)
class FunctionFacts:
    """What the driver says about a kernel. Bytes per block (shared) and per thread (local)."""

    registers: int
    shared_bytes: int
    local_bytes: int
    max_threads: int


class CudaGpu:
    """GPU number ``ordinal`` of those CUDA_VISIBLE_DEVICES leaves, through its primary context. Not for several threads.

    Raises ``ToolError`` without a driver or its binding, ``DeviceError`` for a GPU that is not there.
    """

    def __init__(self, ordinal: int = 0, driver: Driver | None = None) -> None:
        self.driver = driver or Driver()
        count = self.driver.count()
        if not 0 <= ordinal < count:
            raise DeviceError(
                f"there is no GPU number {ordinal}: this machine has {count}", hint="kw doctor lists them"
            )
        self.driver.begin(ordinal)
        self.ordinal = ordinal
        self.properties: DeviceProperties = properties_of_gpu(self.driver)
        self.poisoned: DriverError | None = None
        """The error that the context did not survive."""
        self._start, self._end = self.driver.create_event(), self.driver.create_event()
        self._waiting: CudaLoaded | None = None
        self._flush = 0

    @property
    def name(self) -> str:
        """The GPU's name, as ``NVIDIA H200``."""
        return self.properties.name.decode("utf-8", "replace")

    @property
    def arch(self) -> str:
        """``sm_90``."""
        return f"sm_{self.properties.major}{self.properties.minor}"

    # -- modules ---------------------------------------------------------------------------------------------------

    def load(self, image: bytes | str, source: str = "") -> CudaLoaded:
        """Puts a cubin, or PTX that the driver compiles, on the GPU. Raises ``DeviceError`` with the driver's words."""
        self._check()
        data = image.encode() if isinstance(image, str) else image
        return CudaLoaded(self.driver.load(data), source)

    def unload(self, loaded: CudaLoaded) -> None:
        """Takes a module off the GPU. Does nothing once the context is lost."""
        if self.poisoned is None:
            self.driver.unload(loaded.handle)

    def function(self, loaded: CudaLoaded, kernel: str) -> int:
        """The kernel's handle. Raises ``Misuse`` for one that is not there."""
        found = loaded.functions.get(kernel)
        if found is None:
            try:
                found = loaded.functions[kernel] = self.driver.function(loaded.handle, kernel)
            except DriverError as error:
                if error.code != NOT_FOUND:
                    raise
                where = loaded.source or "the module"
                raise Misuse(f"{where} has no kernel {kernel!r}", hint="give its mangled name") from None
        return found

    def facts(self, loaded: CudaLoaded, kernel: str) -> FunctionFacts:
        """Registers and memory of a kernel as the driver loaded it."""
        function, ask = self.function(loaded, kernel), self.driver.function_attribute
        registers, shared, local = (ask(function, n) for n in (REGISTERS, SHARED_BYTES, LOCAL_BYTES))
        return FunctionFacts(registers, shared, local, ask(function, 0))

    def resident_blocks(self, loaded: CudaLoaded, kernel: str, threads: int, shared_bytes: int = 0) -> int:
        """Blocks that one multiprocessor holds at a time, as the driver has it."""
        return self.driver.resident_blocks(self.function(loaded, kernel), threads, shared_bytes)

    def variable(self, loaded: CudaLoaded, name: str) -> tuple[int, int]:
        """Address and size of a device variable."""
        return self.driver.variable(loaded.handle, name)

    # -- memory ----------------------------------------------------------------------------------------------------

    def memory(self) -> CudaMemory:
        """Room for buffers at addresses of one's own choice."""
        return CudaMemory(self.driver)

    def allocate(self, size: int) -> int:
        """The address of ``size`` bytes of device memory, at least one; their content is undefined."""
        self._check()
        return self.driver.allocate(max(size, 1))

    def free(self, address: int) -> None:
        """Frees what ``allocate`` returned. Does nothing once the context is lost."""
        if self.poisoned is None:
            self.driver.free(address)

    def write(self, address: int, data: bytes) -> None:
        """Bytes to device memory."""
        self._check()
        if data:
            held = (ctypes.c_char * len(data)).from_buffer_copy(data)
            self.driver.write(address, ctypes.addressof(held), len(data))

    def read(self, address: int, size: int) -> bytes:
        """Bytes from device memory, after all work before."""
        self._check()
        held = (ctypes.c_char * max(size, 1))()
        if size:
            self.driver.read(ctypes.addressof(held), address, size)
        return held.raw[:size]

    # -- launches --------------------------------------------------------------------------------------------------

    def launch(self, loaded: CudaLoaded, launch: Launch) -> CudaLaunched:
        """Runs a kernel to its end or its fault. Raises ``DeviceError`` for a launch that the driver refuses."""
        work = Work(loaded, launch)
        fault, time_us = None, 0.0
        try:
            time_us = self._sample(work, cold=False, wait=False)
        except DriverError as error:
            if not error.is_sticky:
                raise self._refused(work, error) from None
            fault = Fault(_KINDS.get(error.code, "trap"), error.text, launch.kernel)
        return CudaLaunched(launch, fault, time_us)

    def time(self, works: Sequence[Work], *, rounds: int = 21, warmup: int = 3, cold: bool = False) -> list[Timing]:
        """Each work's time, measured in turns: one sample of each per round, so that drift hits all alike.

        The first ``warmup`` rounds are thrown away. ``cold`` empties the L2 cache before every sample. Raises ``DeviceError``
        when a kernel fails; the context may be lost then.
        """
        if rounds < 1:
            raise Misuse("a time needs at least one round")
        samples: list[list[float]] = [[] for _ in works]
        for number in range(-warmup, rounds):
            # Every other round backwards: what comes after what may matter to caches and clocks.
            order = range(len(works)) if number % 2 == 0 else range(len(works) - 1, -1, -1)
            for index in order:
                taken = self._sample(works[index], cold=cold, wait=True)
                if number >= 0:
                    samples[index].append(taken)
        return [Timing.of(each) for each in samples]

    def _sample(self, work: Work, *, cold: bool, wait: bool) -> float:
        self._check()
        function = self._ready(work)
        return self.between_us(lambda: self.driver.launch(function, work.launch), work.restore, cold=cold, wait=wait)

    def between_us(
        self, start: Callable[[], None], restore: Sequence[tuple[int, int, int]] = (), *, cold: bool = False, wait: bool = True
    ) -> float:  # fmt: skip
        """Microseconds between two events around what ``start`` queues on the default stream. ``restore``, ``cold``: as of ``Work`` and
        ``time``. Raises ``DriverError`` when it fails; the context may be lost then."""
        self._check()
        driver = self.driver
        try:
            for to, source, size in restore:
                driver.copy(to, source, size)
            if cold:
                self._empty_l2()
            if wait:
                self.keep_busy()
            driver.record(self._start)
            start()
            driver.record(self._end)
            driver.synchronize()
            return round(1e3 * driver.elapsed_ms(self._start, self._end), 3)  # a float of milliseconds has no more
        except DriverError as error:
            if error.is_sticky:
                self.poisoned = error
            raise

    def queued_us(self, work: Work, times: int, wait_ns: int) -> float:
        """Microseconds of one of ``times`` launches behind each other, which the host queues while the GPU waits ``wait_ns``."""
        function = self._ready(work)
        self.keep_busy(wait_ns)
        self.driver.record(self._start)
        for _ in range(times):
            self.driver.launch(function, work.launch)
        self.driver.record(self._end)
        self.driver.synchronize()
        return 1e3 * self.driver.elapsed_ms(self._start, self._end) / times

    def _ready(self, work: Work) -> int:
        function = self.function(work.loaded, work.launch.kernel)
        shared_bytes = work.launch.shared_bytes
        if shared_bytes > DEFAULT_SHARED - self.driver.function_attribute(function, SHARED_BYTES):
            self.driver.set_function_attribute(function, MAX_DYNAMIC_SHARED, shared_bytes)
        return function

    def _refused(self, work: Work, error: DriverError) -> DeviceError:
        launch = work.launch
        return DeviceError(
            f"kernel '{readable(launch.kernel)}' was not launched with grid {launch.grid}, block {launch.block} and "
            f"{launch.shared_bytes} bytes "
            f"of dynamic shared memory: {error.message}",
            hint=error.hint,
        )

    def _empty_l2(self) -> None:
        """Writes twice as much as the L2 cache holds."""
        size = 2 * max(self.properties.l2_bytes, 1 << 20)
        self._flush = self._flush or self.driver.allocate(size)
        self.driver.fill(self._flush, 0, size)

    def keep_busy(self, wait_ns: int = WAIT_NS, stream: int = 0) -> None:
        """Gives the GPU something to do while the host queues what is measured."""
        if self._waiting is None:
            self._waiting = self.load(WAIT_PTX, WAIT.kernel)
        waiting = self.function(self._waiting, WAIT.kernel)
        self.driver.launch(waiting, Launch(WAIT.kernel, WAIT.grid, WAIT.block, wait_ns.to_bytes(8, "little")), stream)

    def start_over(self) -> None:
        """The context is about to be reset: what was loaded in it is gone."""
        self._waiting, self._flush = None, 0

    def close(self) -> None:
        """Releases the context."""
        self.driver.end()

    def _check(self) -> None:
        if self.poisoned is not None:
            raise DeviceError(
                f"the GPU's context is lost since a kernel failed ({self.poisoned.text})",
                hint="start a new process for it; CudaWorker does",
            )
