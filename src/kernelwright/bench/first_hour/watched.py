"""A command that is watched from the outside: when it says something, and how long it says nothing."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from kernelwright.lazy_dataclasses import dataclass

LOOK_EVERY_S = 0.05
"""How often the processor time of a command's processes is looked at while it talks."""
GRACE_S = 60.0
"""What a command gets to end after Ctrl-C."""
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Said:
    """What was read at one moment. Seconds since the start: of the clock, and of the processor, all its processes together."""

    at_s: float
    cpu_s: float
    text: bytes


@dataclass(frozen=True)
class Silence:
    """Seconds in which nothing was said, from ``begin_s`` after the start on."""

    seconds: float
    cpu_s: float
    begin_s: float


@dataclass(frozen=True)
class Watched:
    """What came of a command."""

    said: tuple[Said, ...]
    end: Said
    exit_code: int
    """Negative: the signal that ended it."""
    interrupted: bool
    """Its time was up, and it was ended as by Ctrl-C."""
    others: float
    """The share of the machine's processor time that went to processes of others."""

    @property
    def first(self) -> Said:
        """What was said first; the end of a command that said nothing."""
        return self.said[0] if self.said else self.end

    @property
    def text(self) -> str:
        """All that was said, as text; bytes that are no UTF-8 are replaced."""
        return b"".join(each.text for each in self.said).decode(errors="replace")

    @property
    def silence(self) -> Silence:
        """The longest one, those before the first word and after the last included."""
        moments = [Said(0.0, 0.0, b""), *self.said, self.end]
        gaps = [Silence(b.at_s - a.at_s, b.cpu_s - a.cpu_s, a.at_s) for a, b in pairwise(moments)]
        return max(gaps, key=lambda each: each.seconds)

    def until(self, what: bytes) -> Said | None:
        """The moment from which on ``what`` (a pattern's bytes) had been said; None when it never was."""
        pattern, so_far = re.compile(what), b""
        for each in self.said:
            so_far = so_far[-1000:] + each.text
            if pattern.search(so_far):
                return each
        return None


def watched(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], *, terminal: bool, limit_s: float
) -> Watched:
    """Runs a command with both streams in one, in a terminal or a pipe. After ``limit_s`` it gets a Ctrl-C."""
    ours, theirs = pty.openpty() if terminal else os.pipe()
    total, idle = _machine_s()
    begin, at_end = time.monotonic(), 0.0
    process = subprocess.Popen(
        command, cwd=folder, env=dict(environment), stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
        start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    said: list[Said] = []
    interrupted, looked, cpu = False, 0.0, 0.0
    try:
        while True:
            ready, _, _ = select.select([ours], [], [], 0.2)
            now = time.monotonic() - begin
            if now - looked >= LOOK_EVERY_S:
                looked, cpu = now, max(cpu, _tree_s(process.pid))
            if ready:
                text = _read(ours)
                if not text:
                    break
                said.append(Said(now, cpu, text))
            if now > limit_s and not interrupted:
                interrupted = True
                os.killpg(process.pid, signal.SIGINT)
            if now > limit_s + GRACE_S:
                break
        before = os.times()
        code = _ended(process)
        after = os.times()
        at_end = time.monotonic() - begin
        # What was reaped is counted when it has ended; a process that was not waited for is in `cpu` only.
        cpu = max(cpu, after.children_user + after.children_system - before.children_user - before.children_system)
    finally:
        os.close(ours)
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    total, idle = (now - before for now, before in zip(_machine_s(), (total, idle), strict=True))
    others = max(0.0, total - idle - cpu) / max(total, 1e-9)
    return Watched(tuple(said), Said(at_end, cpu, b""), code, interrupted, others)


def _ended(process: subprocess.Popen[bytes]) -> int:
    """Its exit code; that of a killed one where it goes on although it has closed its streams."""
    try:
        return process.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        return process.wait()


def _read(end: int) -> bytes:
    try:
        return os.read(end, 1 << 16)
    except OSError:  # a terminal whose last writer is gone
        return b""


def _tree_s(root: int) -> float:
    """Processor seconds of a process, of all that it has started, and of those of them that have ended."""
    found = {pid: (parent, ticks) for pid, parent, ticks in _processes()}
    inside, ticks = {root}, 0
    for pid in sorted(found):  # children have higher numbers, but for the few after a wrap
        if pid in inside or found[pid][0] in inside:
            inside.add(pid)
            ticks += found[pid][1]
    return ticks / _TICKS


def _processes() -> Iterator[tuple[int, int, int]]:
    """(process, its parent, clock ticks of it and of its children that have been waited for)."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                fields = Path("/proc", name, "stat").read_bytes().rpartition(b")")[2].split()
                yield int(name), int(fields[1]), sum(map(int, fields[11:15]))


def _machine_s() -> tuple[float, float]:
    """Processor seconds of the whole machine since it started, and those in which nothing ran."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    ticks = list(map(int, fields))
    return sum(ticks) / _TICKS, (ticks[3] + ticks[4]) / _TICKS
