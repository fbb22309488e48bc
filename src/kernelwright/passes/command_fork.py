"""A whole command in a copy of its process, and the original waiting to say what became of it.

LLVM ends the process on what it cannot handle. Copying a process that has LLVM loaded takes as long as compiling a small
kernel does (``call_fork.py``); a command that will do nothing but compile copies itself when it has just begun.
"""

from __future__ import annotations

import os
import sys

# As in `cli/support/streams.py`: `signal` itself takes a millisecond.
from _signal import (  # type: ignore[import-not-found]
    SIG_BLOCK,
    SIG_DFL,
    SIG_IGN,
    SIG_SETMASK,
    SIGALRM,
    SIGHUP,
    SIGINT,
    SIGTERM,
    alarm,
    default_int_handler,
    getsignal,
    pthread_sigmask,
    signal,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from kernelwright.errors import KernelwrightError

    R = TypeVar("R")

TIMEOUT_S = 300.0
"""How long LLVM may work on one call, here and in every other process it runs in."""

_ENDINGS = (SIGINT, SIGTERM, SIGHUP)

_parent = 0
_log = -1
"""In the copy: the process that waits for it, and the file both share, empty except while LLVM is at work."""


def take() -> int | KernelwrightError | None:
    """Goes on as two processes: None in the copy, which does the work.

    The original waits, passes on the signals that end a command, and gets the exit code the copy ended with, or the error
    that says why LLVM ended it.
    """
    global _parent, _log
    sys.stdout.flush()
    sys.stderr.flush()
    log, original = os.memfd_create("llvm"), os.getpid()
    # One that comes before the handlers are in place would end the original alone, and nothing would stop the copy.
    before = pthread_sigmask(SIG_BLOCK, _ENDINGS)
    child = os.fork()
    if child == 0:
        _parent, _log = original, log
        if getsignal(SIGINT) is default_int_handler:
            signal(SIGINT, _interrupted)
        pthread_sigmask(SIG_SETMASK, before)
        return None
    for number in _ENDINGS:
        if getsignal(number) != SIG_IGN:
            signal(number, lambda number, _: os.kill(child, number))
    pthread_sigmask(SIG_SETMASK, before)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if os.fstat(log).st_size == 0 and code >= 0:
        return code
    if -code in _ENDINGS:
        return 128 - code
    from kernelwright.passes.process_result import death, too_slow

    os.lseek(log, 0, os.SEEK_SET)
    with open(log, encoding="utf-8", errors="replace") as said:
        return too_slow(TIMEOUT_S) if -code == SIGALRM else death(code, said.read()[1:])


def _interrupted(number: int, _: Any) -> None:
    """The terminal tells both processes of Ctrl-C, and the original passes it on: once is enough."""
    signal(number, SIG_IGN)
    raise KeyboardInterrupt


def is_taken() -> bool:
    """Whether a process waits for this one, so that it may end in the middle of its work."""
    return _log >= 0


def call(function: Callable[..., R], args: tuple[Any, ...], timeout_s: float) -> R:
    """``function(*args)``, here. Meanwhile signals end the process at once, which LLVM would keep from Python's handlers,
    and what it prints goes to the log. There must be nothing to tidy up."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = os.dup(1), os.dup(2)
    handlers = [(number, getsignal(number)) for number in _ENDINGS if getsignal(number) != SIG_IGN]
    os.write(_log, b"\n")
    os.dup2(_log, 1)
    os.dup2(_log, 2)
    for number, _ in handlers:
        signal(number, SIG_DFL)
    signal(SIGALRM, SIG_DFL)
    alarm(max(1, round(timeout_s)))
    try:
        return function(*args)
    finally:
        alarm(0)
        for number, handler in handlers:
            signal(number, handler)
        for stream, original in enumerate(kept, start=1):
            os.dup2(original, stream)
            os.close(original)
        os.lseek(_log, 0, os.SEEK_SET)
        os.ftruncate(_log, 0)
        if os.getppid() != _parent:
            os._exit(1)  # the process that asked for this is gone
