"""How much of this machine may be used: what the scheduler and the control group allow, not what is built in."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

_GROUPS = Path("/sys/fs/cgroup")


def available_cores(groups: Path = _GROUPS, membership: Path = Path("/proc/self/cgroup")) -> int:
    """The cores this process may keep busy, at least 1: its affinity, cut to the quota of its control groups."""
    cores = len(os.sched_getaffinity(0))
    quotas = [_quota(each) for each in _folders(groups, membership)]
    return max(1, min([cores, *(math.ceil(each) for each in quotas if each)]))


def total_memory(groups: Path = _GROUPS, membership: Path = Path("/proc/self/cgroup")) -> int:
    """The memory this process may use, in bytes: the machine's, cut to the limit of its control groups."""
    built_in = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limits = [_memory(each) for each in _folders(groups, membership)]
    return min([built_in, *(each for each in limits if each)])


def _folders(groups: Path, membership: Path) -> Iterator[Path]:
    """The folders that may hold limits of this process: version 2's from its own group upwards, then version 1's."""
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        lines = []
    for line in lines:
        _, controllers, name = line.split(":", 2)
        roots = [groups / each for each in controllers.split(",")] if controllers else [groups]
        for root in roots:
            own = root / name.lstrip("/")
            yield own
            yield from (each for each in own.parents if each.is_relative_to(root))


def _quota(folder: Path) -> float | None:
    """Cores' worth of time, None without a limit."""
    both = _words(folder / "cpu.max") or _words(folder / "cpu.cfs_quota_us") + _words(folder / "cpu.cfs_period_us")
    if len(both) != 2 or not all(each.isdigit() for each in both) or not int(both[1]):
        return None
    return int(both[0]) / int(both[1])


def _memory(folder: Path) -> int | None:
    words = _words(folder / "memory.max") or _words(folder / "memory.limit_in_bytes")
    return int(words[0]) if words and words[0].isdigit() else None


def _words(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except OSError:
        return []
