"""Candidates asked about, in batches: what the journal knows is looked up, the rest is evaluated in a pool and recorded.

Every outcome is recorded the moment it is there, and given back in the order that was asked, so that neither the number of
workers nor a crash changes what a search is told. Where times are measured, what the pool accepts goes through a real GPU
first (``on_gpu``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

from kernelwright.device.cuda.worker import CudaWorker
from kernelwright.edits.gene import Gene
from kernelwright.errors import KernelwrightError, Misuse, ToolError
from kernelwright.evaluate.judging.fitness import Evaluated
from kernelwright.evaluate.judging.variant import Candidate
from kernelwright.evaluate.judging.worker_process import Reference, setup
from kernelwright.evaluate.outcome import Ok, Outcome, Rejected
from kernelwright.evaluate.run.journal import Row, candidate_hash
from kernelwright.evaluate.run.run import Run
from kernelwright.evaluate.timing.gpu_timer import GpuTimer
from kernelwright.evaluate.timing.measurement_record import Effort, Known
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

    def __init__(
        self, run: Run, jobs: int | None = None, cluster: str | None = None, *, from_start: bool = False
    ) -> None:
        """``cluster``: the address of a Ray cluster whose nodes do the work. ``from_start``: a search is going to be told all
        of it again, so that what was measured once more at its end counts only from ``settle`` on."""
        self._run = run
        self._known = {row.hash: _of(row) for row in run.rows()}
        self.looked_up = 0
        self.evaluated = 0
        settings = run.settings
        self._timer = _timer(run) if settings.gpu else None
        self._effort = Effort.SEARCH
        if not from_start:
            self.settle()
        self._pool = pool_for(
            cluster,
            setup,
            (run.subject, settings.virtual, settings.demands, settings.arch),
            files=run.subject.files,
            workers=jobs,
            timeout_s=TIMEOUT_S,
            shared=True,
        )

    @property
    def jobs(self) -> int:
        return self._pool.workers

    @property
    def is_measured(self) -> bool:
        """Whether times come from a real GPU, so that measuring again says more."""
        return self._timer is not None

    def reference(self) -> Reference:
        """What the original costs, and what is to be said of the workload. Raises ``Misuse`` for one that is no judge."""
        ((_, found),) = list(self._pool.map([None]))
        if isinstance(found, Lost):
            raise ToolError(f"the original cannot be evaluated: {found}", hint="kw check shows what it does")
        if isinstance(found, Raised):
            raise found.error
        assert isinstance(found, Reference)
        if self._timer is None:
            return found
        measured = self._timer.reference(found)
        if fresh := self._timer.taken():
            self._run.journal.note("reference", {"measured": fresh})
        return measured

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
        for number, evaluated in self._evaluated([batch[index] for index in fresh]):
            index = fresh[number]
            answer = self._recorded(batch[index], evaluated, phase, generation, time.time() - begin)
            self._known[names[index]] = answer
            self.evaluated += 1
            told(answer)
        return [self._known[name] for name in names]

    def _evaluated(self, batch: Sequence[Candidate]) -> Iterator[tuple[int, Evaluated]]:
        """As they are done, whatever came of them."""
        evaluated = ((number, _evaluated(found)) for number, found in self._pool.map(batch))
        return self._timer.through(evaluated, self._effort) if self._timer is not None else evaluated

    def again(self, batch: Sequence[Candidate]) -> list[Answer]:
        """Known answers, measured once more with all the patience there is, and noted, a program once."""
        names = [candidate_hash(_json(candidate)) for candidate in batch]
        self.settle()
        done = self._run.measured_again
        due = {self._known[name].key: candidate for name, candidate in zip(names, batch, strict=True)}
        due = {key: candidate for key, candidate in due.items() if key not in done}
        keys = list(due)
        before = {answer.key: answer.outcome for answer in self._known.values() if answer.key in due}
        for number, evaluated in self._evaluated(list(due.values())):
            key, measured = keys[number], evaluated.facts.get("measured", [])
            # A worker that was lost on the way says nothing of the candidate, which was found right before.
            outcome = evaluated.outcome if measured or isinstance(evaluated.outcome, Ok) else before[key]
            self._run.journal.note("measured", {"key": key, "measured": measured, "outcome": outcome.as_json()})
        self.settle()
        return [self._known[name] for name in names]

    def settle(self) -> None:
        """From now on what was measured once more counts, and what is measured is measured as patiently."""
        if self._timer is None:
            return
        self._effort = Effort.FINAL
        again = self._run.measured_again
        for name, answer in self._known.items():
            if answer.key in again and isinstance(answer.outcome, Ok):
                outcome = again[answer.key]
                trained = outcome.time_us if isinstance(outcome, Ok) else None
                self._known[name] = replace(answer, outcome=outcome, fresh=False, trained_us=trained)

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
        if self._timer is not None:
            self._timer.close()

    def __enter__(self) -> Answers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _timer(run: Run) -> GpuTimer:
    """The run's GPU, with what is known of it. It is not touched yet."""
    noted = [row.facts for row in run.rows()]
    noted += [event.data for kind in ("reference", "measured") for event in run.journal.events(kind)]
    known = Known.of(each for facts in noted for each in facts.get("measured", ()))
    settings = run.settings
    worker = CudaWorker(int(settings.device.partition(":")[2]))
    return GpuTimer(run.workload(), settings.device, settings.gpu, known, worker)


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
