"""Programs judged: what an earlier run has found is taken over, the rest goes to the farm.

with ProgramJudge(run, jobs) as judge:
    answers.of(texts, judge)                   # the journal comes before both: ``evaluate/run/answers.py``
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from types import TracebackType

from kernelwright.breeding.back_end_table import back_end
from kernelwright.breeding.remembered import remembered
from kernelwright.breeding.run import BreedRun
from kernelwright.breeding.worker_judge import FITNESS, judging, worth_of
from kernelwright.errors import KernelwrightError
from kernelwright.evaluate.judging.fitness import Evaluated
from kernelwright.evaluate.outcome import Ok, Outcome, Rejected
from kernelwright.farm import Farm, Lost, Raised

SLACK_S = 60.0
"""What a worker may take for a batch, besides the time that one fitness may."""


class ProgramJudge:
    """Judges programs for one run. ``cache``: fitness found in earlier runs is taken over, and what is found now is kept for
    others; what comes of a program is the same either way. Close it, or use it as a context manager; the run stays open."""

    def __init__(
        self, run: BreedRun, jobs: int | None = None, cluster: str | None = None, *, cache: bool = True
    ) -> None:
        self._run = run
        settings = run.settings
        self._tried: dict[str, Evaluated] = {}
        self._kept = remembered(run.problem, run.problem_path, settings.backend) if cache else None
        self.remembered = 0
        """Programs whose fitness was known from earlier runs."""
        self.judged = 0
        """Programs that were run."""
        self._farm = _farm(run, jobs, cluster)

    @property
    def jobs(self) -> int:
        """Worker processes of the farm, which is how many programs are judged at a time."""
        return self._farm.workers

    @property
    def trouble(self) -> str:
        """Why fitness could not be kept for other runs; empty when it could."""
        return self._kept.trouble if self._kept is not None else ""

    def tried(self, texts: Sequence[str]) -> list[Outcome]:
        """Some programs judged before anything is recorded; they are not judged again. Nothing, where programs have been
        judged before."""
        distinct = list(dict.fromkeys(texts))
        if len(self._run.journal) or any(self._recalled(text) for text in distinct):
            return []
        for index, found in self._farm.map(distinct):
            self._tried[distinct[index]] = _evaluated(found)
        return [each.outcome for each in self._tried.values()]

    def __call__(self, texts: Sequence[str]) -> Iterator[tuple[int, Evaluated]]:
        """What became of each, by its index, as it comes."""
        worth: dict[str, float] = {}

        def met(index: int, evaluated: Evaluated) -> tuple[int, Evaluated]:
            if isinstance(evaluated.outcome, Ok):
                worth[texts[index]] = evaluated.outcome.metrics[FITNESS]
            return index, evaluated

        asked = []
        for index, text in enumerate(texts):
            if text in self._tried:
                self.judged += 1
                yield met(index, self._tried.pop(text))
            elif recalled := self._recalled(text):
                self.remembered += 1
                yield index, recalled
            else:
                asked.append(index)
        for number, found in self._farm.map([texts[index] for index in asked]):
            self.judged += 1
            yield met(asked[number], _evaluated(found))
        if self._kept is not None:
            self._kept.put(worth)

    def _recalled(self, text: str) -> Evaluated | None:
        """What an earlier run found. Only a fitness is kept: what was rejected may have been so for want of time."""
        fitness = self._kept.get(text) if self._kept is not None else None
        return None if fitness is None else Evaluated(worth_of(fitness), "")

    def close(self) -> None:
        """Ends the farm's worker processes."""
        self._farm.close()

    def __enter__(self) -> ProgramJudge:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def judged_on_held_out(run: BreedRun, text: str, cluster: str | None = None) -> Outcome:
    """What a program is worth on the inputs of the problem that are held out, from a worker of its own."""
    with closing(_farm(run, 1, cluster, held_out=True)) as farm:
        return next(_evaluated(found).outcome for _, found in farm.map([text]))


def _farm(run: BreedRun, jobs: int | None, cluster: str | None, held_out: bool = False) -> Farm:
    """Workers that judge programs on the run's back end."""
    settings = run.settings
    row = back_end(settings.backend)
    return Farm(
        judging,
        (str(run.problem_path), settings.backend, settings.timeout_s, held_out),
        batch=row.compiler().batch,
        jobs=jobs,
        timeout_s=settings.timeout_s + SLACK_S,
        cluster=cluster,
        files=(run.problem_path,),
        gpus=1.0 if row.needs_gpu else 0.0,
    )


def _evaluated(found: object) -> Evaluated:
    """What a worker answered."""
    if isinstance(found, Lost):
        return Evaluated(Rejected(found.stage, found.reason), "")
    if isinstance(found, Raised):
        if isinstance(found.error, KernelwrightError):
            raise found.error
        return Evaluated(Rejected("crash", f"it could not be judged: {found.reason}"), "")
    assert isinstance(found, Evaluated)
    return found
