"""A run: one search, in a folder of its own, from which it can be read, shown and resumed.

    kw-runs/hotspot-1/
        journal.db           what was tried and what came of it; settings and seed (``evaluate/run/journal.py``)
        data-1.capture ...   the recorded program, one file for each data set

    run = Run.open("kw-runs/hotspot-1")
    run.best, run.front, run.history, run.variant("v17")

Variants are named by their row in the journal. Events in the journal: ``phase``, ``generation``, ``conclude`` (the time was
up before this batch), ``minimised``, ``proof``, ``fallen`` (a best whose proof said less than was
demanded), ``salvaged`` (what came in its place), ``explained``, ``end``; where times are measured on a real GPU, also
``reference`` (the original's), ``measured`` (what came of a program that was measured once more) and ``settled`` (which was best
then). What is asked after the end, to explain or to minimise a variant, stands in the journal, too, and is no
part of the search.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelwright.device.settings import virtual_gpu
from kernelwright.edits.gene import Gene
from kernelwright.errors import Misuse, ToolError
from kernelwright.evaluate.judging.variant import Builder, Candidate
from kernelwright.evaluate.outcome import Ok, Outcome, Rejected, outcome_from_json
from kernelwright.evaluate.run.journal import Event, Journal, Row
from kernelwright.evaluate.run.settings import RunSettings
from kernelwright.evaluate.workload.subject import Subject, subject_from_json
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.search.nsga2 import dominates
from kernelwright.search.ties import is_gain

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FOLDER = "kw-runs"
JOURNAL = "journal.db"
FORMAT = 1


@dataclass(frozen=True)
class Found:
    """A candidate of a run and what came of it."""

    name: str
    candidate: Candidate
    outcome: Ok
    speedup: float
    """What gains are counted from (``Run.original_us``) over its own time."""
    key: str = ""

    @property
    def is_gain(self) -> bool:
        """Whether it beats the original by more than a tie."""
        return is_gain(1.0, self.speedup)

    @property
    def interval(self) -> tuple[float, float] | None:
        """What the speed-up lies between, where it was measured."""
        base, metrics = self.speedup * self.outcome.time_us, self.outcome.metrics
        if not metrics.get("low_us"):
            return None
        return base / metrics["high_us"], base / metrics["low_us"]

    @property
    def edits(self) -> list[dict[str, Any]]:
        return [gene.as_json() for gene in self.candidate]


class Run:
    """A run that is there, open for reading, or, while it searches, for writing. Close it, or use it as a context manager."""

    def __init__(self, folder: Path, journal: Journal, facts: Mapping[str, Any], given: Subject | None = None) -> None:
        self.folder = folder
        self.journal = journal
        self._facts = facts
        self._given = given
        self.settings = RunSettings.from_json(facts["settings"])

    # -- making and opening --------------------------------------------------------------------------------------------

    @classmethod
    def create(
        cls, folder: Path, subject: Subject, settings: RunSettings, notes: Sequence[str] = (), command: str = ""
    ) -> Run:
        """A new run in ``folder``, which is there already. ``command``: the command line that began it, if one did.

        Raises ``Misuse`` when another run is in the folder.
        """
        facts = {"format": FORMAT, "subject": subject.as_json(), "settings": settings.as_json(), "notes": list(notes)}
        if command:
            facts["command"] = command
        journal = Journal.open(folder / JOURNAL, create=True)
        journal.begin(facts)
        return cls(folder, journal, facts, subject)

    @classmethod
    def open(cls, path: Path | str, *, write: bool = False, given: Subject | None = None) -> Run:
        """A run by its folder, or by its name below ``kw-runs``. ``given``: what it evolves, where that has no file.

        Raises ``Misuse`` for what is no run, one of a newer version, or one that another process is writing.
        """
        folder = found_folder(path)
        journal = Journal.open(folder / JOURNAL, write=write)
        try:
            sessions = journal.sessions
            facts = sessions[0].facts if sessions else {}
            if facts.get("format") != FORMAT or "subject" not in facts:
                raise Misuse(
                    f"{folder} holds no run that this version can read",
                    hint="kw runs lists the runs there are; a newer Kernelwright may have made it",
                )
            run = cls(folder, journal, facts, given)
            if write:
                journal.begin({"resumed": True})
            return run
        except BaseException:
            journal.close()
            raise

    # -- what it is about ----------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def subject(self) -> Subject:
        """What it evolves. Raises ``Misuse`` when only the program that started it has that."""
        return self._given or subject_from_json(self._facts["subject"], self.folder)

    @property
    def notes(self) -> list[str]:
        """What a person should know before trusting the results."""
        said = [note for event in self.journal.events("notes") for note in event.data["notes"]]
        return list(dict.fromkeys([*self._facts.get("notes", ()), *said]))

    def take(self, subject: Subject) -> None:
        """What it evolves, opened already."""
        self._given = subject

    def workload(self) -> Workload:
        """What candidates are judged by. Raises ``Misuse`` and ``ToolError`` when its files are missing or damaged."""
        return self.subject.workload()

    def builder(self) -> Builder:
        """Builds its candidates."""
        return Builder.of(self.workload().modules(), virtual_gpu(self.settings.virtual).arch)

    # -- what came of it -----------------------------------------------------------------------------------------------

    def rows(self) -> Iterator[Row]:
        """The evaluations, in order."""
        return self.journal.rows()

    def searched(self) -> Iterator[Row]:
        """The evaluations up to the end: what is asked afterwards does not change what was found."""
        end = self._end
        return self._final(row for row in self.rows() if end is None or row.at <= end.at)

    def _final(self, rows: Iterable[Row]) -> Iterator[Row]:
        """With what came of those programs that were measured once more, which is what counts."""
        again = self.measured_again
        for row in rows:
            yield settled(row, again[row.key]) if row.key in again and isinstance(row.outcome, Ok) else row

    @property
    def measured_again(self) -> dict[str, Outcome]:
        """By the key of the program, what came of it when it was measured once more, after the search."""
        return {e.data["key"]: outcome_from_json(e.data["outcome"]) for e in self.journal.events("measured")}

    @property
    def evaluations(self) -> int:
        """How many candidates the search has asked about; for one that has not come to its end, so far."""
        count = (self.ended or {}).get("evaluations")
        return count if isinstance(count, int) else len(self.journal)

    @cached_property
    def original(self) -> Ok | None:
        """What the original costs; None while it was not evaluated."""
        for row in self.rows():
            if not row.candidate and isinstance(row.outcome, Ok):
                return row.outcome
        return None

    @cached_property
    def original_us(self) -> float | None:
        """What gains are counted from: the original's time, or what it takes without post-passes if that is less."""
        for row in self.rows():
            if not row.candidate and isinstance(row.outcome, Ok):
                return min(row.outcome.time_us, float(row.facts.get("as_compiled_us", row.outcome.time_us)))
        return None

    @property
    def accepted(self) -> list[Found]:
        """Every accepted candidate, in order."""
        return [found for row in self.searched() if (found := self._found(row)) is not None]

    @property
    def front(self) -> list[Found]:
        """The accepted candidates that no other beats, fastest first; equal ones once, with the fewest edits."""
        names = self.settings.objectives
        kept: dict[tuple[float, ...], Found] = {}
        for found in self.accepted:
            point = found.outcome.objectives(names)
            same = kept.get(point)
            if same is not None and len(same.candidate) <= len(found.candidate):
                continue
            if any(dominates(other, point) for other in kept):
                continue
            kept = {other: f for other, f in kept.items() if not dominates(point, other)}
            kept[point] = found
        return [kept[point] for point in sorted(kept)]

    @property
    def best(self) -> Found | None:
        """The variant that the run stands for: what was left of the fastest after its proof, else the fastest minimised, or as
        it is so far; None when nothing beats the original by more than a tie, or nothing that does is proven as was demanded."""
        for event in self.journal.events("salvaged"):
            return self.variant(event.data["variant"])
        if self.ended and self.journal.events("fallen"):
            return None
        for event in reversed(self.journal.events("minimised")):
            return self.variant(event.data["variant"])
        fastest = next((found for found in self.front if found.candidate), None)
        return fastest if fastest is not None and fastest.is_gain else None

    @property
    def fallen(self) -> Found | None:
        """The variant that was the best until its proof said less than was demanded; None when there is none."""
        for event in self.journal.events("fallen"):
            return self.variant(event.data["variant"])
        return None

    @property
    def fastest_trained(self) -> tuple[str, float]:
        """Whatever is right on the training cases, also what was turned down then: its name, and how much faster it is."""
        best = ("", 1.0)
        if self.original_us is not None:
            for row in self.searched():
                trained = row.facts.get("trained")
                if trained and row.candidate and trained["time_us"] > 0:
                    best = max(best, (f"v{row.id}", self.original_us / trained["time_us"]), key=lambda each: each[1])
        return best

    def proof(self, name: str) -> Mapping[str, Any] | None:
        """The proof of the variant called ``v17`` as JSON (``prove.proof_from_json`` reads it); None when there is none."""
        for event in reversed(self.journal.events("proof")):
            if event.data.get("variant") == name:
                return {key: event.data[key] for key in ("label", "seed", "checks", "notes")}
        return None

    def explained(self, name: str) -> Mapping[str, Any] | None:
        """What ``kw explain`` noted of the variant called ``v17``; None when nobody has asked."""
        for event in reversed(self.journal.events("explained")):
            if event.data.get("variant") == name:
                found: Mapping[str, Any] = event.data
                return found
        return None

    @property
    def history(self) -> NDArray[np.void]:
        """Every evaluation as a table that NumPy and pandas read."""
        return self.journal.history()

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
    def rejected(self) -> dict[str, int]:
        """How many candidates were turned down at each stage."""
        counts = Counter(row.outcome.stage for row in self.searched() if isinstance(row.outcome, Rejected))
        return dict(sorted(counts.items()))

    @property
    def ended(self) -> Mapping[str, Any] | None:
        """What was noted at the end; None when the run has not come to one."""
        end = self._end
        return end.data if end is not None else None

    @property
    def _end(self) -> Event | None:
        return next(iter(self.journal.events("end")), None)

    def variant(self, name: str) -> Found:
        """The accepted variant called ``v17``; ``best`` is another name for the best. Raises ``Misuse``."""
        if name == "best":
            best = self.best
            if best is None:
                raise self._without_best()
            return best
        row = next(self._final(r for r in self.rows() if f"v{r.id}" == name), None)
        if row is None:
            raise Misuse(f"{self.name} has no variant {name!r}", hint=f"kw show {self.folder} lists the best")
        if isinstance(row.outcome, Rejected):
            trained = row.facts.get("trained")
            if trained is None:
                raise Misuse(
                    f"variant {name} was turned down: {row.outcome}", hint=f"kw show {self.folder} lists the best"
                )
            row = replace(row, outcome=Ok(trained["time_us"], trained["error"]))
        found = self._found(row)
        assert found is not None
        return found

    def _without_best(self) -> Misuse:
        fallen = self.fallen
        if self.ended and fallen is not None:
            return Misuse(
                f"{self.name} has nothing faster that stands its proof: {fallen.name}, its fastest, does not",
                hint=f"name it: kw prove {self.folder}:{fallen.name}",
            )
        more = f"kw evolve --resume {self.folder} goes on"
        return Misuse(
            f"{self.name} has found nothing faster",
            hint="start a run with more --evaluations, or another --seed" if self.ended else more,
        )

    def _found(self, row: Row) -> Found | None:
        if not isinstance(row.outcome, Ok):
            return None
        base = self.original_us if self.original_us is not None else row.outcome.time_us
        candidate = tuple(Gene.from_json(value) for value in row.candidate)
        speedup = base / row.outcome.time_us if row.outcome.time_us else 1.0
        return Found(f"v{row.id}", candidate, row.outcome, speedup, row.key)

    # -- the end -------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        self.journal.close()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def settled(row: Row, outcome: Outcome) -> Row:
    """An evaluation as it turned out when the program was measured once more."""
    facts = {name: fact for name, fact in row.facts.items() if name != "trained"}
    if isinstance(outcome, Ok):
        facts["trained"] = {"time_us": outcome.time_us, "error": outcome.error}
    return replace(row, outcome=outcome, facts=facts)


