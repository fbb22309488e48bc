"""Variants asked about: candidates are built and judged in a pool of workers.

Where times are measured, what the pool accepts goes through a real GPU first (``timing/gpu_timer.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Generic

from kernelwright.device.real_gpu.worker import CudaWorker
from kernelwright.errors import ToolError
from kernelwright.evaluate.candidate import C
from kernelwright.evaluate.judging.fitness import Evaluated
from kernelwright.evaluate.judging.worker_answer import read_answer
from kernelwright.evaluate.judging.worker_process import Reference, setup
from kernelwright.evaluate.outcome import Ok
from kernelwright.evaluate.run.answers import Answer, Answers
from kernelwright.evaluate.run.variant_run import VariantRun, facts_after
from kernelwright.evaluate.timing.gpu_timer import GpuTimer
from kernelwright.evaluate.timing.measurement_record import Effort, Known
from kernelwright.farm import Lost, Raised, pool_for

TIMEOUT_S = 120.0
"""Of one candidate; loops are bounded by their own budget long before."""


class VariantAnswers(Generic[C]):
    """Answers for one run. Close it, or use it as a context manager; the run stays open."""

    def __init__(
        self, run: VariantRun[C], jobs: int | None = None, cluster: str | None = None, *, from_start: bool = False
    ) -> None:
        """``cluster``: the address of a Ray cluster whose nodes do the work. ``from_start``: a search is going to be told all
        of it again, so that what was measured once more at its end counts only from ``settle`` on."""
        self._run = run
        self._answers = Answers(run)
        settings = run.settings
        self._timer = _timer(run) if settings.gpu else None
        if not from_start:
            self.settle()
        self._pool = pool_for(
            cluster,
            setup,
            (run.subject, run.kind, settings.virtual, settings.demands, settings.arch),
            files=run.subject.files,
            workers=jobs,
            timeout_s=TIMEOUT_S,
            shared=True,
        )

    @property
    def jobs(self) -> int:
        """Worker processes, which is how many candidates are judged at a time."""
        return self._pool.workers

    @property
    def looked_up(self) -> int:
        """Answers that the journal had already."""
        return self._answers.looked_up

    @property
    def evaluated(self) -> int:
        """Candidates that were built and judged."""
        return self._answers.evaluated

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
        self,
        batch: Sequence[C],
        phase: str,
        generation: int,
        told: Callable[[Answer[C]], None] = lambda _: None,
        effort: Effort = Effort.FINAL,
    ) -> list[Answer[C]]:
        """The answers, in the order of the batch. ``told`` hears of each as it comes. ``effort``: where times are measured, how
        patiently what is new is."""
        return self._answers.of(batch, partial(self._judged, effort), phase, {"generation": generation}, told)

    def _judged(self, effort: Effort, batch: Sequence[C]) -> Iterator[tuple[int, Evaluated]]:
        """As they are done, whatever came of them."""
        evaluated = ((number, read_answer(found)) for number, found in self._pool.map(batch))
        return self._timer.through(evaluated, effort) if self._timer is not None else evaluated

    def again(self, batch: Sequence[C]) -> list[Answer[C]]:
        """Known answers, measured once more with all the patience there is, and noted, a program once."""
        known = self._answers.known
        names = [self._answers.name(candidate) for candidate in batch]
        self.settle()
        done = self._run.measured_again
        due = {known[name].key: candidate for name, candidate in zip(names, batch, strict=True)}
        due = {key: candidate for key, candidate in due.items() if key not in done}
        keys = list(due)
        before = {answer.key: answer.outcome for answer in known.values() if answer.key in due}
        for number, evaluated in self._judged(Effort.FINAL, list(due.values())):
            key, measured = keys[number], evaluated.facts.get("measured", [])
            # A worker that was lost on the way says nothing of the candidate, which was found right before.
            outcome = evaluated.outcome if measured or isinstance(evaluated.outcome, Ok) else before[key]
            self._run.journal.note("measured", {"key": key, "measured": measured, "outcome": outcome.as_json()})
        self.settle()
        return [known[name] for name in names]

    def settle(self) -> None:
        """From now on what was measured once more counts."""
        if self._timer is None:
            return
        again, known = self._run.measured_again, self._answers.known
        for name, answer in known.items():
            if answer.key in again and isinstance(answer.outcome, Ok):
                outcome = again[answer.key]
                known[name] = replace(answer, outcome=outcome, fresh=False, facts=facts_after(answer.facts, outcome))

    def close(self) -> None:
        """Ends the worker processes, and the process of the real GPU, if there is one."""
        self._pool.close()
        if self._timer is not None:
            self._timer.close()

    def __enter__(self) -> VariantAnswers[C]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _timer(run: VariantRun[C]) -> GpuTimer:
    """The run's GPU, with what is known of it. It is not touched yet."""
    noted = [row.facts for row in run.rows()]
    noted += [event.data for kind in ("reference", "measured") for event in run.journal.events(kind)]
    known = Known.of(each for facts in noted for each in facts.get("measured", ()))
    settings = run.settings
    worker = CudaWorker(int(settings.device.partition(":")[2]))
    return GpuTimer(run.workload(), settings.device, settings.gpu, known, worker)
