"""Which genes matter: delta debugging, each gene's own effect, and pairs that only work together.

``Minimise``, ``SingleEffects`` and ``Pairs`` are strategies like any other: ask, evaluate, tell; then read the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any, Generic, Literal, TypeVar

from kernelwright.search.planned import Asking, Plan, Planned
from kernelwright.search.strategy import Budget, Objectives, Result
from kernelwright.search.ties import TIE

G = TypeVar("G", bound=Hashable)
Evaluate = Callable[[list[tuple[G, ...]]], Asking[tuple[G, ...], list[Result[tuple[G, ...]] | None]]]


def not_worse(than: Objectives, by: float) -> Callable[[Result[Any] | None], bool]:
    """Accepted, and in no objective worse than ``than`` by more than the share ``by`` of it."""

    def holds(result: Result[Any] | None) -> bool:
        return (
            result is not None
            and result.objectives is not None
            and all(x <= y + by * abs(y) for x, y in zip(result.objectives, than, strict=True))
        )

    return holds


def ddmin(
    whole: Result[tuple[G, ...]],
    holds: Callable[[Result[tuple[G, ...]] | None], bool],
    evaluate: Evaluate[G],
    *,
    parts: int = 2,
) -> Asking[tuple[G, ...], Result[tuple[G, ...]]]:
    """A subsequence for which ``holds`` is true and that loses it with any single gene: 1-minimal.

    Zeller and Hildebrandt 2002 ("Simplifying and isolating failure-inducing input"): cut into n parts, go on with a part
    that holds by itself, else with all but one part, else cut finer. Three liberties, which leave it 1-minimal: the tests
    of a round are one batch; when several parts can each be left out, as many as go together are; parts of less than a
    quarter are not tried by themselves, as they seldom hold. ``whole`` must hold; ``parts`` is the first n, finer where
    little is expected to go. Ends early, with what it has, when ``evaluate`` answers None.
    """
    current, parts = whole, min(parts, whole.genes)
    while parts:
        cuts = _cut(current.candidate, parts)
        tested = cuts if 1 < parts <= 4 else []
        rests = [tuple(g for other in cuts if other is not cut for g in other) for cut in cuts]
        results = yield from evaluate([*tested, *rests])
        alone, without = results[: len(tested)], results[len(tested) :]
        part = next((result for result in alone if holds(result)), None)
        droppable = [i for i, result in enumerate(without) if holds(result)]
        if part is not None:
            current, parts = part, 2
        elif droppable:
            rest = yield from _without_together(cuts, droppable, holds, evaluate)
            if rest is None:  # no evaluation is left: one of them alone is known to go
                rest = without[droppable[0]]
            assert rest is not None
            current, parts = rest, max(parts - 1, 2)
        elif parts < current.genes and None not in results:
            parts *= 2
        else:
            break
        parts = min(parts, current.genes)
    return current


def _without_together(
    cuts: list[tuple[G, ...]],
    droppable: list[int],
    holds: Callable[[Result[tuple[G, ...]] | None], bool],
    evaluate: Evaluate[G],
) -> Asking[tuple[G, ...], Result[tuple[G, ...]] | None]:
    """The whole without as many as possible of the parts that can each be left out: without all, else without what can go of
    the first half, and then of the second. Genes that stand in for each other can each go, but not together: leaving out one
    part of a round would take a round for each such pair. None where not one evaluation was left."""
    gone: set[int] = set()
    best: Result[tuple[G, ...]] | None = None
    groups = [droppable]
    while groups:
        group = groups.pop()
        out = gone.union(group)
        (result,) = yield from evaluate([tuple(g for i, cut in enumerate(cuts) if i not in out for g in cut)])
        if result is None:
            break
        if holds(result):
            gone, best = out, result
        elif len(group) > 1:
            half = len(group) // 2
            groups += [group[half:], group[:half]]
    return best


def _cut(genome: tuple[G, ...], parts: int) -> list[tuple[G, ...]]:
    """``(a, b, c, d, e)``, 2 → ``[(a, b), (c, d, e)]``"""
    bounds = [len(genome) * i // parts for i in range(parts + 1)]
    return [genome[a:b] for a, b in pairwise(bounds)]


class Minimise(Planned[tuple[G, ...]]):
    """Down to the genes that matter: ``result`` is 1-minimal among those not worse than the whole by the share ``by``.

    ``keep``: genes that stay whatever they do for the objectives. Raises ``ValueError`` when told that the whole is rejected.
    ``result`` is None until the end.
    """

    def __init__(
        self,
        genome: tuple[G, ...],
        *,
        by: float = TIE,
        keep: Callable[[G], bool] = lambda gene: False,
        budget: Budget | None = None,
        same: Callable[[tuple[G, ...]], Hashable] = lambda genome: genome,
    ) -> None:
        super().__init__(budget=budget, same=same)
        self._genome, self._by, self._keep = genome, by, keep
        self.result: Result[tuple[G, ...]] | None = None

    def plan(self) -> Plan[tuple[G, ...]]:
        """The plan of questions. Raises ``ValueError`` where the whole is rejected."""
        self.phase = "minimise"
        (whole,) = yield from self.evaluate([self._genome])
        if whole is None or whole.objectives is None:
            raise ValueError(
                f"what is to be minimised is rejected{f' ({whole.cause})' if whole and whole.cause else ''}"
            )
        loose = tuple(gene for gene in self._genome if not self._keep(gene))
        least = yield from ddmin(
            replace(whole, candidate=loose), not_worse(whole.objectives, self._by), self._evaluate_with_kept
        )
        self.result = replace(least, candidate=self._with_kept(least.candidate))

    def _with_kept(self, part: tuple[G, ...]) -> tuple[G, ...]:
        return tuple(gene for gene in self._genome if gene in part or self._keep(gene))

    def _evaluate_with_kept(
        self, parts: list[tuple[G, ...]]
    ) -> Asking[tuple[G, ...], list[Result[tuple[G, ...]] | None]]:
        """Of each part with what is kept, as if it were the part's own."""
        results = yield from self.evaluate([self._with_kept(part) for part in parts])
        return [
            None if result is None else replace(result, candidate=part)
            for part, result in zip(parts, results, strict=True)
        ]


