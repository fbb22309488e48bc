"""The standard streams and signals of a command, so that it behaves where they are closed, full or sent early.

This file is imported before anything else, and so imports nothing that takes time.
"""

from __future__ import annotations

import os
import sys

# `signal` itself makes enumerations of everything, which takes a millisecond.
from _signal import (  # type: ignore[import-not-found]
    SIG_DFL,
    SIG_IGN,
    SIGHUP,
    SIGTERM,
    getsignal,
    signal,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType


def prepare() -> None:
    """Makes standard streams of closed ones, lets every text be printed, and lets ``kill`` and a closed terminal end the
    command as Ctrl-C does: with everything tidied up."""
    _open_closed()
    # File names may hold any bytes, and the terminal may lack letters that we use.
    reads_all = sys.stdout.encoding.lower() in ("utf-8", "utf8")
    sys.stdout.reconfigure(errors="surrogateescape" if reads_all else "backslashreplace")  # type: ignore[union-attr]
    take_over()
    for number in (SIGTERM, SIGHUP):
        if getsignal(number) == SIG_DFL:  # under nohup, SIGHUP is to be ignored
            signal(number, _end)


_owner = 0


def take_over() -> None:
    """What there is to tidy up is this process's own; in a copy of it that does not say so, it is the original's."""
    global _owner
    _owner = os.getpid()


def _end(number: int, _: FrameType | None) -> None:
    if os.getpid() != _owner:
        os._exit(128 + number)
    signal(number, SIG_IGN)
    raise SystemExit(128 + number)


def _open_closed() -> None:
    """A file opened later must not get the number of a standard stream. Reading finds nothing, printing to a closed
    standard output fails as on a full disk, messages go nowhere."""
    for number, mode in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115


def say(text: str) -> None:
    """Writes to standard error. That it cannot be read changes nothing about the work."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        pass


def progress(text: str) -> None:
    """A line about work that goes on, unless ``-q`` asked for none."""
    if not is_quiet:
        say(f"kw: {text}\n")


is_quiet = False
"""Whether ``-q`` was given: results and errors only."""

_TAKES_A_WORD = (
    "-Xcompiler",
    "-Xptxas",
    "-Xlinker",
    "-Xnvlink",
    "--compiler-options",
    "--linker-options",
    "--ptxas-options",
)


def take_loudness(words: list[str]) -> tuple[list[str], bool]:
    """A command line without ``-q`` and ``-v``, which may stand anywhere before ``--``, and whether ``-v`` was among it."""
    global is_quiet
    kept, is_verbose = words[:1], False
    for number, word in enumerate(words[1:], start=1):
        if word == "--":
            return kept + words[number:], is_verbose
        if words[number - 1] in _TAKES_A_WORD or word not in ("-q", "--quiet", "-v", "--verbose"):
            kept.append(word)
        elif word in ("-q", "--quiet"):
            is_quiet = True
        else:
            is_verbose = True
    return kept, is_verbose


class program_speaks_on_stderr:
    """Within, processes that are started find our standard error as their standard output (when ``active``)."""

    def __init__(self, active: bool) -> None:
        self._active = active
        self._kept = -1

    def __enter__(self) -> None:
        if self._active:
            sys.stdout.flush()
            self._kept = os.dup(1)
            os.dup2(2, 1)

    def __exit__(self, *_: object) -> None:
        if self._active:
            sys.stdout.flush()
            os.dup2(self._kept, 1)
            os.close(self._kept)
