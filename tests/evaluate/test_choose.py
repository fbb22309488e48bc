"""Which launches stand for all: weights add up to the program, all code that runs is covered, alike launches count once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from kernelwright.evaluate.capture.select_launches import LOOKED_AT, Looked, _sample, choose, rest
from kernelwright.launch import Launch

BLOCK = (64, 1, 1)


def looked(*works: int, kernel: str = "k", code: dict[int, set[int]] | None = None) -> list[Looked]:
    return [
        Looked(number, (kernel, BLOCK), work, frozenset((code or {}).get(number, {1})))
        for number, work in enumerate(works)
    ]


def total(launches: list[Looked], chosen: tuple[object, ...]) -> float:
    work = {each.number: each.work for each in launches}
    return sum(one.weight * work[one.launch] for one in chosen)  # type: ignore[attr-defined]


@pytest.mark.parametrize("works", [(5,), (5, 9), (1, 2, 3)])
def test_few_launches_are_all_taken(works: tuple[int, ...]) -> None:
    assert [(c.launch, c.weight) for c in choose(0, looked(*works))] == [(n, 1.0) for n in range(len(works))]


@pytest.mark.parametrize("works", [(7,) * 10, tuple(range(1, 60)), (1, 1000, 1, 1, 1, 500, 1, 1)])
def test_weights_stand_for_the_whole_program(works: tuple[int, ...]) -> None:
    launches = looked(*works)
    chosen = choose(0, launches)
    assert len(chosen) <= 3
    assert total(launches, chosen) == pytest.approx(sum(works), rel=1e-3)
    assert max(works) in {works[c.launch] for c in chosen}


def test_launches_that_do_the_same_work_are_the_first_and_the_last() -> None:
    chosen = choose(0, looked(*(7,) * 10))
    assert [(c.launch, c.weight) for c in chosen] == [(0, 5.0), (9, 5.0)]


def test_code_that_runs_nowhere_else_is_chosen() -> None:
    code = {n: {1} for n in range(20)} | {13: {1, 2}, 17: {1, 3}}
    chosen = {c.launch for c in choose(0, looked(*(100,) * 20, code=code))}
    assert {13, 17} <= chosen


def test_kernels_are_chosen_apart() -> None:
    a, b = looked(10, 20), [Looked(7, ("other", BLOCK), 3, frozenset({1}))]
    assert {c.launch for c in choose(2, [*a, *b])} == {0, 1, 7}
    assert {c.recording for c in choose(2, a)} == {2}


def test_the_rest_is_for_the_proof() -> None:
    launches = looked(*range(1, 60))
    chosen = choose(0, launches)
    held = rest(0, launches, chosen)
    assert len(held) <= 12
    assert not {c.launch for c in chosen} & {c.launch for c in held}
    assert len(rest(1, launches, chosen)) == len(held) or rest(1, launches, chosen)


def test_shapes_and_code_that_are_not_chosen_are_in_the_rest() -> None:
    launches = [replace(each, grid=(4, 1, 1)) for each in looked(*range(1, 100))]
    launches[41] = replace(launches[41], grid=(4, 7, 1))
    launches[67] = replace(launches[67], grid=(9, 1, 1))
    chosen = choose(0, launches)
    # Blocks in a second dimension are looked at by every candidate, other numbers of blocks by the proof.
    assert 41 in {c.launch for c in chosen}
    held = rest(0, launches, chosen)
    assert 67 in {c.launch for c in held} and len(held) <= 12
    few = rest(0, launches, chosen, most=1)
    assert [c.launch for c in few] == [67]


@dataclass(frozen=True)
class Named:
    """As much of a launch as sampling looks at."""

    number: int
    kernel: str

    @property
    def launch(self) -> Launch:
        return Launch(self.kernel, (1, 1, 1), BLOCK)


@pytest.mark.parametrize("count", [1, 2, 299, 300, 301, 1000, 5000])
def test_a_sample_has_every_kernel_and_both_ends(count: int) -> None:
    """Two kernels that take turns: a sample of every second launch would see one of them alone."""
    launches = [Named(n, "ab"[n % 2]) for n in range(count)]
    sampled = _sample(launches)  # type: ignore[arg-type]
    assert len(sampled) <= LOOKED_AT
    assert {launch.kernel for launch, _ in sampled} == {launch.kernel for launch in launches}
    assert {0, count - 1} <= {launch.number for launch, _ in sampled}
    assert sum(stands for _, stands in sampled) == pytest.approx(count)


def test_a_sample_stands_for_the_launches_it_was_taken_from() -> None:
    launches = [replace(each, stands_for=4.0) for each in looked(7, 7, 7, 7, 7)]
    assert sum(each.weight for each in choose(0, launches)) == pytest.approx(20.0)
