"""The journal: rows stay, are found again, and make a table; one writer, many readers; files that are none."""

from __future__ import annotations

import functools
import os
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.errors import KernelwrightError, Misuse, ToolError
from kernelwright.evaluate.outcome import Metrics, Ok, Outcome, Rejected
from kernelwright.evaluate.run.history_table import history_of
from kernelwright.evaluate.run.journal import Journal, candidate_hash, canonical_text
from kernelwright.evaluate.run.journal_file import SCHEMA
from tests.evaluate.test_outcome import OUTCOMES
from tests.examples import few

FAST, WRONG = Ok(1.5, 0.0, Metrics({"sectors": 7})), Rejected("compare", "'out' error 3", "a.cu:4")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.journal"


def test_rows_come_back_as_they_were(path: Path) -> None:
    with Journal.open(path, create=True) as journal:
        assert journal.begin({"seed": 7, "options": {"population": 64}}) == 1
        assert journal.record(["del", 3], FAST, phase="scan", facts={"generation": 0}, timings={"compile": 0.25}) == 1
        assert journal.record(["del", 4], WRONG, key="canonical", phase="evolve") == 2
    with Journal.open(path) as journal:
        first, second = journal.rows()
        assert (first.candidate, first.outcome, first.phase) == (["del", 3], FAST, "scan")
        assert first.timings == {"compile": 0.25} and first.facts == {"generation": 0}
        assert first.key == first.hash == candidate_hash(["del", 3])
        assert (second.key, second.outcome, second.timings) == ("canonical", WRONG, {})
        (session,) = journal.sessions
        assert session.facts["seed"] == 7 and session.facts["machine"]["cores"] >= 1
        assert {"kernelwright", "python", "numpy"} <= set(session.facts["versions"])
        assert abs(session.at - time.time()) < 60 and session.at <= first.at <= second.at
        assert len(journal) == 2 and journal.rejected() == {"compare": 1}


