"""A run of exploring, in a folder of its own: ``kw-runs/matmul-1/journal.db``, from which it is read, shown and resumed.

Candidates in the journal are decisions as text, in the order in which the search asked for them; what came of one is its time,
estimated from the first blocks of its grid, or why it has none. Events: ``naive`` (the kernel that gains are counted from, as candidates
are tried and at the end as a whole; it is the winner where nothing faster was found), ``proven`` (nothing in the space is faster than so
many us), ``best`` (the winner, run as a whole), ``rejected`` (a winner that was wrong as a whole), ``launches`` (of sizes at launch: others
that the winner was right at), ``fixed`` (what its decisions take with the tuned sizes written into the kernel), ``measured`` (what a real
GPU said of the fastest; the winner is the fastest there), ``end``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from kernelwright.errors import Misuse, check_kind, reason
from kernelwright.evaluate.candidate import Codec
from kernelwright.evaluate.outcome import Ok
from kernelwright.evaluate.run.journal import Journal
from kernelwright.evaluate.run.run import Run, unreadable
from kernelwright.exploration.decisions import DECISIONS, Decisions
from kernelwright.exploration.gpu_times import Measured
from kernelwright.exploration.subject import Subject
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.search.strategies import DEFAULT_TREE_SEARCH, TREE_SEARCHES

NAIVE = "naive"
"""The name of the naive kernel, which is no row of the search."""


@dataclass(frozen=True)
class ExploreSettings:
    """What decides how a run goes, besides its subject. Raises ``Misuse``."""

    strategy: str = DEFAULT_TREE_SEARCH
    evaluations: int | None = 1000
    seconds: float | None = None
    gap: float = 0.0
    """Stop when the best is proven to be at most this share slower than the fastest of the space."""
    until_us: float | None = None
    """Stop when the best takes at most so long."""
    seed: int = 0
    batch: int = 8
    """Candidates asked at once: part of what is found, unlike the number of workers."""
    decisions: Decisions = ()
    """Taken before the search, and kept by all that is tried but the naive kernel."""
    at: tuple[tuple[int, ...], ...] = ()
    """Of sizes that are given at launch: more launches that the winner has to be right at."""
    measured: str = ""
    """``cuda:0``: where the best are measured in the end; empty where times are estimated."""
    gpu: str = ""
    """What that GPU is called."""
    arch: str = ""
    """Its architecture."""

    def __post_init__(self) -> None:
        if self.strategy not in TREE_SEARCHES:
            raise Misuse(
                f"--strategy {self.strategy} is none of {', '.join(TREE_SEARCHES)}",
                hint="; ".join(f"{each.name}: {each.what}" for each in TREE_SEARCHES.values()),
            )
        if self.evaluations is None and self.seconds is None:
            raise Misuse("nothing says when to stop", hint="give --evaluations or --budget")
        limits = (
            ("evaluations", self.evaluations),
            ("seconds", self.seconds),
            ("gap", self.gap),
            ("until_us", self.until_us),
        )
        for what, limit in limits:
            check_kind(limit, (int, float, type(None)), what, f"give a number: {what}=100")
        for what, number in (("seed", self.seed), ("batch", self.batch)):
            check_kind(number, int, what, f"give a whole number: {what}=8")
        if any(limit is not None and not 0 < limit < math.inf for limit in (self.evaluations, self.seconds)):
            raise Misuse("a budget is a positive number", hint="--evaluations 1000 --budget 300")
        if self.until_us is not None and not 0 < self.until_us < math.inf:
            raise Misuse(f"a time of {self.until_us} us is none to stop at", hint="--until 60: microseconds, above 0")
        if not self.gap >= 0:
            raise Misuse(f"a gap of {self.gap} is no share from 0 up", hint="--gap 0.1: at most 10 % slower")
        if self.batch < 1:
            raise Misuse(f"a batch of {self.batch} kernels is no number from 1 up", hint="batch=8")

    def as_json(self) -> dict[str, Any]:
        """By field name, as a run's facts keep it; ``from_json`` reads it."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ExploreSettings:
        """What ``as_json`` wrote. Raises ``Misuse`` for anything else."""
        try:
            names = [f.name for f in fields(cls) if f.name not in ("decisions", "at")]
            found = {name: value[name] for name in names if name in value or name not in _LATER}
            at = tuple(tuple(int(size) for size in each) for each in value.get("at", ()))
            return cls(**found, decisions=DECISIONS.from_json(list(value.get("decisions", ()))), at=at)
        except (KeyError, TypeError, ValueError) as error:
            raise Misuse(f"this run's settings cannot be read ({reason(error)})", hint="start a new run") from error


