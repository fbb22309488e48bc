"""The default search: scan single genes, combine what wins, evolve from there, clean up.

    scan      every gene that can be listed, then drawn ones, each alone
    combine   the wins together, greedily, in order of gain
    evolve    NSGA-II seeded with all of it; until the budget ends:
                  children ← crossover, a gene drawn, a gene known to be good, a gene dropped
                  population ← the best of population + children
    clean     from the best, drop the genes that do not matter

Wins are nearly additive, so scanning and combining finds most of what there is; evolution finds the genes that pay only
together. A genome that is known is never asked about again, and programs that turn out to be the same count once.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import islice
from typing import TypeVar

from kernelwright.search.combine import combine
from kernelwright.search.credit import Credit
from kernelwright.search.genomes import uniform_crossover
from kernelwright.search.minimise import ddmin, not_worse
from kernelwright.search.nsga2 import select, tournament, worth
from kernelwright.search.strategy import Asking, Budget, Hooks, Plan, Planned, Result
from kernelwright.search.ties import TIE, cell, is_gain

G = TypeVar("G", bound=Hashable)

OFFERS = 8
"""Genes drawn for each mutation; the credit of their kinds decides which is taken. Drawing is far cheaper than evaluating."""
ATTEMPTS = 12
"""Tries to make a child that is not known yet."""
UNLIMITED = 20_000
"""What shares of the budget are counted from when evaluations are not limited."""


class Default(Planned[tuple[G, ...]]):
    """See above. Any number of objectives; with one, NSGA-II becomes an elitist genetic algorithm.

    Raises ``Misuse`` when told that the original is rejected.
    """

    def __init__(
        self,
        hooks: Hooks[G],
        *,
        seed: int = 0,
        budget: Budget | None = None,
        population: int = 64,
        listed: float = 0.3,
        sampled: float = 0.1,
        clean: float = 0.05,
        known_good: float = 0.25,
        batch: int = 64,
        tie: float = TIE,
    ) -> None:
        """``listed``, ``sampled``, ``clean``: shares of the budget for scanning listed and drawn genes, and for cleaning up.

        ``known_good``: share of the mutations that add a gene that has paid before.
        """
        if population < 2 or batch < 1:
            raise ValueError(f"a population of {population} in batches of {batch}; at least 2 and 1 are needed")
        super().__init__(seed=seed, budget=budget, same=hooks.same, tie=tie)
        self._hooks, self._size, self._batch, self._tie = hooks, population, batch, tie
        total = self.budget.evaluations or UNLIMITED
        self._listed, self._sampled = int(listed * total), int(sampled * total)
        self._keep = int(clean * self.budget.evaluations) if self.budget.evaluations else 0
        self._known_good = known_good
        self._credit = Credit()
        self._good: dict[G, float] = {}
        self._bad: set[G] = set()
        self._members: list[Result[tuple[G, ...]]] = []

    def credit(self) -> Mapping[str, float]:
        return self._credit.weights

    def plan(self) -> Plan[tuple[G, ...]]:
        original = yield from self.first(())
        self._join([original])
        yield from self._scan(original)
        yield from self._combine(original)
        yield from self._evolve()
        yield from self._clean()

    # --- scan

    def _scan(self, original: Result[tuple[G, ...]]) -> Asking[tuple[G, ...], None]:
        """Single genes: those listed, in their order, then drawn ones."""
        self.phase = "scan"
        listed = iter(self._hooks.scan())
        until = self.evaluations + self._listed
        while not self.concluding and self.evaluations < until:
            genes = list(islice(listed, min(self._batch, until - self.evaluations)))
            if not genes:
                break
            yield from self._try_single(original, genes)
        until = self.evaluations + self._sampled
        while not self.concluding and self.evaluations < until:
            drawn = (self._draw(()) for _ in range(min(self._batch, until - self.evaluations)))
            genes = [gene for gene in drawn if gene is not None and self.known((gene,)) is None]
            if not genes:
                break
            yield from self._try_single(original, genes)

    def _try_single(self, original: Result[tuple[G, ...]], genes: Sequence[G]) -> Asking[tuple[G, ...], None]:
        results = yield from self.evaluate([(gene,) for gene in genes], self._keep)
        for gene, result in zip(genes, results, strict=True):
            self._learn(gene, result, original)
            if result is not None and result.objectives is None:
                self._bad.add(gene)
        self._join([r for r in results if r is not None])

    # --- combine

    def _combine(self, original: Result[tuple[G, ...]]) -> Asking[tuple[G, ...], None]:
        """First the wins that cost nothing in any other objective, then all: two ends of the front."""
        self.phase = "combine"
        wins = sorted(self._good.items(), key=lambda item: -item[1])
        free = [(gene, gain) for gene, gain in wins if self._costs_nothing(gene, original)]
        best = original
        for gains in (free, wins):
            if self.concluding:
                return
            best = yield from combine(best, gains, self._asked, is_better=self._is_better)

    def _costs_nothing(self, gene: G, original: Result[tuple[G, ...]]) -> bool:
        result = self.known((gene,))
        if result is None or result.objectives is None or original.objectives is None:
            return False
        return all(x <= y for x, y in zip(result.objectives[1:], original.objectives[1:], strict=True))

    def _asked(self, candidates: list[tuple[G, ...]]) -> Asking[tuple[G, ...], list[Result[tuple[G, ...]] | None]]:
        results = yield from self.evaluate(candidates, self._keep)
        self._join([r for r in results if r is not None])
        return results

    def _is_better(self, result: Result[tuple[G, ...]], than: Result[tuple[G, ...]]) -> bool:
        """By the first objective alone: what an approximate gene costs in error the front keeps account of."""
        assert result.objectives is not None and than.objectives is not None
        return is_gain(result.objectives[0], than.objectives[0], self._tie / 4)

    # --- evolve

    def _evolve(self) -> Asking[tuple[G, ...], None]:
        self.phase = "evolve"
        while self.left > self._keep and self.next_generation():
            worths = self._worths()
            children: dict[tuple[G, ...], tuple[Result[tuple[G, ...]], G | None]] = {}
            for _ in range(self._size):
                for _ in range(ATTEMPTS):
                    child, parent, gene = self._child(worths)
                    if child not in children and self.known(child) is None:
                        children[child] = parent, gene
                        break
            results = yield from self.evaluate(list(children), self._keep)
            for (parent, gene), result in zip(children.values(), results, strict=True):
                if gene is not None:
                    self._learn(gene, result, parent)
            self._join([r for r in results if r is not None])

    def _child(self, worths: Sequence[tuple[float, ...]]) -> tuple[tuple[G, ...], Result[tuple[G, ...]], G | None]:
        """A child, the parent to judge it by, and the gene it got if that is all the difference."""
        rng = self.random
        parent = self._members[tournament(rng, worths)]
        if rng.random() < 0.4:
            other = self._members[tournament(rng, worths)]
            return uniform_crossover(rng, parent.candidate, other.candidate), parent, None
        genome = parent.candidate
        if genome and rng.random() < 0.2:
            dropped = rng.randrange(len(genome))
            return genome[:dropped] + genome[dropped + 1 :], parent, None
        gene = self._pick_good() if self._good and rng.random() < self._known_good else self._draw(genome)
        if gene is None or gene in genome:
            return genome, parent, None
        return (*genome, gene), parent, gene

    def _pick_good(self) -> G:
        return self.random.choice(list(self._good))

    def _draw(self, genome: tuple[G, ...]) -> G | None:
        drawn = (self._hooks.draw(self.random, genome) for _ in range(OFFERS))
        offers = [(self._hooks.kind(gene), gene) for gene in drawn if gene is not None and gene not in self._bad]
        return self._credit.choose(self.random, offers) if offers else None

    def _learn(self, gene: G, result: Result[tuple[G, ...]] | None, parent: Result[tuple[G, ...]]) -> None:
        """What adding the gene to the parent says about the gene and its kind."""
        if result is None:
            return
        kind = self._hooks.kind(gene)
        if result.objectives is None or parent.objectives is None:
            self._credit.reward(kind, 0.0)
            return
        won = is_gain(result.objectives[0], parent.objectives[0], self._tie)
        self._credit.reward(kind, 1.0 if won else 0.1)
        if won:
            gain = parent.objectives[0] - result.objectives[0]
            self._good[gene] = max(gain, self._good.get(gene, 0.0))

    def _join(self, results: Sequence[Result[tuple[G, ...]]]) -> None:
        """Population ← the best of population and results; the same program once, with the fewest genes."""
        programs: dict[Hashable, Result[tuple[G, ...]]] = {}
        for result in (*self._members, *results):
            if result.objectives is not None:
                key = result.candidate if result.key is None else result.key
                if key not in programs or result.genes < programs[key].genes:
                    programs[key] = result
        found = sorted(programs.values(), key=lambda r: (r.instructions, r.genes))
        self._members = [found[i] for i in select([self._cell(r) for r in found], self._size)]
        self.population = len(self._members)

    def _cell(self, result: Result[tuple[G, ...]]) -> tuple[float, ...]:
        return cell(result.objectives or (), self._tie)

    def _worths(self) -> list[tuple[float, ...]]:
        """Rank and crowding on the grid of ties, then fewer instructions, then fewer genes."""
        worths = worth([self._cell(r) for r in self._members])
        return [(*w, r.instructions, r.genes) for w, r in zip(worths, self._members, strict=True)]

    # --- clean

    def _clean(self) -> Asking[tuple[G, ...], None]:
        """The best without the genes that do not matter; not worse by more than a tie, so the tie rule prefers it."""
        self.phase = "clean"
        best = self.best
        if best is not None and best.objectives is not None:
            yield from ddmin(best, not_worse(best.objectives, self._tie / 2), self.evaluate)
