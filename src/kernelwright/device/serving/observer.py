"""What a tool sees of a session: override what you need of ``Observer`` and give it to ``Session``.

Observers are called in the worker process, one after the other, while the program waits for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from kernelwright.cuda.wire.channel import Received
    from kernelwright.device.arena import Arena
    from kernelwright.device.execution import Execution
    from kernelwright.device.libraries.routine_call import Call
    from kernelwright.device.serving.errors import Failure
    from kernelwright.device.serving.replies import Answer
    from kernelwright.device.settings import Settings
    from kernelwright.device.virtual_gpu.gpu import Launched, VirtualGpu
    from kernelwright.ir.debug import Location


class Observed(Protocol):
    """What observers may ask of a session."""

    @property
    def settings(self) -> Settings:
        """What the device was started with."""

    @property
    def arena(self) -> Arena:
        """The device's memory. A program without room at our addresses gets another, before it has used any."""

    def definition(self, kernel: str) -> Location | None:
        """Where the kernel with this mangled name is defined; None when it is unknown."""


class Observer:
    """Sees a session's launches and the host's accesses to device memory; does nothing about them."""

    tells = False
    """Whether it reports faults itself: the program's standard error then stays free of them."""
    tells_overreads = False
    """Whether it, or who made it, says itself where the program reads past its buffers."""
    marks_new_memory = False
    """Whether new buffers are to hold 0xCD, which shows, and not the zeros that a GPU most often has there."""
    welcome_flags = 0
    """``wire.WelcomeFlags`` that it wants set: what else the program is to tell."""

    def attach(self, session: Observed) -> None:
        """The session begins; ``session.arena`` is its memory."""

    def launch(self, execution: Execution, gpu: VirtualGpu) -> Launched | None:
        """Runs the kernel in the session's place, once or several times; None leaves it to the session."""
        return None

    def after_message(self, message: Received, outcome: Answer | Failure) -> None:
        """Something that is no launch has been done, or was refused."""

    def failed(self, failure: Failure) -> None:
        """A command went wrong; the program learns of it when it next waits."""

    def before_launch(self, execution: Execution) -> None:
        """The kernel has not begun; memory is as it will find it."""

    def after_launch(self, execution: Execution, launched: Launched, seconds: float) -> None:
        """The kernel has ended, perhaps with a fault. ``seconds``: how long this machine took."""

    def after_library_call(self, call: Call, seconds: float) -> None:
        """A library's routine has run; ``call`` has what it read and wrote and its estimated time. ``seconds``: as for launches."""

    def library_fault(self, routine: str, kind: str, message: str) -> None:
        """A library's routine was given memory that is none; ``kind`` as of ``device.fault``."""

    def host_access(self, address: int, size: int, written: bool) -> None:
        """The program has copied bytes to (``written``) or from device memory, or filled them."""

    def end(self) -> None:
        """The program has gone."""


def those_with(method: str, observers: Iterable[Observer]) -> tuple[Observer, ...]:
    """Those that do something when ``method`` is called, for what is called with every launch."""
    return tuple(each for each in observers if getattr(type(each), method) is not getattr(Observer, method))
