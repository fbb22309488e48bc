"""Which back end, by measurement: each compiles and runs a sample of random programs here, and what a generation takes follows.

    seconds = batches · fixed + individuals · each, on as many cores

``fixed`` and ``each`` come from one program and from the sample, run on all cases.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from typing import Any

from kernelwright.breeding.back_end import BackEnd
from kernelwright.breeding.back_end_table import BACKENDS, back_end
from kernelwright.breeding.program_results import Answers, allow_deep_calls, answers_to
from kernelwright.breeding.tried_code import check_surrounding_code
from kernelwright.errors import CompileError, KernelwrightError
from kernelwright.evaluate.outcome import Rejected
from kernelwright.farm import available_cores
from kernelwright.grammar import Problem
from kernelwright.grammar.breeding import breeding_of
from kernelwright.grammar.c.parse import parse
from kernelwright.lazy_dataclasses import dataclass

OPTIMISE_FROM_S = 4e-3
"""What optimising takes for a program, at least: where the code runs through all cases in less, it is not even tried."""
SAMPLE = 24
ROUNDS = 2
LATE_S = 2.0
"""A back end that took this long for its sample is not measured again."""
FEW = 4
"""Programs that are beyond our part of C, of which a back end for any grammar is asked whether they are CUDA C at all."""

Answering = Callable[[Sequence[str]], list[Answers]]


@dataclass(frozen=True)
class Cost:
    """Seconds: of one batch, and of each program in it, compiled and run on all cases."""

    fixed_s: float
    each_s: float

    def predicted(self, batch: tuple[int, int], individuals: int, cores: int) -> float:
        """Seconds for a generation, shared by ``cores`` workers in batches of at least and at most so many."""
        share = math.ceil(individuals / _calls(batch, individuals, cores))
        return math.ceil(share / batch[1]) * self.fixed_s + share * self.each_s


def _calls(batch: tuple[int, int], individuals: int, cores: int) -> int:
    return max(1, min(cores, individuals // batch[0]))


@dataclass(frozen=True)
class Weighed:
    """``predicted_s``: for a generation; None for a back end that cannot be used, for ``note``."""

    name: str
    cost: Cost | None
    predicted_s: float | None
    note: str = ""

    def row(self) -> dict[str, Any]:
        """For a table: milliseconds."""
        cost, predicted = self.cost, self.predicted_s
        return {
            "back end": self.name,
            "fixed ms": round(cost.fixed_s * 1e3, 3) if cost else None,
            "each ms": round(cost.each_s * 1e3, 3) if cost else None,
            "generation ms": round(predicted * 1e3, 1) if predicted is not None else None,
            "": self.note,
        }


def sample(problem: Problem, count: int = SAMPLE, seed: int = 0) -> list[str]:
    """The texts of random programs, drawn as the problem's first generation is. Raises ``Misuse`` for a grammar whose derivations
    hardly end."""
    dice, operators = random.Random(seed), breeding_of(problem)
    return [operators.draw(dice).text for _ in range(count)]


def weigh(problem: Problem, population: int, jobs: int | None = None) -> list[Weighed]:
    """All that were measured, the quickest first; or the one that takes any program, unmeasured."""
    allow_deep_calls()
    texts = sample(problem)
    cores = jobs or available_cores()
    found = [_weighed(row, problem, texts, population, cores) for row in BACKENDS.values() if row.auto]
    each_s = {each.name: each.cost.each_s for each in found if each.cost}
    found += [
        _weighed(row, problem, texts, population, cores)
        for row in BACKENDS.values()
        if row.optimises and each_s.get(row.optimises, 0.0) > OPTIMISE_FROM_S
    ]
    usable = sorted((each for each in found if each.predicted_s is not None), key=lambda each: each.predicted_s or 0.0)
    rest = [each for each in found if each.predicted_s is None]
    any_grammar = next(row for row in BACKENDS.values() if row.any_grammar and not row.needs_gpu)
    if not usable:
        return [Weighed(any_grammar.name, None, None, any_grammar.what), *rest]
    beyond = _beyond(any_grammar, problem, texts)
    note = f"the others do not take {' '.join(beyond.split())!r:.60}"
    return ([Weighed(any_grammar.name, None, None, note)] if beyond else []) + usable + rest


def _beyond(any_grammar: BackEnd, problem: Problem, texts: Sequence[str]) -> str:
    """A program that is CUDA C and more than our part of it: back ends that refuse some would breed in another language."""
    refused = [text for text in texts if not _is_ours(problem, text)]
    if not refused:
        return ""
    try:
        with closing(any_grammar.runner(problem)) as runner:
            answers = answers_to(runner, refused[:FEW])
    except KernelwrightError:
        return ""
    is_right = [not (isinstance(each, Rejected) and each.stage == "compile") for each in answers]
    return next((text for text, right in zip(refused, is_right, strict=False) if right), "")


def _is_ours(problem: Problem, text: str) -> bool:
    assert problem.head is not None
    try:
        parse(problem.code(text), problem.head[1])
    except CompileError:
        return False
    return True


def rule(problem: Problem, population: int, jobs: int | None = None) -> str:
    """How ``weigh`` weighs, in a sentence."""
    batches = [row.compiler().batch for row in BACKENDS.values() if row.auto]
    cores = jobs or available_cores()
    calls = max(_calls(batch, population, cores) for batch in batches)
    most = max(batch[1] for batch in batches)
    return (
        f"measured with {SAMPLE} random programs, run on all {problem.count} cases; a generation is {population} programs over "
        f"{calls} of {cores} workers, in batches of at most {most}"
    )


def chosen_backend(problem: Problem, wanted: str, population: int, jobs: int | None = None) -> str:
    """The back end to take: the one wanted, or with ``auto`` the quickest. Raises ``Misuse`` for an unknown name,
    and for code around programs that does not compile."""
    check_surrounding_code(problem)
    if wanted == "auto":
        return weigh(problem, population, jobs)[0].name
    back_end(wanted).runner(problem).close()
    return wanted


def _weighed(row: BackEnd, problem: Problem, texts: Sequence[str], population: int, cores: int) -> Weighed:
    try:
        runner = row.runner(problem)
    except KernelwrightError as error:
        return Weighed(row.name, None, None, error.message)
    with closing(runner):
        answering = partial(_answers_anew, row, problem) if row.remembers else partial(answers_to, runner)
        begin = time.process_time()
        answering(texts[:1])
        # Where one takes long, so many fewer tell enough.
        fitting = int(LATE_S / max(time.process_time() - begin, 1e-6))
        texts = texts[: max(2, fitting)]
        answers = answering(texts)
        refused = [each for each in answers if isinstance(each, Rejected) and each.stage == "compile"]
        if len(refused) == len(answers):
            return Weighed(row.name, None, None, refused[0].reason)
        cost = measured_cost(answering, texts)
        return Weighed(row.name, cost, cost.predicted(row.compiler().batch, population, cores))


def _answers_anew(row: BackEnd, problem: Problem, texts: Sequence[str]) -> list[Answers]:
    with closing(row.runner(problem)) as runner:
        return answers_to(runner, texts)


def measured_cost(answering: Answering, texts: Sequence[str], clock: Callable[[], float] = time.process_time) -> Cost:
    """From one program and from all: the least of some rounds."""
    spent: list[float] = []
    for part in (texts[:1], texts):
        taken = []
        for _ in range(ROUNDS):
            begin = clock()
            answering(part)
            taken.append(clock() - begin)
            if taken[-1] > LATE_S:
                break
        spent.append(min(taken))
    one, every = spent
    each = max(0.0, every - one) / max(1, len(texts) - 1)
    return Cost(max(0.0, one - each), each)