@dataclass(frozen=True)
class Effect(Generic[G]):
    """What one gene does. Gains are shares of the original's first objective; None: rejected."""

    gene: G
    alone: float | None
    """Gain of the gene alone over the original."""
    within: float | None
    """What the whole loses without it; None: without it the whole is rejected, so another gene depends on it."""


class SingleEffects(Planned[tuple[G, ...]]):
    """Each gene alone, and the whole without it. 2 n + 2 evaluations; then read ``effects``."""

    def __init__(
        self, genome: tuple[G, ...], *, same: Callable[[tuple[G, ...]], Hashable] = lambda genome: genome
    ) -> None:
        super().__init__(same=same)
        self._genome = genome
        self.effects: list[Effect[G]] = []

    def plan(self) -> Plan[tuple[G, ...]]:
        self.phase = "effects"
        genes = self._genome
        rests = [genes[:i] + genes[i + 1 :] for i in range(len(genes))]
        original, whole, *others = yield from self.evaluate([(), genes, *((gene,) for gene in genes), *rests])
        base, full = _time(original), _time(whole)
        for gene, alone, rest in zip(genes, others[: len(genes)], others[len(genes) :], strict=True):
            self.effects.append(Effect(gene, _share(base, _time(alone), base), _share(_time(rest), full, base)))


@dataclass(frozen=True)
class Pair(Generic[G]):
    """Two genes by themselves and together. Gains as in ``Effect``."""

    a: G
    b: G
    alone: tuple[float | None, float | None]
    together: float | None

    @property
    def relation(
        self,
    ) -> Literal["independent", "only together", "more together", "less together", "exclude each other"]:
        """How the gain together compares with the sum of both alone; differences up to ``TIE`` count as none."""
        gains = [gain for gain in self.alone if gain is not None]
        if self.together is None:
            return "exclude each other" if len(gains) == 2 else "independent"
        if len(gains) < 2:
            return "only together"
        excess = self.together - sum(gains)
        if abs(excess) <= TIE:
            return "independent"
        if excess < 0:
            return "less together"
        return "more together" if max(gains) > TIE else "only together"


class Pairs(Planned[tuple[G, ...]]):
    """Every two genes of a genome, by themselves and together. n (n + 1) / 2 + 1 evaluations; then read ``pairs``."""

    def __init__(
        self, genome: tuple[G, ...], *, same: Callable[[tuple[G, ...]], Hashable] = lambda genome: genome
    ) -> None:
        super().__init__(same=same)
        self._genome = genome
        self.pairs: list[Pair[G]] = []

    def plan(self) -> Plan[tuple[G, ...]]:
        self.phase = "pairs"
        twos = list(combinations(self._genome, 2))
        original, *results = yield from self.evaluate([(), *((gene,) for gene in self._genome), *twos])
        base = _time(original)
        singles = dict(zip(self._genome, (_share(base, _time(r), base) for r in results), strict=False))
        for (a, b), result in zip(twos, results[len(self._genome) :], strict=True):
            self.pairs.append(Pair(a, b, (singles[a], singles[b]), _share(base, _time(result), base)))


def _time(result: Result[Any] | None) -> float | None:
    return None if result is None or result.objectives is None else result.objectives[0]


def _share(before: float | None, after: float | None, whole: float | None) -> float | None:
    return None if before is None or after is None or not whole else (before - after) / whole
