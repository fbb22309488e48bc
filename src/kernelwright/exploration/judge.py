"""Candidates judged in a pool of workers that may die of them: decisions become kernels here, workers compile and run these.

with KernelJudge(space, jobs) as judge:
    answers.of(batch, judge)                      # the journal comes before it: ``evaluate/run/answers.py``
    judge.whole(decisions)                        # every block, other schedules
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import TracebackType

from kernelwright.errors import Misuse
from kernelwright.evaluate.judging.fitness import Evaluated
from kernelwright.evaluate.judging.worker_answer import read_answer
from kernelwright.evaluate.outcome import Outcome, Rejected
from kernelwright.exploration.decisions import Decisions
from kernelwright.exploration.kernel_space import KernelSpace
from kernelwright.exploration.subject import LARGEST_BYTES, Subject
from kernelwright.exploration.trial import MOST_WORK, Trials, block_work
from kernelwright.farm import pool_for
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.cuda_source import GeneratedKernel

TIMEOUT_S = 600.0
"""Of a batch, or of a whole launch."""
MOST_REGISTERS = 512
"""That the values of a thread may ask for. A GPU has 255 for a thread and spills the rest to memory; LLVM takes seconds for what
would be slow anyhow. Such kernels are rejected before they are compiled."""
BATCH = (1, 4)
"""Kernels that are compiled together, at least and at most."""


@dataclass(frozen=True)
class Work:
    """``whole``: every block runs, and the first ones under other schedules; ``subject``: with other sizes than the judge's."""

    kernel: GeneratedKernel
    whole: bool = False
    subject: Subject | None = None


def judging(subject: Subject) -> Callable[[list[Work]], list[Evaluated]]:
    """What a worker does with a batch."""
    trials = Trials(subject)

    def work(batch: list[Work]) -> list[Evaluated]:
        some = iter(trials.of([each.kernel for each in batch if not each.whole]))
        return [_whole(trials, each) if each.whole else next(some) for each in batch]

    return work


def _whole(trials: Trials, work: Work) -> Evaluated:
    if work.subject is None:
        return Evaluated(trials.whole(work.kernel), "")
    others = Trials(work.subject)
    try:
        return Evaluated(others.whole(work.kernel), "")
    finally:
        others.close()


class KernelJudge:
    """Close it, or use it as a context manager."""

    def __init__(self, space: KernelSpace, jobs: int | None = None) -> None:
        self._space = space
        self._pool = pool_for(
            None, judging, (space.subject,), workers=jobs, timeout_s=TIMEOUT_S, batch=BATCH, shared=True
        )

    @property
    def jobs(self) -> int:
        """Worker processes that build and time kernels."""
        return self._pool.workers

    def __call__(self, batch: Sequence[Decisions]) -> Iterator[tuple[int, Evaluated]]:
        """What became of each, by its index, as it comes, with the bound of its leaf."""
        works: list[tuple[int, Work, float]] = []
        for index, decisions in enumerate(batch):
            try:
                bound_us = self._space.bound.time_us(self._space.decided(decisions))
                kernel = self._space.kernel(decisions)
            except Misuse as error:
                yield index, Evaluated(Rejected("compile", error.message), "")
                continue
            if costly := _too_costly(kernel, self._space.subject):
                yield index, Evaluated(costly, "", {"bound_us": bound_us})
            else:
                works.append((index, Work(kernel), bound_us))
        for number, found in self._pool.map([work for _, work, _ in works]):
            index, _, bound_us = works[number]
            evaluated = read_answer(found)
            yield index, replace(evaluated, facts={**evaluated.facts, "bound_us": bound_us})

    def whole(self, decisions: Decisions, sizes: Mapping[str, int] | None = None) -> Outcome:
        """``sizes``: of the launch, where they are given there; else those that are tuned on. Raises ``Misuse`` for sizes that the
        kernel is not made for."""
        kernel, subject = self._space.kernel(decisions), None
        if sizes is not None:
            kernel, subject = kernel.at(sizes), self._space.subject.at(sizes)
        return self.of_kernel(kernel, subject)

    def of_kernel(self, kernel: GeneratedKernel, subject: Subject | None = None) -> Outcome:
        """The same of a kernel, one of another subject's space maybe."""
        ((_, found),) = list(self._pool.map([Work(kernel, whole=True, subject=subject)]))
        return read_answer(found).outcome

    def close(self) -> None:
        """Ends the worker processes."""
        self._pool.close()

    def __enter__(self) -> KernelJudge:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _too_costly(kernel: GeneratedKernel, subject: Subject) -> Rejected | None:
    """Why a kernel is not tried at all."""
    iterations = block_work(subject, kernel)
    if kernel.registers > MOST_REGISTERS:
        said = f"its values need {kernel.registers} registers of a thread, and {MOST_REGISTERS} are tried at most"
        return Rejected("memory", said)
    scratch_bytes = 4 * sum(kernel.scratch_elements(dict(subject.sizes)).values())
    if scratch_bytes > LARGEST_BYTES:
        said = f"its temporaries in global memory take {scratch_bytes} bytes, and {LARGEST_BYTES} are tried at most"
        return Rejected("memory", said)
    if iterations > MOST_WORK:
        said = f"each of its {kernel.grid[0]} blocks does {iterations} iterations, idle lanes counted, and {MOST_WORK} are tried at most"
        return Rejected("timeout", said)
    return None
