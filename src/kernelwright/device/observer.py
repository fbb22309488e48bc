"""What a tool sees of a session: override what you need of ``Observer`` and give it to ``Session``.

Observers are called in the worker process, one after the other, while the program waits for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernelwright.device.fault import Triple
    from kernelwright.device.virtual import Launched, Loaded


@dataclass(frozen=True)
class Launching:
    """A launch that is about to happen. ``arguments``: the packed parameter buffer."""

    loaded: Loaded
    kernel: str
    grid: Triple
    block: Triple
    shared_bytes: int
    arguments: bytes
    stream: int


class Observer:
    """Sees a session's launches and the host's accesses to device memory; does nothing about them."""

    def before_launch(self, launching: Launching) -> None:
        """The kernel has not begun; memory is as it will find it."""

    def after_launch(self, launching: Launching, launched: Launched, seconds: float) -> None:
        """The kernel has ended, perhaps with a fault. ``seconds``: how long this machine took."""

    def host_access(self, address: int, size: int, written: bool) -> None:
        """The program has copied bytes to (``written``) or from device memory, or filled them."""

    def end(self) -> None:
        """The program has gone."""
