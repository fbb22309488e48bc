"""A toy landscape with the features that evolution on kernels was measured to have.

Single genes: most are rejected alone, few win (by kind: some kinds win often, most seldom). Wins add up, but
not all: some are redundant (only the largest of a group counts) and some exclude each other. Some genes pay
only together (epistasis), some of those are rejected alone, and some traps pay alone but keep a larger pair from working.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from kernelwright.search import Hooks, Result, Strategy

Gene = tuple[str, int, int]
"""Kind, site, variation."""
Genome = tuple[Gene, ...]

#        kind: (rejected, wins, how many variations per site, listed)
KINDS = {
    "barrier": (0.25, 0.50, 1, True),
    "condition": (0.78, 0.12, 2, True),
    "delete": (0.90, 0.04, 1, True),
    "operand": (0.90, 0.03, 12, False),
    "copy": (0.86, 0.015, 20, False),
    "move": (0.86, 0.03, 20, False),
    "replace": (0.93, 0.015, 20, False),
    "swap": (0.96, 0.01, 20, False),
}
SITES = {"barrier": 8, "condition": 30}


@dataclass(frozen=True)
class Trait:
    rejected: bool
    gain: float
    error: float
    group: int
    """Genes of one group are redundant: only the largest gain counts."""


REJECTED = Trait(True, 0.0, 0.0, 0)
"""Of most genes nothing else counts."""


@lru_cache(4)
def traits_of(seed: int, with_error: bool, additive: float) -> dict[Gene, Trait]:
    """What is known of a landscape, empty at first: several searches are tried on the same one."""
    return {}


@dataclass
class Landscape:
    seed: int
    sites: int = 150
    with_error: bool = False
    """A second objective: some wins are approximate; more than 0.01 in all is rejected."""
    ladders_count: int = 0
    additive: float = 1.0
    """How many of the wins there are of those in ``KINDS``."""
    evaluated: int = 0

    def sites_of(self, kind: str) -> int:
        return SITES.get(kind, self.sites)

    @cached_property
    def _traits(self) -> dict[Gene, Trait]:
        return traits_of(self.seed, self.with_error, self.additive)

    def trait(self, gene: Gene) -> Trait:
        found = self._traits.get(gene)
        if found is None:
            found = self._traits[gene] = self._drawn(gene)
        return found

    def _drawn(self, gene: Gene) -> Trait:
        rng = random.Random(zlib.crc32(f"{self.seed}/{gene}".encode()))  # seeding with text is slow
        rejected, wins, _, _ = KINDS[gene[0]]
        dice = rng.random()
        if dice < rejected:
            return REJECTED
        won = dice > 1 - wins * self.additive
        gain = (
            min(rng.expovariate(1 / 0.015), 0.15)
            if won
            else (-rng.expovariate(1 / 0.02) if rng.random() < 0.3 else 0.0)
        )
        error = rng.expovariate(1 / 0.002) if self.with_error and won and rng.random() < 0.4 else 0.0
        return Trait(False, gain, error, rng.randrange(40))

    @cached_property
    def genes(self) -> list[Gene]:
        return [(k, s, v) for k, (_, _, n, _) in KINDS.items() for s in range(self.sites_of(k)) for v in range(n)]

    @cached_property
    def accepted(self) -> list[Gene]:
        """Those that are accepted alone."""
        return [g for g in self.genes if not self.trait(g).rejected]

    @cached_property
    def pairs(self) -> dict[frozenset[Gene], float]:
        """Pays only together."""
        rng = random.Random(f"{self.seed}/pairs")
        found: dict[frozenset[Gene], float] = {}
        for _ in range(30):
            found[frozenset(rng.sample(self.accepted, 2))] = rng.uniform(0.03, 0.15)
        return found

    @cached_property
    def rescued(self) -> dict[Gene, tuple[Gene, float]]:
        """Rejected alone, accepted and paying with a partner."""
        rng = random.Random(f"{self.seed}/rescued")
        rejected = [g for g in self.genes if self.trait(g).rejected]
        return {g: (rng.choice(self.accepted), rng.uniform(0.03, 0.15)) for g in rng.sample(rejected, 30)}

    @cached_property
    def ladders(self) -> dict[Gene, Gene]:
        """A rung is accepted, and pays, only on top of the one before; the lowest is accepted alone."""
        rng = random.Random(f"{self.seed}/ladders")
        found: dict[Gene, Gene] = {}
        for _ in range(self.ladders_count):
            rungs = [rng.choice(self.accepted), *((k, s, v) for k, s, v in rng.sample(self.genes, 3))]
            found.update(zip(rungs[1:], rungs, strict=False))
        return found

    @cached_property
    def traps(self) -> dict[Gene, frozenset[Gene]]:
        """Pays a little alone and keeps a pair from paying."""
        rng = random.Random(f"{self.seed}/traps")
        return {rng.choice(self.accepted): pair for pair in list(self.pairs)[:10]}

    @cached_property
    def _exclusions(self) -> dict[tuple[Gene, Gene], bool]:
        return {}

    def excludes(self, a: Gene, b: Gene) -> bool:
        known = self._exclusions.get((a, b))
        if known is None:
            low, high = sorted((a, b))
            known = zlib.crc32(f"{self.seed}/{low}/{high}".encode()) % 1000 < 30
            self._exclusions[a, b] = known
        return known

    def evaluate(self, genome: Genome) -> Result[Genome]:
        self.evaluated += 1
        present = dict.fromkeys(genome)
        blocked = {self.traps[g] for g in present if g in self.traps}
        time, error, groups = 1.0, 0.0, dict[int, float]()
        for gene in present:
            trait = self.trait(gene)
            if gene in self.ladders:
                if self.ladders[gene] not in present:
                    return Result(genome, None, cause="fault")
                time *= 0.9
            elif trait.rejected:
                partner, gain = self.rescued.get(gene, (None, 0.0))
                if partner not in present:
                    return Result(genome, None, cause="fault")
                time *= 1 - gain
            elif gene in self.traps:
                time *= 0.99
            elif trait.gain > 0:
                groups[trait.group] = max(groups.get(trait.group, 0.0), trait.gain)
            else:
                time *= 1 - trait.gain
            error += trait.error
        for pair, gain in self.pairs.items():
            if pair <= present.keys() and pair not in blocked:
                time *= 1 - gain
        for gain in groups.values():
            time *= 1 - gain
        listed = list(present)
        if any(self.excludes(a, b) for i, a in enumerate(listed) for b in listed[:i]):
            return Result(genome, None, cause="compare")
        if error > 0.01:
            return Result(genome, None, cause="compare")
        objectives = (time, error) if self.with_error else (time,)
        return Result(genome, objectives, instructions=round(1000 * time), key=frozenset(present))

    def draw(self, rng: random.Random, genome: Genome) -> Gene:
        """Kinds equally likely, as in GEVO."""
        kind = rng.choice(list(KINDS))
        return kind, rng.randrange(self.sites_of(kind)), rng.randrange(KINDS[kind][2])

    def scan(self) -> Iterator[Gene]:
        return (g for g in self.genes if KINDS[g[0]][3])

    def hooks(self) -> Hooks[Gene]:
        return Hooks(draw=self.draw, scan=self.scan, kind=lambda gene: gene[0], same=frozenset)


def run(strategy: Strategy[Genome], landscape: Landscape) -> Strategy[Genome]:
    while batch := strategy.ask():
        strategy.tell([landscape.evaluate(genome) for genome in batch])
    return strategy
