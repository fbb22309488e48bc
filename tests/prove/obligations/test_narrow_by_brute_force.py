"""What is proven of barriers that are narrow or gone, held against watched runs of random kernels that hand values on in shared memory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kernelwright.device.arena import Arena
from kernelwright.ir import parse_module, verify
from kernelwright.passes.llvm import check
from tests.examples import first_of
from tests.prove.obligations.brute_force_barriers import Tally, hold
from tests.prove.obligations.shared_kernels import shared_kernel


@pytest.fixture
def arena() -> Iterator[Arena]:
    with Arena() as made:
        yield made


@pytest.mark.parametrize("first", first_of([0, 20]))
def test_what_is_proven_never_races(first: int, arena: Arena) -> None:
    tally = Tally()
    for seed in range(first, first + 20):
        hold(seed, arena, tally)
    assert not tally.wrong, "\n".join(tally.wrong)
    assert tally.narrow >= 5 and tally.racing >= 5, tally


def test_its_kernels_are_kernels() -> None:
    texts = [shared_kernel(seed) for seed in range(20)]
    assert texts == [shared_kernel(seed) for seed in range(20)]
    for text in texts:
        verify(parse_module(text))
        check(text)
