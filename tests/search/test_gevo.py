"""Algorithm 1 of paper 000, step by step."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kernelwright.search import Budget, Gevo, Hooks, Result

Genome = tuple[int, ...]


def numbers(limit: int = 10_000) -> Hooks[int]:
    return Hooks(draw=lambda rng, genome: rng.randrange(limit), kind=lambda gene: "number")


def rounds(
    strategy: Gevo[int], evaluate: Callable[[Genome], Result[Genome]], generations: int = 0
) -> list[list[Genome]]:
    """Batches up to the end of a generation; 0 is the initial population."""
    found = []
    while (batch := strategy.ask()) and strategy.progress.generation <= generations:
        found.append(batch)
        strategy.tell([evaluate(genome) for genome in batch])
    return found


def valid(genome: Genome) -> Result[Genome]:
    return Result(genome, (100.0 - len(genome),))


def test_the_published_settings_are_the_default() -> None:
    strategy = Gevo(numbers(10**9))
    batches = rounds(strategy, valid)
    # The original; then InitDist 3 mutations of each of 256 individuals, all of them valid at once here.
    assert [len(batch) for batch in batches] == [1, 256, 256, 256]
    assert [{len(genome) for genome in batch} for batch in batches] == [{0}, {1}, {2}, {3}]
    assert all(three[:2] == two for two, three in zip(batches[2], batches[3], strict=True))
    crossed, mutated = [], []
    for generation in range(1, 21):
        first, *others = rounds(strategy, valid, generation)
        crossed.append(len(strategy.ask()) if not first else len(first))
        mutated.append(sum(map(len, others)))
    assert 0.7 * 256 < sum(crossed) / 20 < 0.9 * 256  # 80 % of the pairs, two children each
    assert 0.2 * 256 < sum(mutated) / 20 < 0.4 * 256  # 30 % of the individuals


def test_a_mutation_is_drawn_again_until_valid() -> None:
    strategy = Gevo(numbers(), population=16)
    batches = rounds(strategy, lambda g: valid(g) if all(x % 4 == 0 for x in g) else Result(g, None, cause="fault"))
    singles = [batch for batch in batches if len(batch[0]) == 1]
    assert len(singles[0]) == 16 and len(singles) > 5 and len(singles[-1]) < 4
    accepted = {g for batch in singles for g in batch if g[0] % 4 == 0}
    assert len(accepted) == 16
    assert {batch[0][:1] for batch in batches if len(batch[0]) == 2} <= accepted  # only valid ones go on


def test_trials_are_bounded() -> None:
    strategy = Gevo(numbers(), population=16, trials=5, budget=Budget(generations=2))
    batches = rounds(strategy, lambda g: Result(g, None, cause="fault") if g else valid(g), 5)
    # 3 initial mutations of all, then 30 % of the population in either generation, 5 trials each; nothing to cross.
    assert len(batches) <= 1 + 5 * 3 + 5 * 2
    assert strategy.progress.best is not None and strategy.progress.best.candidate == ()


def test_crossover_is_tried_again_until_a_child_is_valid() -> None:
    """Only even numbers of genes are valid; an odd child keeps its parent's place."""
    hooks = Hooks[int](draw=lambda rng, genome: None)
    strategy = Gevo(hooks, population=4, crossover=1.0, mutation=0.0, budget=Budget(generations=1))
    strategy.tell([valid(g) for g in strategy.ask()])
    parents = [Result(g, (1.0,)) for g in ((1, 2), (3, 4), (5, 6), (7, 8))]
    offspring = list(parents)
    asking = strategy._recombine(offspring)
    batch, tried = next(asking), 0
    with pytest.raises(StopIteration):
        while True:
            tried += len(batch)
            results = [valid(g) if len(g) % 2 == 0 else Result(g, None, cause="fault") for g in batch]
            for result in results:
                strategy._note(result)
            batch = asking.send(results)
    assert tried > 4
    assert offspring != parents and all(r.objectives is not None and r.genes % 2 == 0 for r in offspring)
    assert {x for r in offspring[:2] for x in r.candidate} <= {1, 2, 3, 4}


def test_crossover_is_given_up_after_as_many_trials_as_genes() -> None:
    strategy = Gevo(numbers(), population=4, crossover=1.0, budget=Budget(evaluations=500))
    offspring = [Result(g, (1.0,)) for g in ((1, 2, 3), (4, 5), (6,), (7,))]
    parents, asked = list(offspring), 0
    for batch in strategy._recombine(offspring):
        asked += len(batch)
        for genome in batch:
            strategy._note(Result(genome, None, cause="fault"))
    assert offspring == parents and 0 < asked <= 2 * (5 + 2)


def test_the_best_quarter_survives() -> None:
    """Each generation is worse than the last one, and all its children have one gene more than their parents. Only where elites
    survive do the first, with their 3 genes, have children for ever."""
    worse = iter(range(1, 10**6))
    strategy = Gevo(numbers(), population=16, crossover=0.0, mutation=1.0)
    for generation in range(11):
        batches = rounds(strategy, lambda g: Result(g, (float(next(worse)),)), generation)
    assert min(len(genome) for genome in batches[0]) == 4 < max(len(genome) for genome in batches[0])


def test_with_few_evaluations_a_quarter_of_them_makes_the_first_generation() -> None:
    def rarely(genome: Genome) -> Result[Genome]:
        return valid(genome) if all(x % 14 == 0 for x in genome) else Result(genome, None, cause="compare")

    strategy = Gevo(numbers(10**9), seed=1, budget=Budget(evaluations=400))
    initial = rounds(strategy, rarely)
    asked = sum(map(len, initial))
    assert 100 <= asked < 100 + 8 and strategy.progress.generation == 1
    assert 8 <= strategy.population < 256 and sum(all(x % 14 == 0 for x in genome) for (genome,) in initial[:1]) == 1
    while batch := strategy.ask():
        strategy.tell([rarely(genome) for genome in batch])
    assert strategy.progress.evaluations == 400 and strategy.progress.generation > 5


def test_where_edits_are_right_the_population_is_the_published_one() -> None:
    strategy = Gevo(numbers(10**9), budget=Budget(evaluations=8000))
    rounds(strategy, valid)
    assert strategy.population == 256 and strategy.progress.evaluations == 1 + 3 * 256
