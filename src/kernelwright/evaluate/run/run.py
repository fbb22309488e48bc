"""A run: one search, in a folder of its own, from which it can be read, shown and resumed, whatever its candidates are.

    kw-runs/hotspot-1/
        journal.db           what was tried and what came of it; settings and seed (``evaluate/run/journal.py``)

    with Run.open("kw-runs/hotspot-1") as run:
        run.kind_name, run.ended, run.rows(), run.history

A run's candidates are of one kind, named in its facts; ``kind`` reads and writes them. What else is to be said of a run depends on
what was searched: ``evaluate/run/variant_run.py`` for variants of kernels, ``breeding/run.py`` for programs.
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self

from kernelwright.errors import Misuse, ToolError, check_kind
from kernelwright.evaluate.candidate import AsWritten, C, Codec
from kernelwright.evaluate.run.history_table import history_of
from kernelwright.evaluate.run.journal import Event, Journal, Row
from kernelwright.evaluate.run.journal_file import writer_of
from kernelwright.evaluate.run.shown_run import as_frame, as_html, as_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FOLDER = "kw-runs"
JOURNAL = "journal.db"
FORMAT = 1
UNNAMED = "evolve"
"""The kind of the runs that name none: there was only one when they were made."""


class Run(Generic[C]):
    """A run that is there, open for reading, or, while it searches, for writing. Close it, or use it as a context manager."""

    def __init__(
        self, folder: Path, journal: Journal, facts: Mapping[str, Any], kind: Codec[C], given: Any = None
    ) -> None:
        """``facts``: what was written down when it began. ``given``: what it is about, where that is at hand."""
        self.folder = folder
        self.journal = journal
        self.facts = facts
        self.kind = kind
        self._given = given

    # -- making and opening --------------------------------------------------------------------------------------------

    @classmethod
    def create(
        cls, folder: Path, kind: Codec[C], facts: Mapping[str, Any], *, command: str = "", given: Any = None
    ) -> Self:
        """A new run in ``folder``, which is there already. ``facts``: JSON, what it is about and its settings. ``command``: the
        command line that began it, if one did.

        Raises ``Misuse`` when another run is in the folder.
        """
        written = {"format": FORMAT, "kind": kind.name, **facts, **({"command": command} if command else {})}
        journal = Journal.open(folder / JOURNAL, create=True)
        journal.begin(written)
        return cls(folder, journal, written, kind, given)

    @classmethod
    def open(cls, path: Path | str, kind: Codec[Any] | None = None, *, write: bool = False, given: Any = None) -> Self:
        """A run by its folder, or by its name below ``kw-runs``. ``kind``: of its candidates; None: any, and they stay JSON.
        ``given``: what it is about, where that has no file.

        Raises ``Misuse`` for what is no run of this kind, one of a newer version, or one that another process is writing.
        """
        folder = found_folder(path)
        journal = Journal.open(folder / JOURNAL, write=write)
        try:
            sessions = journal.sessions
            facts = sessions[0].facts if sessions else {}
            if facts.get("format") != FORMAT:
                raise unreadable(folder)
            found = str(facts.get("kind", UNNAMED))
            if kind is not None and found != kind.name:
                raise Misuse(
                    f"{folder} is no run of kw {kind.name}", hint=f"kw show {folder}, or kw {found} --resume {folder}"
                )
            run = cls(folder, journal, facts, kind or AsWritten(), given)
            if write:
                run.check()
                journal.begin({"resumed": True})
            return run
        except BaseException:
            journal.close()
            raise

    def check(self) -> None:
        """Raises ``Misuse`` for a run that cannot go on, before anything is written."""

    # -- what it is about ----------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder.name

    @property
    def kind_name(self) -> str:
        """What it was made by: ``evolve``, ``breed``."""
        return str(self.facts.get("kind", UNNAMED))

    @property
    def resuming(self) -> str:
        """The command that goes on with it, without the run."""
        return f"kw {self.kind_name} --resume"

    # -- what came of it -----------------------------------------------------------------------------------------------

    def rows(self) -> Iterator[Row]:
        """The evaluations, in order."""
        return self.journal.rows()

    @property
    def history(self) -> NDArray[np.void]:
        """Every evaluation as a table that NumPy and pandas read."""
        return history_of(list(self.rows()), self.journal.sessions)

    def to_pandas(self) -> Any:
        """Every evaluation as a row of a pandas ``DataFrame``, by its name (``v17``): ``ok``, ``time_us``, ``error``, figures measured
        besides, ``stage`` and ``reason`` of those rejected, the candidate as JSON, seconds. Raises ``Misuse`` without pandas."""
        return as_frame(self.journal.rows())

    @property
    def shown_facts(self) -> list[tuple[str, str]]:
        """What a person is told of it in a line."""
        return [("state", self.state), ("candidates", f"{len(self.journal)} candidates")]

    def __repr__(self) -> str:
        if not self.journal.is_open:
            return f"<{type(self).__name__} {self.folder}: closed>"
        return as_line(type(self).__name__, str(self.folder), self.shown_facts)

    def _repr_html_(self) -> str:
        if not self.journal.is_open:
            return escape(repr(self))
        return as_html(type(self).__name__, str(self.folder), self.shown_facts)

    @property
    def spent_seconds(self) -> float:
        """How long all sessions together have worked on it: from each one's beginning to the last that it recorded."""
        last: dict[int, float] = {}
        recorded = [(row.session, row.at) for row in self.rows()]
        recorded += [(event.session, event.at) for event in self.journal.events()]
        for session, at in recorded:
            last[session] = max(at, last.get(session, at))
        return sum(max(0.0, last.get(each.id, each.at) - each.at) for each in self.journal.sessions)

    @property
    def ended(self) -> Mapping[str, Any] | None:
        """What was noted at the end; None when the run has not come to one."""
        end = self._end
        return end.data if end is not None else None

    @property
    def _end(self) -> Event | None:
        return next(iter(self.journal.events("end")), None)

    @property
    def state(self) -> str:
        """``finished``, ``running`` while a process writes it, else ``resumable``."""
        if self.ended is not None:
            return "finished"
        return "running" if writer_of(self.folder / JOURNAL) else "resumable"

    @property
    def open_end(self) -> str:
        """What a person is told of a run that is not finished; empty for one that is."""
        return {
            "finished": "",
            "running": f"not finished: {writer_of(self.folder / JOURNAL)} works on it",
            "resumable": f"not finished: {self.resuming} {shlex.quote(str(self.folder))}",
        }[self.state]

    # -- the end -------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Closes the journal; nothing more can be read or recorded."""
        self.journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def kind_of(path: Path | str, known: Iterable[str]) -> str:
    """The kind of a run, by its folder or its name. Raises ``Misuse`` for what is no run, or one of a kind that is not known."""
    run: Run[Any]
    with Run.open(path) as run:
        if run.kind_name not in known:
            raise unreadable(run.folder)
        return run.kind_name


