"""The default search: scan single genes, combine what wins, evolve from there, clean up.

    scan      genes that can be listed, then drawn ones, each alone
    combine   the wins together, greedily, in order of gain; then what gained nothing alone, in groups on top of them;
              and where the best is good for some sizes only, the same of what is good for all
    evolve    NSGA-II seeded with all of it; until the round ends:
                  children ← crossover, a gene drawn, a gene known to be good, a gene dropped, the best with a further listed gene
                  population ← the best of population + children
                  the genes that paid for the first time, combined with the best
                  listed genes that are rejected or gain nothing alone, tried on the best; what pays, combined; again while some do
    clean     from the best, drop the genes that do not matter

A budget of more than ``ROUND`` evaluations is spent in rounds, each begun with further genes alone, which are combined with the best
there is: so that a larger budget begins as a smaller one does, and finds no less.

Wins are nearly additive and single genes are accepted more often than long genomes with one more, so scanning and
combining finds most of what there is; evolution finds the genes that pay only together. A genome that is known is never
asked about again, and candidates that turn out to be the same program count once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeAlias, TypeVar

from kernelwright.search.combine import add_harmless, combine
from kernelwright.search.crossover import uniform_crossover
from kernelwright.search.experience import Experience
from kernelwright.search.minimise import ddmin, not_worse
from kernelwright.search.planned import Asking, Plan, Planned
from kernelwright.search.population import Population
from kernelwright.search.strategy import Budget, Hooks, Result
from kernelwright.search.ties import TIE, is_gain

G = TypeVar("G", bound=Hashable)

_Answers: TypeAlias = Asking[tuple[G, ...], list[Result[tuple[G, ...]] | None]]

SINGLE, CROSS, DROP, GOOD = 0.3, 0.4, 0.2, 0.25
"""How a child is made, each the share of what those before leave: the best with a further listed gene, two parents crossed, a gene
dropped, a gene added that has paid before; the rest, a gene drawn and added."""
TOGETHER = 0.1
"""Share of a round at most for what gained nothing alone, tried together; half as much is left for what is good for every size."""
AGAIN = 12
"""Genes rejected alone, or that gain nothing, that are tried on the best in each generation, and again as long as some of them pay."""
BREAKTHROUGH = 0.03
"""By how much the best has to improve for these genes to be tried from the first again."""
ATTEMPTS = 12
"""Tries to make a child that is not known yet."""
ROUND = 400
"""Evaluations of the first round. A longer scan finds other wins, which combine to other bests, and not always to better ones
(``docs/decisions/0040-a-larger-budget.md``)."""
LONGER = 2.5
"""How many times the evaluations of those before a round has made when it ends."""
MORE_DRAWN = 2
"""How many times its share of drawn genes a round after the first scans: by then evolution has read much of what is listed."""
UNLIMITED = 2000
"""What the share kept for the end is counted from when evaluations are not limited."""


class Default(Planned[tuple[G, ...]]):
    """See above. Any number of objectives; with one, NSGA-II becomes an elitist genetic algorithm.

    Raises ``ValueError`` when told that the original is rejected.
    """

    def __init__(
        self,
        hooks: Hooks[G],
        *,
        seed: int = 0,
        budget: Budget | None = None,
        population: int = 48,
        listed: float = 0.3,
        sampled: float = 0.2,
        clean: float = 0.05,
        batch: int = 64,
        tie: float = TIE,
    ) -> None:
        """``listed``, ``sampled``: shares of a round at most for scanning listed and drawn genes; ``clean``: the share of the budget
        kept for the end. ``batch``: how many single genes are asked about at once."""
        if population < 2 or batch < 1:
            raise ValueError(f"a population of {population} in batches of {batch}; at least 2 and 1 are needed")
        super().__init__(seed=seed, budget=budget, same=hooks.same, tie=tie)
        self._hooks, self._size, self._batch, self._tie = hooks, population, batch, tie
        self._listed, self._sampled = listed, sampled
        self._clean_share = int(clean * (self.budget.evaluations or UNLIMITED))
        self._keep = self._clean_share if self.budget.evaluations else 0
        self._experience = Experience(hooks, tie)
        self._people: Population[tuple[G, ...]] = Population(population, tie)
        self._once_more: Iterator[G] = iter(())
        self._upon = math.inf

    def credit(self) -> Mapping[str, float]:
        return self._experience.credit.weights

    @property
    def population(self) -> int:
        return len(self._people)

    def plan(self) -> Plan[tuple[G, ...]]:
        self._original = yield from self.first(())
        self._people.join([self._original])
        self._still_listed: Iterator[G] = iter(self._hooks.scan())
        for begin, end in self._rounds():
            before = set(self._experience.good)
            drawn = self._sampled * (MORE_DRAWN if begin else 1)
            yield from self._scan(int(self._listed * (end - begin)), int(drawn * (end - begin)))
            new = [gene for gene in self._experience.good if gene not in before]
            yield from self._combine_scanned(self.best if begin and self.best else self._original, new, end - begin)
            if not (yield from self._evolve(end)):
                break
        yield from self._clean()

    def _rounds(self) -> Iterator[tuple[int, int]]:
        """Evaluations at the beginning and the end of each; without end where the budget has none."""
        most = self.budget.evaluations or math.inf
        begin, end = 0, ROUND
        while end < most:
            yield begin, end
            begin, end = end, round(end * LONGER)
        yield begin, int(most)

    # --- scan

    def _scan(self, listed: int, drawn: int) -> Asking[tuple[G, ...], None]:
        """So many genes of each at most."""
        self.phase = "scan"
        until = self.evaluations + listed
        while not self.concluding and self.evaluations < until:
            genes = list(islice(self._still_listed, min(self._batch, until - self.evaluations)))
            if not genes:
                break
            yield from self._try({(gene,): (self._original, gene) for gene in genes}, drawn=False)
        until = self.evaluations + drawn
        while not self.concluding and self.evaluations < until:
            offers = [self._experience.draw(self.random, ()) for _ in range(min(self._batch, until - self.evaluations))]
            fresh = [gene for gene in offers if gene is not None and self.known((gene,)) is None]
            if not fresh:
                break
            yield from self._try({(gene,): (self._original, gene) for gene in fresh})

    def _try(
        self, children: Mapping[tuple[G, ...], tuple[Result[tuple[G, ...]], G | None]], *, drawn: bool = True
    ) -> Asking[tuple[G, ...], None]:
        """Evaluates children, learns from them. Each with the parent to judge it by, and the gene that it has more."""
        results = yield from self.evaluate(list(children), self._keep)
        for (parent, gene), result in zip(children.values(), results, strict=True):
            if result is not None and gene is not None:
                self._experience.learn(gene, result, parent, drawn=drawn)
        self._people.join(results)

    # --- combine

    def _combine_scanned(
        self, start: Result[tuple[G, ...]], wins: Sequence[G], length: int
    ) -> Asking[tuple[G, ...], None]:
        """First the wins that cost nothing in any other objective, then all: two ends of the front."""
        self.phase = "combine"
        free = [gene for gene in wins if self._costs_nothing(gene)]
        best = yield from self._combine(start, free)
        if len(free) < len(wins):
            best = yield from self._combine(best, wins)
        together = int(TOGETHER * length)
        until = self.evaluations + together
        best = yield from self._combine_harmless(best, until)
        yield from self._combine_general(best, max(until, self.evaluations + together // 2))

    def _combine(
        self, start: Result[tuple[G, ...]], genes: Iterable[G], until: float = math.inf
    ) -> Asking[tuple[G, ...], Result[tuple[G, ...]]]:
        gains = sorted(((gene, self._experience.good[gene]) for gene in genes), key=lambda pair: -pair[1])
        return (yield from combine(start, gains, self._asking_until(until), is_better=self._is_better))

    def _combine_general(self, best: Result[tuple[G, ...]], until: int) -> Asking[tuple[G, ...], None]:
        """Where the best is not good for every size: the best without what makes it so, with the wins on top that are."""
        is_general = self._hooks.is_general
        left = tuple(gene for gene in best.candidate if is_general(gene))
        if len(left) == len(best.candidate):
            return
        (start,) = yield from self._evaluate_and_join([left])
        if start is None or start.objectives is None:
            start = self._original
        yield from self._combine(start, filter(is_general, self._experience.good), until)

    def _combine_harmless(
        self, start: Result[tuple[G, ...]], until: int
    ) -> Asking[tuple[G, ...], Result[tuple[G, ...]]]:
        """What gained nothing alone, by what goes together."""
        groups: dict[tuple[int, Hashable], list[G]] = {}
        for gene in self._experience.harmless:
            for turn, group in enumerate(self._hooks.groups(gene)):
                groups.setdefault((turn, group), []).append(gene)

        in_turn = sorted(groups.items(), key=lambda each: each[0][0])  # stable: those of one turn stay in their order
        together = [group for _, group in in_turn if len(group) > 1]
        return (yield from add_harmless(start, together, self._asking_until(until), is_better=self._is_better))

    def _asking_until(self, until: float) -> Callable[[list[tuple[G, ...]]], _Answers[G]]:
        """Asks about candidates until so many evaluations were made, and says None from then on."""

        def evaluate(candidates: list[tuple[G, ...]]) -> _Answers[G]:
            if self.evaluations >= until:
                return [None] * len(candidates)
            return (yield from self._evaluate_and_join(candidates))

        return evaluate

    def _evaluate_and_join(self, candidates: list[tuple[G, ...]]) -> _Answers[G]:
        results = yield from self.evaluate([] if self.concluding else candidates, self._keep)
        self._people.join(results)
        return results or [None] * len(candidates)

    def _costs_nothing(self, gene: G) -> bool:
        result = self.known((gene,))
        if result is None or result.objectives is None or self._original.objectives is None:
            return False
        return all(x <= y for x, y in zip(result.objectives[1:], self._original.objectives[1:], strict=True))

    def _is_better(self, result: Result[tuple[G, ...]], than: Result[tuple[G, ...]]) -> bool:
        """By the first objective alone: what a gene costs in the others, the front keeps account of. Less than a tie
        counts here, for small gains add up; the clean-up drops what does not matter in the end."""
        assert result.objectives is not None and than.objectives is not None
        return is_gain(result.objectives[0], than.objectives[0], self._tie / 4)

    # --- evolve

    def _evolve(self, until: int) -> Asking[tuple[G, ...], bool]:
        """Generations until so many evaluations were made; false when there are to be no further ones."""
        while self.evaluations < until:
            if self.left <= self._keep or not self.next_generation():
                return False
            self.phase = "evolve"
            children: dict[tuple[G, ...], tuple[Result[tuple[G, ...]], G | None]] = {}
            for _ in range(self._size):
                for _ in range(ATTEMPTS):
                    child, parent, gene = self._child()
                    if child not in children and self.known(child) is None:
                        children[child] = parent, gene
                        break
            before = set(self._experience.good)
            yield from self._try(children)
            new = [gene for gene in self._experience.good if gene not in before]
            if new and self.best is not None:
                yield from self._combine(self.best, new)
            yield from self._try_again()
        return True

    def _child(self) -> tuple[tuple[G, ...], Result[tuple[G, ...]], G | None]:
        """A child, the parent to judge it by, and the gene that it has more, if that is all the difference."""
        rng, experience = self.random, self._experience
        gene: G | None
        if rng.random() < SINGLE:
            gene = next(self._still_listed, None)
            gene = experience.draw(rng, ()) if gene is None else gene
            best = self.best or self._original
            return (*best.candidate, *((gene,) if gene is not None and gene not in best.candidate else ())), best, gene
        parent = self._people.pick(rng)
        genome = parent.candidate
        if rng.random() < CROSS:
            return uniform_crossover(rng, genome, self._people.pick(rng).candidate), parent, None
        if genome and rng.random() < DROP:
            dropped = rng.randrange(len(genome))
            return genome[:dropped] + genome[dropped + 1 :], parent, None
        known_good = experience.good and rng.random() < GOOD
        gene = rng.choice(list(experience.good)) if known_good else experience.draw(rng, genome)
        if gene is None or gene in genome:
            return genome, parent, None
        return (*genome, gene), parent, gene

    def _try_again(self) -> Asking[tuple[G, ...], None]:
        """Once an answer no longer depends on a computation, what breaks that computation is harmless: such chains of genes
        are longer than drawing gets."""
        while self.best is not None and self.best.genes and not self.concluding:
            best = self.best
            assert best.objectives is not None
            if best.objectives[0] < self._upon * (1 - BREAKTHROUGH):
                self._upon = best.objectives[0]
                self._once_more = iter(self._experience.listed_in_vain())
            genes = list(islice((gene for gene in self._once_more if gene not in best.candidate), AGAIN))
            yield from self._try({(*best.candidate, gene): (best, gene) for gene in genes}, drawn=False)
            results = [(gene, self.known((*best.candidate, gene))) for gene in genes]
            paid = [gene for gene, r in results if r is not None and r.objectives and self._is_better(r, best)]
            if not paid:
                return
            yield from self._combine(best, [gene for gene in paid if gene in self._experience.good])

    # --- clean

    def _clean(self) -> Asking[tuple[G, ...], None]:
        """The best, then the rest of the front while the share lasts, without the genes that do not matter: what is left
        is a tie and has fewer genes, so the tie rule prefers it."""
        self.phase = "clean"
        until = self.evaluations + self._clean_share
        front = sorted(self.front, key=lambda result: result.objectives or ())
        for result in ([self.best] if self.best else []) + front:
            if result.objectives is not None and result.genes and self.evaluations < until:
                holds = not_worse(result.objectives, self._tie / 2)
                yield from ddmin(result, holds, self.evaluate, parts=result.genes)
