"""How much memory a virtual GPU can give away: what the GPU that it stands for has, and what this machine can spare."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from kernelwright.device.arena import RESERVE

SPARE = 0.9
"""The part of the machine's free memory that kernels may take; the rest is for the program and the system."""

_GROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def capacity_bytes(gpu_bytes: int, limit_bytes: int | None = None, gpus: int = 1) -> int:
    """Bytes of memory that each of ``gpus`` devices may hand out at the same time.

    ``limit_bytes`` is what the user allows, to all of them. Without it: nine tenths of what is free on the machine now.
    """
    machine = limit_bytes if limit_bytes is not None else int(SPARE * min(_machine(), default=gpu_bytes))
    return min(gpu_bytes, machine // gpus, (RESERVE - (1 << 30)) // gpus)


def _machine() -> Iterator[int]:
    """What the system and the control group leave free, as far as they say."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        yield next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        yield os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    for group in _GROUPS:
        try:
            yield int(Path(group).read_text()) - _used(Path(group))
        except (OSError, ValueError):
            continue  # no such group, or "max": no limit


def _used(limit: Path) -> int:
    name = "memory.current" if limit.name == "memory.max" else "memory.usage_in_bytes"
    return int((limit.parent / name).read_text())
