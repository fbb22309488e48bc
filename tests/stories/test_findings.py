"""What paper 000 found in Rodinia's programs (sections 5.1 and 5.2), found again in the suite's, with fixed seeds; and what
each finding rests on. ``docs/findings.md`` has the table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kernelwright.edits import ConstantCondition, Delete, FixArgument, Gene, Original
from kernelwright.evaluate.outcome import Rejected
from kernelwright.evaluate.run import Run
from kernelwright.prove import LABELS
from kernelwright.stories.evolve import evolve
from kernelwright.stories.proving import meets

from .suite_search import DEVICE, Inputs, Searched, recordings

pytestmark = pytest.mark.slow

Program = Callable[[str], Searched]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """Suite programs on the data sets that ``kw evolve suite:NAME`` uses, each recorded once."""
    made: dict[str, Searched] = {}

    def of(name: str) -> Searched:
        if name not in made:
            made[name] = Searched(recordings(name, tmp_path_factory.mktemp(name)))
        return made[name]

    return of


def lines(searched: Searched, genes: list[Gene]) -> list[str]:
    return [searched.words(gene).place for gene in genes]


# -- Needleman-Wunsch: conservative barriers -----------------------------------------------------------------------------


def test_needleman_wunsch_barriers(program: Program) -> None:
    nw = program("nw")
    barriers = nw.listed("delete-barrier")
    conservative = [gene for gene in barriers if nw.words(gene).place == "nw.cu:47"]
    wavefront = [gene for gene in barriers if nw.words(gene).place == "nw.cu:58"]
    # One of each in both kernels: before the tile is first used, and between the steps that use it.
    assert len(barriers) == 4 and len({gene.kernel for gene in conservative}) == len({gene.kernel for gene in wavefront}) == 2

    assert nw.gain(tuple(barriers)) > 1.2  # as the paper counts: right on the training cases, in step
    for gene in conservative:
        assert nw.gain((gene,), "clean") >= 1.0
        assert nw.proof((gene,)).label == "clean"
    for gene in wavefront:
        assert nw.gain((gene,)) > 1.05
        turned_down = nw.speedup((gene,), "clean")
        assert isinstance(turned_down, Rejected) and turned_down.stage == "schedule", turned_down
        proof = nw.proof((gene,))
        assert proof.label == "lock-step only"
        assert proof.check("warp races").evidence
