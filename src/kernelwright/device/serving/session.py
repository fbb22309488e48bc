"""One program on the virtual GPU: the messages of its connection, obeyed in the order they came.

    Session(connection, settings).serve()

Commands have no answer; what goes wrong with one is told with the next request that waits for the device, as CUDA tells
asynchronous errors. After an error that CUDA does not survive, nothing is done any more until the device is reset.
What messages do to the device is in ``virtual_device.py``.
"""

from __future__ import annotations

import functools
import json
import operator
import os
import socket
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kernelwright.cuda import protocol as wire
from kernelwright.cuda.channel import Channel, Received
from kernelwright.cuda.protocol import Message
from kernelwright.device.arena import Arena
from kernelwright.device.serving.errors import CudaError, Failure, Refused, defect
from kernelwright.device.serving.kernel_tally import Tally
from kernelwright.device.serving.observer import Observer
from kernelwright.device.serving.replies import Answer, WaitingError, handle_of
from kernelwright.device.serving.virtual_device import TABLE as DEVICE_TABLE
from kernelwright.device.serving.virtual_device import VirtualDevice
from kernelwright.device.serving.watchdog import Watchdog
from kernelwright.device.settings import Settings
from kernelwright.errors import KernelwrightError

if TYPE_CHECKING:
    from kernelwright.ir.debug import Location

_FLAGS = wire.WelcomeFlags.ARENA_IS_DEVICE | wire.WelcomeFlags.NOTE_HOST_ACCESS


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
        self._error = WaitingError()
        self._device = VirtualDevice(Arena(), settings, self._observers, timed)
        for observer in self._observers:
            observer.attach(self)

    @property
    def arena(self) -> Arena:
        """The device's memory. A program without room at our addresses gets another, before it has used any."""
        return self._device.arena

    def definition(self, kernel: str) -> Location | None:
        """Where the kernel with this mangled name is defined; None when nobody knows."""
        from kernelwright.ir.debug import function_location

        try:
            loaded = self._device.engine.registered.loaded_of(kernel)
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
        return self._device.engine.untimed

    # -- the loop --------------------------------------------------------------------------------------------------

    def serve(self) -> None:
        """Answers until the connection ends. Raises ``ToolError`` for bytes that are no message."""
        self._watchdog = Watchdog(
            self._connection, lambda: self._device.engine.running, self.settings.timeout_s, abandon=self.abandon
        )
        self._device.engine.watchdog = self._watchdog
        try:
            self._serve()
        except (ConnectionError, TimeoutError):
            pass  # the program went while we were answering
        finally:
            self._watchdog.end()
            self.untold = self._error.untold
            for observer in self._observers:
                observer.end()

    def close(self) -> None:
        """Releases the device's memory. A worker process need not: it ends."""
        self._device.arena.close()

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
        if self._error.is_sticky:
            return
        outcome = self._attempt(message)
        if isinstance(outcome, Failure):
            self._fail(outcome)

    def _launch(self, body: bytes) -> None:
        if self._error.is_sticky:
            return
        failure = self._device.launch(body)
        if failure is not None:
            self._fail(failure)

    def _answer(self, message: Received) -> None:
        told = None if message.type in _ALWAYS else self._error.tell()
        outcome = told or self._attempt(message)
        text = self._device.text
        if text:
            self._channel.output(b"".join(text))
            text.clear()
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
            if message.type in TABLE:
                return TABLE[message.type](self, message) or Answer()
            return DEVICE_TABLE[message.type](self._device, message) or Answer()
        except Refused as refused:
            return refused.failure
        except MemoryError:
            return Failure(CudaError.MEMORY_ALLOCATION, "the device worker has no memory left")
        except KernelwrightError as error:
            return Failure(CudaError.UNKNOWN, error.message)
        except Exception as error:
            return Failure(CudaError.UNKNOWN, defect(error))

    def _fail(self, failure: Failure) -> None:
        self._error.keep(failure)
        for observer in self._observers:
            observer.failed(failure)

    # -- session ---------------------------------------------------------------------------------------------------

    def _hello(self, message: Received) -> Answer:
        self._device.engine.warm_up()
        return Answer(self._welcome(), descriptors=(self._device.arena.fd,))

    def _move_arena(self, message: Received) -> Answer:
        """The program has no room at our addresses: takes the same memory at others. Nothing is in it yet."""
        assert isinstance(message.body, wire.MoveArena)
        old = self._device.arena
        arena = Arena.attach(os.dup(old.fd), message.body.address, old.reserve)
        self._device = VirtualDevice(arena, self.settings, self._observers, self._timed)
        self._device.engine.watchdog = self._watchdog
        old.close()
        return Answer(self._welcome())

    def _welcome(self) -> wire.Welcome:
        return wire.Welcome(
            version=wire.VERSION,
            device_count=1,
            flags=functools.reduce(operator.or_, (o.welcome_flags for o in self._observers), _FLAGS),
            arena_address=self._device.arena.base,
            arena_size=self._device.arena.reserve,
        )

    def _counters(self, message: Received) -> Answer:
        text = json.dumps({"device": self.settings.gpu.name, "kernels": self.tally.as_json()})
        if handle_of(message):
            self.tally.kernels.clear()
        return Answer(tail=text.encode())

    def _device_reset(self, message: Received) -> None:
        self._device.start_over()
        self._error.forget()


TABLE: dict[Message, Callable[[Session, Received], Answer | None]] = {
    Message.HELLO: Session._hello,
    Message.MOVE_ARENA: Session._move_arena,
    Message.DEVICE_RESET: Session._device_reset,
    Message.COUNTERS: Session._counters,
}
"""What concerns more than the device. ``_serve`` knows launches and the goodbye by their numbers."""

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
