"""Greedy combination in groups."""

from __future__ import annotations

from collections.abc import Collection

from hypothesis import given
from hypothesis import strategies as st

from kernelwright.search import Planned, Result, is_gain
from kernelwright.search.combine import combine

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
