"""A journal survives what a machine does: kill -9 at any moment, a full disk, a file system that is read-only."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from kernelwright.evaluate.outcome import Ok
from kernelwright.evaluate.run.journal import Journal

ROOT = Path(__file__).parents[2]


def python(code: str, *arguments: object) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)], env=environment, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


GO_ON_FOR_EVER = """
    import sys
    from kernelwright.evaluate.run.journal import Journal
    from kernelwright.evaluate.outcome import Ok
    from pathlib import Path
    path = Path(sys.argv[1])
    journal = Journal.open(path, create=not path.exists(), write=path.exists())
    journal.begin({})
    n = len(journal)
    while True:
        with journal.batch():
            for i in range(n % 3 + 1):
                journal.record(["edit", n, "x" * (n * 37 % 3000)], Ok(float(n), 0.0), timings={"run": n})
                n += 1
        print(n, flush=True)
"""


def test_kill_9_at_any_moment_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "run.journal"
    rng = random.Random(4)
    said = 0
    for _ in range(8):
        process = python(GO_ON_FOR_EVER, path)
        assert process.stdout is not None
        first = process.stdout.readline()  # It is at work.
        assert first, process.stderr.read() if process.stderr else ""
        assert int(first) > said
        time.sleep(rng.random() * 0.15)
        os.kill(process.pid, signal.SIGKILL)
        rest, _ = process.communicate()
        whole = [line for line in (first + rest).splitlines(keepends=True) if line.endswith("\n")]
        said = int(whole[-1])
        # A reader sees it at once, before anybody has written again.
        with Journal.open(path) as journal:
            rows = list(journal.rows())
        assert len(rows) >= said and [row.candidate[1] for row in rows] == list(range(len(rows)))
        assert all(row.outcome == Ok(float(n), 0.0) and row.timings == {"run": n} for n, row in enumerate(rows))
    assert said > 50
    with Journal.open(path, write=True) as journal:
        assert len(journal.sessions) == 8
        journal.record(["one more"], Ok(1.0, 0.0))
    assert sorted(os.listdir(tmp_path)) == ["run.journal"]
    with sqlite3.connect(path) as plain:
        assert plain.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


FILL_THE_DISK = """
    import resource, sys
    from kernelwright.errors import ToolError
    from kernelwright.evaluate.run.journal import Journal
    from kernelwright.evaluate.outcome import Ok
    journal = Journal.open(sys.argv[1], create=True)
    journal.begin({})
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
    n = 0
    try:
        while n < 10_000:
            journal.record(["edit", n, "x" * 1000], Ok(float(n), 0.0))
            n += 1
    except ToolError as error:
        print(n)
        print(error)
    print(len(journal))
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    journal.record(["after space was made"], Ok(0.0, 0.0))
    journal.close()
"""


@pytest.mark.parametrize("limit", [200_000, 900_000])
def test_a_full_disk_loses_no_completed_row(tmp_path: Path, limit: int) -> None:
    path = tmp_path / "run.journal"
    said, trouble = python(FILL_THE_DISK, path, limit).communicate()
    assert not trouble
    lines = said.splitlines()
    done = int(lines[0])
    assert done > 5 and "cannot grow" in lines[1] and "is safe" in lines[1] and "free space" in lines[2]
    assert int(lines[-1]) == done
    with Journal.open(path) as journal:
        assert [row.candidate[0] for row in journal.rows()] == ["edit"] * done + ["after space was made"]


def test_a_lock_does_not_outlive_its_process(tmp_path: Path) -> None:
    path = tmp_path / "run.journal"
    process = python(GO_ON_FOR_EVER, path)
    assert process.stdout is not None
    process.stdout.readline()
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert (tmp_path / "run.journal.lock").exists()
    with Journal.open(path, write=True) as journal:
        assert len(journal) > 0
    assert not (tmp_path / "run.journal.lock").exists()


def test_a_child_that_lives_on_does_not_hold_the_lock(tmp_path: Path) -> None:
    code = """
        import os, sys, time
        from kernelwright.evaluate.run.journal import Journal
        journal = Journal.open(sys.argv[1], create=True)
        journal.begin({})
        if os.fork() == 0:
            os.close(1), os.close(2)
            time.sleep(20)
            os._exit(0)
        print("ready", flush=True)
        time.sleep(20)
    """
    path = tmp_path / "run.journal"
    process = python(code, path)
    assert process.stdout is not None
    process.stdout.readline()
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    try:
        Journal.open(path, write=True).close()
    finally:
        for child in children:
            os.kill(int(child), signal.SIGKILL)
