"""What the workers of these tests do; imported by name in the workers."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kernelwright.errors import CompileError, Place


def doubling() -> Callable[[int], int]:
    return lambda number: number * 2


def adding(offset: int, table: bytes = b"") -> Callable[[int], int]:
    return lambda number: number + offset + len(table)


def bytes_backwards() -> Callable[[bytes], bytes]:
    return lambda data: data[::-1]


def sleeping() -> Callable[[float], float]:
    def work(seconds: float) -> float:
        time.sleep(seconds)
        return seconds

    return work


def identity() -> Callable[[Any], Any]:
    return lambda item: item


def environment() -> Callable[[str], str | None]:
    return os.environ.get


def whoami() -> Callable[[Any], tuple[int, int]]:
    return lambda _: (os.getpid(), threading.active_count())


class Awkward(Exception):
    """Does not survive pickling: its constructor wants two arguments."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"{first} and {second}")


def _segfault(_: Any) -> None:
    ctypes.string_at(0)


def _spin(_: Any) -> None:
    while True:
        pass


def _eat(_: Any) -> None:
    kept = []
    while True:
        kept.append(bytearray(1 << 22))


def _eat_in_c(_: Any) -> None:
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    while libc.malloc(ctypes.c_size_t(1 << 22)):
        pass
    os.write(2, b"LLVM ERROR: out of memory\n")
    os.abort()


def _kill_template(_: Any) -> None:
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)


def _raise_compile_error(_: Any) -> None:
    raise CompileError("no such type", place=Place("a.cu", 3, 5), hint="declare it")


def _with_child(seconds: str) -> None:
    """Leaves a child behind and crashes."""
    subprocess.Popen(["sleep", seconds])
    _segfault(None)


def _with_child_and_spin(seconds: str) -> None:
    subprocess.Popen(["sleep", seconds])
    _spin(None)


def _with_child_and_kill_template(seconds: str) -> None:
    subprocess.Popen(["sleep", seconds])
    _kill_template(None)


def _llvm_error(_: Any) -> None:
    os.write(2, b"LLVM ERROR: Cannot select: intrinsic %llvm.foo\n")
    os.abort()


ACTIONS: dict[str, Callable[[Any], Any]] = {
    "double": lambda value: value * 2,
    "segfault": _segfault,
    "abort": lambda _: os.abort(),
    "exit": lambda value: os._exit(value),
    "exit 0": lambda _: os._exit(0),
    "sys.exit": lambda _: sys.exit("bye"),
    "hang": lambda _: time.sleep(3600),
    "spin": _spin,
    "stop": lambda _: os.kill(os.getpid(), signal.SIGSTOP),
    "eat": _eat,
    "eat in C": _eat_in_c,
    "kill template": _kill_template,
    "SIGKILL": lambda _: os.kill(os.getpid(), signal.SIGKILL),
    "raise": lambda value: 1 // value,
    "raise awkward": lambda _: (_ for _ in ()).throw(Awkward(1, 2)),
    "raise compile error": _raise_compile_error,
    "unpicklable": lambda _: lambda: None,
    "close all": lambda _: os.closerange(3, 4096),
    "print": lambda value: print(value) or value,
    "child": _with_child,
    "child and kill template": _with_child_and_kill_template,
    "child and spin": _with_child_and_spin,
    "llvm": _llvm_error,
    "nap": lambda value: time.sleep(value) or value,
}


def acting() -> Callable[[tuple[str, Any]], Any]:
    return lambda item: ACTIONS[item[0]](item[1])


def once(folder: str) -> Callable[[tuple[str, Any]], Any]:
    """As ``acting``, but an action marked ``once`` is done the first time only."""

    def work(item: tuple[str, Any]) -> Any:
        action, value = item
        if action.startswith("once "):
            mark = Path(folder, str(value))
            if mark.exists():
                return ("again", value)
            mark.touch()
            return ACTIONS[action.removeprefix("once ")](value)
        return ACTIONS[action](value)

    return work


def batches() -> Callable[[list[tuple[str, Any]]], list[Any]]:
    return lambda items: [ACTIONS[action](value) for action, value in items]


def sized_batches() -> Callable[[list[int]], list[int]]:
    return lambda items: [len(items)] * len(items)


def short_batches() -> Callable[[list[int]], list[int]]:
    return lambda items: items[:-1] if len(items) > 1 else items


def failing() -> Callable[[int], int]:
    raise CompileError("nothing to compile", hint="give a kernel")


def failing_otherwise() -> Callable[[int], int]:
    raise ZeroDivisionError("oops")


def dying() -> Callable[[int], int]:
    os.abort()


def with_threads() -> Callable[[int], int]:
    threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
    return lambda number: number


def counting(folder: str) -> Callable[[int], int]:
    """Leaves a file for each call of this set-up."""
    Path(folder, f"{os.getpid()}-{time.monotonic_ns()}").touch()
    return lambda number: number


_hoard: list[bytearray] = []


def hoarding() -> Callable[[int], int]:
    """Keeps what it is asked to allocate, and naps so that the worker finds time to look after itself."""

    def work(size: int) -> int:
        _hoard.append(bytearray(size))
        time.sleep(0.12)
        return size

    return work


def reading(paths: tuple[str, ...]) -> Callable[[Any], list[str]]:
    """What the files hold."""
    return lambda _: [Path(path).read_text() for path in paths]


def surroundings(name: str) -> Callable[[Any], tuple[str | None, str, list[str], str]]:
    """A variable's value, the working folder, where modules are looked for, and where temporary files go."""
    return lambda _: (os.environ.get(name), os.getcwd(), sys.path, tempfile.gettempdir())


def at_start(name: str) -> Callable[[Any], str | None]:
    """A variable's value when the program of this process began, whatever was set since."""

    def work(_: Any) -> str | None:
        pairs = Path("/proc/self/environ").read_bytes().split(b"\0")
        return {key.decode(): value.decode() for key, _, value in (pair.partition(b"=") for pair in pairs)}.get(name)

    return work
