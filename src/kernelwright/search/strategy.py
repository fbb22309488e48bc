"""Ask and tell: what every search strategy speaks, and the book-keeping they share.

    while batch := strategy.ask():                 # [] = finished
        strategy.tell([evaluate(c) for c in batch])    # in any order and place, told in the order asked

A strategy draws from its seed and from what it is told, never from the clock, so the same seed and the same results give
the same questions whatever the number of workers; a run resumes by telling a fresh strategy what the journal recorded.
Candidates are opaque: the story hands in the few functions of ``Hooks`` and the search looks no further.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeAlias, TypeVar

from kernelwright.search.nsga2 import dominates
from kernelwright.search.ties import TIE, Best

C = TypeVar("C", bound=Hashable)
G = TypeVar("G", bound=Hashable)
Objectives: TypeAlias = tuple[float, ...]
"""One finite number per objective, all to be made small. The first is the one that gains are counted in."""


@dataclass(frozen=True, slots=True)
class Result(Generic[C]):
    """What became of a candidate. Raises ``ValueError`` for objectives that are no finite numbers: reject those instead."""

    candidate: C
    objectives: Objectives | None
    """None: rejected."""
    instructions: float = 0.0
    """Instructions executed, the first tie-break; 0 when nobody counted."""
    cause: str = ""
    """Why it was rejected."""
    key: Hashable = None
    """Equal for candidates that turned out to be the same program; None when not known."""

    def __post_init__(self) -> None:
        if self.objectives is not None and not (self.objectives and all(map(math.isfinite, self.objectives))):
            raise ValueError(f"objectives are {self.objectives}; an accepted candidate has at least one, all finite")

    @property
    def genes(self) -> int:
        """How many genes the candidate has, the second tie-break; 1 for a candidate that is not made of genes."""
        return len(self.candidate) if isinstance(self.candidate, tuple) else 1


@dataclass(frozen=True)
class Budget:
    """When to stop; None = not by this. Time is the caller's affair: ``Strategy.conclude`` when it runs out."""

    evaluations: int | None = None
    """Candidates asked about. One that is known already is not asked about again and costs nothing."""
    generations: int | None = None

    def __post_init__(self) -> None:
        for name, value, least in (("evaluations", self.evaluations, 1), ("generations", self.generations, 0)):
            if value is not None and value < least:
                raise ValueError(f"a budget of {value} {name}; give {least} or more")


@dataclass(frozen=True)
class Hooks(Generic[G]):
    """What a search over genomes must be told about genes. All must be functions of their arguments alone."""

    draw: Callable[[random.Random, tuple[G, ...]], G | None]
    """A random gene to append to a genome; None when there is none."""
    scan: Callable[[], Iterable[G]] = tuple
    """The single genes that can be listed, the most promising first. May be long: it is read no further than needed."""
    kind: Callable[[G], str] = lambda gene: type(gene).__name__
    """What the credit of operators is counted by."""
    same: Callable[[tuple[G, ...]], Hashable] = lambda genome: genome
    """Equal for genomes known to be the same program before anything is built, such as ``frozenset`` where order is
    nothing."""


@dataclass(frozen=True)
class Progress(Generic[C]):
    """Where a search stands, for a live view and the journal."""

    phase: str
    generation: int
    population: int
    evaluations: int
    """Candidates told so far; ``accepted`` of them were not rejected."""
    accepted: int
    best: Result[C] | None
    """By the tie rule (``search.ties``); None while nothing was accepted."""
    front: tuple[Result[C], ...]
    """Everything seen that nothing seen dominates, by the first objective."""
    credit: Mapping[str, float] = field(default_factory=dict)
    """How strongly each kind of gene is favoured at present, adding up to 1; empty where nothing is learnt."""


class Strategy(Protocol[C]):
    """The protocol. ``Gevo``, ``Default`` and ``Minimise`` implement it through ``Planned``."""

    def ask(self) -> list[C]:
        """The next batch of candidates; [] when finished. Asked again before it was told: the same batch."""

    def tell(self, results: Sequence[Result[C]]) -> None:
        """The results of the batch, in its order. Raises ``ValueError`` when they are not."""

    def conclude(self) -> None:
        """Time is running out: whatever comes last (cleaning up) should come next."""

    @property
    def progress(self) -> Progress[C]: ...


IDLE_GENERATIONS = 50
"""So many generations in a row without a new candidate, and the space is taken to be exhausted."""

Plan: TypeAlias = Generator[list[C], Sequence[Result[C]], None]
Answer = TypeVar("Answer")
Asking: TypeAlias = Generator[list[C], Sequence[Result[C]], Answer]
"""A step of a plan: yields batches, is sent their results, returns an answer."""


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
        self._told: Sequence[Result[C]] | None = None
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
            try:
                self._asked = next(self._running) if self._told is None else self._running.send(self._told)
            except StopIteration:
                self._asked, self.phase = [], "finished"
        return list(self._asked)

    def tell(self, results: Sequence[Result[C]]) -> None:
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
        # The plan goes on when it is next asked, so that conclude() still finds it before its next step.
        self._told, self._asked = results, None

    def conclude(self) -> None:
        self.concluding = True

    @property
    def best(self) -> Result[C] | None:
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
