"""One program on the virtual GPU: the messages of its connection, obeyed in the order they came.

    Session(connection, settings).serve()

Commands have no answer; what goes wrong with one is told with the next request that waits for the device, as CUDA tells
asynchronous errors. After an error that CUDA does not survive, nothing is done any more until the device is reset.
``TABLE`` at the end lists what is done for each message.

What runs kernels takes a third of a second to load. It is loaded beside the first messages, so that a program that reads
its inputs or allocates memory first does not wait for it.
"""

from __future__ import annotations

import ctypes
import functools
import json
import operator
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kernelwright.cuda import protocol as wire
from kernelwright.cuda.channel import Channel, Received
from kernelwright.cuda.names import readable
from kernelwright.cuda.protocol import Message
from kernelwright.device.capacity import capacity_bytes
from kernelwright.device.cuda_errors import CudaError, Failure, Refused, defect, error_of
from kernelwright.device.memory import POISON, Arena
from kernelwright.device.observer import Launching, Observer
from kernelwright.device.properties import BOARDS, properties_of
from kernelwright.device.registered import Registered, Runnable
from kernelwright.device.settings import Settings
from kernelwright.device.tally import Tally
from kernelwright.device.timeline import Timeline
from kernelwright.device.watchdog import Watchdog
from kernelwright.errors import CompileError, DeviceError, KernelwrightError

if TYPE_CHECKING:
    from kernelwright.device.fault import Fault
    from kernelwright.device.timing import Timing
    from kernelwright.device.virtual import Launched, Prepared, VirtualGpu
    from kernelwright.ir.debug import Location

_LAUNCH = struct.Struct("<QII3I3III")
_NO_TIMING = 2
"""cudaEventDisableTiming."""
_KINDS = {0: "device", 1: "pinned", 2: "managed"}
_FLAGS = wire.WelcomeFlags.ARENA_IS_DEVICE | wire.WelcomeFlags.NOTE_HOST_ACCESS
POISON_UP_TO = 256 << 20
"""Bytes. Larger buffers begin as zeros, which cost nothing until they are used; smaller ones as 0xCD, which shows."""


@dataclass(frozen=True)
class Answer:
    """What a request is answered with."""

    body: wire.Body | None = None
    tail: bytes = b""
    descriptors: tuple[int, ...] = ()


