"""Which way to run programs, by measurement: each runs a sample of random programs here, and what a generation would take follows.

The formula is the farm's (``farm/choice.py``); here running on all cases is part of what is measured.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kernelwright.errors import CompileError, KernelwrightError, Misuse
from kernelwright.evaluate.outcome import Rejected
from kernelwright.farm.backends.host import Host
from kernelwright.farm.choice import Cost
from kernelwright.farm.machine import available_cores
from kernelwright.grammar import Problem, derive
from kernelwright.grammar.c.parse import parse
from kernelwright.grammar.genotype import random_genotype
from kernelwright.stories.breeding.executor import deep
from kernelwright.stories.breeding.table import BACKENDS, executor

MEASURED = ("interpreted", "host")
"""Those that ``auto`` weighs. A GPU's compiler takes longer for a program than these take to run it on hundreds of cases; for
problems that these cannot take there is ``ANY``."""
OPTIMISED = "optimised"
OPTIMISE_FROM_S = 4e-3
"""What optimising takes for a program, at least: where host code runs through all cases in less, it is not even tried."""
ANY = "virtual"
SAMPLE = 24
ROUNDS = 2
LATE_S = 2.0
"""A back end that took this long for its sample is not measured again."""
FEW = 4
"""Programs that are beyond our part of C, of which ``ANY`` is asked whether they are CUDA C at all."""
DRAWS = 200
"""Of random genotypes, before the grammar is given up."""


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
    """The texts of random programs. Raises ``Misuse`` for a grammar whose derivations hardly end."""
    rng = random.Random(seed)
    found: list[str] = []
    for _ in range(DRAWS + count):
        derivation = derive(problem.language, random_genotype(rng))
        if derivation:
            found.append(derivation.text)
        if len(found) == count:
            return found
    if not found:
        raise Misuse(
            f"of {DRAWS} random genotypes none derives a program",
            hint="give the symbols that lead to themselves more alternatives that do not",
        )
    return found


def weigh(problem: Problem, population: int, jobs: int | None = None) -> list[Weighed]:
    """All that were measured, the quickest first; or the one that takes any program, unmeasured."""
    deep()
    texts = sample(problem)
    found = [_weighed(name, problem, texts, population, jobs or available_cores()) for name in MEASURED]
    host = next((each.cost for each in found if each.name == "host"), None)
    if host is not None and host.each_s > OPTIMISE_FROM_S:
        found.append(_weighed(OPTIMISED, problem, texts, population, jobs or available_cores()))
    usable = sorted((each for each in found if each.predicted_s is not None), key=lambda each: each.predicted_s or 0.0)
    rest = [each for each in found if each.predicted_s is None]
    if not usable:
        return [Weighed(ANY, None, None, BACKENDS[ANY][1]), *rest]
    beyond = _beyond(problem, texts)
    any_first = [Weighed(ANY, None, None, f"the others do not take {' '.join(beyond.split())!r:.60}")] if beyond else []
    return any_first + usable + rest


def _beyond(problem: Problem, texts: Sequence[str]) -> str:
    """A program that is CUDA C and more than our part of it: back ends that refuse some would breed in another language."""
    refused = [text for text in texts if not _is_ours(problem, text)]
    if not refused:
        return ""
    try:
        running = executor(ANY, problem)
        answers = running.answers(refused[:FEW])
    except KernelwrightError:
        return ""
    running.close()
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
    least, most = Host().batch
    cores = jobs or available_cores()
    calls = max(1, min(cores, population // least))
    return (
        f"measured with {SAMPLE} random programs, run on all {problem.count} cases; a generation is {population} programs over "
        f"{calls} of {cores} workers, in batches of at most {most}"
    )


def chosen_backend(problem: Problem, wanted: str, population: int, jobs: int | None = None) -> str:
    """The back end to take: the one wanted, or with ``auto`` the quickest. Raises ``Misuse`` for a name nobody knows."""
    if wanted == "auto":
        return weigh(problem, population, jobs)[0].name
    executor(wanted, problem).close()
    return wanted


def _weighed(name: str, problem: Problem, texts: Sequence[str], population: int, cores: int) -> Weighed:
    try:
        running = executor(name, problem)
    except KernelwrightError as error:
        return Weighed(name, None, None, error.message)
    begin = time.process_time()
    running.answers(texts[:1])
    # Where one takes long, so many fewer tell enough.
    fitting = int(LATE_S / max(time.process_time() - begin, 1e-6))
    texts = texts[: max(2, fitting)]
    answers = running.answers(texts)
    refused = [each for each in answers if isinstance(each, Rejected) and each.stage == "compile"]
    if len(refused) == len(answers):
        return Weighed(name, None, None, refused[0].reason)
    spent: list[float] = []
    for part in (texts[:1], texts):
        taken = []
        for _ in range(ROUNDS):
            begin = time.process_time()
            running.answers(part)
            taken.append(time.process_time() - begin)
            if taken[-1] > LATE_S:
                break
        spent.append(min(taken))
    running.close()
    one, every = spent
    each = max(0.0, every - one) / max(1, len(texts) - 1)
    cost = Cost(max(0.0, one - each), each)
    return Weighed(name, cost, cost.predicted(Host(), population, problem.count, cores))
