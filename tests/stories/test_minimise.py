"""A variant down to the edits that matter, and what the run stands for afterwards."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kernelwright.edits.gene import Gene
from kernelwright.edits.kinds.fix_launch import FixGrid
from kernelwright.edits.kinds.no_alias import NoAlias
from kernelwright.errors import Misuse
from kernelwright.evaluate.outcome import Ok
from kernelwright.evaluate.run.variant_answers import VariantAnswers
from kernelwright.evolution.genomes import GENOMES, EvolveRun
from kernelwright.stories.minimise import minimise

AGAIN = "_Z5againPKfPfii"


@pytest.fixture
def run(finished_run: Path, tmp_path: Path) -> EvolveRun:
    shutil.copytree(finished_run, tmp_path / "again-1")
    return EvolveRun.open(tmp_path / "again-1", GENOMES, write=True)


def test_what_does_nothing_is_left_out_and_the_best_stays_the_best(run: EvolveRun) -> None:
    with run:
        best = run.best
        with VariantAnswers(run, 1) as answers:
            answers.reference()
            (answer,) = answers.of([(Gene(AGAIN, FixGrid((4, 1, 1))), Gene(AGAIN, NoAlias(0)))], "test", 0)
        small = minimise(run, f"v{answer.row}", jobs=1)
        assert small.candidate == (Gene(AGAIN, NoAlias(0)),)
        assert small.outcome.time_us == pytest.approx(answer.outcome.time_us if isinstance(answer.outcome, Ok) else 0)
        assert run.best == best


def test_the_best_is_minimal_already(run: EvolveRun) -> None:
    with run:
        best = run.best
        assert best is not None
        assert minimise(run, "best", jobs=1) == best == run.best


def test_the_original_and_what_was_rejected_are_refused(run: EvolveRun) -> None:
    with run:
        with pytest.raises(Misuse, match="is the original"):
            minimise(run, "v1")
        wrong = next(f"v{r.id}" for r in run.rows() if not isinstance(r.outcome, Ok))
        with pytest.raises(Misuse, match="was rejected"):
            minimise(run, wrong)