class Session:
    """A connection and the device behind it. ``serve`` returns when the program has said goodbye, or is gone.

    ``observers`` see launches and copies. With ``finish``, work that was queued when the program ended is still done, for
    what observers make of it; a GPU drops it, and so do we otherwise. Launches carry estimates of their time with
    ``timed``, and from the first event on that the program creates to measure with.
    """

    def __init__(
        self,
        connection: socket.socket,
        settings: Settings,
        observers: Sequence[Observer] = (),
        finish: bool = False,
        timed: bool = False,
    ) -> None:
        self.settings = settings
        self.tally = Tally()
        self.untold: Failure | None = None
        """After ``serve``: an error that the program never asked about."""
        self._observers = (self.tally, *observers)
        self._finish = finish
        self._timed = timed
        self._connection = connection
        self._channel = Channel(connection)
        self._properties = properties_of(settings.gpu)
        self._capacity = capacity_bytes(settings.gpu.memory_bytes, settings.memory_bytes)
        self._arena = Arena()
        self._device: VirtualGpu | None = None
        self._timing: Timing | None = None
        self._making = threading.Lock()
        self._start_over()
        for observer in self._observers:
            observer.attach(self)

    @property
    def arena(self) -> Arena:
        """The device's memory. A program without room at our addresses gets another, before it has used any."""
        return self._arena

    def definition(self, kernel: str) -> Location | None:
        """Where the kernel with this mangled name is defined; None when nobody knows."""
        from kernelwright.ir.debug import function_location

        try:
            loaded = self._registered.loaded_of(kernel)
        except Refused:
            return None
        found = loaded.module.functions.get(kernel) if loaded else None
        return function_location(found) if found else None

    def _start_over(self) -> None:
        """A device as it is before anybody has used it."""
        gpu = self.settings.gpu
        self._registered = Registered(self._gpu)
        self._timeline = Timeline(gpu.dram_gb_per_s, BOARDS[gpu.name].host_gb_per_s)
        self._ready: dict[tuple[int, int, int, int], Runnable] = {}
        self._text: list[bytes] = []
        self._allocations = 0
        self._allocated: dict[int, int] = {}
        self._used = 0
        self._failure: Failure | None = None
        self._told_before = False
        if self._timing is not None:
            self._timing.start_over()

    def _gpu(self) -> VirtualGpu:
        """What runs kernels, loaded when it is first needed.

        Whatever else wants the modules behind it asks here first: two threads that import the same circle of modules get
        in each other's way.
        """
        with self._making:
            if self._device is None:
                from kernelwright.codegen.simt.library import functions
                from kernelwright.device.virtual import VirtualGpu
                from kernelwright.passes.llvm import binding

                binding()
                functions()
                self._device = VirtualGpu(self._arena)
            if self._timed and self._timing is None:
                from kernelwright.device.timing import Timing

                self._timing = Timing(self.settings.gpu, self._arena)
        return self._device

    @property
    def untimed(self) -> dict[str, str]:
        """Kernels, by mangled name, that were launched and that the timing model could not take; and why."""
        return dict(self._timing.untimed) if self._timing is not None else {}

    # -- the loop --------------------------------------------------------------------------------------------------

    def serve(self) -> None:
        """Answers until the connection ends. Raises ``ToolError`` for bytes that are no message."""
        self._watchdog = Watchdog(self._connection, lambda: self._device, self.settings.timeout_s)
        try:
            self._serve()
        except (ConnectionError, TimeoutError):
            pass  # the program went while we were answering
        finally:
            self._watchdog.end()
            if self._failure is not None and not self._told_before:
                self.untold = self._failure
            for observer in self._observers:
                observer.end()

    def close(self) -> None:
        """Releases the device's memory. A worker process need not: it ends."""
        self._arena.close()

    def _serve(self) -> None:
        channel = self._channel
        while (raw := channel.take()) is not None and (self._finish or not self._watchdog.gone):
            if raw.type == Message.LAUNCH:
                self._launch(raw.rest)
                continue
            message = channel.decode(raw)
            if message.type is Message.GOODBYE:
                return
            if message.is_request:
                self._answer(message)
            else:
                self._obey(message)

    def _obey(self, message: Received) -> None:
        if self._failure is not None and self._failure.is_sticky:
            return
        failure = self._attempt(message)
        if isinstance(failure, Failure):
            self._fail(failure)

    def _answer(self, message: Received) -> None:
        told = None if message.type in _ALWAYS else self._tell()
        outcome = told or self._attempt(message)
        if self._text:
            self._channel.output(b"".join(self._text))
            self._text.clear()
        if isinstance(outcome, Failure):
            self._channel.fail(message, outcome.error, outcome.sentence)
        else:
            self._channel.reply(message, outcome.body, outcome.tail, outcome.descriptors)

    def _attempt(self, message: Received) -> Answer | Failure:
        """Does what a message asks; what cannot be done is a value."""
        outcome = self._done(message)
        for observer in self._observers:
            observer.after_message(message, outcome)
        return outcome

    def _done(self, message: Received) -> Answer | Failure:
        try:
            return TABLE[message.type](self, message) or Answer()
        except Refused as refused:
            return refused.failure
        except MemoryError:
            return Failure(CudaError.MEMORY_ALLOCATION, "the device worker has no memory left")
        except KernelwrightError as error:
            return Failure(CudaError.UNKNOWN, error.message)
        except Exception as error:
            return Failure(CudaError.UNKNOWN, defect(error))

    def _fail(self, failure: Failure) -> None:
        """Keeps the first error until it has been told; one that CUDA does not survive stands before one that it does."""
        if self._failure is None or (failure.is_sticky and not self._failure.is_sticky):
            self._failure = failure
            self._told_before = False
        for observer in self._observers:
            observer.failed(failure)

    def _tell(self) -> Failure | None:
        """The error that waits to be told; one that CUDA survives is told once."""
        failure = self._failure
        if failure is not None:
            self._told_before = True
            if not failure.is_sticky:
                self._failure = None
        return failure

    # -- session ---------------------------------------------------------------------------------------------------

    def _hello(self, message: Received) -> Answer:
        threading.Thread(target=self._warm_up, name="warm-up", daemon=True).start()
        return Answer(self._welcome(), descriptors=(self._arena.fd,))

    def _warm_up(self) -> None:
        try:
            self._gpu()
        except Exception:
            pass  # the first launch meets the same, and says so

    def _move_arena(self, message: Received) -> Answer:
        """The program has no room at our addresses: takes the same memory at others. Nothing is in it yet."""
        assert isinstance(message.body, wire.MoveArena)
        old = self._arena
        self._arena = Arena.attach(os.dup(old.fd), message.body.address, old.reserve)
        old.close()
        with self._making:
            self._device = self._timing = None
        self._start_over()
        return Answer(self._welcome())

    def _welcome(self) -> wire.Welcome:
        return wire.Welcome(
            version=wire.VERSION,
            device_count=1,
            flags=functools.reduce(operator.or_, (o.welcome_flags for o in self._observers), _FLAGS),
            arena_address=self._arena.base,
            arena_size=self._arena.reserve,
        )

    # -- registration ----------------------------------------------------------------------------------------------

    def _register_module(self, message: Received) -> None:
        assert isinstance(message.body, wire.RegisterModule)
        self._registered.add_module(message.body.module, message.body.format, message.tail)

    def _register_kernel(self, message: Received) -> None:
        assert isinstance(message.body, wire.RegisterSymbol)
        self._registered.add_kernel(message.body.symbol, message.body.module, message.tail.decode())

    def _register_variable(self, message: Received) -> None:
        b = message.body
        assert isinstance(b, wire.RegisterSymbol)
        self._registered.add_variable(b.symbol, b.module, message.tail.decode(), b.size, b.flags, b.address)

    def _unregister_module(self, message: Received) -> None:
        self._registered.remove_module(_handle(message))
        self._ready.clear()

    # -- memory ----------------------------------------------------------------------------------------------------

    def _allocate(self, message: Received) -> Answer:
        assert isinstance(message.body, wire.Allocate)
        size, kind = message.body.size, message.body.kind
        if size > self._capacity - self._used:
            raise Refused(CudaError.MEMORY_ALLOCATION, self._no_room(size))
        fill = POISON if size <= POISON_UP_TO and kind == wire.MemoryKind.DEVICE else None
        try:
            buffer = self._arena.allocate(size, f"{_KINDS[kind]} allocation {self._allocations + 1}", fill=fill)
        except DeviceError as error:
            raise Refused(CudaError.MEMORY_ALLOCATION, error.message) from None
        self._allocations += 1
        self._allocated[buffer.address] = size
        self._used += size
        return Answer(wire.Memory(address=buffer.address, size=size))

    def _no_room(self, size: int) -> str:
        gpu = self.settings.gpu
        free = self._capacity - self._used
        owner = f"the {gpu.title}" if self._capacity == gpu.memory_bytes else "this machine"
        return f"an allocation of {size} bytes finds no room: {owner} has {free} bytes left for device memory"

    def _free(self, message: Received) -> None:
        address = _handle(message)
        buffer = self._arena.find(address)
        if buffer is not None and buffer.address == address and address not in self._allocated:
            raise Refused(CudaError.INVALID_VALUE, f"'{buffer.name}' is a variable, and cannot be freed")
        try:
            self._arena.free(address)
        except DeviceError as error:
            raise Refused(CudaError.INVALID_VALUE, error.message) from None
        self._used -= self._allocated.pop(address)

    def _fill(self, message: Received) -> None:
        b = message.body
        assert isinstance(b, wire.Fill)
        self._check_stream(b.stream)
        for row in range(b.height):
            self._check_memory(b.address + row * b.pitch, b.width)
            ctypes.memset(b.address + row * b.pitch, b.value & 0xFF, b.width)
            self._note_access(b.address + row * b.pitch, b.width, True)
        self._timeline.fill(b.stream, b.width * b.height)

    def _copy(self, message: Received) -> None:
        b = message.body
        assert isinstance(b, wire.Copy)
        self._check_stream(b.stream)
        for z in range(b.depth):
            for y in range(b.height):
                to = b.to + z * b.to_slice + y * b.to_pitch
                start = b.from_ + z * b.from_slice + y * b.from_pitch
                self._check_memory(to, b.width)
                self._check_memory(start, b.width)
                ctypes.memmove(to, start, b.width)
                self._note_access(start, b.width, False)
                self._note_access(to, b.width, True)
        self._timeline.copy(b.stream, b.width * b.height * b.depth, "none")

    def _check_memory(self, address: int, size: int) -> None:
        """What the program sends is not to reach memory of this process that is no device memory."""
        buffer = self._arena.find(address)
        if buffer is None or address + size > buffer.end:
            raise Refused(CudaError.INVALID_VALUE, f"{size} bytes at {address:#x} are no allocation of the device")

    def _host_access(self, message: Received) -> None:
        b = message.body
        assert isinstance(b, wire.HostAccess)
        self._check_stream(b.stream)
        self._timeline.copy(b.stream, b.size, "to device" if b.written else "to host")
        self._note_access(b.address, b.size, bool(b.written))

    def _note_access(self, address: int, size: int, written: bool) -> None:
        for observer in self._observers:
            observer.host_access(address, size, written)

    def _memory_info(self, message: Received) -> Answer:
        total = self._properties.global_bytes
        return Answer(wire.MemoryInfo(free=max(self._capacity - self._used, 0), total=total))

    def _symbol_address(self, message: Received) -> Answer:
        address, size = self._registered.variable(_handle(message))
        return Answer(wire.Memory(address=address, size=size))

    # -- kernels ---------------------------------------------------------------------------------------------------

    def _launch(self, body: bytes) -> None:
        """The message that programs send most: read here, and everything about the kernel is looked up once."""
        if self._failure is not None and self._failure.is_sticky:
            return
        stream, number, _, gx, gy, gz, bx, by, bz, shared, size = _LAUNCH.unpack_from(body)
        packed = body[_LAUNCH.size : _LAUNCH.size + size]
        watchdog = self._watchdog
        try:
            ready = self._ready.get((number, bx, by, bz))
            if ready is None:
                ready = self._ready[number, bx, by, bz] = self._registered.prepare(
                    number, (bx, by, bz), followed=self._timed
                )
            if not self._timeline.has(stream):
                raise Refused(CudaError.INVALID_RESOURCE_HANDLE)
            launching = Launching(ready.loaded, ready.name, (gx, gy, gz), (bx, by, bz), shared, packed, stream)
            for observer in self._observers:
                observer.before_launch(launching)
            watchdog.timed_out = False
            began = watchdog.began = time.monotonic()
            launched = self._run(launching, ready.prepared)
        except Refused as refused:
            self._fail(refused.failure)
            return
        except CompileError as error:
            self._fail(Failure(CudaError.INVALID_PTX, str(error)))
            return
        except DeviceError as error:
            self._fail(Failure(CudaError.INVALID_CONFIGURATION, error.message))
            return
        except MemoryError:
            name = readable(self._registered.name_of(number))
            self._fail(Failure(CudaError.MEMORY_ALLOCATION, f"there is no memory left to run kernel {name}"))
            return
        except Exception as error:
            self._fail(Failure(CudaError.UNKNOWN, defect(error)))
            return
        finally:
            watchdog.began = None
        seconds = time.monotonic() - began
        if launched.result.printed:
            self._text.append(launched.result.printed)
        self._timeline.run(stream, launched.time_us)
        for observer in self._observers:
            observer.after_launch(launching, launched, seconds)
        # A kernel that was stopped because its program has gone is nobody's fault.
        if launched.fault is not None and not (launched.fault.kind == "endless" and watchdog.gone):
            self._fail(self._failure_of(launching, launched.fault))

    def _run(self, launching: Launching, prepared: Prepared) -> Launched:
        for observer in self._observers:
            launched = observer.launch(launching, prepared, self.settings.budget)
            if launched is not None:
                return launched
        grid, packed, shared, budget = (
            launching.grid,
            launching.arguments,
            launching.shared_bytes,
            self.settings.budget,
        )
        if not self._timed:
            return prepared.launch(grid, packed, shared, budget=budget)
        self._gpu()
        assert self._timing is not None
        return self._timing.launch(launching.loaded, prepared, grid, packed, shared, budget=budget)

    def _failure_of(self, launching: Launching, fault: Fault) -> Failure:
        from kernelwright.device.sentence import sentence_of

        if fault.kind == "endless":
            limit = (
                f"{self.settings.timeout_s:g} seconds (--timeout or KERNELWRIGHT_TIMEOUT sets this limit)"
                if self._watchdog.timed_out
                else f"{self.settings.budget} loop iterations (--budget or KERNELWRIGHT_BUDGET sets this limit)"
            )
            fault = replace(fault, message=f"it did not end, and was stopped after {limit}")
        sentence = sentence_of(fault, launching.loaded.module, launching.arguments, self._arena)
        is_told = any(observer.tells for observer in self._observers)
        return Failure(error_of(fault), "" if is_told else sentence, is_sticky=True)

    def _kernel_layout(self, message: Received) -> Answer:
        kernel = self._registered.entry(_handle(message))
        tail = b"".join(wire.Parameter(offset=p.offset, size=p.size).pack() for p in kernel.parameters)
        return Answer(wire.KernelLayout(len(kernel.parameters), kernel.arguments_size), tail)

    def _function_attributes(self, message: Received) -> Answer:
        return Answer(self._registered.attributes(_handle(message), self.settings.gpu))

    def _set_function_attribute(self, message: Received) -> None:
        assert isinstance(message.body, wire.FunctionAttribute)
        b = message.body
        self._registered.set_attribute(b.kernel, b.attribute, b.value)

    def _occupancy(self, message: Received) -> Answer:
        assert isinstance(message.body, wire.Occupancy)
        b = message.body
        blocks = self._registered.resident_blocks(b.kernel, self.settings.gpu, b.block_threads, b.shared_bytes)
        return Answer(wire.Handle(handle=blocks))

    def _swap_kernel(self, message: Received) -> None:
        assert isinstance(message.body, wire.Swap)
        size = message.body.name_size
        name = message.tail[: max(size - 1, 0)].decode()
        self._registered.swap(name, message.tail[size : size + message.body.blob_size])
        self._ready.clear()

    def _counters(self, message: Received) -> Answer:
        text = json.dumps({"device": self.settings.gpu.name, "kernels": self.tally.as_json()})
        if _handle(message):
            self.tally.kernels.clear()
        return Answer(tail=text.encode())

    # -- streams, events, device -----------------------------------------------------------------------------------

    def _check_stream(self, stream: int) -> None:
        if not self._timeline.has(stream):
            raise Refused(CudaError.INVALID_RESOURCE_HANDLE)

    def _stream_create(self, message: Received) -> None:
        assert isinstance(message.body, wire.Stream)
        self._timeline.create(message.body.stream, blocking=not message.body.flags & 1)

    def _stream_destroy(self, message: Received) -> None:
        self._timeline.destroy(_handle(message))

    def _stream_synchronize(self, message: Received) -> None:
        self._check_stream(_handle(message))
        self._timeline.synchronize(_handle(message))

    def _stream_query(self, message: Received) -> None:
        """All work is done by the time anybody can ask."""
        self._check_stream(_handle(message))

    def _stream_wait(self, message: Received) -> None:
        assert isinstance(message.body, wire.Event)
        self._check_stream(message.body.stream)
        self._timeline.wait(message.body.stream, message.body.event)

    def _event_create(self, message: Received) -> None:
        """An event takes no room before it is recorded; but from now on somebody may ask how long things take."""
        assert isinstance(message.body, wire.Event)
        if not message.body.flags & _NO_TIMING and not self._timed:
            self._timed = True
            self._ready.clear()  # those were not made to be followed

    def _event_record(self, message: Received) -> None:
        assert isinstance(message.body, wire.Event)
        self._check_stream(message.body.stream)
        self._timeline.record(message.body.event, message.body.stream)

    def _event_destroy(self, message: Received) -> None:
        self._timeline.forget_event(_handle(message))

    def _event_synchronize(self, message: Received) -> None:
        self._timeline.synchronize_event(_handle(message))

    def _event_elapsed(self, message: Received) -> Answer:
        assert isinstance(message.body, wire.Elapsed)
        elapsed = self._timeline.elapsed_ms(message.body.start, message.body.end)
        if elapsed is None:
            raise Refused(CudaError.INVALID_RESOURCE_HANDLE)
        return Answer(wire.Milliseconds(milliseconds=elapsed))

    def _device_synchronize(self, message: Received) -> None:
        self._timeline.synchronize()

    def _device_reset(self, message: Received) -> None:
        self._arena.reset()
        text = self._text
        self._start_over()
        self._text = text

    def _device_properties(self, message: Received) -> Answer:
        return Answer(self._properties)

    def _nothing(self, message: Received) -> None:
        """Whatever was asked before has been done."""


