"""Steps that may take long, as the first of their kind on a machine, are announced while they go on.

    with announced("compiling our CUDA runtime (once)"):
        ...                                      # kw: compiling our CUDA runtime (once), for 4 s

A command listens, and prints what it hears; a program that uses the package as a library hears nothing. Steps lie within others; what
is announced is the innermost, and for how long that has been going on.
"""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import Event
    from types import TracebackType

EVERY_S = 1.8
"""Nothing is silent for longer than two seconds; what ends sooner is not announced."""

_listener: Callable[[str], None] | None = None
_steps: list[announced] = []
"""Those that go on, the innermost last. One command has one."""


_said = time.monotonic()
"""When a step was last announced; at first about when the process began."""


def _first_wait_s(age_s: float) -> float:
    """How long a step is not announced that begins ``age_s`` after the process or the last announcement: that silence counts."""
    return max(EVERY_S - age_s, EVERY_S / 8) if 0 <= age_s < EVERY_S else EVERY_S


def listen(listener: Callable[[str], None] | None) -> None:
    """Who is called from now on, in another thread; None: no one."""
    global _listener
    _listener = listener


class announced:
    """A step. Used as a context manager."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._over: Event | None = None

    def now(self, what: str) -> None:
        """How far it is."""
        self._what = what

    def __enter__(self) -> announced:
        self._began = time.monotonic()
        _steps.append(self)
        if len(_steps) == 1 and _listener is not None:
            from threading import (
                Event,
                Thread,
            )  # a compile that takes a tenth of a second has no need of them elsewhere

            self._over = Event()
            Thread(target=self._announce, args=(_listener, self._over), name="announce steps", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _steps.remove(self)
        if self._over is not None:
            self._over.set()

    def _announce(self, listener: Callable[[str], None], over: Event) -> None:
        """This step and those within."""
        global _said
        wait_s = _first_wait_s(self._began - _said)
        while not over.wait(wait_s):
            wait_s = EVERY_S
            if _steps:
                now, _said = _steps[-1], time.monotonic()
                listener(f"{now._what}, for {max(1, round(time.monotonic() - now._began))} s")
