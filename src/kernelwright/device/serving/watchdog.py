"""A thread beside the session that sees what the session cannot while a kernel runs: time, and that the program is gone.

Kernels run outside Python's lock, so this thread goes on. It never touches the session's state: it takes the kernel's budget
away, and the session finds out.
"""

from __future__ import annotations

import select
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Protocol

from kernelwright.cuda.names import readable

TICK_S = 0.05
ABANDON_AFTER_S = 60.0
"""What a session gets to end in when its program has gone: a compiler may be at work that does not look up."""
SAY_AFTER_S = 10.0
"""On a terminal, a kernel that takes longer is said to be under way, and again after as long."""


class Stoppable(Protocol):
    """What the watchdog needs of a device."""

    def stop(self) -> bool:
        """Ends what the device is doing, from another thread; returns whether it could."""

    def progress(self) -> tuple[str, int] | None:
        """The kernel that runs and how many of its blocks are done; None where none runs, or the device does not say."""


class UnderWay:
    """What a device is doing, as far as the watchdog and the server tell each other."""

    def __init__(self) -> None:
        self.began: float | None = None
        """When the work under way began (``time.monotonic``); the device sets it."""
        self.gone = False
        """The program has closed its end of the connection."""
        self.timed_out = False
        """The last launch was ended because its time was up; the device clears it."""


class Watchdog:
    """Ends kernels that run longer than ``timeout_s`` (0: never) or whose program is gone. Starts its thread at once."""

    def __init__(
        self,
        connection: socket.socket,
        under_way: UnderWay,
        device: Stoppable,
        timeout_s: float,
        say: Callable[[str], None] | None = None,
        abandon: Callable[[], object] | None = None,
    ) -> None:
        """``abandon`` ends the process, when the session has not ended a minute after its program; None: it takes its time."""
        self._under_way = under_way
        self._device = device
        self._timeout_s = timeout_s
        self._say = say if say is not None else _on_a_terminal
        self._abandon = abandon
        self._poll = select.poll()
        self._poll.register(connection, select.POLLRDHUP)
        self._ended = threading.Event()
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def end(self) -> None:
        """Lets the thread go."""
        self._ended.set()

    def _watch(self) -> None:
        said = gone_since = 0.0
        under_way, device = self._under_way, self._device
        while not self._ended.is_set():
            if under_way.gone:
                time.sleep(TICK_S)
                if self._abandon is not None and time.monotonic() > gone_since + ABANDON_AFTER_S:
                    self._abandon()
            else:
                under_way.gone = bool(self._poll.poll(1000 * TICK_S))
                gone_since = time.monotonic()
            began = under_way.began
            if began is None:
                said = 0.0
                continue
            lasted = time.monotonic() - began
            if self._timeout_s and lasted > self._timeout_s:
                under_way.timed_out = True
            if under_way.gone or under_way.timed_out:
                device.stop()
            elif lasted > said + SAY_AFTER_S:
                said = lasted
                self._tell(lasted)

    def _tell(self, lasted: float) -> None:
        progress = self._device.progress()
        if progress is not None:
            kernel, blocks = progress
            self._say(f"kernel {readable(kernel)} has run for {lasted:.0f} s, {blocks} blocks are done")


def _on_a_terminal(line: str) -> None:
    if sys.stderr.isatty():
        print(f"kw: {line}", file=sys.stderr, flush=True)
