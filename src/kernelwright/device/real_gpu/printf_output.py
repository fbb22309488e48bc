"""What kernels print on a real GPU: the driver writes it to this process's standard output when the host waits for them."""

from __future__ import annotations

import ctypes
import os
import sys


class Printed:
    """Standard output as a file in memory, from now on. Nothing else in the process may print."""

    def __init__(self) -> None:
        self._file = os.memfd_create("kernelwright-printed", os.MFD_CLOEXEC)
        os.dup2(self._file, 1)
        self._libc = ctypes.CDLL(None)

    def take(self) -> str:
        """What was printed since the last time."""
        sys.stdout.flush()
        self._libc.fflush(None)
        size = os.lseek(self._file, 0, os.SEEK_CUR)
        if not size:
            return ""
        data = os.pread(self._file, size, 0)
        os.ftruncate(self._file, 0)
        os.lseek(self._file, 0, os.SEEK_SET)
        return data.decode("utf-8", "replace")
