"""The best compile flags of a program, before any edit: each change alone, then what pays, put together.

    choice, texts = best_flags(subject, PassOptions(), compiled, demands, "h200")

    single    every flag alone, compiled, and judged as any candidate: outputs, schedules, races, time
    together  those that pay, greedily, the fastest first

Nothing is drawn, and times are those of the timing model, so the choice is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kernelwright.errors import CompileError, IRError, ToolError
from kernelwright.evaluate.judging.demands import Demands
from kernelwright.evaluate.judging.fitness import Evaluated
from kernelwright.evaluate.judging.worker_process import Reference, setup
from kernelwright.evaluate.outcome import Ok
from kernelwright.evaluate.workload.flag_choice import FlagChoice
from kernelwright.evaluate.workload.subject import Subject
from kernelwright.evolution.flag_sets import FlagSets, Texts, both, single_changes, spelled
from kernelwright.farm import Lost, Pool, Raised
from kernelwright.ir.text.canonical import canonical
from kernelwright.passes.options import PassOptions
from kernelwright.search.ties import is_gain

TIMEOUT_S = 300.0
"""Of one set of flags."""
MOST_TOGETHER = 4
"""Flags that pay alone that are put together."""

Compiled = Callable[[PassOptions], Texts]
"""The kernels of the workload under these flags. Raises ``CompileError``."""


def best_flags(
    subject: Subject, given: PassOptions, compiled: Compiled, demands: Demands, device: str, jobs: int | None = None,
    watch: Callable[[int], None] = lambda judged: None,
) -> tuple[FlagChoice, Texts]:  # fmt: skip
    """The fastest flags that are right, and the kernels under them; nothing where the given ones are. ``watch`` hears how many
    programs were judged, as they are.

    Raises ``Misuse`` for an original that is no judge, as the search would.
    """
    found = _Flags(subject, given, compiled, demands, device, jobs, watch)
    found.judge(single_changes(given))
    ranked = sorted(found.times, key=lambda options: (found.us(options), str(options)))
    paid = [options for options in ranked if is_gain(found.us(options), found.given_us)][:MOST_TOGETHER]
    best, trials = given, paid
    while trials:
        fastest = min(trials, key=lambda options: (found.us(options), str(options)))
        if not is_gain(found.us(fastest), found.us(best)):
            break
        best = fastest
        trials = [each for other in paid if (each := both(given, best, other)) != best]
        found.judge(trials)
    speedup = found.given_us / found.us(best)
    return FlagChoice(str(best), spelled(given, best), speedup, found.tried), found.texts.get(best, {})


class _Flags:
    """What came of flags so far."""

    def __init__(
        self, subject: Subject, given: PassOptions, compiled: Compiled, demands: Demands, device: str, jobs: int | None,
        watch: Callable[[int], None],
    ) -> None:  # fmt: skip
        self._watch = watch
        self._given, self._compiled = given, compiled
        self._asked = (subject, device, demands, jobs)
        self._programs: dict[tuple[str, ...], PassOptions] = {_program(compiled(given)): given}
        self._same_as: dict[PassOptions, PassOptions] = {}
        self.texts: dict[PassOptions, Texts] = {}
        self.times: dict[PassOptions, float] = {}
        """Of those that were right."""
        self.given_us = 0.0
        self.tried = 0

    def us(self, options: PassOptions) -> float:
        """The time under these flags; that of the given ones for flags that were rejected."""
        return self.times.get(self._same_as.get(options, options), self.given_us)

    def judge(self, some: Sequence[PassOptions]) -> None:
        """Compiles and judges; what comes to a program that is known is not judged again."""
        fresh = [options for options in some if self._is_new(options)]
        if not fresh and self.given_us:
            return  # set-up runs the original again
        subject, device, demands, jobs = self._asked
        kind = FlagSets({str(options): self.texts[options] for options in fresh})
        with Pool(setup, (subject, kind, device, demands), workers=jobs, timeout_s=TIMEOUT_S, shared=True) as pool:
            if not self.given_us:
                self.given_us = reference_of(pool).time_us
            for number, evaluated in pool.map([str(options) for options in fresh]):
                self.tried += 1
                self._watch(self.tried)
                if isinstance(evaluated, Evaluated) and isinstance(evaluated.outcome, Ok):
                    self.times[fresh[number]] = evaluated.outcome.time_us

    def _is_new(self, options: PassOptions) -> bool:
        try:
            texts = self._compiled(options)
        except (CompileError, IRError, ToolError):
            return False  # LLVM refuses the program under these flags
        self.texts[options] = texts
        self._same_as[options] = self._programs.setdefault(_program(texts), options)
        return options not in self.times and self._same_as[options] == options


def _program(texts: Texts) -> tuple[str, ...]:
    return tuple(canonical(text) for _, text in sorted(texts.items()))


def reference_of(pool: Pool) -> Reference:
    """What a worker of a pool says of the original. Raises ``ToolError``, or whatever it raised."""
    ((_, found),) = list(pool.map([None]))
    if isinstance(found, Raised):
        raise found.error
    if isinstance(found, Lost):
        raise ToolError(f"the original cannot be evaluated: {found}", hint="kw check shows what it does")
    assert isinstance(found, Reference)
    return found
