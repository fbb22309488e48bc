"""The default search: its phases, and that it beats GEVO's at equal evaluations."""

from __future__ import annotations

import statistics
from collections.abc import Callable

import moocore
import pytest

from kernelwright.search import Budget, Default, Gevo, Hooks, Planned, Result
from tests.search.landscape import Gene, Genome, Landscape, run


def best_speedup(strategy: Planned[Genome], landscape: Landscape) -> float:
    run(strategy, landscape)
    assert strategy.best is not None and strategy.best.objectives is not None
    return 1 / strategy.best.objectives[0]


def compare(evaluations: int, population: int, make: Callable[[int], Landscape]) -> tuple[list[float], list[float]]:
    """Speed-ups of default and GEVO on 20 landscapes at equal evaluations."""
    found: tuple[list[float], list[float]] = [], []
    for seed in range(20):
        budget = Budget(evaluations=evaluations)
        landscape = make(seed)
        found[0].append(best_speedup(Default(landscape.hooks(), seed=seed, budget=budget), landscape))
        found[1].append(
            best_speedup(Gevo(landscape.hooks(), seed=seed, budget=budget, population=population), landscape)
        )
    return found


def test_it_beats_gevo_at_equal_evaluations() -> None:
    """Measured: mean gain 0.34 against 0.22 in 1,000 evaluations, better on 17 of 20 landscapes (0.36 and 20 where all of the scan comes
    first, ``docs/decisions/0040``). A population of 32 is the better one for GEVO here: with the published 256 it does not get past its
    initial population."""
    default, gevo = compare(1000, 32, Landscape)
    assert sum(d > g for d, g in zip(default, gevo, strict=True)) >= 17
    assert statistics.mean(default) - 1 > 1.5 * (statistics.mean(gevo) - 1)


def test_a_gene_that_was_rejected_alone_is_listed_again_for_a_new_best() -> None:
    """A collapse in three steps: the answer is had otherwise, then what computed it can go, one condition after the other."""
    listed = [f"condition {n}" for n in range(40)]
    order = ("shortcut", "condition 7", "condition 31")

    def evaluate(genome: tuple[str, ...]) -> Result[tuple[str, ...]]:
        steps = [gene for gene in order if gene in genome]
        wrong = [gene for gene in genome if gene in listed and gene not in steps] or steps != list(order[: len(steps)])
        return Result(genome, None if wrong else (1.0 / (1 + len(steps)),))

    hooks = Hooks(
        draw=lambda rng, _: "shortcut" if rng.random() < 0.1 else f"useless {rng.random()}",
        scan=lambda: iter(listed),
        kind=lambda gene: gene.split()[0],
    )
    strategy: Default[str] = Default(hooks, seed=1, budget=Budget(evaluations=1000))
    while batch := strategy.ask():
        strategy.tell([evaluate(candidate) for candidate in batch])
    assert strategy.best is not None and set(order) <= set(strategy.best.candidate)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("evaluations", "population", "make"),
    [
        (6000, 256, Landscape),
        (6000, 64, Landscape),
        (6000, 64, lambda seed: Landscape(seed, sites=60, additive=0.3, ladders_count=30)),  # little adds up
    ],
)
def test_it_beats_gevo_in_the_long_run(evaluations: int, population: int, make: Callable[[int], Landscape]) -> None:
    default, gevo = compare(evaluations, population, make)
    assert sum(d > g for d, g in zip(default, gevo, strict=True)) >= 17
    assert statistics.mean(default) - 1 > 1.2 * (statistics.mean(gevo) - 1)


def test_two_objectives_give_a_better_front_than_gevo() -> None:
    better = 0
    for seed in range(6):
        volumes = []
        for kind in (Default, Gevo):
            landscape = Landscape(seed, with_error=True)
            strategy = kind(landscape.hooks(), seed=seed, budget=Budget(evaluations=600), population=32)
            run(strategy, landscape)
            points = [result.objectives for result in strategy.front if result.objectives is not None]
            assert min(error for _, error in points) == 0.0
            volumes.append(moocore.hypervolume(points, ref=(1.0, 0.011)))
        better += volumes[0] > volumes[1]
    assert better >= 5


