"""The journal's file: its tables, who may write, and how its errors are told.

One SQLite file in write-ahead mode. A process that is killed loses nothing it has recorded; readers do not wait. One writer at
a time holds a lock on ``FILE.lock`` beside it, which the system releases when that process ends, however it ends.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kernelwright.errors import Misuse, ToolError

APPLICATION = 0x4B574A31
"""SQLite's application_id of a journal: "KWJ1"."""
SCHEMA = 1
BUSY_S = 30.0

TABLES = """
-- Nothing in here is ever changed or removed; rows are in the order things happened.
CREATE TABLE sessions (         -- a process that wrote this file: the first, and each that resumed it
    id      INTEGER PRIMARY KEY,
    at      REAL NOT NULL,      -- seconds since 1970
    facts   TEXT NOT NULL       -- JSON: command, options, seed, tool versions, machine, workload
);
CREATE TABLE candidates (
    id          INTEGER PRIMARY KEY,
    hash        TEXT NOT NULL UNIQUE,   -- of the JSON text
    candidate   TEXT NOT NULL           -- canonical JSON
);
CREATE TABLE outcomes (
    id          INTEGER PRIMARY KEY,
    session     INTEGER NOT NULL REFERENCES sessions,
    candidate   INTEGER NOT NULL REFERENCES candidates,
    key         TEXT NOT NULL,          -- what the outcome is a function of; the candidate's hash if nothing else is said
    at          REAL NOT NULL,
    phase       TEXT NOT NULL,
    ok          INTEGER NOT NULL,
    outcome     TEXT NOT NULL,          -- JSON
    facts       TEXT NOT NULL           -- JSON: generation, parents, operator, ...
);
CREATE INDEX outcomes_by_key ON outcomes (key, id);
CREATE TABLE timings (
    outcome     INTEGER NOT NULL REFERENCES outcomes,
    name        TEXT NOT NULL,          -- apply, compile, run, compare, ...
    seconds     REAL NOT NULL
);
CREATE INDEX timings_by_outcome ON timings (outcome);
CREATE TABLE events (           -- what happened besides evaluations: phases, generations, fronts
    id      INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions,
    at      REAL NOT NULL,
    kind    TEXT NOT NULL,
    data    TEXT NOT NULL       -- JSON
);
CREATE INDEX events_by_kind ON events (kind, id);
"""

_open_here: set[tuple[int, str]] = set()
"""Process and file of the journals open for writing here; a forked child has none of its parent's."""


class WriterLock:
    """The right to write one journal. Raises ``Misuse`` that names who has it."""

    def __init__(self, path: Path) -> None:
        self._name = os.path.realpath(path)
        self._path = f"{self._name}.lock"
        # The system's lock does not tell two writers of one process apart.
        if (os.getpid(), self._name) in _open_here:
            raise _taken(path, f"this process ({os.getpid()})")
        while True:
            fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                holder = os.pread(fd, 100, 0).decode(errors="replace").strip()
                os.close(fd)
                raise _taken(path, holder or "another process") from None
            if self._is_in_place(fd):
                break
            os.close(fd)  # Its last owner removed it between our two steps.
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"process {os.getpid()}\n".encode(), 0)
        self._fd = fd
        self._owner = os.getpid()
        _open_here.add((self._owner, self._name))

    def _is_in_place(self, fd: int) -> bool:
        try:
            return os.path.samestat(os.fstat(fd), os.stat(self._path))
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Gives the right back and removes the lock file; in a forked child it only closes the child's descriptor."""
        _open_here.discard((self._owner, self._name))
        if os.getpid() == self._owner and self._is_in_place(self._fd):
            os.unlink(self._path)
        os.close(self._fd)


