"""What a session needs of the device behind it: the virtual GPU (``virtual_device.py``) and a real one are two."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from kernelwright.cuda.wire import protocol as wire
    from kernelwright.cuda.wire.channel import Received
    from kernelwright.cuda.wire.protocol import Message
    from kernelwright.device.arena import Arena
    from kernelwright.device.serving.errors import CudaError, Failure
    from kernelwright.device.serving.replies import Answer
    from kernelwright.device.serving.watchdog import UnderWay
    from kernelwright.ir.debug import Location

Tell = Callable[["CudaError", str], None]
"""Answers the request that waits for the device with an error and a sentence."""


class ServedDevice(Protocol):
    """One device that serves one program. Messages are obeyed in the order they came."""

    under_way: UnderWay
    always: frozenset[Message]
    """Requests that are answered whatever happened before: they do not wait for the device."""

    @property
    def arena(self) -> Arena:
        """The memory that the program shares."""

    def welcome(self) -> wire.Welcome:
        """What a program is told of the device."""

    def warm_up(self) -> None:
        """The program has begun: what takes long to load may be loaded."""

    def move(self, address: int) -> None:
        """Takes the same memory at another address. Nothing is in it yet."""

    def handle(self, message: Received) -> Answer | Failure:
        """Does what a message asks that is no launch. Raises ``Refused``, ``KernelwrightError``."""

    def launch(self, body: bytes, device: int = 0) -> Failure | None:
        """Launches a kernel on one of the program's devices. ``body``: the message, not decoded. Returns what went wrong."""

    def take_output(self) -> bytes:
        """What kernels have printed since the last time."""

    def finish(self) -> None:
        """The program has ended: what it has left behind is still measured."""

    def report(self) -> list[dict[str, Any]]:
        """What each kernel did."""

    def versions(self) -> list[dict[str, Any]]:
        """Which version of each kernel ran how often (``device/versions``); a row for each launched kernel that has some."""

    def elapsed_us(self) -> float | None:
        """How long the program's launches and copies take on the device, from the first to the end of the last, in microseconds;
        None where nothing says."""

    def remarks(self) -> list[str]:
        """Sentences for the person when the program has ended: of kernels that have no time and should, for instance."""

    def definition(self, kernel: str) -> Location | None:
        """Where the kernel with this mangled name is defined; None when it is unknown."""

    def stop(self, tell: Tell) -> bool:
        """Called beside a call that does not return: the program is gone, or its kernel does not end. False when none runs."""

    def progress(self) -> tuple[str, int] | None:
        """The kernel that runs and how many of its blocks are done; None when none runs, or it is unknown."""
