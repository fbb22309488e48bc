"""A strategy written as straight code, and the book-keeping that all strategies share."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Generator, Hashable, Mapping, Sequence
from typing import Generic, TypeAlias, TypeVar

from kernelwright.search.nsga2 import dominates
from kernelwright.search.strategy import Budget, Progress, Result
from kernelwright.search.ties import TIE, Best

C = TypeVar("C", bound=Hashable)
Answer = TypeVar("Answer")

IDLE_GENERATIONS = 50
"""So many generations in a row without a new candidate, and the space is taken to be exhausted."""

Plan: TypeAlias = Generator[list[C], None, None]
"""Yields batches; goes on when they have been told."""
Asking: TypeAlias = Generator[list[C], None, Answer]
"""A step of a plan, with an answer."""


class Planned(Generic[C]):
    """A strategy written as straight code: ``plan`` asks by ``yield from self.evaluate(candidates)``.

    Keeps what is common: the budget, what is known already, the front, the best.
    """

    def __init__(
        self,
        *,
        seed: int = 0,
        budget: Budget | None = None,
        same: Callable[[C], Hashable] = lambda c: c,
        tie: float = TIE,
    ) -> None:
        self.random = random.Random(seed)
        self.budget = budget or Budget()
        self.phase, self.generation = "start", 0
        self.evaluations = self.accepted = 0
        self.concluding = False
        self.front: list[Result[C]] = []
        self._same = same
        self._known: dict[Hashable, Result[C]] = {}
        self._best: Best[Result[C]] = Best(tie)
        self._running = self.plan()
        self._asked: list[C] | None = None
        self._width = 0
        self._before, self._idle = -1, 0

    def plan(self) -> Plan[C]:
        """The search itself."""
        raise NotImplementedError

    def credit(self) -> Mapping[str, float]:
        """How strongly each kind of gene is favoured at present; empty where nothing is learnt."""
        return {}

    @property
    def population(self) -> int:
        """Individuals at present; 0 where there is no population."""
        return 0

    # --- the protocol

    def ask(self) -> list[C]:
        if self._asked is None:
            self._asked = next(self._running, [])
            self.phase = self.phase if self._asked else "finished"
        return list(self._asked)

    def tell(self, results: Sequence[Result[C]]) -> None:
        """Takes the results of a batch. Raises ``ValueError`` for results that were not asked for."""
        if not self._asked:
            raise ValueError("nothing was asked: call ask() first")
        if [result.candidate for result in results] != self._asked:
            raise ValueError(
                f"{len(results)} results that are not those of the {len(self._asked)} candidates asked, in order"
            )
        widths = {len(r.objectives) for r in results if r.objectives is not None} | ({self._width} - {0})
        if len(widths) > 1:
            raise ValueError(f"results with {' and '.join(map(str, sorted(widths)))} objectives in one search")
        self._width = max(widths, default=0)
        for result in results:
            self._note(result)
        self._asked = None  # the plan goes on when asked, so that conclude() still finds it before its next step

    def conclude(self) -> None:
        self.concluding = True

    @property
    def best(self) -> Result[C] | None:
        """The preferred one of all accepted results so far; None before there is one."""
        return self._best.result

    @property
    def progress(self) -> Progress[C]:
        front = tuple(sorted(self.front, key=lambda result: result.objectives or ()))
        numbers = (self.generation, self.population, self.evaluations, self.accepted)
        return Progress(self.phase, *numbers, self.best, front, self.credit())

    # --- for plans

    def evaluate(self, candidates: Sequence[C], keep: int = 0) -> Asking[C, list[Result[C] | None]]:
        """Results for the candidates, asking only for what is not known; None for those beyond the budget less ``keep``."""
        keys = [self._same(candidate) for candidate in candidates]
        fresh: dict[Hashable, C] = {}
        for key, candidate in zip(keys, candidates, strict=True):
            if key not in self._known and len(fresh) < self.left - keep:
                fresh.setdefault(key, candidate)
        if fresh:
            yield list(fresh.values())
        return [self._known.get(key) for key in keys]

    def first(self, original: C) -> Asking[C, Result[C]]:
        """The original's result. Raises ``ValueError`` when it is rejected: there is nothing to compare with."""
        (result,) = yield from self.evaluate([original])
        if result is None or result.objectives is None:
            cause = f" ({result.cause})" if result is not None and result.cause else ""
            raise ValueError(
                f"the original itself is rejected{cause}: a search needs one that is accepted to begin with"
            )
        return result

    @property
    def left(self) -> float:
        """Evaluations left in the budget; may be infinite."""
        return math.inf if self.budget.evaluations is None else self.budget.evaluations - self.evaluations

    @property
    def is_over(self) -> bool:
        """Whether only the end is left to do: the evaluations are spent, or time is."""
        return self.concluding or self.left <= 0

    def next_generation(self) -> bool:
        """Begins the next generation, unless the budget is spent or the last generations found nothing new to ask."""
        self._idle = 0 if self.evaluations > self._before else self._idle + 1
        self._before = self.evaluations
        generations = self.budget.generations
        last = generations is not None and self.generation >= generations
        if self.is_over or last or self._idle > IDLE_GENERATIONS:
            return False
        self.generation += 1
        return True

    def known(self, candidate: C) -> Result[C] | None:
        """What was told about the candidate, or about one that is the same."""
        return self._known.get(self._same(candidate))

    def _note(self, result: Result[C]) -> None:
        self.evaluations += 1
        self._known[self._same(result.candidate)] = result
        if result.objectives is None:
            return
        self.accepted += 1
        self._best.offer(result)
        for other in self.front:
            assert other.objectives is not None
            if dominates(other.objectives, result.objectives) or (
                other.objectives == result.objectives
                and (other.instructions, other.genes) <= (result.instructions, result.genes)
            ):
                return
        self.front = [
            other
            for other in self.front
            if other.objectives is not None
            and other.objectives != result.objectives
            and not dominates(result.objectives, other.objectives)
        ]
        self.front.append(result)
