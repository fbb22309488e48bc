"""What is proven of loads that were collected, held against runs of random kernels that have places for it, with other edits beside."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kernelwright.device.arena import Arena
from kernelwright.edits import Original
from kernelwright.edits.kinds.loads.collect_loads import collections
from kernelwright.edits.kinds.loads.collect_turns import turns
from kernelwright.ir import parse_module, verify
from kernelwright.passes.llvm import check
from tests.examples import first_of
from tests.prove.obligations.brute_force import Tally, hold
from tests.prove.obligations.guarded_kernels import GuardedKernel


@pytest.fixture
def arena() -> Iterator[Arena]:
    with Arena() as made:
        yield made


@pytest.mark.parametrize("first", first_of(range(0, 60, 15)))
def test_what_is_proven_never_differs(first: int, arena: Arena) -> None:
    tally = Tally()
    for seed in range(first, first + 15):
        hold(seed, arena, tally)
    assert not tally.wrong, "\n".join(tally.wrong)
    # Neither side of it is empty: some are proven and run, and some are told apart by the runs.
    assert tally.proven >= 5 and tally.inside >= 40 and tally.different >= 5, tally


@pytest.mark.parametrize("first", first_of(range(0, 60, 30)))
def test_what_is_proven_of_several_turns_never_differs(first: int, arena: Arena) -> None:
    tally = Tally()
    for seed in range(first, first + 30):
        hold(seed, arena, tally, genomes=3, listed=turns)
    assert not tally.wrong, "\n".join(tally.wrong)
    assert tally.proven >= 2 and tally.inside >= 20 and tally.different >= 2, tally


def test_the_kernels_have_places_for_it() -> None:
    texts = [GuardedKernel(seed).text for seed in range(20)]
    assert texts == [GuardedKernel(seed).text for seed in range(20)]
    places = 0
    for text in texts:
        module = parse_module(text)
        verify(module)
        check(text)
        places += bool(list(collections(Original(module, "k"))))
    assert places >= 12
