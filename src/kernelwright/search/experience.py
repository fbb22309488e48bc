"""What a search has learnt about single genes: which pay, which are rejected alone, which kinds are worth drawing."""

from __future__ import annotations

import random
from collections.abc import Hashable
from typing import Any, Generic, TypeVar

from kernelwright.search.credit import Credit
from kernelwright.search.strategy import Hooks, Result
from kernelwright.search.ties import is_gain

G = TypeVar("G", bound=Hashable)

OFFERS = 8
"""Genes drawn for one that is wanted: drawing is far cheaper than evaluating, so the best bet is taken."""
NEW = 0.7
"""How often only genes that were never tried are looked at."""
SECOND_CHANCE = 0.05
"""How often a gene that is rejected alone is looked at all the same: a few need a partner."""
VALID = 0.1
"""Reward of a kind for a gene that is accepted and gains nothing; one that gains earns 1, a rejected one 0."""


class Experience(Generic[G]):
    """Grows with every result. ``good``: each gene that paid, with the most it made the first objective smaller."""

    def __init__(self, hooks: Hooks[G], tie: float) -> None:
        self._hooks, self._tie = hooks, tie
        self.credit = Credit()
        self.good: dict[G, float] = {}
        self._tried: set[G] = set()
        self._rejected_alone: dict[G, bool] = {}
        """Whether it was drawn, in the order they were tried."""
        self._listed_in_vain: dict[G, bool] = {}
        """Whether it is accepted alone, and no loss; in the order they were tried."""

    def learn(self, gene: G, result: Result[Any], parent: Result[Any], *, drawn: bool) -> None:
        """The gene was added to the parent. Its kind earns credit when it was drawn and new: a kind whose few good genes
        are all known already has nothing left to find, however often these pay again."""
        won = False
        if result.objectives is None:
            if not parent.genes:
                self._rejected_alone.setdefault(gene, drawn)
                if not drawn:
                    self._listed_in_vain.setdefault(gene, False)
        elif parent.objectives is not None and is_gain(result.objectives[0], parent.objectives[0], self._tie):
            won = True
            self.good[gene] = max(parent.objectives[0] - result.objectives[0], self.good.get(gene, 0.0))
        elif parent.objectives is not None and not parent.genes and not drawn:
            is_loss = is_gain(parent.objectives[0], result.objectives[0], self._tie)
            self._listed_in_vain.setdefault(gene, not is_loss)
        if drawn and gene not in self._tried:
            self.credit.reward(self._hooks.kind(gene), 1.0 if won else 0.0 if result.objectives is None else VALID)
        self._tried.add(gene)

    @property
    def harmless(self) -> list[G]:
        """Listed genes that are accepted alone and neither gain nor lose anything, the most promising first."""
        return [gene for gene, is_harmless in self._listed_in_vain.items() if is_harmless and gene not in self.good]

    def listed_in_vain(self) -> list[G]:
        """Listed genes that are rejected or gain nothing alone, the most promising first."""
        return [gene for gene in self._listed_in_vain if gene not in self.good]

    def draw(self, rng: random.Random, genome: tuple[G, ...]) -> G | None:
        """A gene to add to the genome: of a few drawn ones the most promising by kind, new ones first; None: none found."""
        offers = []
        for _ in range(OFFERS):
            gene = self._hooks.draw(rng, genome)
            if gene is None or gene in genome:
                continue
            if gene not in self._rejected_alone or rng.random() < SECOND_CHANCE:
                offers.append((self._hooks.kind(gene), gene))
        if rng.random() < NEW:
            offers = [offer for offer in offers if offer[1] not in self._tried] or offers
        return self.credit.choose(rng, offers) if offers else None
