"""Nothing outlives the pool's process, however that ends; and Ctrl-C is the pool's business alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from kernelwright.farm.machine import available_cores, total_memory
from tests.farm.processes import alive, ended, gone, runs, soon

ROOT = Path(__file__).parents[2]

SLEEP = f"61.{os.getpid()}"
"""Seconds that no other run of these tests sleeps."""

PARENT = """
import os, sys, time
from kernelwright.farm import Pool, nursery
from tests.farm import tasks
sleeper = "--fork" in sys.argv
with Pool(tasks.{setup}, workers=2) as pool:
    list(pool.map({first}))
    while not all(w.pid for w in pool._crew.workers.values()):  # one worker may have done it all before the other is there
        list(pool.map({first}))
    if sleeper and not os.fork():
        time.sleep(300)
    print(os.getpid(), *[w.pid for w in pool._crew.workers.values()], pool._crew._template.pid,
          nursery._nursery._process.pid, flush=True)
    try:
        list(pool.map({then}))
    except KeyboardInterrupt:
        print("interrupted", flush=True)
print("closed", flush=True)
"""


def _start(setup: str, first: str, then: str, *flags: str) -> tuple[subprocess.Popen[str], list[int]]:
    text = PARENT.format(setup=setup, first=first, then=then)
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    process = subprocess.Popen(
        [sys.executable, "-c", text, *flags], stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )
    assert process.stdout is not None
    return process, [int(each) for each in process.stdout.readline().split()][1:]


@pytest.mark.parametrize("flags", [(), ("--fork",)], ids=["", "with a fork that lives on"])
def test_killed_while_workers_are_busy(flags: tuple[str, ...]) -> None:
    process, pids = _start("acting", "[('double', 1)] * 40", f"[('child and spin', '{SLEEP}'), ('spin', 0)]", *flags)
    try:
        assert len(pids) >= 3 and all(map(alive, pids))
        assert soon(lambda: runs(f"sleep {SLEEP}"))
        time.sleep(0.1)  # both are in the middle of it
        process.kill()
        assert gone(pids)
        assert ended(f"sleep {SLEEP}")
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()  # type: ignore[union-attr]


def test_killed_leaves_no_folder() -> None:
    process, pids = _start("acting", "[('double', 1)]", "[('spin', 0)]")
    folders = f"kernelwright-farm-{process.pid}-*"
    assert list(Path(tempfile.gettempdir()).glob(folders))
    process.kill()
    process.communicate()
    assert gone(pids)
    assert not list(Path(tempfile.gettempdir()).glob(folders))


def test_ctrl_c_interrupts_the_pool_and_no_worker() -> None:
    process, pids = _start("sleeping", "[0.0] * 40", "[0.5, 0.5]")
    time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the foreground group
    out, _ = process.communicate(timeout=60)
    assert out == "interrupted\nclosed\n"
    assert process.returncode == 0
    assert gone(pids)


def test_the_cores_are_those_that_may_be_used(tmp_path: Path) -> None:
    built_in = len(os.sched_getaffinity(0))
    membership = tmp_path / "cgroup"
    membership.write_text("0::/a/b\n")
    inner = tmp_path / "groups" / "a" / "b"
    inner.mkdir(parents=True)
    assert available_cores(tmp_path / "groups", membership) == built_in
    (inner.parent / "cpu.max").write_text("50000 100000\n")
    (inner / "cpu.max").write_text("max 100000\n")
    assert available_cores(tmp_path / "groups", membership) == 1
    (inner / "cpu.max").write_text("garbage")
    assert available_cores(tmp_path / "groups", membership) == 1
    membership.write_text("4:cpu,cpuacct:/x\n")
    (tmp_path / "groups" / "cpu").mkdir()
    (tmp_path / "groups" / "cpu" / "cpu.cfs_quota_us").write_text("-1\n")
    (tmp_path / "groups" / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    assert available_cores(tmp_path / "groups", membership) == built_in
    (tmp_path / "groups" / "cpu" / "cpu.cfs_quota_us").write_text("100\n")
    assert available_cores(tmp_path / "groups", membership) == 1
    assert available_cores(tmp_path, tmp_path / "nothing") == built_in


def test_memory_is_what_may_be_used(tmp_path: Path) -> None:
    membership = tmp_path / "cgroup"
    membership.write_text("0::/\n")
    (tmp_path / "memory.max").write_text("1000000\n")
    assert total_memory(tmp_path, membership) == 1_000_000
    (tmp_path / "memory.max").write_text("max\n")
    assert total_memory(tmp_path, membership) > 100 << 20
