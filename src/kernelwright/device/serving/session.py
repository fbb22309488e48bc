"""One program and its device: the messages of its connection, obeyed in the order they came.

    Session(connection, VirtualDevice(Arena(), settings, observers), settings, observers).serve()

Commands have no answer; what goes wrong with one is told with the next request that waits for the device, as CUDA tells
asynchronous errors. After an error that CUDA does not survive, nothing is done any more until the device is reset.
What messages do is for the device: ``virtual_device.py`` or ``device/real_gpu/cuda_device.py``.
"""

from __future__ import annotations

import functools
import operator
import socket
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kernelwright.cuda.wire import protocol as wire
from kernelwright.cuda.wire.channel import Channel, Received
from kernelwright.cuda.wire.protocol import Message
from kernelwright.device.arena import Arena
from kernelwright.device.serving.errors import CudaError, Failure, Refused, defect
from kernelwright.device.serving.observer import Observer, those_with
from kernelwright.device.serving.replies import Answer, WaitingError
from kernelwright.device.serving.served_device import ServedDevice
from kernelwright.device.serving.watchdog import Watchdog
from kernelwright.device.settings import Settings
from kernelwright.errors import KernelwrightError

if TYPE_CHECKING:
    from kernelwright.ir.debug import Location


class Session:
    """A connection and the device behind it. ``serve`` returns when the program has said goodbye, or is gone.

    ``observers`` see messages, and launches where the device lets them. With ``finish``, work that was queued when the program
    ended is still done, for what observers make of it; a GPU drops it, and so do we otherwise. ``abandon`` ends this process,
    when it is still at work long after its program has gone.
    """

    def __init__(
        self,
        connection: socket.socket,
        device: ServedDevice,
        settings: Settings,
        observers: Sequence[Observer] = (),
        finish: bool = False,
        abandon: Callable[[], object] | None = None,
    ) -> None:
        self.device = device
        self.settings = settings
        self.untold: Failure | None = None
        """After ``serve``: an error that the program never asked about."""
        self._observers = tuple(observers)
        self._after_message = those_with("after_message", self._observers)
        self._finish = finish
        self._abandon = abandon
        self._connection = connection
        self._channel = Channel(connection)
        self._error = WaitingError()
        self._answering: Received | None = None
        for observer in self._observers:
            observer.attach(self)

    @property
    def arena(self) -> Arena:
        """The device's memory. A program without room at our addresses gets another, before it has used any."""
        return self.device.arena

    def definition(self, kernel: str) -> Location | None:
        """Where the kernel with this mangled name is defined; None when it is unknown."""
        return self.device.definition(kernel)

    def report(self) -> list[dict[str, Any]]:
        """What each kernel did."""
        return self.device.report()

    def versions(self) -> list[dict[str, Any]]:
        """Which versions of kernels ran."""
        return self.device.versions()

    # -- the loop --------------------------------------------------------------------------------------------------

    def serve(self) -> None:
        """Answers until the connection ends. Raises ``ToolError`` for bytes that are no message."""
        watchdog = Watchdog(
            self._connection, self.device.under_way, self, self.settings.timeout_s, abandon=self._abandon
        )
        try:
            self._serve()
            self.device.finish()
        except (ConnectionError, TimeoutError):
            pass  # the program went while we were answering
        finally:
            watchdog.end()
            self.untold = self._error.untold
            for observer in self._observers:
                observer.end()

    def close(self) -> None:
        """Releases the device's memory. A worker process need not: it ends."""
        self.device.arena.close()

    def _serve(self) -> None:
        channel, under_way = self._channel, self.device.under_way
        while (raw := channel.take()) is not None and (self._finish or not under_way.gone):
            if raw.type == Message.LAUNCH:
                self._launch(raw.rest, raw.device)
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

    def _launch(self, body: bytes, device: int) -> None:
        if self._error.is_sticky:
            return
        failure = self.device.launch(body, device)
        if failure is not None:
            self._fail(failure)

    def _answer(self, message: Received) -> None:
        apart = message.type is Message.COMPILE or message.type in self.device.always
        told = None if apart else self._error.tell()
        self._answering = message
        outcome = told or self._attempt(message)
        self._answering = None
        text = self.device.take_output()
        if text:
            self._channel.output(text)
        if isinstance(outcome, Failure):
            if outcome.is_sticky:
                self._error.keep_told(outcome)
            self._channel.fail(message, outcome.error, outcome.sentence)
        else:
            self._channel.reply(message, outcome.body, outcome.tail, outcome.descriptors)

    def _attempt(self, message: Received) -> Answer | Failure:
        """Does what a message asks; what cannot be done is a value."""
        outcome = self._done(message)
        for observer in self._after_message:
            observer.after_message(message, outcome)
        return outcome

    def _done(self, message: Received) -> Answer | Failure:
        try:
            if message.type in TABLE:
                return TABLE[message.type](self, message)
            outcome = self.device.handle(message)
            if message.type is Message.DEVICE_RESET and not isinstance(outcome, Failure):
                self._error.forget()
            return outcome
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

    # -- for the watchdog ------------------------------------------------------------------------------------------

    def stop(self) -> bool:
        """Ends what the device is doing, from the watchdog's thread."""
        return self.device.stop(self._tell)

    def progress(self) -> tuple[str, int] | None:
        return self.device.progress()

    def _tell(self, error: CudaError, sentence: str) -> None:
        """Answers the next request that waits: the thread that should does not return from the device."""
        waiting = self._answering
        while waiting is None or not waiting.is_request:
            waiting = self._channel.receive()
            if waiting is None:
                return
        self._channel.fail(waiting, error, sentence)

    # -- session ---------------------------------------------------------------------------------------------------

    def _hello(self, message: Received) -> Answer:
        self.device.warm_up()
        return Answer(self._welcome(), descriptors=(self.device.arena.fd,))

    def _move_arena(self, message: Received) -> Answer:
        """The program has no room at our addresses."""
        assert isinstance(message.body, wire.MoveArena)
        self.device.move(message.body.address)
        return Answer(self._welcome())

    def _read_image(self, message: Received) -> Answer:
        from kernelwright.device.nvrtc.message import read_image

        return read_image(message, bool(self.settings.real))

    def _compile(self, message: Received) -> Answer:
        from kernelwright.device.nvrtc.message import compile_request

        return compile_request(message)

    def _welcome(self) -> wire.Welcome:
        welcome = self.device.welcome()
        flags = functools.reduce(operator.or_, (o.welcome_flags for o in self._observers), welcome.flags)
        return replace(welcome, flags=flags)


TABLE: dict[Message, Callable[[Session, Received], Answer]] = {
    Message.HELLO: Session._hello,
    Message.MOVE_ARENA: Session._move_arena,
    Message.READ_IMAGE: Session._read_image,
    Message.COMPILE: Session._compile,
}
"""What concerns more than the device. ``_serve`` knows launches and the goodbye by their numbers."""
