"""One pass over a run's journal, from the first question to the last: ask, evaluate, tell, and note what happened, once.

search = Search(run, answers, standing, watch)
best = search.follow(strategy, Effort.SEARCH, learn)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic

from kernelwright.evaluate.candidate import C
from kernelwright.evaluate.outcome import Ok, Outcome, Rejected
from kernelwright.evaluate.run.answers import Answer
from kernelwright.evaluate.run.variant_answers import VariantAnswers
from kernelwright.evaluate.run.variant_run import Found, VariantRun
from kernelwright.evaluate.timing.measurement_record import Effort
from kernelwright.search import Result, Strategy
from kernelwright.stories.variant_search.standing import Standing, Watch


class Search(Generic[C]):
    """Asks for one run, and says where it stands."""

    def __init__(self, run: VariantRun[C], answers: VariantAnswers[C], standing: Standing, watch: Watch) -> None:
        self.run = run
        self.answers = answers
        self.standing = standing
        self._watch = watch
        self._told_of: dict[C, Found[C] | None] = {}
        self._spent_before = run.spent_seconds
        self._batches = 0
        self._concluded_at = next((e.data["batch"] for e in run.journal.events("conclude")), None)
        self._already = {
            (event.kind, str(event.data.get("name", event.data.get("n")))) for event in run.journal.events()
        }

    # -- ask, evaluate, tell -------------------------------------------------------------------------------------------

    def follow(
        self,
        strategy: Strategy[C],
        effort: Effort = Effort.FINAL,
        learn: Callable[[C, Outcome], None] = lambda candidate, outcome: None,
    ) -> Result[C] | None:
        """Asks, evaluates, tells until there is no question left; what came out best. ``effort``: how patiently candidates are
        measured, where times are. ``learn`` hears of every candidate and its outcome, before the strategy does."""
        while batch := strategy.ask():
            self._follow(strategy)
            self._batches += 1
            answers = self._answers(batch, effort)
            for answer in answers:
                learn(answer.candidate, answer.outcome)
            strategy.tell([self._result(answer) for answer in answers])
            if self._is_time_up():
                strategy.conclude()
        self._follow(strategy)
        return strategy.progress.best

    def try_one(self, candidate: C) -> Found[C] | None:
        """What came of one candidate; None where it was rejected."""
        self._answers([candidate], Effort.FINAL)
        return self._told_of[candidate]

    def found(self, candidate: C) -> Found[C] | None:
        """A candidate that was asked about before; None where it was rejected."""
        return self._told_of[candidate]

    def again(self, batch: Sequence[C]) -> list[Result[C]]:
        """Candidates that were asked about, measured once more."""
        answers = self.answers.again(batch)
        self._told_of |= {answer.candidate: self._found(answer) for answer in answers}
        self.standing.front = self.run.front
        self.standing.best = max((f for f in self.standing.front if f.candidate), key=lambda f: f.speedup, default=None)
        self._watch(self.standing)
        return [self._result(answer) for answer in answers]

    # -- what is said and noted ----------------------------------------------------------------------------------------

    def say(self, phase: str) -> None:
        """What is being done now, for its watchers."""
        self.standing.phase = phase
        self._watch(self.standing)

    def note(self, kind: str, data: Mapping[str, Any]) -> None:
        """Notes an event once, however often the run is resumed."""
        mark = (kind, str(data.get("name", data.get("n"))))
        if mark not in self._already:
            self._already.add(mark)
            self.run.journal.note(kind, dict(data))

    def remark(self, name: str, notes: Sequence[str]) -> None:
        """What a person should know before trusting the results."""
        self.standing.notes = list(dict.fromkeys([*self.standing.notes, *notes]))
        self.note("notes", {"name": name, "notes": list(notes)})

    # -- inside --------------------------------------------------------------------------------------------------------

    def _answers(self, batch: Sequence[C], effort: Effort) -> list[Answer[C]]:
        return self.answers.of(batch, self.standing.phase, self.standing.generation, self._told, effort)

    def _told(self, answer: Answer[C]) -> None:
        standing = self.standing
        if answer.candidate in self._told_of:
            return
        found = self._told_of[answer.candidate] = self._found(answer)
        standing.evaluations += 1
        if answer.candidate and answer.trained_us:
            standing.speedup_any = max(standing.speedup_any, standing.original_us / answer.trained_us)
        if not standing.is_over:
            # A proof between two candidates is no part of the rate of the search.
            standing.searched = time.monotonic()
            standing.fresh += answer.fresh
        standing.seen += answer.seen
        if found is not None:
            standing.accepted += 1
            # Of what is asked for a proof, the best is what stands it.
            if (
                found.candidate
                and not standing.is_over
                and (standing.best is None or found.speedup > standing.best.speedup)
            ):
                standing.best = found
        elif isinstance(answer.outcome, Rejected):
            standing.rejected[answer.outcome.stage] += 1
        self._watch(standing)

    def _found(self, answer: Answer[C]) -> Found[C] | None:
        if not isinstance(answer.outcome, Ok):
            return None
        time_us = answer.outcome.time_us
        speedup = self.standing.original_us / time_us if time_us else 1.0
        return Found(answer.name, answer.candidate, answer.outcome, speedup, answer.key, answer.written)

    def _result(self, answer: Answer[C]) -> Result[C]:
        outcome = answer.outcome
        if not isinstance(outcome, Ok):
            return Result(answer.candidate, None, cause=outcome.stage)
        instructions = outcome.metrics.get("instructions", 0.0)
        objectives = outcome.objectives(self.run.settings.objectives)
        return Result(answer.candidate, objectives, instructions, key=answer.key)

    def _follow(self, strategy: Strategy[C]) -> None:
        """Phases and generations as they come, for the journal and its watchers."""
        progress = strategy.progress
        self.standing.phase, self.standing.generation = progress.phase, progress.generation
        found = [self._told_of.get(result.candidate) for result in progress.front]
        self.standing.front = [each for each in found if each is not None]
        self.note("phase", {"name": progress.phase, "evaluations": self.standing.evaluations})
        front = [list(result.objectives or ()) for result in progress.front]
        facts = {
            "n": progress.generation,
            "front": front,
            "credit": dict(progress.credit),
            "accepted": progress.accepted,
        }
        if progress.generation:
            self.note("generation", facts)

    def _is_time_up(self) -> bool:
        """Whether the search has had its time. On resuming it ends where it ended before."""
        if self._concluded_at is not None:
            return bool(self._batches >= self._concluded_at)
        limit = self.run.settings.seconds
        if limit is None or self._spent_before + time.monotonic() - self.standing.began < limit:
            return False
        self._concluded_at = self._batches
        self.note("conclude", {"name": "time", "batch": self._batches})
        return True