def unreadable(folder: Path) -> Misuse:
    """What is raised for a folder that holds no run of this version."""
    return Misuse(
        f"{folder} holds no run that this version can read",
        hint="kw runs lists the runs there are; a newer Kernelwright may have made it",
    )


def found_folder(path: Path | str) -> Path:
    """The folder of a run, given its path or its name below ``kw-runs``. Raises ``Misuse`` when there is none."""
    check_kind(path, (str, Path), "a run", "give its name or folder: 'smooth-1'")
    given = Path(path)
    if (folder := folder_if_any(given)) is not None:
        return folder
    if given.exists() and not given.is_dir():
        raise Misuse(f"{given} is no run: a run is a folder", hint="kw runs lists the runs there are")
    before, _, variant = str(path).rpartition(":")
    if before and folder_if_any(before) is not None:
        raise Misuse(f"{path} is a variant, and a run is wanted", hint=f"leave out :{variant}")
    near = difflib.get_close_matches(str(path), [each.name for each in runs_in(Path(FOLDER))], n=2, cutoff=0.5)
    meant = f"did you mean {' or '.join(near)}? " if near else ""
    raise Misuse(f"there is no run {str(path)!r}", hint=f"{meant}kw runs lists the runs there are")


def folder_if_any(path: Path | str) -> Path | None:
    """The folder of a run, given its path or its name below ``kw-runs``; None when there is none."""
    return next((folder for folder in (Path(path), Path(FOLDER) / path) if (folder / JOURNAL).is_file()), None)


def new_folder(stem: str, parent: Path | None = None, *, name: str | None = None) -> Path:
    """A fresh folder ``kw-runs/STEM-N``, or ``kw-runs/NAME`` where a person named it.

    Raises ``Misuse`` for a name that is taken or is none, ``ToolError`` when the folder cannot be made.
    """
    parent = parent or Path(FOLDER)
    if name is not None:
        return _named_folder(name, parent)
    clean = re.sub(r"[^\w.-]+", "-", stem).strip("-.") or "run"
    number = 1
    try:
        parent.mkdir(parents=True, exist_ok=True)
        while True:
            try:
                (parent / f"{clean}-{number}").mkdir()
                return parent / f"{clean}-{number}"
            except FileExistsError:
                number += 1
    except OSError as error:
        raise _not_writable(parent, error) from error


def given_folder(folder: Path | str | None, stem: str) -> Path:
    """The folder that a caller asked for, made if it is not there; a fresh one as ``new_folder`` makes it for None. Raises ``Misuse`` for
    what names none, ``ToolError`` when it cannot be made."""
    if folder is None:
        return new_folder(stem)
    check_kind(folder, (str, Path), "the folder of a run", "give its path")
    made = Path(folder)
    try:
        made.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _not_writable(made, error) from error
    return made


def _named_folder(name: str, parent: Path) -> Path:
    if not re.fullmatch(r"\w[\w.-]*", name):
        raise Misuse(
            f"--name {name!r} is no name of a run", hint="letters, digits, '_', '.' and '-', as --name hotspot-a100"
        )
    folder = parent / name
    try:
        folder.mkdir(parents=True)
    except FileExistsError as error:
        raise Misuse(
            f"there is {folder} already",
            hint="choose another name, or go on with that run: kw runs lists what there is",
        ) from error
    except OSError as error:
        raise _not_writable(parent, error) from error
    return folder


def _not_writable(folder: Path, error: OSError) -> ToolError:
    return ToolError(f"{folder} cannot be written: {error.strerror}", hint="start it in a folder of your own")


def runs_in(parent: Path | None = None) -> list[Path]:
    """The folders of the runs there are, by name."""
    parent = parent or Path(FOLDER)
    return sorted(p.parent for p in parent.glob(f"*/{JOURNAL}")) if parent.is_dir() else []
