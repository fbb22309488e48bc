"""The journal: what was tried, what came of it, and when. It is cache, resume, replay, and the report's only source.

    with Journal.open(path, create=True) as journal:
        journal.begin({"seed": 7, "options": {...}})
        journal.record(candidate, outcome, key=canonical, phase="scan", timings={"compile": 0.02})
        journal.lookup(canonical)                    # the outcome, or None

A recorded row is on the disk when ``record`` returns; rows are never changed. Candidates are JSON values; two with equal
JSON are one. ``key`` is what an outcome is a function of (the canonical IR, the workload, the device): different candidates
may share it, and then share their outcome.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from kernelwright.cache import content_key
from kernelwright.errors import Misuse, ToolError
from kernelwright.evaluate.outcome import Outcome, outcome_from_json, outcome_to_text
from kernelwright.evaluate.run import journal_file
from kernelwright.evaluate.run.journal_file import WriterLock, telling
from kernelwright.evaluate.run.machine_facts import machine, tool_versions
from kernelwright.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    import sqlite3

ROWS_AT_A_TIME = 2000


@dataclass(frozen=True)
class Session:
    """A process that wrote the journal: the one that made it, and each that resumed it."""

    id: int
    at: float
    """Seconds since 1970."""
    facts: Mapping[str, Any]
    """What ``begin`` was given, and ``machine`` and ``versions``."""


@dataclass(frozen=True)
class Row:
    """One recorded evaluation."""

    id: int
    """From 1, in the order they were recorded."""
    session: int
    at: float
    candidate: Any
    """The candidate as JSON."""
    hash: str
    """Of the candidate."""
    key: str
    phase: str
    outcome: Outcome
    facts: Mapping[str, Any] = field(default_factory=dict)
    timings: Mapping[str, float] = field(default_factory=dict)
    """Seconds by step."""


@dataclass(frozen=True)
class Event:
    """Something that happened besides evaluations."""

    id: int
    session: int
    at: float
    kind: str
    data: Any


def canonical_text(candidate: Any) -> str:
    """A JSON value as text that is the same for equal values. Raises ``Misuse`` for what JSON cannot hold."""
    try:
        return json.dumps(candidate, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise Misuse(f"a candidate must be a JSON value: {error}", hint="use its as_json()") from error


def candidate_hash(candidate: Any) -> str:
    """40 hexadecimal digits that stand for a candidate's JSON."""
    return content_key([canonical_text(candidate)])


