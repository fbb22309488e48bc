"""Ask and tell: what every search strategy speaks.

    while batch := strategy.ask():                 # [] = finished
        strategy.tell([evaluate(c) for c in batch])    # in any order and place, told in the order asked

A strategy draws from its seed and from what it is told, never from the clock, so the same seed and the same results give
the same questions whatever the number of workers; a run resumes by telling a fresh strategy what the journal recorded.
Candidates are opaque: the story hands in the few functions of ``Hooks`` and the search looks no further.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeAlias, TypeVar

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
    """Instructions executed, the first tie-break; 0 when they were not counted."""
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
    groups: Callable[[G], Sequence[Hashable]] = lambda gene: (type(gene).__name__,)
    """By the groups it is in, what a gene may gain something together with where it gains nothing alone: such as the edits of one kind in
    one kernel. The first group of each gene is tried first."""
    is_general: Callable[[G], bool] = lambda gene: True
    """Whether a gene is good for inputs of every size. Where the best has others, the best without them is improved beside it."""
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
    """The protocol. ``Gevo``, ``Default`` and ``Minimise`` implement it through ``Planned``, ``Generations`` by itself."""

    def ask(self) -> list[C]:
        """The next batch of candidates; [] when finished. Asked again before it was told: the same batch."""

    def tell(self, results: Sequence[Result[C]]) -> None:
        """The results of the batch, in its order. Raises ``ValueError`` when they are not."""

    def conclude(self) -> None:
        """Time is running out: whatever comes last (cleaning up) should come next."""

    @property
    def progress(self) -> Progress[C]:
        """The state of the search after the last batch that it was told."""
