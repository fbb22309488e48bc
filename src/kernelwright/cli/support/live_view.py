"""What is seen of long work: a live table in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Protocol, TextIO

EVERY_S = 5.0
"""Between two lines where there is no terminal."""

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
    """The view that suits the stream."""
    return Live(stream) if stream.isatty() else Lines(stream)


class Lines:
    """Plain lines, for files and pipes."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._next = 0.0
        self._noted = 0
        self._phase = ""

    def show(self, phase: str, facts: Facts, notes: Sequence[str] = (), more: Facts = ()) -> None:
        for note in notes[self._noted :]:
            print(f"kw: note: {note}", file=self._stream, flush=True)
        self._noted = len(notes)
        now = time.monotonic()
        if phase != self._phase or now >= self._next:
            self._phase, self._next = phase, now + EVERY_S
            print(f"kw: {'; '.join(f'{name} {what}' for name, what in facts)}", file=self._stream, flush=True)

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Live:
    """A table that is drawn again, for terminals."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.live import Live as RichLive

        self._console = Console(file=stream)
        self._live = RichLive(console=self._console, refresh_per_second=4, transient=True)
        self._noted = 0

    def show(self, phase: str, facts: Facts, notes: Sequence[str] = (), more: Facts = ()) -> None:
        from rich.table import Table
        from rich.text import Text

        for note in notes[self._noted :]:
            self._console.print(f"note: {note}", markup=False)
        self._noted = len(notes)
        table = Table.grid(padding=(0, 2))
        for name, what in (*facts, *more):
            table.add_row(name, Text(what))
        self._live.update(table)

    def __enter__(self) -> Live:
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._live.__exit__(kind, error, traceback)
