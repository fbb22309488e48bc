"""Candidates asked about, in batches: what the journal knows is looked up, the rest is evaluated in a pool and recorded.

Every outcome is recorded the moment it is there, and given back in the order that was asked, so that neither the number of
workers nor a crash changes what a search is told.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from kernelwright.edits.gene import Gene
from kernelwright.errors import KernelwrightError, Misuse, ToolError
from kernelwright.evaluate.fitness import Evaluated, Reference, setup
from kernelwright.evaluate.journal import Row, candidate_hash
from kernelwright.evaluate.outcome import Outcome, Rejected
from kernelwright.evaluate.run import Run
from kernelwright.evaluate.variant import Candidate
from kernelwright.farm import Lost, Raised, pool_for

TIMEOUT_S = 120.0
"""Of one candidate; loops are bounded by their own budget long before."""


@dataclass(frozen=True)
class Answer:
    """A candidate's row in the journal: its number, and what came of it."""

    row: int
    candidate: Candidate
    outcome: Outcome
    key: str
    fresh: bool
    """Whether it was evaluated now, not looked up."""
    seen: bool = False
    """Whether it came to a program that was evaluated before."""
    trained_us: float | None = None
    """Its time, if it is right on the training cases, whatever came then."""


class Answers:
    """Answers for one run. Close it, or use it as a context manager; the run stays open."""

    def __init__(self, run: Run, jobs: int | None = None, cluster: str | None = None) -> None:
        """``cluster``: the address of a Ray cluster whose nodes do the work."""
        self._run = run
        self._known = {row.hash: _of(row) for row in run.rows()}
        self.looked_up = 0
        self.evaluated = 0
        settings = run.settings
        self._pool = pool_for(
            cluster,
            setup,
            (run.subject, settings.device, settings.demands),
            files=run.subject.files,
            workers=jobs,
            timeout_s=TIMEOUT_S,
            shared=True,
        )

    @property
    def jobs(self) -> int:
        return self._pool.workers

    def reference(self) -> Reference:
        """What the original costs, and what is to be said of the workload. Raises ``Misuse`` for one that is no judge."""
        ((_, found),) = list(self._pool.map([None]))
        if isinstance(found, Lost):
            raise ToolError(f"the original cannot be evaluated: {found}", hint="kw check shows what it does")
        if isinstance(found, Raised):
            raise found.error
        assert isinstance(found, Reference)
        return found

    def of(
        self, batch: Sequence[Candidate], phase: str, generation: int, told: Callable[[Answer], None] = lambda _: None
    ) -> list[Answer]:
        """The answers, in the order of the batch. ``told`` hears of each as it comes."""
        names = [candidate_hash(_json(candidate)) for candidate in batch]
        fresh = [index for index, name in enumerate(names) if name not in self._known]
        for name in names:
            if name in self._known:
                self.looked_up += 1
                told(self._known[name])
        begin = time.time()
        for number, found in self._pool.map([batch[index] for index in fresh]):
            index = fresh[number]
            answer = self._recorded(batch[index], _evaluated(found), phase, generation, time.time() - begin)
            self._known[names[index]] = answer
            self.evaluated += 1
            told(answer)
        return [self._known[name] for name in names]

    def _recorded(
        self, candidate: Candidate, evaluated: Evaluated, phase: str, generation: int, seconds: float
    ) -> Answer:
        facts = {"generation": generation, **evaluated.facts}
        name = candidate_hash(_json(candidate))
        row = self._run.journal.record(
            _json(candidate),
            evaluated.outcome,
            key=evaluated.key or name,
            phase=phase,
            facts=facts,
            timings=evaluated.timings,
        )
        seen, trained = bool(facts.get("seen")), _trained(facts)
        return Answer(row, candidate, evaluated.outcome, evaluated.key or name, True, seen, trained)

    def close(self) -> None:
        self._pool.close()

    def __enter__(self) -> Answers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _json(candidate: Candidate) -> list[object]:
    return [gene.as_json() for gene in candidate]


def _of(row: Row) -> Answer:
    candidate = tuple(Gene.from_json(value) for value in row.candidate)
    return Answer(row.id, candidate, row.outcome, row.key, False, bool(row.facts.get("seen")), _trained(row.facts))


def _trained(facts: Mapping[str, Any]) -> float | None:
    trained = facts.get("trained")
    return float(trained["time_us"]) if trained else None


def _evaluated(found: object) -> Evaluated:
    if isinstance(found, Lost):
        return Evaluated(Rejected(found.stage, found.reason), "")
    if isinstance(found, Raised):
        if isinstance(found.error, Misuse):
            raise found.error
        # A defect of ours that one candidate brings to light is no reason to lose the others; it is counted and shown.
        stage = "compile" if isinstance(found.error, KernelwrightError) else "crash"
        return Evaluated(Rejected(stage, f"it could not be evaluated: {found.reason}"), "")
    assert isinstance(found, Evaluated)
    return found
