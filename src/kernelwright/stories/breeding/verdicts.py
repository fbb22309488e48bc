"""Programs asked about, in generations: what the journal or an earlier run knows is looked up, the rest is judged in the farm
and recorded.

Rows are recorded in the order asked, whatever order workers finish in, so that equal runs have equal journals.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from types import TracebackType

from kernelwright.breeding.judge import FITNESS, judging, worth_of
from kernelwright.breeding.table import back_end
from kernelwright.errors import KernelwrightError
from kernelwright.evaluate.judging.fitness import Evaluated
from kernelwright.evaluate.outcome import Ok, Outcome, Rejected
from kernelwright.farm import Farm, Lost, Raised
from kernelwright.stories.breeding.remembered import remembered
from kernelwright.stories.breeding.run import BreedRun

SLACK_S = 60.0
"""What a worker may take for a batch, besides the time that one fitness may."""
RECORD_EVERY_S = 1.0
"""What is done is on the disk after this long, also within a generation."""


class Verdicts:
    """Verdicts for one run. ``cache``: fitness found in earlier runs is taken over, and what is found now is kept for others;
    the journal is the same either way. Close it, or use it as a context manager; the run stays open."""

    def __init__(
        self, run: BreedRun, jobs: int | None = None, cluster: str | None = None, *, cache: bool = True
    ) -> None:
        self._run = run
        self._known: dict[str, tuple[str, Outcome]] = {}
        self._stored = {row.candidate: (f"v{row.id}", row.outcome) for row in run.journal.rows()}
        self.rejected: Counter[str] = Counter()
        settings = run.settings
        row = back_end(settings.backend)
        self._tried: dict[str, Evaluated] = {}
        self._kept = remembered(run.problem, run.problem_path, settings.backend) if cache else None
        self.remembered = 0
        """Programs whose fitness was known from earlier runs."""
        self._farm = Farm(
            judging,
            (str(run.problem_path), settings.backend, settings.timeout_s),
            batch=row.compiler().batch,
            jobs=jobs,
            timeout_s=settings.timeout_s + SLACK_S,
            cluster=cluster,
            files=(run.problem_path,),
            gpus=1.0 if row.needs_gpu else 0.0,
        )

    @property
    def jobs(self) -> int:
        return self._farm.workers

    @property
    def count(self) -> int:
        """Programs that this pass over the journal has asked about."""
        return len(self._known)

    def name(self, text: str) -> str:
        """``v17``, by the program's row in the journal."""
        return self._known[text][0]

    @property
    def trouble(self) -> str:
        """Why fitness could not be kept for other runs; empty when it could."""
        return self._kept.trouble if self._kept is not None else ""

    def tried(self, texts: Sequence[str]) -> list[Outcome]:
        """Some programs judged, and recorded when they are asked about again. Nothing, where programs have been judged before."""
        distinct = list(dict.fromkeys(texts))
        if self._stored or any(self._recalled(text) for text in distinct):
            return []
        for index, outcome in self._farm.map(distinct):
            self._tried[distinct[index]] = _evaluated(outcome)
        return [each.outcome for each in self._tried.values()]

    def of(self, texts: Sequence[str], told: Callable[[Outcome], None] = lambda _: None) -> list[Outcome]:
        """What became of each, in the order of the texts. ``told`` hears of each that is judged, as it comes."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        for text in new:
            if text in self._stored:
                self._learn(text, *self._stored[text])
        fresh = [text for text in new if text not in self._known]
        found: dict[int, Evaluated] = {}
        for index, text in enumerate(fresh):
            if text in self._tried:
                found[index] = self._tried.pop(text)
                told(found[index].outcome)
            elif outcome := self._recalled(text):
                found[index] = Evaluated(outcome, "")
                self.remembered += 1
        asked = [index for index in range(len(fresh)) if index not in found]
        done, recorded = 0, time.monotonic()
        for number, answer in self._farm.map([fresh[index] for index in asked]):
            found[asked[number]] = _evaluated(answer)
            told(found[asked[number]].outcome)
            if time.monotonic() - recorded > RECORD_EVERY_S:
                done, recorded = self._record(fresh, found, done), time.monotonic()
        self._record(fresh, found, done)
        if self._kept is not None:
            self._kept.put(
                {
                    text: judged.outcome.metrics[FITNESS]
                    for text, judged in zip(fresh, _in_order(found), strict=True)
                    if isinstance(judged.outcome, Ok)
                }
            )
        return [self._known[text][1] for text in texts]

    def _recalled(self, text: str) -> Outcome | None:
        """What an earlier run found. Only a fitness is kept: what was rejected may have been so for want of time."""
        fitness = self._kept.get(text) if self._kept is not None else None
        return None if fitness is None else worth_of(fitness)

    def _record(self, fresh: Sequence[str], found: dict[int, Evaluated], done: int) -> int:
        """Records those that are there without a gap from ``done`` on; how many are recorded then."""
        with self._run.journal.batch():
            while done in found:
                outcome, timings = found[done].outcome, found[done].timings
                row = self._run.journal.record(fresh[done], outcome, timings=timings)
                self._learn(fresh[done], f"v{row}", outcome)
                done += 1
        return done

    def _learn(self, text: str, name: str, outcome: Outcome) -> None:
        self._known[text] = name, outcome
        if isinstance(outcome, Rejected):
            self.rejected[outcome.stage] += 1

    def close(self) -> None:
        self._farm.close()

    def __enter__(self) -> Verdicts:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _in_order(found: dict[int, Evaluated]) -> list[Evaluated]:
    return [found[index] for index in sorted(found)]


def _evaluated(found: object) -> Evaluated:
    if isinstance(found, Lost):
        return Evaluated(Rejected(found.stage, found.reason), "")
    if isinstance(found, Raised):
        if isinstance(found.error, KernelwrightError):
            raise found.error
        return Evaluated(Rejected("crash", f"it could not be judged: {found.reason}"), "")
    assert isinstance(found, Evaluated)
    return found
