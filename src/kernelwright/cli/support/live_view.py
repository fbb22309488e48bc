"""What is seen of long work: a live table in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, TextIO

from kernelwright.cli.support import streams

if TYPE_CHECKING:
    from rich.table import Table

EVERY_S = 1.8
"""Between two lines where there is no terminal."""
SILENCE_S = 1.8
"""After which a line says for how long the phase has been going on: a proof, or the explanation of a best, can take minutes."""

Facts = Sequence[tuple[str, str]]
"""What there is to say, each with its name."""


class View(Protocol):
    """Shows where work stands. Used as a context manager."""

    def show(self, phase: str, facts: Facts, notes: Sequence[str] = (), more: Facts = ()) -> None:
        """``notes``: all there have been so far; each is said once. ``more``: for those who have the room."""

    def __enter__(self) -> View: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...


def view_on(stream: TextIO) -> View:
    """The view that suits the stream; none with ``-q``."""
    if streams.is_quiet:
        return Nothing()
    return Live(stream) if stream.isatty() else Lines(stream)


class Nothing:
    """For those who asked for no progress."""

    def show(self, phase: str, facts: Facts, notes: Sequence[str] = (), more: Facts = ()) -> None:
        pass

    def __enter__(self) -> Nothing:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Lines:
    """Plain lines, for files and pipes."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._next = 0.0
        self._noted = 0
        self._phase = ""
        self._began = self._said = time.monotonic()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def show(self, phase: str, facts: Facts, notes: Sequence[str] = (), more: Facts = ()) -> None:
        for note in notes[self._noted :]:
            print(f"kw: note: {note}", file=self._stream, flush=True)
        self._noted = len(notes)
        now = time.monotonic()
        if phase != self._phase:
            self._began = now
        if phase != self._phase or now >= self._next:
            self._phase, self._next, self._said = phase, now + EVERY_S, now
            print(f"kw: {'; '.join(f'{name} {what}' for name, what in facts)}", file=self._stream, flush=True)

    def _break_silence(self) -> None:
        while not self._over.wait(max(0.0, self._said + SILENCE_S - time.monotonic())):
            now = time.monotonic()
            if now - self._said < SILENCE_S:
                continue
            self._said = now
            if self._phase:
                try:
                    print(f"kw: {self._phase}, for {now - self._began:.0f} s", file=self._stream, flush=True)
                except (OSError, ValueError):
                    return  # it cannot be read, and the work goes on

    def __enter__(self) -> Lines:
        self._thread = threading.Thread(target=self._break_silence, name="break silence", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()


class Live:
    """A table that is drawn again, for terminals."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.live import Live as RichLive

        self._console = Console(file=stream)
        self._noted = 0
        self._phase = ""
        self._began = time.monotonic()
        self._shown: Facts = ()
        self._live = RichLive(
            console=self._console, refresh_per_second=4, transient=True, get_renderable=self._table
        )  # redrawn by its own thread

    def show(self, phase: str, facts: Facts, notes: Sequence[str] = (), more: Facts = ()) -> None:
        for note in notes[self._noted :]:
            self._console.print(f"note: {note}", markup=False)
        self._noted = len(notes)
        if phase != self._phase:
            self._phase, self._began = phase, time.monotonic()
        self._shown = (*facts, *more)

    def _table(self) -> Table:
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2))
        for name, what in self._shown:
            table.add_row(name, Text(what))
        seconds = time.monotonic() - self._began
        if self._shown and seconds >= SILENCE_S:
            table.add_row("", f"{self._phase}, for {seconds:.0f} s")
        return table

    def __enter__(self) -> Live:
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._live.__exit__(kind, error, traceback)
