"""What a worker may not do: outlive the pool, or take all memory. Linux only."""

from __future__ import annotations

import fcntl
import os
import resource
import signal


def die_with_writer(life_line: int) -> None:
    """The kernel kills this process and its process group the moment no process holds the pipe's writing end any more.

    Nothing is ever written there. Unlike a parent-death signal it also reaches what this process starts, and it is about
    the pool's process, not about the thread that happened to make the pool; unlike a thread that reads the pipe, it
    needs nothing of a process that hangs in C code.
    """
    fcntl.fcntl(life_line, fcntl.F_SETOWN, -os.getpgrp())
    fcntl.fcntl(life_line, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(life_line, fcntl.F_SETFL, fcntl.fcntl(life_line, fcntl.F_GETFL) | os.O_ASYNC)


def limit_memory(more_bytes: int) -> int:
    """Lets this process allocate ``more_bytes`` beyond what it has now; returns the limit in bytes.

    ``RLIMIT_DATA``: what is private and writable. The limit on the address space would also count what is reserved and
    never touched, as the virtual GPU's arena, and what is shared; watching the resident set would notice too late.
    """
    limit = data_bytes() + more_bytes
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
    return limit


def lift_memory_limit() -> None:
    """For the last words of a process that has reached it."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))


def data_bytes() -> int:
    """Private and writable memory of this process."""
    with open("/proc/self/status", "rb") as f:
        for line in f:
            if line.startswith(b"VmData:"):
                return int(line.split()[1]) * 1024
    return 0


def no_core_files() -> None:
    """A crash of this process leaves no core file."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