def test_phases_in_their_order() -> None:
    landscape = Landscape(1)
    strategy = Default(landscape.hooks(), seed=1, budget=Budget(evaluations=1000))
    asked: dict[str, int] = {}
    earlier: list[set[Gene]] = []
    recombined = 0
    while batch := strategy.ask():
        phase = strategy.progress.phase
        if phase == "evolve":  # a gene more or less is a mutation, anything else a crossover
            recombined += sum(all(len(old ^ set(genome)) > 1 for old in earlier) for genome in batch)
        earlier += map(set, batch)
        asked[phase] = asked.get(phase, 0) + len(batch)
        if phase == "scan":
            assert all(len(genome) == 1 for genome in batch)
        strategy.tell([landscape.evaluate(genome) for genome in batch])
    assert recombined > 20
    assert list(asked) == ["start", "scan", "combine", "evolve", "clean"]
    listed = len(list(landscape.scan()))
    # A round of 400 and one of 600. Of each 30 % listed; evolution reads more of them, so that the second finds the list at its end;
    # then 20 % drawn of the first round and 40 % of the second.
    assert listed < 300 and 120 + 80 + 240 < asked["scan"] <= listed + 80 + 240
    assert asked["evolve"] > 200 and asked["clean"] <= 100
    assert sum(asked.values()) <= 1000
    credit = strategy.progress.credit
    assert sum(credit.values()) == pytest.approx(1) and set(credit) == {gene[0] for gene in landscape.genes}


@pytest.mark.parametrize("seed", range(4))
def test_a_larger_budget_begins_as_a_smaller_one_does(seed: int) -> None:
    """Up to where the smaller one keeps its last evaluations for the end; so that the larger one's best is no worse but by what is cleaned up."""

    def questions(evaluations: int) -> tuple[list[Genome], float]:
        landscape, asked = Landscape(seed), list[Genome]()
        strategy = Default(landscape.hooks(), seed=seed, budget=Budget(evaluations=evaluations))
        while batch := strategy.ask():
            asked += batch
            strategy.tell([landscape.evaluate(genome) for genome in batch])
        assert strategy.best is not None and strategy.best.objectives is not None
        return asked, strategy.best.objectives[0]

    few, many, more = questions(400), questions(1000), questions(2500)
    assert few[0][:380] == many[0][:380] and many[0][:950] == more[0][:950]
    assert more[1] <= many[1] * 1.005 <= few[1] * 1.005**2


def test_the_best_for_every_size_is_found_beside_the_best() -> None:
    """A gene for one size gains most; two others gain less, and are in the way of it, not of each other."""
    listed = ["this size", "left", "right"]

    def evaluate(genome: tuple[str, ...]) -> Result[tuple[str, ...]]:
        if "this size" in genome:
            return Result(genome, (0.5 + 0.1 * ("left" in genome) + 0.1 * ("right" in genome),))
        return Result(genome, (1.0 - 0.1 * ("left" in genome) - 0.1 * ("right" in genome),))

    hooks = Hooks[str](lambda rng, _: None, lambda: iter(listed), is_general=lambda gene: gene != "this size")
    strategy: Default[str] = Default(hooks, seed=1, budget=Budget(evaluations=20, generations=0))
    asked: list[tuple[str, ...]] = []
    while batch := strategy.ask():
        asked += batch
        strategy.tell([evaluate(genome) for genome in batch])
    assert strategy.best is not None and strategy.best.candidate == ("this size",)
    assert ("left", "right") in asked


def only_listed(genes: list[Gene]) -> Hooks[Gene]:
    return Hooks(draw=lambda rng, genome: None, scan=lambda: genes, kind=lambda gene: gene[0], same=frozenset)


def test_a_long_list_is_read_no_further_than_its_share() -> None:
    read: list[Gene] = []

    def scan():  # type: ignore[no-untyped-def]
        for n in range(10**9):
            read.append(("delete", n, 0))
            yield read[-1]

    hooks = Hooks[Gene](draw=lambda rng, genome: None, scan=scan)
    strategy = Default(hooks, budget=Budget(evaluations=200))
    while strategy.progress.phase in ("start", "scan") and (batch := strategy.ask()):
        strategy.tell([Result(genome, (1.0,)) for genome in batch])
        if strategy.progress.phase == "scan":
            assert len(read) <= 60
    while batch := strategy.ask():
        strategy.tell([Result(genome, (1.0,)) for genome in batch])
    assert 100 < len(read) <= 250  # evolution goes on where the scan stopped


