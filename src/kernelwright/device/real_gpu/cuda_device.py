"""What the messages of a program do to a real GPU, as ``VirtualDevice`` does it to the virtual one.

Device memory is the driver's. The arena holds pinned and managed memory, which the GPU reaches through the bus (managed
memory does not move to it), and the staging area that bytes of the program's own memory travel through. The driver does what
it is told in the background; this process waits only where the program does. Several processes may use the GPU so: only
measurements lock it.
"""

from __future__ import annotations

import contextlib
import functools
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kernelwright.cuda.wire import protocol as wire
from kernelwright.cuda.wire.channel import Received
from kernelwright.cuda.wire.launch_codec import read_launch
from kernelwright.cuda.wire.protocol import Message, WelcomeFlags
from kernelwright.device.arena import Arena, Buffer
from kernelwright.device.real_gpu.driver import DriverError
from kernelwright.device.real_gpu.gpu import DEFAULT_SHARED, MAX_DYNAMIC_SHARED, SHARED_BYTES, CudaGpu
from kernelwright.device.real_gpu.launch_times import LaunchTimes
from kernelwright.device.real_gpu.modules import CudaModules, error_of_driver
from kernelwright.device.real_gpu.printf_output import Printed
from kernelwright.device.serving.errors import CudaError, Failure, Refused
from kernelwright.device.serving.replies import Answer, handle_of
from kernelwright.device.serving.served_device import Tell
from kernelwright.device.serving.watchdog import UnderWay
from kernelwright.device.versions.absent import without_kernel
from kernelwright.errors import DeviceError, KernelwrightError
from kernelwright.kernel_version import Version
from kernelwright.launch import Launch

if TYPE_CHECKING:
    from kernelwright.device.versions.contest import Contest
    from kernelwright.device.versions.on_real_gpu import GpuDispatch

STAGING_BYTES = 16 << 20
PATIENCE_S = 2.0
"""What kernels that are to be measured get to end in when their program has gone."""
_PAGE = 4096
_NON_BLOCKING = 1