@settings(max_examples=few(20), deadline=None)
@given(pairs=st.lists(st.tuples(JSON, OUTCOMES), max_size=8))
def test_any_candidate_and_outcome(pairs: list[tuple[Any, Outcome]], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("journal") / "run"
    newest: dict[str, Outcome] = {}
    with Journal.open(path, create=True) as journal, journal.batch():
        for candidate, outcome in pairs:
            journal.record(candidate, outcome)
            newest[candidate_hash(candidate)] = outcome
    with Journal.open(path) as journal:
        assert [(row.candidate, row.outcome) for row in journal.rows()] == pairs
        for name, outcome in newest.items():
            assert journal.lookup(name) == outcome


@given(JSON, JSON)
def test_hashes_tell_candidates_apart(one: Any, other: Any) -> None:
    assert (candidate_hash(one) == candidate_hash(other)) == (canonical_text(one) == canonical_text(other))
    assert candidate_hash({"a": 1, "b": one}) == candidate_hash(dict(reversed({"a": 1, "b": one}.items())))


@pytest.mark.parametrize("candidate", [float("nan"), {1, 2}, object(), [b"x"]])
def test_candidates_are_json(path: Path, candidate: Any) -> None:
    with Journal.open(path, create=True) as journal, pytest.raises(Misuse, match="JSON"):
        journal.record(candidate, FAST)


def test_lookup_finds_the_newest(path: Path) -> None:
    with Journal.open(path, create=True) as journal:
        assert journal.lookup("k") is None
        journal.record([1], Ok(2.0, 0.0), key="k")
        journal.record([2], Ok(1.0, 0.0), key="k")
        assert journal.lookup("k") == Ok(1.0, 0.0)
        assert journal.outcomes("k") == [Ok(2.0, 0.0), Ok(1.0, 0.0)]


def test_events(path: Path) -> None:
    with Journal.open(path, create=True) as journal:
        journal.note("phase", "scan")
        journal.note("front", [[1, 2], [3, 4]])
        journal.note("phase", "evolve")
        assert [e.data for e in journal.events("phase")] == ["scan", "evolve"]
        assert [e.kind for e in journal.events()] == ["phase", "front", "phase"]
        assert [e.id for e in journal.events(after=2)] == [3] == [e.id for e in journal.events("phase", after=1)]


def test_a_batch_is_kept_whole_or_not_at_all(path: Path) -> None:
    with Journal.open(path, create=True) as journal:
        with journal.batch():
            journal.record([1], FAST)
            journal.record([2], FAST)
        with pytest.raises(ZeroDivisionError), journal.batch():
            journal.record([3], FAST)
            _ = 1 / 0
        journal.record([4], FAST)
        assert [row.candidate for row in journal.rows()] == [[1], [2], [4]]


def test_many_rows_are_read_in_pieces(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelwright.evaluate.run.journal.ROWS_AT_A_TIME", 7)
    with Journal.open(path, create=True) as journal:
        with journal.batch():
            for n in range(50):
                journal.record([n], FAST, timings={"run": n, "compile": 2 * n})
        assert [(r.candidate, dict(r.timings)) for r in journal.rows()] == [
            ([n], {"run": n, "compile": 2 * n}) for n in range(50)
        ]
        assert [r.id for r in journal.rows(after=45)] == [46, 47, 48, 49, 50]


def test_going_on_with_a_run(path: Path) -> None:
    with Journal.open(path, create=True) as journal:
        journal.begin({"seed": 1})
        journal.record([1], FAST)
    with Journal.open(path, write=True) as journal:
        journal.begin({"resumed": True})
        journal.record([2], FAST)
    with Journal.open(path) as journal:
        assert [row.session for row in journal.rows()] == [1, 2]
        assert journal.sessions[1].facts["resumed"]


# -- as a table --------------------------------------------------------------------------------------------------------


def test_history_is_a_table(path: Path) -> None:
    with Journal.open(path, create=True) as journal:
        journal.begin({})
        journal.record([1], FAST, phase="scan", facts={"generation": 3}, timings={"compile": 0.5})
        journal.record([2], WRONG, phase="a longer phase")
        journal.record([3], Ok(2.5, 0.25, Metrics({"registers": 32})), timings={"run": 0.125})
        table = history_of(list(journal.rows()), journal.sessions)
    assert table["row"].tolist() == [1, 2, 3] and table["generation"].tolist() == [3, -1, -1]
    assert table["phase"].tolist() == ["scan", "a longer phase", ""]
    assert table["ok"].tolist() == [True, False, True] and table["stage"].tolist() == ["", "compare", ""]
    np.testing.assert_array_equal(table["time_us"], [1.5, np.nan, 2.5])
    np.testing.assert_array_equal(table["error"], [0, np.nan, 0.25])
    np.testing.assert_array_equal(table["metric_sectors"], [7, np.nan, np.nan])
    np.testing.assert_array_equal(table["metric_registers"], [np.nan, np.nan, 32])
    np.testing.assert_array_equal(table["run_seconds"], [np.nan, np.nan, 0.125])
    assert (np.diff(table["seconds"]) >= 0).all() and table["seconds"][0] < 60
    best = table[table["ok"]]
    assert best[np.argmin(best["time_us"])]["hash"] == candidate_hash([1])


def test_history_of_nothing(path: Path) -> None:
    with Journal.open(path, create=True) as journal:
        assert len(history_of(list(journal.rows()), journal.sessions)) == 0 and "time_us" in (
            history_of(list(journal.rows()), journal.sessions).dtype.names or ()
        )


def test_pandas_reads_the_history(path: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    with Journal.open(path, create=True) as journal:
        journal.record([1], FAST)
        frame = pandas.DataFrame(history_of(list(journal.rows()), journal.sessions))
    assert frame["time_us"].tolist() == [1.5]


# -- writers and readers -----------------------------------------------------------------------------------------------


def test_a_second_writer_is_told_who_is_the_first(path: Path) -> None:
    with Journal.open(path, create=True) as journal:
        with pytest.raises(Misuse, match=f"being written by this process \\({os.getpid()}\\)"):
            Journal.open(path, write=True)
        journal.record([1], FAST)
        link = path.with_name("link")
        link.symlink_to(path)
        with pytest.raises(Misuse, match="being written"):
            Journal.open(link, write=True)
        child = os.fork()
        if child == 0:  # Another process.
            try:
                Journal.open(path, write=True)
            except Misuse as told:
                os._exit(0 if f"process {os.getppid()}" in str(told) else 2)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
    Journal.open(path, write=True).close()
    assert sorted(os.listdir(path.parent)) == ["link", "run.journal"]  # one plain file is left


def test_readers_see_rows_as_they_come_and_do_not_hinder(path: Path) -> None:
    with Journal.open(path, create=True) as journal:
        journal.record([1], FAST)
        with Journal.open(path) as one, Journal.open(path) as two:
            assert len(one) == len(two) == 1
            rows = one.rows()
            next(rows)
            journal.record([2], FAST)
            assert len(two) == 2 and [row.candidate for row in one.rows(after=1)] == [[2]]
    with Journal.open(path) as reader:
        journal = Journal.open(path, write=True)
        journal.record([3], FAST)
        journal.close()  # while somebody reads
        assert len(reader) == 3
    with Journal.open(path) as again:
        assert len(again) == 3


def test_commits_are_written_ahead_and_reach_the_disk(path: Path) -> None:
    for _ in range(2):
        with Journal.open(path, create=not path.exists(), write=path.exists()) as journal:
            asked = [
                journal._connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")
            ]
            assert asked == ["wal", 2]


def test_readers_do_not_write(path: Path) -> None:
    Journal.open(path, create=True).close()
    with Journal.open(path) as journal:
        with pytest.raises(Misuse, match="open for reading"):
            journal.record([1], FAST)
        with pytest.raises(Misuse, match="open for reading"):
            journal.note("k", 1)
        with pytest.raises(Misuse, match="open for reading"):
            journal.begin({})


def test_a_read_only_copy_can_be_read(path: Path) -> None:
    with Journal.open(path, create=True) as journal:
        journal.record([1], FAST)
    path.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        with Journal.open(path) as journal:
            assert len(journal) == 1
    finally:
        path.parent.chmod(0o755)


def test_threads_share_a_writer(path: Path) -> None:
    with Journal.open(path, create=True) as journal:

        def work(number: int) -> None:
            for n in range(10):
                journal.record([number, n], FAST)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(journal) == 40 and len({row.hash for row in journal.rows()}) == 40


# -- files that are none -----------------------------------------------------------------------------------------------


def test_what_is_there_already_and_what_is_not(path: Path, tmp_path: Path) -> None:
    for write in (False, True):
        with pytest.raises(Misuse, match="does not exist"):
            Journal.open(path, write=write)
    Journal.open(path, create=True).close()
    with pytest.raises(Misuse, match="exists already"):
        Journal.open(path, create=True)
    with pytest.raises(Misuse, match="no folder"):
        Journal.open(tmp_path / "no" / "such" / "run", create=True)
    assert sorted(os.listdir(tmp_path)) == ["run.journal"]


@pytest.mark.parametrize("content", [b"", b"x", b"SQLite format 2\x00" + bytes(100), bytes(4096), b"\x93kernelwright"])
def test_foreign_files(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    for write in (False, True):
        with pytest.raises(Misuse, match="no run file") as told:
            Journal.open(path, write=write)
        assert told.value.hint
    assert path.read_bytes() == content and sorted(os.listdir(path.parent)) == ["run.journal"]


def test_somebody_elses_database(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE t (x)")
    for write in (False, True):
        with pytest.raises(Misuse, match="a database, but no run file"):
            Journal.open(path, write=write)


def test_a_newer_file(path: Path) -> None:
    Journal.open(path, create=True).close()
    with sqlite3.connect(path) as other:
        other.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    for write in (False, True):
        with pytest.raises(Misuse, match="newer Kernelwright") as told:
            Journal.open(path, write=write)
        assert "upgrade" in str(told.value)


@functools.cache
def filled_bytes(folder: Path) -> bytes:
    return filled(folder / "filled")


def filled(path: Path) -> bytes:
    with Journal.open(path, create=True) as journal, journal.batch():
        for n in range(300):
            journal.record(["edit", n, "x" * (n % 50)], FAST if n % 3 else WRONG, timings={"run": n})
    return path.read_bytes()


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_file_that_was_cut_short(path: Path, share: float) -> None:
    raw = filled(path)
    path.write_bytes(raw[: int(len(raw) * share)])
    with pytest.raises(ToolError, match="is damaged") as told, Journal.open(path, write=True):
        pass
    assert "restore it from a copy" in str(told.value) and str(told.value).count("\n") == 1
    assert sorted(os.listdir(path.parent)) == ["run.journal"]


@settings(max_examples=few(30), deadline=None)
@given(share=st.floats(0, 1, exclude_max=True), junk=st.binary(min_size=40, max_size=400))
def test_a_file_with_junk_in_it_gives_sentences(
    share: float, junk: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()
    path = folder / "junk.journal"
    raw = bytearray(filled_bytes(folder))
    at = int(share * (len(raw) - len(junk)))
    raw[at : at + len(junk)] = junk
    path.write_bytes(raw)
    for write in (False, True):
        try:
            with Journal.open(path, write=write) as journal:
                assert len(list(journal.rows())) <= 300 and journal.events() == []
                journal.rejected()
        except KernelwrightError as told:
            assert told.hint


@pytest.mark.parametrize("create", [True, False])
def test_a_journal_that_cannot_be_written_is_the_machines_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, create: bool
) -> None:
    if not create:
        Journal.open(tmp_path / "journal.db", create=True).close()

    def full(_: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("kernelwright.evaluate.run.journal.WriterLock", full)
    with pytest.raises(ToolError, match=r"journal\.db cannot be written: No space left on device"):
        Journal.open(tmp_path / "journal.db", create=create, write=not create)