def _handle(message: Received) -> int:
    assert isinstance(message.body, wire.Handle)
    return message.body.handle


TABLE: dict[Message, Callable[[Session, Received], Answer | None]] = {
    Message.HELLO: Session._hello,
    Message.MOVE_ARENA: Session._move_arena,
    Message.REGISTER_MODULE: Session._register_module,
    Message.REGISTER_KERNEL: Session._register_kernel,
    Message.REGISTER_VARIABLE: Session._register_variable,
    Message.UNREGISTER_MODULE: Session._unregister_module,
    Message.ALLOCATE: Session._allocate,
    Message.FREE: Session._free,
    Message.FILL: Session._fill,
    Message.COPY: Session._copy,
    Message.HOST_ACCESS: Session._host_access,
    Message.MEMORY_INFO: Session._memory_info,
    Message.SYMBOL_ADDRESS: Session._symbol_address,
    Message.KERNEL_LAYOUT: Session._kernel_layout,
    Message.FUNCTION_ATTRIBUTES: Session._function_attributes,
    Message.SET_FUNCTION_ATTRIBUTE: Session._set_function_attribute,
    Message.OCCUPANCY: Session._occupancy,
    Message.STREAM_CREATE: Session._stream_create,
    Message.STREAM_DESTROY: Session._stream_destroy,
    Message.STREAM_SYNCHRONIZE: Session._stream_synchronize,
    Message.STREAM_QUERY: Session._stream_query,
    Message.STREAM_WAIT: Session._stream_wait,
    Message.EVENT_CREATE: Session._event_create,
    Message.EVENT_DESTROY: Session._event_destroy,
    Message.EVENT_RECORD: Session._event_record,
    Message.EVENT_SYNCHRONIZE: Session._event_synchronize,
    Message.EVENT_QUERY: Session._nothing,
    Message.EVENT_ELAPSED: Session._event_elapsed,
    Message.DEVICE_SYNCHRONIZE: Session._device_synchronize,
    Message.DEVICE_RESET: Session._device_reset,
    Message.DEVICE_PROPERTIES: Session._device_properties,
    Message.LAST_ERROR: Session._nothing,
    Message.SWAP_KERNEL: Session._swap_kernel,
    Message.COUNTERS: Session._counters,
    Message.NOTE_ERROR: Session._nothing,
}
"""Launches are not among them: ``_serve`` knows them by their number."""

_ALWAYS = frozenset(
    {
        Message.HELLO,
        Message.MOVE_ARENA,
        Message.DEVICE_RESET,
        Message.DEVICE_PROPERTIES,
        Message.KERNEL_LAYOUT,
        Message.COUNTERS,
    }
)
"""Requests that are answered whatever happened before: they do not wait for the device."""