class CudaDevice:
    """A real GPU behind a session. ``timeout_s``: what the program may wait for its kernels at a time; 0: for ever.

    With ``timed``, ``times`` has every launch.
    """

    always = frozenset({Message.HELLO, Message.MOVE_ARENA, Message.DEVICE_RESET, Message.DEVICE_PROPERTIES})

    def __init__(
        self, gpu: CudaGpu, timeout_s: float = 0.0, timed: bool = False, versions: Sequence[Version] | None = ()
    ) -> None:
        """``versions``: what may run in the place of the program's kernels, besides what it carries itself; None: neither does."""
        self.gpu = gpu
        self.under_way = UnderWay()
        self.times: LaunchTimes | None = None
        self._driver = gpu.driver
        self._timeout_s = timeout_s
        self._arena = Arena()
        self._printed = Printed()
        self._gone_since = 0.0
        self._given = tuple(versions) if versions is not None else None
        self._kernels: dict[str, None] = {}
        self._dispatch: GpuDispatch | None = None
        if timed:
            self.times = LaunchTimes(gpu)
        self._start_over()

    def _start_over(self) -> None:
        self._modules = CudaModules(self.gpu)
        if self._dispatch is not None:
            self._dispatch.start_over(self.gpu)
        self._streams: dict[int, int] = {0: 0}
        self._events: dict[int, int] = {}
        self._allocated: dict[int, int] = {}
        self._staging = self._arena.allocate(STAGING_BYTES, "staging", align=_PAGE, fill=None)
        # Only faster: the driver copies from memory that it does not know, too.
        with contextlib.suppress(DriverError):
            self._register(self._staging)

    def _register(self, buffer: Buffer) -> Buffer:
        """Lets the GPU reach memory of the arena at its own address."""
        size = -(-max(buffer.size, 1) // _PAGE) * _PAGE
        self._driver.register_host(buffer.address, size)
        return buffer

    # -- what a session asks ---------------------------------------------------------------------------------------

    @property
    def arena(self) -> Arena:
        return self._arena

    def welcome(self) -> wire.Welcome:
        return wire.Welcome(
            version=wire.VERSION,
            device_count=1,
            flags=WelcomeFlags(0),
            arena_address=self._arena.base,
            arena_size=self._arena.reserve,
            staging_address=self._staging.address,
            staging_size=self._staging.size,
        )

    def warm_up(self) -> None:
        """There is nothing to load."""

    def move(self, address: int) -> None:
        old = self._arena
        with contextlib.suppress(DriverError):
            self._driver.unregister_host(self._staging.address)
        self._arena = Arena.attach(os.dup(old.fd), address, old.reserve)
        old.close()
        self._start_over()

    def handle(self, message: Received) -> Answer | Failure:
        """Answers a message of a program. Raises ``Refused`` for what a real GPU's worker does not do."""
        if message.type not in TABLE:
            raise Refused(CudaError.NOT_SUPPORTED, f"a real GPU does not answer {message.type.name}")
        with self._watched():
            try:
                return TABLE[message.type](self, message) or Answer()
            except DriverError as error:
                return _failure_of(error)

    def launch(self, body: bytes, device: int = 0) -> Failure | None:
        with self._watched():
            try:
                self._launch(body)
            except Refused as refused:
                return refused.failure
            except DriverError as error:
                return _failure_of(error)
            except KernelwrightError as error:
                return Failure(CudaError.UNKNOWN, error.message)
        return None

    @contextlib.contextmanager
    def _watched(self) -> Iterator[None]:
        """Any call of the driver may wait for kernels."""
        self.under_way.began = time.monotonic()
        try:
            yield
        finally:
            self.under_way.began = None

    def take_output(self) -> bytes:
        return self._printed.take().encode("utf-8", "surrogateescape")

    def finish(self) -> None:
        if self.times is not None:
            with self._watched():
                self.times.finish()

    def report(self) -> list[dict[str, Any]]:
        """What each kernel took, by geometry, where that was asked for."""
        return self.times.rows() if self.times is not None else []

    def versions(self) -> list[dict[str, Any]]:
        return self._dispatch.rows() if self._dispatch is not None else []

    def elapsed_us(self) -> None:
        """Nothing measures copies, and what runs side by side."""

    def remarks(self) -> list[str]:
        """What came of the versions that were given."""
        unused = [*without_kernel(self._given or (), self._kernels)]
        return unused + (self._dispatch.sentences() if self._dispatch is not None else [])

    def definition(self, kernel: str) -> None:
        """It is unknown: what a GPU runs need not have been IR."""

    def stop(self, tell: Tell) -> bool:
        """A GPU cannot be stopped but by the end of this process; a process that waits for an answer gets one before."""
        if self.under_way.timed_out:
            sentence = f"a kernel did not end, and was stopped after {self._timeout_s:g} seconds ({_LIMIT})"
            with contextlib.suppress(OSError, KernelwrightError):
                tell(CudaError.LAUNCH_TIMEOUT, sentence)
        else:
            # What the program has left behind is still done and counted, if it ends: its last calls may wait for nothing but us.
            self._gone_since = self._gone_since or time.monotonic()
            if time.monotonic() - self._gone_since < PATIENCE_S:
                return False
        os._exit(3)

    def progress(self) -> None:
        """A real GPU does not say how far it is."""

    # -- registration ----------------------------------------------------------------------------------------------

    def _register_module(self, message: Received) -> None:
        assert isinstance(message.body, wire.RegisterModule)
        self._modules.add_module(message.body.module, message.body.format, message.tail)

    def _register_kernel(self, message: Received) -> None:
        assert isinstance(message.body, wire.RegisterSymbol)
        name = message.tail.decode()
        self._modules.add_kernel(message.body.symbol, message.body.module, name)
        self._kernels[name] = None

    def _register_variable(self, message: Received) -> None:
        b = message.body
        assert isinstance(b, wire.RegisterSymbol)
        self._modules.add_variable(b.symbol, b.module, message.tail.decode())

    def _unregister_module(self, message: Received) -> None:
        self._modules.remove_module(handle_of(message))
        if self._dispatch is not None:
            self._dispatch.forget_kernels()

    # -- memory ----------------------------------------------------------------------------------------------------

    def _allocate(self, message: Received) -> Answer:
        assert isinstance(message.body, wire.Allocate)
        size = message.body.size
        if message.body.kind == wire.MemoryKind.DEVICE:
            address = self.gpu.allocate(size)
            self._allocated[address] = size
            return Answer(wire.Memory(address=address, size=size))
        try:
            # Whole pages: two registrations must not share one.
            made = self._arena.allocate(-(-max(size, 1) // _PAGE) * _PAGE, "pinned", align=_PAGE, fill=None)
        except DeviceError as error:
            raise Refused(CudaError.MEMORY_ALLOCATION, error.message) from None
        return Answer(wire.Memory(address=self._register(made).address, size=size))

    def _free(self, message: Received) -> None:
        address = handle_of(message)
        self._driver.synchronize()
        if self._allocated.pop(address, None) is not None:
            self._driver.free(address)
            return
        buffer = self._arena.find(address)
        if buffer is None or buffer.address != address or buffer == self._staging:
            raise Refused(CudaError.INVALID_VALUE, f"{address:#x} is no allocation of the device")
        self._driver.unregister_host(address)
        self._arena.free(address)

    def _fill(self, message: Received) -> None:
        b = message.body
        assert isinstance(b, wire.Fill)
        stream = self._stream(b.stream)
        whole = b.pitch == b.width
        for row in range(1 if whole else b.height):
            size = b.width * b.height if whole else b.width
            self._driver.fill(b.address + row * b.pitch, b.value & 0xFF, size, stream)

    def _copy(self, message: Received) -> None:
        b = message.body
        assert isinstance(b, wire.Copy)
        stream = self._stream(b.stream)
        whole = b.to_pitch == b.from_pitch == b.width
        for z in range(b.depth):
            for y in range(1 if whole else b.height):
                to, start = b.to + z * b.to_slice + y * b.to_pitch, b.from_ + z * b.from_slice + y * b.from_pitch
                self._driver.copy(to, start, b.width * b.height if whole else b.width, stream)

    def _memory_info(self, message: Received) -> Answer:
        free, total = self._driver.memory_info()
        return Answer(wire.MemoryInfo(free=free, total=total))

    def _symbol_address(self, message: Received) -> Answer:
        address, size = self._modules.variable(handle_of(message))
        return Answer(wire.Memory(address=address, size=size))

    # -- kernels ---------------------------------------------------------------------------------------------------

    def _launch(self, body: bytes) -> None:
        stream, number, launch = read_launch(body, lambda number: self._modules.kernel(number).name)
        queue = self._stream(stream)
        version, contest = self._version(number, launch)
        function = version or self._modules.function(number)
        start = functools.partial(self._driver.launch, function, launch, queue)
        if contest is not None:
            start = functools.partial(contest.around, start, queue)
        try:
            if self.times is None:
                start()
            else:
                self.times.launch(launch.geometry, function, queue, start)
        except DriverError as error:
            if error.code != CudaError.INVALID_VALUE:
                raise
            # The driver has one number for every bad argument; of a launch the runtime says what it means.
            raise Refused(CudaError.INVALID_CONFIGURATION, error.message) from None

    def _version(self, number: int, launch: Launch) -> tuple[int | None, Contest | None]:
        """The version that runs a launch, None: the original does; and what times it, None: nothing does."""
        if self._dispatch is None:
            if self._given is None or (not self._given and not self._modules.has_versions(number)):
                return None, None
            from kernelwright.device.versions.on_real_gpu import GpuDispatch

            self._dispatch = GpuDispatch(self._given, self.gpu, self._region)
        function, contest = self._dispatch.function(number, launch, self._modules.described)
        if function is None or not launch.shared_bytes:
            return function, contest
        if launch.shared_bytes > DEFAULT_SHARED - self._driver.function_attribute(function, SHARED_BYTES):
            self._driver.set_function_attribute(function, MAX_DYNAMIC_SHARED, launch.shared_bytes)
        return function, contest

    def _region(self, address: int) -> range | None:
        """The allocation that an address lies in."""
        buffer = self._arena.find(address)
        if buffer is not None:
            return range(buffer.address, buffer.end)
        return next((range(a, a + size) for a, size in self._allocated.items() if a <= address < a + size), None)

    def _kernel_layout(self, message: Received) -> Answer:
        parameters, size = self._modules.layout(handle_of(message))
        return Answer(wire.KernelLayout(len(parameters), size), b"".join(p.pack() for p in parameters))

    def _function_attributes(self, message: Received) -> Answer:
        return Answer(self._modules.attributes(handle_of(message)))

    def _set_function_attribute(self, message: Received) -> None:
        b = message.body
        assert isinstance(b, wire.FunctionAttribute)
        self._driver.set_function_attribute(self._modules.function(b.kernel), b.attribute, b.value)

    def _occupancy(self, message: Received) -> Answer:
        b = message.body
        assert isinstance(b, wire.Occupancy)
        function = self._modules.function(b.kernel)
        return Answer(wire.Handle(handle=self._driver.resident_blocks(function, b.block_threads, b.shared_bytes)))

    def _swap_kernel(self, message: Received) -> None:
        b = message.body
        assert isinstance(b, wire.Swap)
        name = message.tail[: max(b.name_size - 1, 0)].decode()
        self._modules.swap(name, message.tail[b.name_size : b.name_size + b.blob_size])

    # -- streams, events, device -----------------------------------------------------------------------------------

    def _stream(self, number: int) -> int:
        if number not in self._streams:
            raise Refused(CudaError.INVALID_RESOURCE_HANDLE)
        return self._streams[number]

    def _event(self, number: int) -> int:
        if number not in self._events:
            raise Refused(CudaError.INVALID_RESOURCE_HANDLE)
        return self._events[number]

    def _stream_create(self, message: Received) -> None:
        b = message.body
        assert isinstance(b, wire.Stream)
        self._streams[b.stream] = self._driver.create_stream(not b.flags & _NON_BLOCKING, b.priority)

    def _stream_destroy(self, message: Received) -> None:
        number = handle_of(message)
        if number:
            self._driver.destroy_stream(self._stream(number))
            del self._streams[number]

    def _stream_synchronize(self, message: Received) -> None:
        self._driver.synchronize_stream(self._stream(handle_of(message)))

    def _stream_query(self, message: Received) -> None:
        self._driver.query_stream(self._stream(handle_of(message)))

    def _stream_wait(self, message: Received) -> None:
        assert isinstance(message.body, wire.Event)
        self._driver.wait(self._stream(message.body.stream), self._event(message.body.event))

    def _event_create(self, message: Received) -> None:
        assert isinstance(message.body, wire.Event)
        self._events[message.body.event] = self._driver.create_event(message.body.flags & ~_INTERPROCESS)

    def _event_destroy(self, message: Received) -> None:
        self._driver.destroy_event(self._event(handle_of(message)))
        del self._events[handle_of(message)]

    def _event_record(self, message: Received) -> None:
        assert isinstance(message.body, wire.Event)
        self._driver.record(self._event(message.body.event), self._stream(message.body.stream))

    def _event_synchronize(self, message: Received) -> None:
        self._driver.synchronize_event(self._event(handle_of(message)))

    def _event_query(self, message: Received) -> None:
        self._driver.query_event(self._event(handle_of(message)))

    def _event_elapsed(self, message: Received) -> Answer:
        b = message.body
        assert isinstance(b, wire.Elapsed)
        elapsed = self._driver.elapsed_ms(self._event(b.start), self._event(b.end))
        return Answer(wire.Milliseconds(milliseconds=elapsed))

    def _device_synchronize(self, message: Received) -> None:
        self._driver.synchronize()

    def _device_reset(self, message: Received) -> None:
        if self.times is not None:
            self.times.start_over()
        self.gpu.start_over()
        self._driver.reset()
        self.gpu = CudaGpu(self.gpu.ordinal, self._driver)
        self._arena.reset()
        self._start_over()

    def _device_properties(self, message: Received) -> Answer:
        return Answer(self.gpu.properties)

    def _stack_limit(self, message: Received) -> None:
        self._driver.limit_stack(handle_of(message))

    def _nothing(self, message: Received) -> None:
        """Errors that wait are sent with the next reply."""


_LIMIT = "--timeout or KERNELWRIGHT_TIMEOUT sets this limit"
_INTERPROCESS = 4
"""cudaEventInterprocess: events cannot leave this process."""


TABLE: dict[Message, Callable[[CudaDevice, Received], Answer | None]] = {
    Message.REGISTER_MODULE: CudaDevice._register_module,
    Message.REGISTER_KERNEL: CudaDevice._register_kernel,
    Message.REGISTER_VARIABLE: CudaDevice._register_variable,
    Message.UNREGISTER_MODULE: CudaDevice._unregister_module,
    Message.ALLOCATE: CudaDevice._allocate,
    Message.FREE: CudaDevice._free,
    Message.FILL: CudaDevice._fill,
    Message.COPY: CudaDevice._copy,
    Message.MEMORY_INFO: CudaDevice._memory_info,
    Message.SYMBOL_ADDRESS: CudaDevice._symbol_address,
    Message.KERNEL_LAYOUT: CudaDevice._kernel_layout,
    Message.FUNCTION_ATTRIBUTES: CudaDevice._function_attributes,
    Message.SET_FUNCTION_ATTRIBUTE: CudaDevice._set_function_attribute,
    Message.OCCUPANCY: CudaDevice._occupancy,
    Message.STREAM_CREATE: CudaDevice._stream_create,
    Message.STREAM_DESTROY: CudaDevice._stream_destroy,
    Message.STREAM_SYNCHRONIZE: CudaDevice._stream_synchronize,
    Message.STREAM_QUERY: CudaDevice._stream_query,
    Message.STREAM_WAIT: CudaDevice._stream_wait,
    Message.EVENT_CREATE: CudaDevice._event_create,
    Message.EVENT_DESTROY: CudaDevice._event_destroy,
    Message.EVENT_RECORD: CudaDevice._event_record,
    Message.EVENT_SYNCHRONIZE: CudaDevice._event_synchronize,
    Message.EVENT_QUERY: CudaDevice._event_query,
    Message.EVENT_ELAPSED: CudaDevice._event_elapsed,
    Message.DEVICE_SYNCHRONIZE: CudaDevice._device_synchronize,
    Message.DEVICE_RESET: CudaDevice._device_reset,
    Message.DEVICE_PROPERTIES: CudaDevice._device_properties,
    Message.STACK_LIMIT: CudaDevice._stack_limit,
    Message.LAST_ERROR: CudaDevice._nothing,
    Message.SWAP_KERNEL: CudaDevice._swap_kernel,
}
"""Launches are not among them: ``Session`` knows them by their number; and what a session answers itself is in its table."""


def _failure_of(error: DriverError) -> Failure:
    sentence = "" if error.code == CudaError.NOT_READY else str(error)
    return Failure(error_of_driver(error), sentence, error.is_sticky)