def writer_of(path: Path) -> str:
    """Who writes the journal now, in words; empty when no process does."""
    name = os.path.realpath(path)
    if (os.getpid(), name) in _open_here:
        return f"this process ({os.getpid()})"
    try:
        fd = os.open(f"{name}.lock", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return os.pread(fd, 100, 0).decode(errors="replace").strip() or "another process"
    finally:
        os.close(fd)  # and with it the lock
    return ""


def _taken(path: Path, holder: str) -> Misuse:
    return Misuse(
        f"{path} is being written by {holder}", hint="wait until it is done, or end it; reading is possible meanwhile"
    )


def create(path: Path) -> sqlite3.Connection:
    """A new, empty journal. Raises ``Misuse`` when there is something at ``path`` already."""
    if path.exists() and path.stat().st_size:
        raise Misuse(f"{path} exists already", hint="resume it, or name another file")
    connection = _connect(path, "rwc")
    with telling(path):
        # One transaction: a process that dies in here leaves an empty file, which may be created again.
        connection.executescript(
            f"BEGIN; PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {SCHEMA}; {TABLES} COMMIT;"
        )
        connection.execute("PRAGMA journal_mode = WAL")
    return connection


def open_existing(path: Path, *, write: bool) -> sqlite3.Connection:
    """A journal that is there. Raises ``Misuse`` for a missing, foreign or newer file, ``ToolError`` for a damaged one."""
    if not path.is_file():
        raise Misuse(f"{path} does not exist", hint="kw runs lists the runs there are")
    with path.open("rb") as file:
        head = file.read(16)
    if head != b"SQLite format 3\x00":
        raise Misuse(f"{path} is no run file", hint="kw runs lists the runs there are")
    connection = _connect(path, "rw" if write else "ro")
    try:
        with telling(path):
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            (schema,) = connection.execute("PRAGMA user_version").fetchone()
            if application != APPLICATION:
                raise Misuse(f"{path} is a database, but no run file", hint="kw runs lists the runs there are")
            if schema > SCHEMA:
                raise Misuse(
                    f"{path} was written by a newer Kernelwright (format {schema}, this one reads up to {SCHEMA})",
                    hint="upgrade: pip install -U kernelwright",
                )
            if write:
                found = connection.execute("PRAGMA quick_check(1)").fetchone()
                if found != ("ok",):
                    raise sqlite3.DatabaseError(str(found[0]))
                connection.execute("PRAGMA journal_mode = WAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    with telling(path):
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=BUSY_S, isolation_level=None,
            check_same_thread=False,
        )  # fmt: skip
        # A commit is on the disk when it returns: a power cut loses no completed evaluation.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        return connection


def settle(connection: sqlite3.Connection) -> None:
    """Makes the journal one plain file that can be copied and read from anywhere, unless readers are at it."""
    try:
        connection.execute("PRAGMA busy_timeout = 0")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error:
        pass  # The next one to open it finds the rest beside it.


@contextmanager
def telling(path: Path) -> Iterator[None]:
    """Turns SQLite's errors into sentences with a way out.
    Raises ``ToolError`` for a file that is damaged or cannot grow, ``Misuse`` for a run that is closed."""
    try:
        yield
    except (sqlite3.Error, UnicodeError, json.JSONDecodeError) as error:
        said = " ".join(str(error).split())  # a check says it in several lines
        code = getattr(error, "sqlite_errorname", "") or ""
        if isinstance(error, sqlite3.ProgrammingError) and "closed" in said:
            raise Misuse(f"the run {path.parent} is closed", hint="ask within `with`, or open it again") from error
        if code.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
            raise ToolError(
                f"{path} cannot grow ({said}); every evaluation recorded before this one is safe",
                hint="free space on the disk, then resume the run, or start it again if it had evaluated nothing yet",
            ) from error
        if code.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM", "SQLITE_AUTH")):
            raise ToolError(f"{path} cannot be opened ({said})", hint="check its folder and permissions") from error
        if code.startswith("SQLITE_BUSY"):
            raise ToolError(f"{path} is busy ({said})", hint="another program is at work on it: try again") from error
        raise ToolError(
            f"{path} is damaged ({said})", hint="restore it from a copy, or start a new run with the same seed"
        ) from error
