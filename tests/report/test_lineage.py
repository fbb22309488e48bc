"""Which variants led to the best, and which of its edits they had."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.evolution.genomes import GENOMES, EvolveRun
from kernelwright.report.lineage import in_words, lineage


@pytest.mark.parametrize(
    ("numbers", "words"), [((), ""), ((2,), "2"), ((1, 2), "1, 2"), ((1, 2, 3, 5, 7, 8), "1 to 3, 5, 7, 8")]
)
def test_numbers_in_words(numbers: tuple[int, ...], words: str) -> None:
    assert in_words(numbers) == words


def test_each_was_the_fastest_when_it_was_tried(finished_run: Path) -> None:
    with EvolveRun.open(finished_run, GENOMES) as run:
        best = run.best
        assert best is not None
        found = lineage(run, best)
        speedups = [each.speedup for each in found]
        assert found[-1].name == best.name and found[-1].kept == tuple(range(1, len(best.candidate) + 1))
        assert found[-1].others == 0 and speedups[:-1] == sorted(speedups[:-1])
        for each in found:
            assert each.edits == len(run.variant(each.name).candidate) == len(each.kept) + each.others
            assert set(each.first) <= set(each.kept)
        new = [number for each in found for number in each.first]
        assert sorted(new) == list(range(1, len(best.candidate) + 1))
