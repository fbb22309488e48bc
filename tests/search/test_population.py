"""The population: the best, each program once."""

from __future__ import annotations

import random

from kernelwright.search import Result
from kernelwright.search.population import Population

Genome = tuple[str, ...]


def made(genome: str, time: float, instructions: float = 0.0, key: str | None = None) -> Result[Genome]:
    return Result(tuple(genome), (time,), instructions, key=key)


def test_the_best_stay() -> None:
    people: Population[Genome] = Population(2, tie=0.005)
    people.join([made("a", 3.0), made("b", 2.0), None, Result(("c",), None, cause="fault")])
    people.join([made("d", 1.0)])
    assert [member.candidate for member in people.members] == [("d",), ("b",)] and len(people) == 2


def test_one_program_stands_once_with_the_fewest_genes() -> None:
    one, two, three = (made(genome, 1.0, key="same") for genome in ("ab", "c", "def"))
    for order in ([one, two, three], [three, one, two], [two, three, one]):
        people: Population[Genome] = Population(5, tie=0.005)
        people.join(order[:2])
        people.join(order[2:])
        assert people.members == [two]


def test_ties_go_to_fewer_instructions_then_fewer_genes() -> None:
    people: Population[Genome] = Population(3, tie=0.005)
    people.join([made("abc", 1.0001, 5), made("ab", 1.0002, 5), made("abcd", 1.0003, 4), made("z", 1.0004, 9)])
    assert [member.genes for member in people.members] == [4, 2, 3]


def test_two_objectives_keep_the_ends_of_the_front() -> None:
    people: Population[Genome] = Population(3, tie=0.005)
    people.join([Result((str(n),), (10.0 - n, float(n))) for n in range(10)])
    assert {"0", "9"} < {member.candidate[0] for member in people.members}


def test_the_better_are_picked_more_often() -> None:
    people: Population[Genome] = Population(10, tie=0.005)
    people.join([made(str(n), 1.0 + n) for n in range(10)])
    rng = random.Random(0)
    picked = [people.pick(rng).candidate[0] for _ in range(2000)]
    assert picked.count("0") > 300 > 100 > picked.count("9")
