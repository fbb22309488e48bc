"""Greedy combination in groups."""

from __future__ import annotations

from collections.abc import Collection

from hypothesis import given
from hypothesis import strategies as st

from kernelwright.search import Budget, Default, Hooks, Planned, Result, is_gain
from kernelwright.search.combine import add_harmless, combine

Genome = tuple[int, ...]


class Combining(Planned[Genome]):
    """Each gene n takes n off 1000; ``excluded`` pairs do not go together, of a ``redundant`` set only one counts."""

    def __init__(
        self, genes: list[int], excluded: Collection[frozenset[int]] = (), redundant: Collection[int] = ()
    ) -> None:
        super().__init__(same=frozenset)
        self.genes, self.excluded, self.redundant = genes, excluded, set(redundant)
        self.result: Result[Genome] | None = None
        self.batches = 0

    def plan(self):  # type: ignore[no-untyped-def]
        (start,) = yield from self.evaluate([()])
        gains = [(gene, float(gene)) for gene in self.genes]
        self.result = yield from combine(
            start, gains, self.evaluate, is_better=lambda a, b: is_gain(a.objectives[0], b.objectives[0], 0)
        )

    def judge(self, genome: Genome) -> Result[Genome]:
        if any(pair <= set(genome) for pair in self.excluded):
            return Result(genome, None, cause="compare")
        counted = [g for g in genome if g not in self.redundant] + sorted(self.redundant & set(genome))[-1:]
        return Result(genome, (1000.0 - sum(counted),))

    def run(self) -> Result[Genome]:
        while batch := self.ask():
            self.batches += 1
            self.tell([self.judge(genome) for genome in batch])
        assert self.result is not None
        return self.result


def test_wins_that_add_up_are_taken_at_once() -> None:
    combining = Combining(list(range(60, 20, -1)))
    assert set(combining.run().candidate) == set(range(21, 61))
    assert combining.evaluations == 3  # the start, all of them, and in the same batch the first half


def test_one_that_is_in_the_way_costs_a_logarithm() -> None:
    combining = Combining(list(range(40, 8, -1)), excluded=[frozenset({40, 20})])
    assert set(combining.run().candidate) == set(range(9, 41)) - {20}
    assert combining.batches <= 12


def test_redundant_ones_are_left_out() -> None:
    result = Combining([30, 29, 28, 27, 5], redundant=[30, 29, 28, 27]).run()
    assert result.objectives == (1000.0 - 35,) and set(result.candidate) == {30, 5}


def test_nothing_to_combine() -> None:
    assert Combining([]).run().candidate == ()


@given(
    st.lists(st.integers(1, 50), max_size=12, unique=True),
    st.sets(st.frozensets(st.integers(1, 50), min_size=2, max_size=2), max_size=20),
)
def test_nothing_can_be_added_to_the_result(genes: list[int], excluded: set[frozenset[int]]) -> None:
    genes.sort(reverse=True)
    combining = Combining(genes, excluded)
    result = combining.run()
    assert result.objectives is not None and set(result.candidate) <= set(genes)
    for gene in set(genes) - set(result.candidate):
        assert combining.judge((*result.candidate, gene)).objectives is None


class Waits(Planned[Genome]):
    """Waits that go on side by side: gene n ends wait n, the longest that is left counts. A gene in ``rejected`` never goes, one in
    ``slower`` costs 50."""

    def __init__(self, waits: int, rejected: Collection[int] = (), slower: Collection[int] = ()) -> None:
        super().__init__(same=frozenset)
        self.waits, self.rejected, self.slower = waits, rejected, slower
        self.result: Result[Genome] | None = None

    def plan(self):  # type: ignore[no-untyped-def]
        (start,) = yield from self.evaluate([()])
        groups = [range(self.waits), range(self.waits, self.waits + 4)]  # the second group does nothing at all
        self.result = yield from add_harmless(
            start, groups, self.evaluate, is_better=lambda a, b: is_gain(a.objectives[0], b.objectives[0], 0)
        )

    def judge(self, genome: Genome) -> Result[Genome]:
        if set(genome) & set(self.rejected):
            return Result(genome, None, cause="compare")
        is_done = set(range(self.waits)) - set(self.rejected) - set(self.slower) <= set(genome)
        return Result(genome, (1000.0 - 100.0 * is_done + 50.0 * len(set(genome) & set(self.slower)),))

    run = Combining.run
    batches = 0


def test_what_gains_nothing_alone_is_found_together() -> None:
    waits = Waits(8)
    assert waits.run().candidate == tuple(range(8))
    assert waits.evaluations == 5  # the start, each group and its first half


@given(st.sets(st.integers(0, 15), max_size=2), st.sets(st.integers(0, 15), max_size=1))
def test_one_that_is_in_the_way_leaves_the_others_untried_or_in(rejected: set[int], slower: set[int]) -> None:
    """What ties is left out with its group, so a gain whose parts are spread over several is not found: never one that is none."""
    waits = Waits(16, rejected, slower - rejected)
    found = waits.run()
    assert found.objectives is not None and found.objectives[0] <= 1000.0
    assert not set(found.candidate) & rejected and waits.evaluations <= 80
    if not rejected and not slower:
        assert found.objectives[0] == 900.0


def test_the_search_finds_what_pays_together_only() -> None:
    """Eight listed genes shorten eight waits that go on side by side, among twenty that do nothing: none pays alone."""
    waits = {f"hoist {n}" for n in range(8)}
    listed = [f"hoist {n}" for n in range(8)] + [f"other {n}" for n in range(20)]
    hooks = Hooks[str](
        draw=lambda rng, _: f"useless {rng.random()}",
        scan=lambda: iter(listed),
        kind=lambda gene: gene.split()[0],
        groups=lambda gene: gene.split()[:1],
    )
    strategy: Default[str] = Default(hooks, seed=1, budget=Budget(evaluations=120))
    while batch := strategy.ask():
        strategy.tell([Result(genome, (0.5 if waits <= set(genome) else 1.0,)) for genome in batch])
    assert strategy.best is not None and set(strategy.best.candidate) == waits
