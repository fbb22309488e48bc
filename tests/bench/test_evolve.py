"""``kw bench evolve``: what is claimed of a run, by claim, with and without launch-time checks and launch cost; and the means."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.bench.evolve import CLAIMS, HOW, MARKS, claims, mean_gains
from kernelwright.edits import apply
from kernelwright.evaluate.run.variant_run import VariantRun
from kernelwright.evolution.general import fixes_launch, own_blocks_of
from kernelwright.evolution.genomes import GENOMES, EvolveRun


@pytest.fixture(scope="module")
def found(finished_run: Path) -> dict[str, list[float]]:
    with EvolveRun.open(finished_run, GENOMES) as run:
        return claims(run)


def test_a_stronger_claim_is_never_faster(found: dict[str, list[float]], finished_run: Path) -> None:
    exact, clean, proven = (found[f"claimed {claim}"] for claim in CLAIMS)
    for checked in (0, 1, 2):
        assert exact[checked] >= clean[checked] >= proven[checked] >= 1.0
    assert all(checked >= general >= free for checked, general, free, *_ in (exact, clean, proven))
    with EvolveRun.open(finished_run, GENOMES) as run:
        fastest = max(run.accepted, key=lambda each: each.speedup)
        general = max(
            (each for each in run.accepted if not fixes_launch(each.candidate, own_blocks_of(run))),
            key=lambda each: each.speedup,
        )
        # The program has both inside: where no launch of a data set fits the first, the second runs.
        assert exact[0] == round(max(fastest.speedup, run.together(fastest, general)), 3) and clean[0] > 1.0
        originals = GENOMES.of(run).originals
        free = [
            each.speedup
            for each in run.accepted
            if not any(apply(originals[gene.kernel], (gene.edit,)).guards for gene in each.candidate)
        ]
        assert exact[2] == round(max(free), 3)
        assert exact[1] == round(general.speedup, 3)


def test_what_asks_something_of_a_launch_is_not_for_any_input(
    finished_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with EvolveRun.open(finished_run, GENOMES) as run:
        originals = GENOMES.of(run).originals
        asking = [
            each
            for each in run.accepted
            if any(apply(originals[gene.kernel], (gene.edit,)).guards for gene in each.candidate)
        ]
        monkeypatch.setattr(VariantRun, "accepted", property(lambda _: asking))
        checked, _, free, *_ = claims(run)["claimed exact"]
    assert checked == round(max(each.speedup for each in asking), 3) > 1.0 and free == 1.0


def test_launch_cost_makes_a_gain_smaller(found: dict[str, list[float]]) -> None:
    speedup, _, _, launched, *_ = found["claimed exact"]
    assert speedup > launched > 1.0


def test_means_are_geometric_and_given_without_the_best_program() -> None:
    rows = [{f"claimed {claim}": [speedup] * len(HOW) for claim in CLAIMS} for speedup in (1.0, 1.21, 4.0)]
    lines = mean_gains(rows, "arm clean")
    names = [f"{claim} {how}" for claim in CLAIMS for how in HOW]
    assert len(lines) == len(names) and set(MARKS) <= set(names)
    for name, line in zip(names, lines, strict=True):
        # The cube root of 4.84, and the square root of 1.21.
        assert line.startswith(f"arm clean, {name}, %: 69.2") and line.endswith("gains most 10.0")
    assert mean_gains([], "arm clean") == []
