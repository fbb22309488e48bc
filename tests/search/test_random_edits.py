"""Edits drawn at random, the arm that every search has to beat."""

from collections import Counter

from kernelwright.search import Budget, Hooks, Result
from kernelwright.search.random_edits import RandomEdits

Genome = tuple[int, ...]


def asked(seed: int, evaluations: int, limit: int = 10**9) -> list[Genome]:
    hooks: Hooks[int] = Hooks(draw=lambda rng, genome: rng.randrange(limit))
    strategy = RandomEdits(hooks, seed=seed, budget=Budget(evaluations=evaluations))
    found: list[Genome] = []
    while batch := strategy.ask():
        found += batch
        strategy.tell([Result(genome, (1.0,)) for genome in batch])
    return found


def test_genomes_have_one_to_three_edits_and_none_is_asked_twice() -> None:
    found = asked(1, 400)
    assert found[0] == () and len(found) == 400 == len(set(found))
    lengths = Counter(map(len, found[1:]))
    assert set(lengths) == {1, 2, 3} and min(lengths.values()) > 90


def test_what_comes_out_changes_nothing_that_is_asked_and_the_seed_does() -> None:
    assert asked(1, 100) == asked(1, 400)[:100] and asked(2, 100) != asked(1, 100)


def test_it_ends_where_there_are_no_more() -> None:
    assert len(asked(1, 1000, limit=2)) == 1 + 2 + 2
