"""The gate of the bound on seeds that nothing was fixed with: 1,088 kernels of all computations of the library, none of whose prefixes
has a bound above what its leaf executed, or above its estimated time.

One known breach is not of the bound: the model loses misses of loads that the code makes in another block (mv of 32 x 256, seed 6,
the 28th leaf), so that its term of L2 is 2 % below the sectors that must come from there.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import kernelwright as kw
from tests.space.random_leaves import Sampler, breaches
from tests.space.test_random_leaves import PARTIAL, SIZES

EACH = 34
"""Kernels of one computation: 16 with tiles that divide and 16 with others make 1,088."""
SEEDS = {"whole": 4001, "partial": 4002}


@pytest.mark.slow
@pytest.mark.parametrize("kind", SEEDS)
@pytest.mark.parametrize("name", SIZES)
def test_bounds_hold(name: str, kind: str, tmp_path: Path) -> None:
    sampler = Sampler(name, (SIZES if kind == "whole" else PARTIAL)[name], SEEDS[kind])
    above: list[str] = []
    with kw.Device("h200") as device:
        for number, sample in enumerate(sampler.samples(EACH, tmp_path, device), 1):
            above += [f"leaf {number}, {each}" for each in breaches(sample)[:1]]
    assert not above and not sampler.failed, "\n".join([*above, *sampler.failed])
