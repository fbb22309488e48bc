"""Runs that are slow, and runs that only wait for a processor."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

import pytest

from kernelwright.versions.running.external_program import ExternalProgram
from kernelwright.versions.running.shell_run import ShellRun

BUSY = "import time\nwhile time.process_time() < {}: pass"


def started(code: str, before: str = "") -> ShellRun:
    with tempfile.TemporaryFile() as out:
        return ShellRun(f'{before}{sys.executable} -c "{code}"', dict(os.environ), out, out)


def seconds_until_it_is_late(run: ShellRun, limit_s: float, timeout_s: float) -> float:
    begin = time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired):
        run.wait_patiently(limit_s, timeout_s)
    run.end()
    return time.monotonic() - begin


def test_one_that_computes_is_late_when_it_had_a_processor_as_long() -> None:
    run = started(BUSY.format(60))
    taken = seconds_until_it_is_late(run, 1.0, 60.0)
    assert 1.0 <= taken < 6.5


def test_one_that_sleeps_is_late_soon() -> None:
    assert 0.5 <= seconds_until_it_is_late(started("import time; time.sleep(60)"), 0.5, 60.0) < 6.5


def test_no_run_takes_longer_than_it_may() -> None:
    assert seconds_until_it_is_late(started("import time; time.sleep(60)"), 9.0, 0.5) < 3.0


def test_one_that_gets_no_processor_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """It computes for a moment, and is stopped for three seconds: as on a machine that does something else."""
    stopped = started(BUSY.format(0.3), "sleep 0.3; ")
    monkeypatch.setattr(stopped, "_wants_processor", lambda: True)
    other = subprocess.Popen(
        [sys.executable, "-c", f"""
import os, signal, time
os.killpg({stopped._process.pid}, signal.SIGSTOP); time.sleep(3); os.killpg({stopped._process.pid}, signal.SIGCONT)
"""]
    )  # fmt: skip
    begin = time.monotonic()
    assert stopped.wait_patiently(2.0, 60.0) == 0
    assert time.monotonic() - begin > 2.0
    other.wait()


def test_what_ended_in_a_session_counts() -> None:
    run = started(BUSY.format(0.4), f'{sys.executable} -c "{BUSY.format(0.4)}"; ')
    while run.processor_s() < 0.7:
        time.sleep(0.02)
    assert run.wait() == 0


def test_a_version_that_was_slow_for_want_of_a_processor_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first run of a dataset says what is usual; the second gets no processor for ten times as long."""
    waited: list[tuple[float, float]] = []
    wait = ShellRun.wait_patiently

    def noted(self: ShellRun, limit_s: float, timeout_s: float) -> int:
        waited.append((limit_s, timeout_s))
        return wait(self, limit_s, timeout_s)

    monkeypatch.setattr(ShellRun, "wait_patiently", noted)
    program = ExternalProgram("echo {data}", timeout_s=20)
    assert all(program.answer("a", {}).ran.failure is None for _ in range(2))
    assert waited[0] == (20, 20) and waited[1][0] < 20 and waited[1][1] == 20
