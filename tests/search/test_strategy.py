"""What every strategy keeps to: the protocol, the budget, sameness, determinism, bad input."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import cycle, islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.search import Budget, Default, Gevo, Hooks, Minimise, Planned, Result, dominates, preferred
from tests.search.landscape import Gene, Genome, Landscape, run

Maker = Callable[[Hooks[Gene], int, Budget], Planned[Genome]]
KINDS: dict[str, Maker] = {
    "default": lambda hooks, seed, budget: Default(hooks, seed=seed, budget=budget, population=12, batch=16),
    "gevo": lambda hooks, seed, budget: Gevo(hooks, seed=seed, budget=budget, population=12),
}
every = pytest.mark.parametrize("kind", KINDS)


def transcript(strategy: Planned[Genome], evaluate: Callable[[Genome], Result[Genome]]) -> list[list[Genome]]:
    """All batches. They are evaluated backwards, as a pool might; told in order."""
    batches = []
    while batch := strategy.ask():
        batches.append(batch)
        results = {genome: evaluate(genome) for genome in reversed(batch)}
        strategy.tell([results[genome] for genome in batch])
    return batches


@every
@settings(max_examples=10)
@given(seed=st.integers(0, 2**32), where=st.integers(0, 5), with_error=st.booleans())
def test_the_same_seed_asks_the_same(kind: str, seed: int, where: int, with_error: bool) -> None:
    asked = []
    for _ in range(2):
        landscape = Landscape(where, sites=40, with_error=with_error)
        asked.append(transcript(KINDS[kind](landscape.hooks(), seed, Budget(evaluations=300)), landscape.evaluate))
    assert asked[0] == asked[1]


@every
def test_another_seed_asks_something_else(kind: str) -> None:
    landscape = Landscape(0)
    one, two = (
        transcript(KINDS[kind](landscape.hooks(), s, Budget(evaluations=300)), landscape.evaluate) for s in (1, 2)
    )
    assert one != two


@every
@settings(max_examples=15)
@given(data=st.data())
def test_any_results_are_survived(kind: str, data: st.DataObject) -> None:
    """Whatever is told, the budget is kept, nothing is asked twice, and front and best are those of what was told."""
    rng = random.Random(data.draw(st.integers(0, 2**32)))
    width, accepted, levels = data.draw(st.integers(1, 3)), data.draw(st.sampled_from([0.0, 0.1, 0.9, 1.0])), 4
    told: list[Result[Genome]] = []

    def evaluate(genome: Genome) -> Result[Genome]:
        fine = not genome or rng.random() < accepted
        points = tuple(rng.randrange(levels) * 1.0 for _ in range(width))
        told.append(Result(genome, points if fine else None, rng.randrange(3), cause="" if fine else "fault"))
        return told[-1]

    budget = data.draw(st.integers(1, 250))
    landscape = Landscape(0, sites=20)
    strategy = KINDS[kind](landscape.hooks(), 0, Budget(evaluations=budget))
    batches = transcript(strategy, evaluate)
    asked = [frozenset(genome) for batch in batches for genome in batch]
    assert asked[0] == frozenset() and len(asked) == len(set(asked)) <= budget
    progress = strategy.progress
    assert progress.evaluations == len(told) and progress.phase == "finished"
    good = [r for r in told if r.objectives is not None]
    points = {r.objectives for r in good if not any(dominates(o.objectives, r.objectives) for o in good)}  # type: ignore[arg-type]
    assert {r.objectives for r in progress.front} == points and len(progress.front) == len(points)
    assert progress.accepted == len(good)
    assert progress.best is not None
    best = preferred(sorted(good, key=lambda r: told.index(r)))
    fact = lambda r: (r.instructions, r.genes, r.objectives[0])  # noqa: E731
    assert fact(progress.best) == fact(best)


@every
def test_generations_are_counted_and_kept_to(kind: str) -> None:
    landscape = Landscape(0)
    strategy = KINDS[kind](landscape.hooks(), 0, Budget(generations=3))
    seen = set()
    while batch := strategy.ask():
        seen.add(strategy.progress.generation)
        strategy.tell([landscape.evaluate(genome) for genome in batch])
    assert strategy.progress.generation == 3 == max(seen)
    assert strategy.progress.population > 0


@every
def test_a_small_space_is_exhausted_and_the_search_ends(kind: str) -> None:
    genes = [("delete", n, 0) for n in range(4)]
    hooks = Hooks[Gene](draw=lambda rng, genome: rng.choice(genes), scan=lambda: genes, same=frozenset)
    strategy = KINDS[kind](hooks, 0, Budget(evaluations=100_000))
    asked = transcript(strategy, lambda genome: Result(genome, (10.0 - len(genome),)))
    assert sum(map(len, asked)) <= 16
    assert strategy.best is not None and len(strategy.best.candidate) == 4


@every
def test_nothing_to_draw_and_nothing_to_list(kind: str) -> None:
    strategy = KINDS[kind](Hooks[Gene](draw=lambda rng, genome: None), 0, Budget(evaluations=100))
    assert transcript(strategy, lambda genome: Result(genome, (1.0,))) == [[()]]
    assert strategy.best is not None and strategy.best.candidate == ()


@every
def test_an_original_that_fails_is_told(kind: str) -> None:
    strategy = KINDS[kind](Landscape(0).hooks(), 0, Budget(evaluations=100))
    strategy.tell([Result(genome, None, cause="compare") for genome in strategy.ask()])
    with pytest.raises(ValueError, match=r"original itself is rejected \(compare\)"):
        strategy.ask()


@every
def test_concluding_ends_soon(kind: str) -> None:
    landscape = Landscape(0)
    strategy = KINDS[kind](landscape.hooks(), 0, Budget())
    for _ in range(200):
        strategy.tell([landscape.evaluate(genome) for genome in strategy.ask()])
    strategy.conclude()
    before = strategy.progress.evaluations
    assert {batch_phase for batch_phase in phases(strategy, landscape)} <= {"clean", "evolve"}
    assert strategy.progress.evaluations - before < 400
    assert strategy.progress.phase == "finished" and strategy.ask() == []


def phases(strategy: Planned[Genome], landscape: Landscape) -> list[str]:
    found = []
    while batch := strategy.ask():
        found.append(strategy.progress.phase)
        strategy.tell([landscape.evaluate(genome) for genome in batch])
    return found


def test_asking_again_gives_the_same_batch() -> None:
    landscape = Landscape(0)
    strategy = Default(landscape.hooks(), budget=Budget(evaluations=200))
    for _ in range(3):
        batch = strategy.ask()
        batch.clear()  # the caller's own copy
        assert strategy.ask() == strategy.ask() != []
        strategy.tell([landscape.evaluate(genome) for genome in strategy.ask()])


def test_results_that_do_not_belong_are_refused() -> None:
    landscape = Landscape(0)
    strategy = Default(landscape.hooks(), budget=Budget(evaluations=200))
    with pytest.raises(ValueError, match="nothing was asked"):
        strategy.tell([])
    strategy.tell([landscape.evaluate(genome) for genome in strategy.ask()])
    batch = strategy.ask()
    results = [landscape.evaluate(genome) for genome in batch]
    with pytest.raises(ValueError, match="not those of"):
        strategy.tell(results[::-1])
    with pytest.raises(ValueError, match="not those of"):
        strategy.tell(results[:-1])
    with pytest.raises(ValueError, match="1 and 2 objectives"):
        strategy.tell([Result(genome, (1.0, 2.0)) for genome in batch])
    assert strategy.progress.evaluations == 1
    strategy.tell(results)  # what was refused left no trace
    with pytest.raises(ValueError, match="nothing was asked"):
        strategy.tell(results)


@pytest.mark.parametrize("objectives", [(), (float("nan"),), (1.0, float("inf"))])
def test_objectives_must_be_finite(objectives: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="at least one, all finite"):
        Result((), objectives)


def test_settings_that_make_no_sense() -> None:
    hooks = Landscape(0).hooks()
    for wrong in (
        lambda: Budget(evaluations=0),
        lambda: Budget(generations=-1),
        lambda: Gevo(hooks, population=3),
        lambda: Default(hooks, population=1),
        lambda: Default(hooks, batch=0),
    ):
        with pytest.raises(ValueError, match=r"a (budget|population) of"):
            wrong()


def test_genes_are_counted() -> None:
    assert Result(("a", "b"), (1.0,)).genes == 2 and Result("not a genome", (1.0,)).genes == 1


def test_a_plan_of_any_candidates() -> None:
    """Candidates need not be genomes: here numbers, and what is known costs nothing."""

    class Halving(Planned[int]):
        def plan(self):  # type: ignore[no-untyped-def]
            for x in islice(cycle([8, 4, 2, 4, 8]), 10):
                yield from self.evaluate([x, x])

    strategy = Halving(budget=Budget(evaluations=10))
    asked = []
    while batch := strategy.ask():
        asked.append(batch)
        strategy.tell([Result(x, (float(x),)) for x in batch])
    assert asked == [[8], [4], [2]]
    assert strategy.best is not None and strategy.best.candidate == 2


def test_a_finished_run_minimises() -> None:
    landscape = Landscape(3)
    found = run(Gevo(landscape.hooks(), budget=Budget(evaluations=1500), population=32), landscape).progress.best
    assert found is not None and found.objectives is not None
    strategy = Minimise(found.candidate, same=frozenset)
    run(strategy, landscape)
    assert strategy.result is not None and strategy.result.objectives is not None
    assert strategy.result.objectives[0] <= 1.005 * found.objectives[0]