def test_wins_are_combined_and_the_best_is_clean() -> None:
    """Half of the genes pay, half do nothing; the best has the first half and nothing else."""
    genes: list[Gene] = [("delete", n, 0) for n in range(20)]
    strategy = Default(only_listed(genes), budget=Budget(evaluations=400))
    while batch := strategy.ask():
        strategy.tell([Result(genome, (100.0 - sum(n < 10 for _, n, _ in genome),)) for genome in batch])
    assert strategy.best is not None and sorted(n for _, n, _ in strategy.best.candidate) == list(range(10))


def test_small_gains_are_kept_only_together() -> None:
    """Each gene gains 0.3 %, a tie: not worth a scan's notice, found when evolution adds them up."""
    genes: list[Gene] = [("delete", n, 0) for n in range(10)]
    hooks = Hooks[Gene](draw=lambda rng, genome: rng.choice(genes), scan=lambda: genes, same=frozenset)
    strategy = Default(hooks, budget=Budget(evaluations=600))
    while batch := strategy.ask():
        strategy.tell([Result(genome, (1000.0 - 3 * len(genome),)) for genome in batch])
    assert strategy.best is not None and strategy.best.genes >= 8


def test_what_pays_late_is_combined_with_the_best() -> None:
    """Nothing is scanned. A gene pays 1 % or is rejected; combining takes in all that a generation found, where mutations
    and crossover take them one by one."""
    hooks = Hooks[Gene](draw=lambda rng, genome: ("delete", rng.randrange(300), 0), same=frozenset)
    strategy = Default(hooks, budget=Budget(evaluations=300), sampled=0.0)
    while batch := strategy.ask():
        fine = [all(n % 4 == 0 for _, n, _ in genome) for genome in batch]
        strategy.tell([Result(g, (1000.0 - 10 * len(g),) if ok else None) for g, ok in zip(batch, fine, strict=True)])
    assert strategy.best is not None
    assert strategy.best.genes >= 20  # one by one: 5 to 8


def test_exact_wins_are_combined_before_approximate_ones() -> None:
    genes: list[Gene] = [("exact", 1, 0), ("exact", 2, 0), ("rough", 3, 0), ("rough", 4, 0)]
    strategy = Default(only_listed(genes), budget=Budget(evaluations=100))
    combined: list[Genome] = []
    while batch := strategy.ask():
        combined += batch if strategy.progress.phase == "combine" else []
        strategy.tell(
            [
                Result(
                    genome,
                    (100.0 - sum(5 * n for _, n, _ in genome), 0.1 * sum(kind == "rough" for kind, _, _ in genome)),
                )
                for genome in batch
            ]
        )
    assert set(combined[0]) == set(genes[:2]) and frozenset(genes) in map(frozenset, combined)
    front = {frozenset(result.candidate) for result in strategy.front}
    assert frozenset(genes[:2]) in front and frozenset(genes) in front
    assert strategy.best is not None and set(strategy.best.candidate) == set(genes)


def test_one_program_stands_once_in_the_population() -> None:
    """All genes are inert: every candidate is the same program, so that there is one individual, without genes."""
    landscape = Landscape(0)
    strategy = Default(landscape.hooks(), budget=Budget(evaluations=1000))
    while batch := strategy.ask():
        strategy.tell([Result(genome, (1.0,), key="the original") for genome in batch])
        assert strategy.progress.population <= 1
    assert strategy.best is not None and strategy.best.candidate == ()


def test_fewer_instructions_decide_between_ties() -> None:
    genes: list[Gene] = [("delete", 0, 0), ("delete", 1, 0)]
    strategy = Default(only_listed(genes), budget=Budget(evaluations=50))
    while batch := strategy.ask():
        strategy.tell([Result(genome, (1.0,), instructions=100 - (genes[1] in genome)) for genome in batch])
    assert strategy.best is not None and strategy.best.candidate == (genes[1],)
