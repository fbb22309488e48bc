"""A run of breeding, in a folder of its own: ``kw-runs/keijzer6-1/journal.db``, from which it is read, shown and resumed.

Candidates in the journal are the texts of programs, each once, in the order in which breeding asked for them; what came of
one is its fitness, or why it has none. Events: ``generation`` (its best, and how many programs were new), ``speed`` (of each
generation), ``end``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, field, fields, replace
from pathlib import Path
from typing import Any

from kernelwright.breeding.choice import chosen_backend
from kernelwright.breeding.worker_judge import FITNESS
from kernelwright.cache import content_key
from kernelwright.errors import Misuse, reason
from kernelwright.evaluate.candidate import Codec
from kernelwright.evaluate.outcome import Ok
from kernelwright.evaluate.run.journal import Journal
from kernelwright.evaluate.run.run import Run, unreadable
from kernelwright.grammar import Problem, load_problem
from kernelwright.grammar.breeding import Dials
from kernelwright.grammar.problem import better
from kernelwright.grammar.readable import indented
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """What decides how a run goes, besides its problem. Raises ``Misuse``."""

    dials: Dials = field(default_factory=Dials)
    generations: int = 50
    target: float | None = None
    """The fitness at which to stop; None: the problem's perfect one."""
    seed: int = 0
    backend: str = "interpreted"
    timeout_s: float = 10.0
    """Of the fitness function, for one program."""

    def __post_init__(self) -> None:
        if self.generations < 1:
            raise Misuse(f"{self.generations} generations are none", hint="--generations 50")
        if not self.timeout_s > 0:
            raise Misuse("a program without time has no fitness", hint="--timeout 10")

    def as_json(self) -> dict[str, Any]:
        """The settings by field name, as a run's facts keep them; ``from_json`` reads it."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Settings:
        """What ``as_json`` wrote. Raises ``Misuse`` for anything else."""
        try:
            known = {f.name: value[f.name] for f in fields(cls)}
            # Runs of versions that knew no other way drew their first programs from random integers.
            return cls(**known | {"dials": Dials(**{"initial": "random", **known["dials"]})})
        except (KeyError, TypeError, ValueError) as error:
            raise Misuse(f"this run's settings cannot be read ({reason(error)})", hint="start a new run") from error


def settings_for(problem: Problem, *, backend: str = "auto", jobs: int | None = None, **given: Any) -> Settings:
    """The settings of a run: those given, by the names of ``Settings`` and ``Dials``, else the problem's own, else the usual.

    ``backend``: ``auto`` measures which is the quickest here. Raises ``Misuse`` for an unknown name.
    """
    chosen = {**problem.settings, **given}
    for name, value in chosen.items():
        _check_number(name, value)
    dials = {f.name: chosen.pop(f.name) for f in fields(Dials) if f.name in chosen}
    unknown = set(chosen) - {f.name for f in fields(Settings)}
    if unknown:
        known = sorted(f.name for c in (Settings, Dials) for f in fields(c) if f.name != "dials")
        raise Misuse(f"there is no setting {min(unknown)!r}", hint=f"there are {', '.join(known)}")
    settings = Settings(**{"dials": Dials(**dials), **chosen})
    return replace(settings, backend=chosen_backend(problem, backend, settings.dials.population, jobs))


WHOLE = frozenset({"population", "tournament", "elite", "codons", "longest", "generations", "seed"})
REAL = frozenset({"crossover", "mutation", "target", "timeout_s"})


def _check_number(name: str, value: object) -> None:
    """Raises ``Misuse`` for a setting that is no number of its kind."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if name in WHOLE and not is_whole:
        raise Misuse(f"{name}={value!r} is no whole number", hint=f"as {name}=10")
    if name in REAL and not (is_whole or isinstance(value, float) or (name == "target" and value is None)):
        raise Misuse(f"{name}={value!r} is no number", hint=f"as {name}=0.5")


@dataclass(frozen=True)
class Bred:
    """A program and what it is worth."""

    text: str
    fitness: float
    name: str = ""
    """``v17``: its row in the journal."""