class Journal:
    """An open journal: for reading, or, by one process at a time, for writing. Close it, or use it as a context manager."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: WriterLock | None) -> None:
        self.path = path
        self._connection = connection
        self._lock = lock
        self._threads = threading.RLock()
        self._in_batch = False
        self._session: int | None = None
        self.is_open = True

    @classmethod
    def open(cls, path: Path | str, *, create: bool = False, write: bool = False) -> Journal:
        """Opens a journal to read it, to go on with it (``write``), or makes a new one (``create``).

        Raises ``Misuse`` when the file is missing, foreign, newer, or another process is writing it, and when it exists and
        was to be created; ``ToolError`` when it is damaged, cannot be written or the disk is full.
        """
        path = Path(path)
        if not (create or write):
            return cls(path, journal_file.open_existing(path, write=False), None)
        if not path.parent.is_dir():
            raise Misuse(f"{path.parent} is no folder", hint="make it first, or name another file")
        if write and not path.is_file():
            raise Misuse(f"{path} does not exist", hint="kw runs lists the runs there are")
        try:
            lock = WriterLock(path)
        except OSError as error:
            raise ToolError(
                f"{path} cannot be written: {error.strerror}", hint="free space, or check its folder and permissions"
            ) from error
        try:
            made = journal_file.create(path) if create else journal_file.open_existing(path, write=True)
        except BaseException:
            lock.release()
            raise
        return cls(path, made, lock)

    # -- writing -------------------------------------------------------------------------------------------------------

    def begin(self, facts: Mapping[str, Any]) -> int:
        """Notes who writes from now on: options, seed, workload; machine and versions are added. Returns its number."""
        text = canonical_text({"machine": machine(), "versions": tool_versions(), **facts})

        def write(db: sqlite3.Connection) -> int:
            return _inserted(db.execute("INSERT INTO sessions (at, facts) VALUES (?, ?)", (time.time(), text)))

        self._session = self._write(write)
        return self._session

    def record(
        self,
        candidate: Any,
        outcome: Outcome,
        *,
        key: str | None = None,
        phase: str = "",
        facts: Mapping[str, Any] | None = None,
        timings: Mapping[str, float] | None = None,
    ) -> int:
        """Records one evaluation; returns its number. When this returns, it survives a power cut.

        Raises ``ToolError`` when the disk is full; earlier rows are safe then.
        """
        text, session = canonical_text(candidate), self._current_session()
        name = content_key([text])
        row = (key or name, time.time(), phase, outcome.as_json()["ok"], outcome_to_text(outcome))
        more = canonical_text(facts or {})

        def write(db: sqlite3.Connection) -> int:
            db.execute("INSERT OR IGNORE INTO candidates (hash, candidate) VALUES (?, ?)", (name, text))
            (subject,) = db.execute("SELECT id FROM candidates WHERE hash = ?", (name,)).fetchone()
            number = _inserted(
                db.execute(
                    "INSERT INTO outcomes (session, candidate, key, at, phase, ok, outcome, facts) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (session, subject, *row, more),
                )
            )
            steps = [(number, step, float(seconds)) for step, seconds in (timings or {}).items()]
            db.executemany("INSERT INTO timings (outcome, name, seconds) VALUES (?, ?, ?)", steps)
            return number

        return self._write(write)

    def note(self, kind: str, data: Any) -> int:
        """Records an event: a phase that begins, a generation's front. ``data`` is a JSON value."""
        text, session = canonical_text(data), self._current_session()

        def write(db: sqlite3.Connection) -> int:
            row = (session, time.time(), kind, text)
            return _inserted(db.execute("INSERT INTO events (session, at, kind, data) VALUES (?, ?, ?, ?)", row))

        return self._write(write)

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Everything recorded inside becomes one commit: all of it is kept, or, after an error or a crash, none."""
        with self._threads, telling(self.path):
            self._writable().execute("BEGIN IMMEDIATE")
            self._in_batch = True
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            finally:
                self._in_batch = False

    def _write(self, write: Callable[[sqlite3.Connection], int]) -> int:
        with self._threads:
            if self._in_batch:
                with telling(self.path):
                    return write(self._connection)
            with self.batch():
                return write(self._connection)

    def _writable(self) -> sqlite3.Connection:
        if self._lock is None:
            raise Misuse(f"{self.path} is open for reading", hint="open it with write=True")
        return self._connection

    def _current_session(self) -> int:
        self._writable()
        if self._session is None:
            self.begin({})
        assert self._session is not None
        return self._session

    # -- reading -------------------------------------------------------------------------------------------------------

    def lookup(self, key: str) -> Outcome | None:
        """The newest outcome recorded under ``key`` (a candidate's hash, unless another was given), None when there is none."""
        found = self._all("SELECT outcome FROM outcomes WHERE key = ? ORDER BY id DESC LIMIT 1", key)
        return outcome_from_json(found[0][0]) if found else None

    def outcomes(self, key: str) -> list[Outcome]:
        """All outcomes recorded under ``key``, oldest first: a candidate that is measured again has several."""
        return [
            outcome_from_json(text)
            for (text,) in self._all("SELECT outcome FROM outcomes WHERE key = ? ORDER BY id", key)
        ]

    def rows(self, after: int = 0) -> Iterator[Row]:
        """The evaluations in order, from the one after number ``after``: a live view asks for what is new."""
        while True:
            found = self._all(
                "SELECT o.id, session, at, c.candidate, hash, key, phase, outcome, facts FROM outcomes AS o "
                "JOIN candidates AS c ON c.id = o.candidate WHERE o.id > ? ORDER BY o.id LIMIT ?",
                after,
                ROWS_AT_A_TIME,
            )
            if not found:
                return
            timings: dict[int, dict[str, float]] = {}
            last = found[-1][0]
            for number, step, seconds in self._all(
                "SELECT outcome, name, seconds FROM timings WHERE outcome BETWEEN ? AND ?", after + 1, last
            ):
                timings.setdefault(number, {})[step] = seconds
            for number, session, at, candidate, name, key, phase, outcome, facts in found:
                with telling(self.path):
                    subject, more = json.loads(candidate), json.loads(facts)
                result = outcome_from_json(outcome)
                yield Row(number, session, at, subject, name, key, phase, result, more, timings.get(number, {}))
            after = last

    def events(self, kind: str | None = None, after: int = 0) -> list[Event]:
        """What was noted, in order; of one kind, or of all."""
        query = "SELECT id, session, at, kind, data FROM events WHERE id > ?"
        found = (
            self._all(f"{query} AND kind = ? ORDER BY id", after, kind)
            if kind
            else self._all(f"{query} ORDER BY id", after)
        )
        with telling(self.path):
            return [Event(number, session, at, k, json.loads(data)) for number, session, at, k, data in found]

    @property
    def sessions(self) -> list[Session]:
        """Who wrote here, in order."""
        with telling(self.path):
            return [Session(n, at, json.loads(f)) for n, at, f in self._all("SELECT * FROM sessions ORDER BY id")]

    def __len__(self) -> int:
        """The number of evaluations."""
        return int(self._all("SELECT COUNT(*) FROM outcomes")[0][0])

    def rejected(self) -> dict[str, int]:
        """How many evaluations were rejected at each stage."""
        query = "SELECT json_extract(outcome, '$.stage') AS stage, COUNT(*) FROM outcomes WHERE ok = 0 GROUP BY stage"
        return {str(stage): int(count) for stage, count in self._all(query + " ORDER BY stage")}

    def seconds(self) -> dict[str, float]:
        """What all evaluations took together, by step."""
        return dict(self._all("SELECT name, SUM(seconds) FROM timings GROUP BY name ORDER BY name"))

    def _all(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._threads, telling(self.path):
            return self._connection.execute(query, values).fetchall()

    # -- the end -------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Closes the file. A writer leaves one plain file behind, and its lock."""
        with self._threads:
            if self._lock is not None:
                journal_file.settle(self._connection)
            self._connection.close()
            self.is_open = False
            if self._lock is not None:
                self._lock.release()
                self._lock = None

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _inserted(cursor: sqlite3.Cursor) -> int:
    assert cursor.lastrowid is not None
    return cursor.lastrowid
