"""Pools of one program come from one process, and each is as if it had started its own."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from pathlib import Path

import pytest

from kernelwright.errors import ToolError
from kernelwright.farm import Pool, nursery
from tests.farm import tasks
from tests.farm.processes import alive, gone


def _pid() -> int:
    assert nursery._nursery is not None
    return nursery._nursery._process.pid


def test_one_process_for_all_pools() -> None:
    with Pool(tasks.identity, workers=1) as first:
        list(first.map([0]))
        there = _pid()
        with Pool(tasks.identity, workers=1) as second:
            assert dict(second.map([1])) == {0: 1}
    assert _pid() == there and alive(there)
    nursery.close()
    assert not alive(there)


def test_a_later_pool_sees_what_has_changed_since(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Pool(tasks.surroundings, ("A_NAME",), workers=1) as pool:
        before = dict(pool.map([0]))[0]
    monkeypatch.setenv("A_NAME", "a value")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "more")
    with Pool(tasks.surroundings, ("A_NAME",), workers=1) as pool:
        value, folder, path, temporary = dict(pool.map([0]))[0]
    assert (value, folder) == ("a value", str(tmp_path)) and str(tmp_path / "more") in path
    assert before[0] is None and before[1] != folder and before[3] != temporary


def test_what_a_process_reads_when_it_begins_is_that_of_the_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library of the driver that is named later would not be found otherwise."""
    with Pool(tasks.identity, workers=1) as pool:
        list(pool.map([0]))
        before = _pid()
        monkeypatch.setenv("LD_LIBRARY_PATH", "/some/where")
        with Pool(tasks.at_start, ("LD_LIBRARY_PATH",), workers=1) as other:
            assert dict(other.map([0])) == {0: "/some/where"}
        assert _pid() != before and dict(pool.map([1])) == {0: 1}


def test_a_folder_that_is_gone_is_no_reason_to_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / "here").rmdir()
    with Pool(tasks.identity, workers=1) as pool:
        assert dict(pool.map([1])) == {0: 1}


def test_one_that_is_killed_takes_no_pool_along_and_is_replaced() -> None:
    with Pool(tasks.identity, workers=1) as pool:
        assert dict(pool.map([1])) == {0: 1}
        there = _pid()
        os.kill(there, signal.SIGKILL)
        assert gone([there])
        assert dict(pool.map([2])) == {0: 2}
        with Pool(tasks.identity, workers=1) as other:
            assert dict(other.map([3])) == {0: 3}
        assert _pid() != there
    assert gone(pool.pids())


def test_a_fork_has_its_own() -> None:
    with Pool(tasks.identity, workers=1) as pool:
        list(pool.map([0]))
        there = _pid()
        child = os.fork()
        if not child:
            try:
                with Pool(tasks.identity, workers=1) as own:
                    held = dict(own.map([1])) == {0: 1} and _pid() != there
                nursery.close()
                os._exit(0 if held else 1)
            finally:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert _pid() == there and dict(pool.map([4])) == {0: 4}


def test_a_module_that_has_changed_is_read_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "changing.py"
    for answer in (1, 22):
        file.write_text(f"def prepare():\n    return lambda _: {answer}\n")
        sys.modules.pop("changing", None)
        with Pool(importlib.import_module("changing").prepare, workers=1) as pool:
            assert dict(pool.map([None])) == {0: answer}


def test_one_that_cannot_be_started_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    nursery.close()
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with Pool(tasks.identity, workers=1) as pool, pytest.raises(ToolError, match="worker processes cannot be started"):
        list(pool.map([0]))