_LATER = ("until_us", "measured", "gpu", "arch")
"""What runs of earlier versions do not say."""


@dataclass(frozen=True)
class ExploredKernel:
    """A kernel of the space by its decisions. ``time_us``: estimated, of the kernel without its launch; ``name``: ``v17``, its row."""

    decisions: Decisions
    time_us: float
    name: str = ""


def facts_of(subject: Subject, settings: ExploreSettings) -> dict[str, Any]:
    """What is written down when a run begins."""
    return {"subject": subject.as_json(), "settings": settings.as_json()}


class ExploreRun(Run[Decisions]):
    """A run that explores a space, and what it has found."""

    def __init__(
        self,
        folder: Path,
        journal: Journal,
        facts: Mapping[str, Any],
        kind: Codec[Decisions],
        given: Subject | None = None,
    ) -> None:
        super().__init__(folder, journal, facts, kind, given)
        if "subject" not in facts or "computation" not in facts["subject"]:
            raise unreadable(folder)
        self.settings = ExploreSettings.from_json(facts["settings"])
        self.subject = given or Subject.from_json(facts["subject"], folder)

    def check(self) -> None:
        """Raises ``Misuse`` for a run whose computation is another by now."""
        if self.subject.own is not None and self.ended is None:
            self.subject.own.check_original()

    def _noted(self, event: str) -> Mapping[str, Any] | None:
        found = self.journal.events(event)
        return found[-1].data if found else None

    @property
    def naive(self) -> ExploredKernel | None:
        """What gains are counted from, at the end as a whole; None before it was run."""
        return _kernel_of(self._noted("naive"))

    @property
    def best(self) -> ExploredKernel | None:
        """The winner, run as a whole; before the end the best of those tried."""
        return _kernel_of(self._noted("best")) or next(iter(self.tried), None)

    @property
    def tried(self) -> list[ExploredKernel]:
        """All that were right on the blocks that ran, the fastest first, of equals the first."""
        rows = [row for row in self.rows() if isinstance(row.outcome, Ok)]
        found = [
            ExploredKernel(self.kind.from_json(row.candidate), row.outcome.time_us, f"v{row.id}")
            for row in rows
            if isinstance(row.outcome, Ok)
        ]
        return sorted(found, key=lambda each: each.time_us)

    @property
    def proven_us(self) -> float:
        """Nothing in the space is faster, as far as the bound is right; 0 while nothing is known."""
        noted = self._noted("proven")
        return float(noted["us"]) if noted else 0.0

    @property
    def launches(self) -> list[dict[str, Any]]:
        """Where sizes are given at launch: others than the tuned ones at which the winner was right, each with its estimated time."""
        noted = self._noted("launches")
        return list(noted["right"]) if noted else []

    @property
    def fixed_us(self) -> float | None:
        """What the winner's decisions take where the tuned sizes stand in the kernel; None where they do anyhow."""
        noted = self._noted("fixed")
        return float(noted["time_us"]) if noted else None

    @property
    def on_gpu(self) -> Measured | None:
        """What a real GPU said of the fastest; None where none was asked."""
        noted = self._noted("measured")
        return Measured.from_json(noted) if noted else None

    @property
    def speedup(self) -> float | None:
        """Of the best over the naive kernel: measured where both were, else estimated."""
        naive, best = self.naive, self.best
        if naive and best and (found := self.on_gpu):
            times = found.of(NAIVE), found.of(best.name)
            if times[0] and times[1]:
                return times[0] / times[1]
        return naive.time_us / best.time_us if naive and best and best.time_us else None


def _kernel_of(noted: Mapping[str, Any] | None) -> ExploredKernel | None:
    if not noted:
        return None
    return ExploredKernel(tuple(noted["decisions"]), float(noted["time_us"]), str(noted.get("name", "")))


def noted_kernel(kernel: ExploredKernel) -> dict[str, Any]:
    """As it stands in an event."""
    return {"decisions": list(kernel.decisions), "time_us": kernel.time_us, "name": kernel.name}
