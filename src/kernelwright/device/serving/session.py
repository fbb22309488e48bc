"""One program on the virtual GPU: the messages of its connection, obeyed in the order they came.

    Session(connection, settings).serve()

Commands have no answer; what goes wrong with one is told with the next request that waits for the device, as CUDA tells
asynchronous errors. After an error that CUDA does not survive, nothing is done any more until the device is reset.
``TABLE`` at the end lists what is done for each message.
"""

from __future__ import annotations

import functools
import json
import operator
import os
import socket
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelwright.cuda import protocol as wire
from kernelwright.cuda.channel import Channel, Received
from kernelwright.cuda.protocol import Message
from kernelwright.device.memory import Arena
from kernelwright.device.serving.allocations import Allocations
from kernelwright.device.serving.engine import Engine
from kernelwright.device.serving.errors import CudaError, Failure, Refused, defect
from kernelwright.device.serving.observer import Observer
from kernelwright.device.serving.properties import BOARDS, properties_of
from kernelwright.device.serving.tally import Tally
from kernelwright.device.serving.timeline import Timeline
from kernelwright.device.serving.watchdog import Watchdog
from kernelwright.device.settings import Settings
from kernelwright.errors import KernelwrightError

if TYPE_CHECKING:
    from kernelwright.ir.debug import Location