def found_folder(path: Path | str) -> Path:
    """The folder of a run, given its path or its name below ``kw-runs``. Raises ``Misuse`` when there is none."""
    given = Path(path)
    for folder in (given, Path(FOLDER) / given):
        if (folder / JOURNAL).is_file():
            return folder
    if given.exists() and not given.is_dir():
        raise Misuse(f"{given} is no run: a run is a folder", hint="kw runs lists the runs there are")
    before, _, variant = str(path).rpartition(":")
    if before and any((folder / JOURNAL).is_file() for folder in (Path(before), Path(FOLDER) / before)):
        raise Misuse(f"{path} is a variant, and a run is wanted", hint=f"leave out :{variant}")
    raise Misuse(f"there is no run {str(path)!r}", hint="kw runs lists the runs there are")


def new_folder(stem: str, parent: Path | None = None) -> Path:
    """A fresh folder ``kw-runs/STEM-N``. Raises ``ToolError`` when it cannot be made."""
    parent = parent or Path(FOLDER)
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
        raise ToolError(
            f"{parent} cannot be written: {error.strerror}", hint="start it in a folder of your own"
        ) from error


def runs_in(parent: Path | None = None) -> list[Path]:
    """The folders of the runs there are, by name."""
    parent = parent or Path(FOLDER)
    return sorted(p.parent for p in parent.glob(f"*/{JOURNAL}")) if parent.is_dir() else []
