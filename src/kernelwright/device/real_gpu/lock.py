"""One user of a GPU at a time: a lock between all processes of a user, so that no measurement disturbs another.

The lock is the system's own (flock) on a file in the cache folder. It ends with the process that holds it, however that
ends, so it cannot go stale; the file says who holds it, for the message of a process that waits.
"""

from __future__ import annotations

import fcntl
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from kernelwright.cache import cache_folder
from kernelwright.errors import DeviceError

WAIT_S = 600.0
SAY_AFTER_S = 2.0
TICK_S = 0.05


class GpuLock:
    """Holds GPU ``name`` (its UUID) from ``__enter__`` to ``__exit__``.

    Waits at most ``wait_s`` seconds and then raises ``DeviceError`` naming the holder.
    """

    def __init__(
        self, name: str, *, wait_s: float = WAIT_S, folder: Path | None = None, say: Callable[[str], None] | None = None
    ) -> None:
        self.path = (folder or cache_folder()) / "gpu" / f"{name}.lock"
        self._wait_s = wait_s
        self._say = say or _on_a_terminal
        self._fd = -1

    @property
    def is_held(self) -> bool:
        """Whether this object holds the GPU."""
        return self._fd >= 0

    def take(self) -> None:
        """Waits for the lock. Raises ``DeviceError`` when it does not come, or when its file cannot be made."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise DeviceError(
                f"the GPU cannot be locked: {self.path}: {error.strerror}",
                hint="export KERNELWRIGHT_CACHE=/a/writable/folder",
            ) from error
        try:
            self._wait(fd)
        except BaseException:
            os.close(fd)
            raise
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()} {' '.join(sys.argv)[:200]}\n".encode("utf-8", "replace"), 0)
        self._fd = fd

    def give_back(self) -> None:
        """The file stays: removing it would let two processes hold locks on two files of one name."""
        if self._fd >= 0:
            os.ftruncate(self._fd, 0)
            os.close(self._fd)
            self._fd = -1

    def _wait(self, fd: int) -> None:
        began, said = time.monotonic(), False
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                pass
            waited = time.monotonic() - began
            if waited >= self._wait_s:
                raise DeviceError(
                    f"the GPU is in use by {_holder(fd)}, and was not free within {self._wait_s:g} s",
                    hint="wait until that has ended, or choose another GPU: --device cuda:1",
                )
            if waited >= SAY_AFTER_S and not said:
                said = True
                self._say(f"waiting for the GPU, which {_holder(fd)} is using")
            time.sleep(TICK_S)

    def __enter__(self) -> GpuLock:
        self.take()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.give_back()


def _holder(fd: int) -> str:
    number, _, command = os.pread(fd, 256, 0).decode("utf-8", "replace").strip().partition(" ")
    return f"process {number} ({command})" if number else "another process"


def _on_a_terminal(line: str) -> None:
    if sys.stderr.isatty():
        print(f"kw: {line}", file=sys.stderr, flush=True)