_LAUNCH = struct.Struct("<QII3I3III")
_NO_TIMING = 2
"""cudaEventDisableTiming."""
_FLAGS = wire.WelcomeFlags.ARENA_IS_DEVICE | wire.WelcomeFlags.NOTE_HOST_ACCESS


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
        self.abandon: Callable[[], object] | None = None
        """Ends this process, when it is still at work long after its program has gone."""
        self._observers = (self.tally, *observers)
        self._finish = finish
        self._timed = timed
        self._connection = connection
        self._channel = Channel(connection)
        self._properties = properties_of(settings.gpu)
        self._begin(Arena())
        for observer in self._observers:
            observer.attach(self)

    def _begin(self, arena: Arena) -> None:
        """A device on this memory."""
        self._arena = arena
        self._memory = Allocations(arena, self.settings)
        self._engine = Engine(arena, self.settings, self._observers, self._timed)
        self._clear()

    def _clear(self) -> None:
        """Nothing has happened on the device yet."""
        gpu = self.settings.gpu
        self._timeline = Timeline(gpu.dram_gb_per_s, BOARDS[gpu.name].host_gb_per_s)
        self._text: list[bytes] = []
        self._failure: Failure | None = None
        self._told_before = False

    @property
    def arena(self) -> Arena:
        """The device's memory. A program without room at our addresses gets another, before it has used any."""
        return self._arena

    def definition(self, kernel: str) -> Location | None:
        """Where the kernel with this mangled name is defined; None when nobody knows."""
        from kernelwright.ir.debug import function_location

        try:
            loaded = self._engine.registered.loaded_of(kernel)
        except Refused:
            return None
        found = loaded.module.functions.get(kernel) if loaded else None
        return function_location(found) if found else None

    def report(self) -> list[dict[str, Any]]:
        """What each kernel did."""
        return self.tally.as_json()

    @property
    def untimed(self) -> dict[str, str]:
        """Kernels, by mangled name, that were launched and that the timing model could not take; and why."""
        return self._engine.untimed

    # -- the loop --------------------------------------------------------------------------------------------------

    def serve(self) -> None:
        """Answers until the connection ends. Raises ``ToolError`` for bytes that are no message."""
        self._watchdog = Watchdog(
            self._connection, lambda: self._engine.running, self.settings.timeout_s, abandon=self.abandon
        )
        self._engine.watchdog = self._watchdog
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
        self._engine.warm_up()
        return Answer(self._welcome(), descriptors=(self._arena.fd,))

    def _move_arena(self, message: Received) -> Answer:
        """The program has no room at our addresses: takes the same memory at others. Nothing is in it yet."""
        assert isinstance(message.body, wire.MoveArena)
        old = self._arena
        self._begin(Arena.attach(os.dup(old.fd), message.body.address, old.reserve))
        self._engine.watchdog = self._watchdog
        old.close()
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
        self._engine.registered.add_module(message.body.module, message.body.format, message.tail)

    def _register_kernel(self, message: Received) -> None:
        assert isinstance(message.body, wire.RegisterSymbol)
        self._engine.registered.add_kernel(message.body.symbol, message.body.module, message.tail.decode())

    def _register_variable(self, message: Received) -> None:
        b = message.body
        assert isinstance(b, wire.RegisterSymbol)
        self._engine.registered.add_variable(b.symbol, b.module, message.tail.decode(), b.size, b.flags, b.address)

    def _unregister_module(self, message: Received) -> None:
        self._engine.registered.remove_module(_handle(message))
        self._engine.forget_prepared()

    # -- memory ----------------------------------------------------------------------------------------------------

    def _allocate(self, message: Received) -> Answer:
        assert isinstance(message.body, wire.Allocate)
        size = message.body.size
        return Answer(wire.Memory(address=self._memory.allocate(size, message.body.kind), size=size))

    def _free(self, message: Received) -> None:
        self._memory.free(_handle(message))

    def _fill(self, message: Received) -> None:
        b = message.body
        assert isinstance(b, wire.Fill)
        self._check_stream(b.stream)
        self._memory.fill(b, self._note_access)
        self._timeline.fill(b.stream, b.width * b.height)

    def _copy(self, message: Received) -> None:
        b = message.body
        assert isinstance(b, wire.Copy)
        self._check_stream(b.stream)
        self._memory.copy(b, self._note_access)
        self._timeline.copy(b.stream, b.width * b.height * b.depth, "none")

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
        return Answer(wire.MemoryInfo(free=self._memory.free_bytes, total=self._properties.global_bytes))

    def _symbol_address(self, message: Received) -> Answer:
        address, size = self._engine.registered.variable(_handle(message))
        return Answer(wire.Memory(address=address, size=size))

    # -- kernels ---------------------------------------------------------------------------------------------------

    def _launch(self, body: bytes) -> None:
        """The message that programs send most, read here."""
        if self._failure is not None and self._failure.is_sticky:
            return
        stream, number, _, gx, gy, gz, bx, by, bz, shared, size = _LAUNCH.unpack_from(body)
        packed = body[_LAUNCH.size : _LAUNCH.size + size]
        try:
            self._check_stream(stream)
            launched = self._engine.launch(number, (gx, gy, gz), (bx, by, bz), shared, packed, stream)
        except Refused as refused:
            self._fail(refused.failure)
            return
        if launched.result.printed:
            self._text.append(launched.result.printed)
        self._timeline.run(stream, launched.time_us)
        if launched.fault is not None:
            failure = self._engine.failure_of(launched.fault, number, packed)
            if failure is not None:
                self._fail(failure)

    def _kernel_layout(self, message: Received) -> Answer:
        kernel = self._engine.registered.entry(_handle(message))
        tail = b"".join(wire.Parameter(offset=p.offset, size=p.size).pack() for p in kernel.parameters)
        return Answer(wire.KernelLayout(len(kernel.parameters), kernel.arguments_size), tail)

    def _function_attributes(self, message: Received) -> Answer:
        return Answer(self._engine.registered.attributes(_handle(message), self.settings.gpu))

    def _set_function_attribute(self, message: Received) -> None:
        assert isinstance(message.body, wire.FunctionAttribute)
        b = message.body
        self._engine.registered.set_attribute(b.kernel, b.attribute, b.value)

    def _occupancy(self, message: Received) -> Answer:
        assert isinstance(message.body, wire.Occupancy)
        b = message.body
        blocks = self._engine.registered.resident_blocks(b.kernel, self.settings.gpu, b.block_threads, b.shared_bytes)
        return Answer(wire.Handle(handle=blocks))

    def _swap_kernel(self, message: Received) -> None:
        assert isinstance(message.body, wire.Swap)
        size = message.body.name_size
        name = message.tail[: max(size - 1, 0)].decode()
        self._engine.registered.swap(name, message.tail[size : size + message.body.blob_size])
        self._engine.forget_prepared()

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
        if not message.body.flags & _NO_TIMING:
            self._timed = True
            self._engine.keep_time()

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
        self._memory.start_over()
        self._engine.start_over()
        text = self._text
        self._clear()
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