@dataclass(frozen=True)
class Programs:
    """The kind of candidate that breeding asks about: the text of a program (``evaluate.candidate.Codec``)."""

    name: str = "breed"

    def to_json(self, candidate: str) -> str:
        return candidate

    def from_json(self, value: Any) -> str:
        return str(value)


PROGRAMS = Programs()


def facts_of(problem: Path, settings: Settings) -> dict[str, Any]:
    """What is written down when a run begins. Raises ``Misuse`` for a file that defines no problem."""
    found = load_problem(problem)
    about = {
        "path": str(problem.resolve()),
        "digest": _digest(problem),
        "goal": found.goal,
        "perfect": found.perfect,
        "individual": found.individual,
    }
    return {"problem": about, "settings": settings.as_json()}


class BreedRun(Run[str]):
    """A run that breeds programs for a problem, and what it has found."""

    def __init__(
        self, folder: Path, journal: Journal, facts: Mapping[str, Any], kind: Codec[str], given: Problem | None = None
    ) -> None:
        """``given``: its problem, where that is at hand."""
        super().__init__(folder, journal, facts, kind, given)
        if "problem" not in facts:
            raise unreadable(folder)
        self.settings = Settings.from_json(facts["settings"])

    @property
    def problem_path(self) -> Path:
        """The file that defines the problem, as it was named when the run began."""
        return Path(self.facts["problem"]["path"])

    @property
    def problem(self) -> Problem:
        """What programs are bred for. Raises ``Misuse`` when its file is gone, or is not what it was."""
        if self._given is None:
            path = self.problem_path
            found = load_problem(path)
            if _digest(path) != self.facts["problem"]["digest"]:
                raise Misuse(
                    f"{path} has changed since this run began, so that its results would not fit together",
                    hint=f"kw breed {path} starts a new run",
                )
            self._given = found
        problem: Problem = self._given
        return problem

    def check(self) -> None:
        """Raises ``Misuse`` when its problem is gone, or is not what it was."""
        _ = self.problem

    @property
    def target(self) -> float | None:
        """The fitness at which it stops."""
        if self.settings.target is not None:
            return self.settings.target
        perfect: float | None = self.facts["problem"]["perfect"]
        return perfect

    @property
    def goal(self) -> str:
        """``least`` or ``most``: what fitness is made."""
        return str(self.facts["problem"]["goal"])

    def reaches(self, fitness: float) -> bool:
        """Whether a fitness is as good as the target."""
        return self.target is not None and not better(self.goal, self.target, fitness)

    def beats(self, a: Bred, b: Bred) -> bool:
        """Whether ``a`` is better, or as good and shorter."""
        if a.fitness != b.fitness:
            return better(self.goal, a.fitness, b.fitness)
        return len(a.text) < len(b.text)

    def readable(self, bred: Bred) -> str:
        """A program as a person would write it."""
        return indented(str(self.facts["problem"]["individual"]).replace("{}", bred.text))

    @property
    def best(self) -> Bred | None:
        """The best program, of equals the shortest, of these the first."""
        found: Bred | None = None
        for row in self.rows():
            if isinstance(row.outcome, Ok):
                each = Bred(row.candidate, row.outcome.metrics[FITNESS], f"v{row.id}")
                if found is None or self.beats(each, found):
                    found = each
        return found

    @property
    def held_out(self) -> tuple[float | None, str] | None:
        """What the best is worth on inputs held out, or why it is worth nothing there; None where there are none, or no end."""
        ended = self.ended or {}
        return (ended["held_out_fitness"], ended["held_out_why"]) if "held_out_fitness" in ended else None

    @property
    def shown_facts(self) -> list[tuple[str, str]]:
        best = self.best
        return [*super().shown_facts, ("best", f"{best.name}, fitness {best.fitness:g}" if best else "none")]

    @property
    def generations(self) -> list[Mapping[str, Any]]:
        """What was noted of each: ``n``, ``best``, ``new``, ``evaluations``."""
        return [event.data for event in self.journal.events("generation")]


def _digest(path: Path) -> str:
    return content_key([path.read_bytes()]) if path.is_file() else ""
