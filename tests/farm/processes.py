"""Which processes there are, for tests that none is left."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path


def descendants() -> set[int]:
    """Every process below this one, at any depth."""
    parents = {}
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                parents[int(each.name)] = int((each / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


def soon(holds: Callable[[], bool], within_s: float = 10.0) -> bool:
    """Whether it holds within a while: what is killed is gone a moment later."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.01)
    return False


def gone(pids: list[int]) -> bool:
    return soon(lambda: not any(alive(pid) for pid in pids))


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def runs(words: str) -> bool:
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if words in each.read_bytes().replace(b"\0", b" ").decode(errors="replace"):
                return True
        except OSError:
            continue
    return False


def ended(words: str) -> bool:
    """Whether no process with these words in its command runs any more."""
    return soon(lambda: not runs(words))
