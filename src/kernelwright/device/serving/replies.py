"""What a session makes of a message: an answer, or an error that waits to be told."""

from __future__ import annotations

from kernelwright.cuda.wire import protocol as wire
from kernelwright.cuda.wire.channel import Received
from kernelwright.device.serving.errors import Failure
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class Answer:
    """What a request is answered with."""

    body: wire.Body | None = None
    tail: bytes = b""
    descriptors: tuple[int, ...] = ()


class WaitingError:
    """What went wrong with commands, which have no answer, until the program asks. CUDA tells asynchronous errors so."""

    def __init__(self) -> None:
        self._failure: Failure | None = None
        self._told_before = False

    @property
    def is_sticky(self) -> bool:
        """Whether the device does nothing any more until it is reset."""
        return self._failure is not None and self._failure.is_sticky

    @property
    def untold(self) -> Failure | None:
        """What the program has not asked for."""
        return None if self._told_before else self._failure

    def keep(self, failure: Failure) -> None:
        """The first error stays until it has been told; one that CUDA does not survive stands before one that it does."""
        if self._failure is None or (failure.is_sticky and not self._failure.is_sticky):
            self._failure = failure
            self._told_before = False

    def keep_told(self, failure: Failure) -> None:
        """An error that is being told now, and goes on to be one."""
        self.keep(failure)
        self._told_before = True

    def tell(self) -> Failure | None:
        """The error that waits to be told; one that CUDA survives is told once."""
        failure = self._failure
        if failure is not None:
            self._told_before = True
            if not failure.is_sticky:
                self._failure = None
        return failure

    def forget(self) -> None:
        """The device has been reset."""
        self._failure = None
        self._told_before = False


def handle_of(message: Received) -> int:
    """The one number of a message that has no more."""
    assert isinstance(message.body, wire.Handle)
    return message.body.handle
