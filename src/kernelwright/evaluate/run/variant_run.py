"""A run that searches variants of a workload's kernels, whatever its kind of candidate, and what it has found.

    kw-runs/hotspot-1/
        journal.db
        data-1.capture ...   the recorded program, one file for each data set

    run = VariantRun.open("kw-runs/hotspot-1", kind)
    run.best, run.front, run.history, run.variant("v17")

Variants are named by their row in the journal. Events in the journal: ``phase``, ``generation``, ``conclude`` (the time was
up before this batch), ``minimised``, ``proof``, ``fallen`` (a best whose proof said less than was demanded), ``salvaged`` (what
came in its place), ``proven`` (what of the best is proven for all launches), ``held-out`` and ``transfer`` (the best on data that nothing
has seen, and in the whole program on a larger set), ``explained``, ``end``; where times are measured
on a real GPU, also ``reference`` (the original's), ``measured`` (what came of a program that was measured once more) and
``settled`` (which was best then). What is asked after the end, to explain or to minimise a variant, stands in the journal, too,
and is no part of the search.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Generic

from kernelwright.device.settings import virtual_gpu
from kernelwright.errors import Misuse
from kernelwright.evaluate.candidate import Builder, C, Codec, VariantKind
from kernelwright.evaluate.outcome import Ok, Outcome, Rejected, outcome_from_json
from kernelwright.evaluate.run.journal import Journal, Row
from kernelwright.evaluate.run.run import Run, unreadable
from kernelwright.evaluate.run.settings import RunSettings
from kernelwright.evaluate.timing.data_sets import speedups_by_set, together
from kernelwright.evaluate.workload.flag_choice import FlagChoice
from kernelwright.evaluate.workload.subject import Subject, subject_from_json
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.search.nsga2 import dominates
from kernelwright.search.ties import is_gain

SCORE = "mean over data sets"
"""What the times of a run are, in its facts: see ``timing/data_sets.py``."""


@dataclass(frozen=True)
class Found(Generic[C]):
    """A candidate of a run and what came of it."""

    name: str
    candidate: C
    outcome: Ok
    speedup: float
    """What gains are counted from (``Run.original_us``) over its own time."""
    key: str = ""
    written: Any = None
    """The candidate as JSON."""

    @property
    def size(self) -> int:
        """How many parts it has: among equals, fewer are preferred. 1 for a candidate that has no parts."""
        return len(self.written) if isinstance(self.written, list) else 1

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


@dataclass(frozen=True)
class SetGain:
    """How much faster a variant is on one data set."""

    number: int
    """From 1, in the order of the recordings."""
    arguments: str
    """What the set is, as far as that is known."""
    speedup: float | None
    """None for a held-out set on which it is not right; ``why`` says more."""
    held_out: bool = False
    why: str = ""

    def __str__(self) -> str:
        name = f"{'held-out ' if self.held_out else ''}data set {self.number}"
        name += f" ({self.arguments})" if self.arguments else ""
        return f"{name}: {self.speedup:.3f}x" if self.speedup is not None else f"{name}: {self.why}"

    def as_json(self) -> dict[str, Any]:
        """A row of ``sets`` in ``kw show --json``; ``set`` counts from 1, ``speedup`` is null where it is not right."""
        speedup = None if self.speedup is None else round(self.speedup, 4)
        return {"set": self.number, "arguments": self.arguments, "speedup": speedup, "held_out": self.held_out}


def facts_of(subject: Subject, settings: RunSettings, notes: Sequence[str] = ()) -> dict[str, Any]:
    """What is written down when a run begins."""
    return {"subject": subject.as_json(), "settings": settings.as_json(), "notes": list(notes), "score": SCORE}


class VariantRun(Run[C]):
    """A run over a workload. Opened without a kind, its candidates stay JSON, and it builds nothing."""

    kind: VariantKind[C]

    def check(self) -> None:
        """Raises ``Misuse`` for a run of several data sets whose times an earlier version added up: they are not comparable."""
        sets = {int(each[0]) for each in self.facts["subject"].get("chosen", ())}
        if self.facts.get("score") != SCORE and (len(sets) > 1 or "chosen" not in self.facts["subject"]):
            raise Misuse(
                f"{self.name} was made by an earlier version, which added up the times of its data sets",
                hint=f"start a new run; kw show {self.folder} and kw report {self.folder} read this one",
            )

    def __init__(
        self, folder: Path, journal: Journal, facts: Mapping[str, Any], kind: Codec[C], given: Subject | None = None
    ) -> None:
        """``given``: what it searches, where that is at hand."""
        super().__init__(folder, journal, facts, kind, given)
        if "subject" not in facts:
            raise unreadable(folder)
        self.settings = RunSettings.from_json(facts["settings"])

    @property
    def shown_facts(self) -> list[tuple[str, str]]:
        best = self.best
        return [*super().shown_facts, ("best", f"{best.name}, {best.speedup:.3f}x" if best else "none")]

    # -- what it is about ----------------------------------------------------------------------------------------------

    @property
    def subject(self) -> Subject:
        """What it evolves. Raises ``Misuse`` when only the program that started it has that."""
        return self._given or subject_from_json(self.facts["subject"], self.folder)

    @property
    def notes(self) -> list[str]:
        """What a person should know before trusting the results."""
        said = [note for event in self.journal.events("notes") for note in event.data["notes"]]
        flags = [f"{self.flags}: gains of edits are counted from that"] if self.flags and self.flags.spelled else []
        return list(dict.fromkeys([*flags, *self.facts.get("notes", ()), *said]))

    @property
    def flags(self) -> FlagChoice | None:
        """The compile flags that edits start from, and what they gain; None where none were searched."""
        value = self.facts["subject"].get("flags")
        return FlagChoice.from_json(value) if value else None

    def workload(self) -> Workload:
        """What candidates are judged by. Raises ``Misuse`` and ``ToolError`` when its files are missing or damaged."""
        return self.subject.workload()

    def builder(self) -> Builder[C]:
        """Builds its candidates."""
        return self.kind.builder(self.workload().modules(), virtual_gpu(self.settings.virtual).arch)

    # -- what came of it -----------------------------------------------------------------------------------------------

    def searched(self) -> Iterator[Row]:
        """The evaluations up to the end: what is asked afterwards does not change what was found."""
        end = self._end
        return self._final(row for row in self.rows() if end is None or row.at <= end.at)

    def _final(self, rows: Iterable[Row]) -> Iterator[Row]:
        """With what came of those programs that were measured once more, which is what counts."""
        again = self.measured_again
        for row in rows:
            if row.key in again and isinstance(row.outcome, Ok):
                outcome = again[row.key]
                row = replace(row, outcome=outcome, facts=facts_after(row.facts, outcome))
            yield row

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
    def accepted(self) -> list[Found[C]]:
        """Every accepted candidate, in order."""
        return [found for row in self.searched() if (found := self._found(row)) is not None]

    @property
    def front(self) -> list[Found[C]]:
        """The accepted candidates that no other beats, fastest first; equal ones once, with the fewest edits."""
        names = self.settings.objectives
        kept: dict[tuple[float, ...], Found[C]] = {}
        for found in self.accepted:
            point = found.outcome.objectives(names)
            same = kept.get(point)
            if same is not None and same.size <= found.size:
                continue
            if any(dominates(other, point) for other in kept):
                continue
            kept = {other: f for other, f in kept.items() if not dominates(point, other)}
            kept[point] = found
        return [kept[point] for point in sorted(kept)]

    @property
    def best(self) -> Found[C] | None:
        """The variant that the run stands for: what was left of the fastest after its proof, else the fastest minimised, or as
        it is so far; None when nothing beats the original by more than a tie, or nothing that does is proven as was demanded."""
        for kind in ("any size", "proven"):
            for event in self.journal.events(kind):
                if event.data.get("best"):
                    return self.variant(event.data["variant"])
        for event in self.journal.events("salvaged"):
            return self.variant(event.data["variant"])
        if self.ended and self.journal.events("fallen"):
            return None
        for event in reversed(self.journal.events("minimised")):
            return self.variant(event.data["variant"])
        fastest = next((found for found in self.front if found.candidate), None)
        return fastest if fastest is not None and fastest.is_gain else None

    @property
    def proven(self) -> Found[C] | None:
        """What of the best is proven for all launches that its guards admit; None where nothing is."""
        for event in self.journal.events("any size"):
            name = event.data["variant"]
            if event.data.get("best") and (self.proof(name) or {}).get("label") == "proven":
                return self.variant(name)
        for event in self.journal.events("proven"):
            return self.variant(event.data["variant"])
        return None

    @property
    def for_any_size(self) -> Found[C] | None:
        """The fastest that fixes no size, where the best does; None where that is no gain, or less than was demanded."""
        for event in self.journal.events("any size"):
            return None if event.data.get("best") else self.variant(event.data["variant"])
        return None

    @property
    def fallen(self) -> Found[C] | None:
        """The variant that was the best until its proof said less than was demanded; None when there is none."""
        for event in self.journal.events("fallen"):
            return self.variant(event.data["variant"])
        return None

    @property
    def fastest_trained(self) -> tuple[str, float]:
        """Whatever is right on the training cases, also what was rejected then: its name, and how much faster it is."""
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
                return {key: event.data.get(key, []) for key in ("label", "seed", "checks", "notes", "obligations")}
        return None

    def explained(self, name: str) -> Mapping[str, Any] | None:
        """What ``kw explain`` noted of the variant called ``v17``; None when it was not asked for."""
        for event in reversed(self.journal.events("explained")):
            if event.data.get("variant") == name:
                found: Mapping[str, Any] = event.data
                return found
        return None

    def held_out(self, name: str) -> list[Mapping[str, Any]]:
        """The speed-up of the variant called ``v17`` on each data set that is held out; none where it was not asked for."""
        for event in reversed(self.journal.events("held-out")):
            if event.data.get("variant") == name:
                return list(event.data["sets"])
        return []

    def transfer(self, name: str) -> Mapping[str, Any] | None:
        """What came of the variant called ``v17`` in the whole program on a larger set of data: ``data``, ``time_us`` and ``error``
        before and after, ``launches`` of its kernels and in how many it ran (``exchanged``), ``flags`` of its
        kernels; or ``why`` nothing did. None where it was not asked for."""
        for event in reversed(self.journal.events("transfer")):
            if event.data.get("variant") == name:
                found: Mapping[str, Any] = event.data
                return found
        return None

    def gains(self, found: Found[C]) -> list[SetGain]:
        """The speed-up on each data set, those of the search first."""
        lines = list(self.facts["subject"].get("lines", ()))

        def named(number: int) -> str:
            return str(lines[number - 1]) if number <= len(lines) else ""

        if self.original is None or self.original_us is None:
            return []
        searched = speedups_by_set(self.original, found.outcome, self.original_us)
        gains = [SetGain(number, named(number), speedup) for number, speedup in enumerate(searched, 1)]
        for each in self.held_out(found.name):
            number = int(each["set"])
            gains.append(SetGain(number, named(number), each["speedup"], True, str(each.get("why", ""))))
        return gains

    def together(self, first: Found[C], second: Found[C]) -> float:
        """The speed-up over the data sets of the program with both inside, the first tried first (``data_sets.together``)."""
        if self.original is None or self.original_us is None:
            return 1.0
        first_by_set, second_by_set, neither = (
            speedups_by_set(self.original, outcome, self.original_us)
            for outcome in (first.outcome, second.outcome, self.original)
        )
        return together(first_by_set, second_by_set, neither)

    @property
    def rejected(self) -> dict[str, int]:
        """How many candidates were rejected at each stage."""
        counts = Counter(row.outcome.stage for row in self.searched() if isinstance(row.outcome, Rejected))
        return dict(sorted(counts.items()))

    def variant(self, name: str) -> Found[C]:
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
                    f"variant {name} was rejected: {row.outcome}", hint=f"kw show {self.folder} lists the best"
                )
            row = replace(row, outcome=Ok(trained["time_us"], trained["error"]))
        found = self._found(row)
        assert found is not None
        return found

    def _without_best(self) -> Misuse:
        fallen = self.fallen
        if self.ended and fallen is not None:
            return Misuse(
                f"{self.name} has nothing faster whose proof holds: {fallen.name}, its fastest, does not",
                hint=f"name it: kw prove {self.folder}:{fallen.name}",
            )
        more = f"{self.resuming} {self.folder} goes on"
        return Misuse(
            f"{self.name} has found nothing faster",
            hint="start a run with more --evaluations, or another --seed" if self.ended else more,
        )

    def _found(self, row: Row) -> Found[C] | None:
        if not isinstance(row.outcome, Ok):
            return None
        base = self.original_us if self.original_us is not None else row.outcome.time_us
        candidate = self.kind.from_json(row.candidate)
        speedup = base / row.outcome.time_us if row.outcome.time_us else 1.0
        return Found(f"v{row.id}", candidate, row.outcome, speedup, row.key, row.candidate)


def facts_after(facts: Mapping[str, Any], outcome: Outcome) -> dict[str, Any]:
    """The facts of an evaluation whose program was measured once more: ``trained`` is what came of that."""
    kept = {name: fact for name, fact in facts.items() if name != "trained"}
    if isinstance(outcome, Ok):
        kept["trained"] = {"time_us": outcome.time_us, "error": outcome.error}
    return kept
