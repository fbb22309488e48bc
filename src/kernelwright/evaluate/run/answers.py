"""Candidates asked about, in batches: what the journal knows is looked up, the rest is handed to a judge and recorded.

    answers = Answers(run)
    for answer in answers.of(batch, judge):        # judge(candidates) -> (index, Evaluated) of each, as they finish
        answer.outcome, answer.fresh

Answers come in the order asked, so that neither the number of workers nor a crash changes what a search is told. This is the
only place that hands out work and records it, whatever the candidates are and whatever judges them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic

from kernelwright.evaluate.candidate import C
from kernelwright.evaluate.judging.fitness import Evaluated
from kernelwright.evaluate.outcome import Outcome
from kernelwright.evaluate.run.journal import Row, candidate_hash
from kernelwright.evaluate.run.run import Run
from kernelwright.lazy_dataclasses import dataclass

RECORD_EVERY_S = 1.0
"""Where rows wait for those that were asked before them: what is complete is on the disk after this long."""

Judge = Callable[[Sequence[C]], Iterator[tuple[int, Evaluated]]]
"""Judges candidates: the index of each and what came of it, in the order in which they finish."""


@dataclass(frozen=True)
class Answer(Generic[C]):
    """A candidate's row in the journal, and what came of it."""

    row: int
    candidate: C
    written: Any
    """The candidate as JSON."""
    outcome: Outcome
    key: str
    fresh: bool
    """Whether it was evaluated now, not looked up."""
    facts: Mapping[str, Any]

    @property
    def name(self) -> str:
        """``v17``"""
        return f"v{self.row}"

    @property
    def seen(self) -> bool:
        """Whether it came to a program that was evaluated before."""
        return bool(self.facts.get("seen"))

    @property
    def trained_us(self) -> float | None:
        """Its time, if it is right on the training cases, whatever came then."""
        trained = self.facts.get("trained")
        return float(trained["time_us"]) if trained else None


class Answers(Generic[C]):
    """Answers for one run that is open for writing."""

    def __init__(self, run: Run[C], *, in_order: bool = False) -> None:
        """``in_order``: rows are recorded in the order asked, so that equal runs have equal journals; else each the moment it
        is there, so that a crash loses none."""
        self._run = run
        self._in_order = in_order
        self.known = {row.hash: self._of(row) for row in run.rows()}
        """By the hash of the candidate. What counts for an answer may change: see ``VariantAnswers.settle``."""
        self.looked_up = 0
        self.evaluated = 0

    def name(self, candidate: C) -> str:
        """What the journal knows a candidate by."""
        return candidate_hash(self._run.kind.to_json(candidate))

    def of(
        self,
        batch: Sequence[C],
        judge: Judge[C],
        phase: str = "",
        facts: Mapping[str, Any] | None = None,
        told: Callable[[Answer[C]], None] = lambda _: None,
    ) -> list[Answer[C]]:
        """The answers, in the order of the batch. ``facts``: recorded with each that is new. ``told`` hears of each, as it comes
        and is recorded."""
        names = [self.name(candidate) for candidate in batch]
        fresh: dict[str, C] = {}
        for name, candidate in zip(names, batch, strict=True):
            if name not in self.known:
                fresh.setdefault(name, candidate)
                continue
            self.looked_up += 1
            told(self.known[name])
        results = judge(list(fresh.values()))
        keys = list(fresh)
        for some in in_order(results, RECORD_EVERY_S) if self._in_order else ([each] for each in results):
            with self._run.journal.batch():
                answers = [self._recorded(keys[n], fresh[keys[n]], found, phase, facts or {}) for n, found in some]
            for (n, _), answer in zip(some, answers, strict=True):
                self.known[keys[n]] = answer
                self.evaluated += 1
                told(answer)
        return [self.known[name] for name in names]

    def _recorded(
        self, name: str, candidate: C, evaluated: Evaluated, phase: str, facts: Mapping[str, Any]
    ) -> Answer[C]:
        written, known = self._run.kind.to_json(candidate), {**facts, **evaluated.facts}
        key = evaluated.key or name
        row = self._run.journal.record(
            written, evaluated.outcome, key=key, phase=phase, facts=known, timings=evaluated.timings
        )
        return Answer(row, candidate, written, evaluated.outcome, key, True, known)

    def _of(self, row: Row) -> Answer[C]:
        candidate = self._run.kind.from_json(row.candidate)
        return Answer(row.id, candidate, row.candidate, row.outcome, row.key, False, row.facts)


def in_order(
    results: Iterator[tuple[int, Evaluated]], every_s: float, clock: Callable[[], float] = time.monotonic
) -> Iterator[list[tuple[int, Evaluated]]]:
    """The results by their index, without a gap, in groups: one when ``every_s`` have passed since the last, and one at the end."""
    waiting: dict[int, Evaluated] = {}
    done, last = 0, clock()

    def complete() -> list[tuple[int, Evaluated]]:
        nonlocal done
        found = []
        while done in waiting:
            found.append((done, waiting.pop(done)))
            done += 1
        return found

    for index, evaluated in results:
        waiting[index] = evaluated
        if clock() - last > every_s:
            if some := complete():
                yield some
            last = clock()
    if some := complete():
        yield some
