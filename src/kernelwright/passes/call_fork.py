"""A call in a copy of this process: what protects the caller from LLVM's aborts for the price of a fork, a few
milliseconds, where LLVM is loaded already."""

from __future__ import annotations

import faulthandler
import os
import selectors
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from kernelwright.passes.llvm import binding
from kernelwright.passes.process_result import answer, death, too_slow, unpacked

R = TypeVar("R")

CHUNK_BYTES = 1 << 20


def possible() -> bool:
    """LLVM is loaded here, which a fresh process would have to do, and no other thread may hold a lock that the copy would
    wait for in vain."""
    return hasattr(os, "fork") and threading.active_count() == 1 and binding.cache_info().currsize > 0


def call(function: Callable[..., R], args: tuple[Any, ...], timeout_s: float) -> R:
    """``function(*args)`` in a copy of this process. Raises as ``isolation.run`` does."""
    with tempfile.TemporaryFile("a+b") as log:
        reader, writer = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            _serve(function, args, writer, log.fileno())
        os.close(writer)
        try:
            data = _read(reader, child, timeout_s)
        finally:
            os.close(reader)
            _, status = os.waitpid(child, 0)
        if data is None:
            raise too_slow(timeout_s)
        code = os.waitstatus_to_exitcode(status)
        if code:
            log.seek(0)
            raise death(code, log.read().decode(errors="replace"))
    result: R = unpacked(data)
    return result


def _serve(function: Callable[..., Any], args: tuple[Any, ...], writer: int, log: int) -> NoReturn:
    """The copy's whole life. It must not return, nor run its parent's exit handlers."""
    code = 1
    try:
        faulthandler.disable()  # else a crash is also told on the terminal, as if it were the caller's
        os.dup2(log, 1)
        os.dup2(log, 2)
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(answer(function, args))
        code = 0
    finally:
        os._exit(code)


def _read(reader: int, child: int, timeout_s: float) -> bytes | None:
    """Everything the copy writes until it closes its end; None when it was stopped for taking too long."""
    deadline = time.monotonic() + timeout_s
    chunks: list[bytes] = []
    with selectors.DefaultSelector() as selector:
        selector.register(reader, selectors.EVENT_READ)
        while selector.select(max(0.0, deadline - time.monotonic())):
            chunk = os.read(reader, CHUNK_BYTES)
            if not chunk:
                return b"".join(chunks)
            chunks.append(chunk)
    os.kill(child, signal.SIGKILL)
    return None
