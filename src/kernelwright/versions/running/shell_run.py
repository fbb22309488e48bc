"""A command in a shell, in a session of its own, and whether it is slow or only waits for a processor.

    run = ShellRun(command, environment, out, err)
    run.wait_patiently(limit, timeout)                 raises ``subprocess.TimeoutExpired`` for one that is slow

On a busy machine a process may take ten times as long as it did before. It has lost when it had a processor for as long as it may take, or
waits for nothing that a processor could give it.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from kernelwright.evaluate.workload.program_case import end_session

LOOK_S = 0.25
"""How often a run that is late is looked at."""
PATIENCE = 6.0
IDLE_LOOKS = 8
"""As often in a row nothing in a run may be at work or want to be."""
_STATE, _SESSION, _TIMES = 0, 3, slice(11, 15)
"""Fields of ``/proc/PID/stat`` after the name: proc(5)."""


class ShellRun:
    """A command that was started."""

    def __init__(self, command: str, environment: Mapping[str, str], out: IO[bytes], err: IO[bytes]) -> None:
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", command], env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
            start_new_session=True,
        )  # fmt: skip

    def wait(self, timeout: float | None = None) -> int:
        return self._process.wait(timeout)

    def wait_patiently(self, limit_s: float, timeout_s: float) -> int:
        """Its exit code. Raises ``subprocess.TimeoutExpired`` after ``timeout_s``; after ``limit_s`` where the run had a processor as long,
        or wants none; and after ``PATIENCE`` times that in any case."""
        begin = time.monotonic()
        try:
            return self._process.wait(min(limit_s, timeout_s))
        except subprocess.TimeoutExpired:
            idle, before = 0, self.processor_s()
            while time.monotonic() - begin < min(timeout_s, PATIENCE * limit_s):
                try:
                    return self._process.wait(LOOK_S)
                except subprocess.TimeoutExpired:
                    now, wants = self.processor_s(), self._wants_processor()
                    idle = idle + 1 if now == before and not wants else 0
                    before = now
                    if now >= limit_s or idle >= IDLE_LOOKS:
                        break
            raise

    def processor_s(self) -> float:
        """Processor time of what is in the session, and of what has ended in it."""
        ticks = sum(sum(map(int, fields[_TIMES])) for fields in self._stats())
        return ticks / os.sysconf("SC_CLK_TCK")

    def _wants_processor(self) -> bool:
        """Whether anything runs, waits to run, or for a disk."""
        return any(fields[_STATE] in ("R", "D") for fields in self._stats())

    def _stats(self) -> Iterator[list[str]]:
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = path.read_text(errors="replace").rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
            if fields[_SESSION] == str(self._process.pid):
                yield fields

    def end(self) -> None:
        end_session(self._process)
