"""``kw bench evolve``: what is claimed of a run, by claim, with and without launch-time checks and launch cost; and the means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kernelwright.bench import evolve
from kernelwright.bench.evolve import CLAIMS, HOW, MARKS, claims, mean_gains
from kernelwright.edits import apply
from kernelwright.errors import Misuse
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


def made_up(program: str, arm: evolve.Arm, evaluations: int) -> dict[str, Any]:
    """A row of a program that gains a fifth, the first one more."""
    speedup = 1.9 if program == "bfs" else 1.2
    return {"program": program, "arm": arm.name, "best": speedup, "label": "clean", "proven": 1.0, "solver s": None, "seconds": 60,
            "variants/s": 9.0, "as GEVO would": speedup, "evaluations": evaluations,
            **{f"claimed {claim}": [speedup] * len(HOW) for claim in CLAIMS}}  # fmt: skip


def test_one_way_of_searching_has_its_own_promises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evolve, "row_of", made_up)
    found = evolve.measure(False, lambda _: None, arms=["clean"])
    assert {row["arm"] for row in found.rows} == {"clean"} and len(found.rows) == len(evolve.PROGRAMS)
    held = {promise.name: promise.holds for promise in found.promises}
    gain = 100 * ((1.2**12 * 1.9) ** (1 / 13) - 1)
    assert 20 < gain < 35
    assert held["geometric mean gain, proven for any size, %"] is True
    assert held["geometric mean gain, clean under checks, %"] is False
    assert held["share of the clean gain that is proven, %"] is False and held["longest run, s"] is True
    assert not any("gevo" in name for name in held)
    whole = evolve.measure(False, lambda _: None)
    assert {promise.name for promise in whole.promises} > set(held)
    some = evolve.measure(False, lambda _: None, names=["nn"], arms=["clean"])
    assert [row["program"] for row in some.rows] == ["nn"] and not some.promises and some.notes


@pytest.mark.parametrize(
    ("given", "said"), [({"names": ["nm"]}, "no program 'nm'"), ({"arms": ["cleen"]}, "no arm 'cleen'")]
)
def test_what_is_not_there_is_named(given: dict[str, list[str]], said: str) -> None:
    with pytest.raises(Misuse, match=said):
        evolve.measure(False, lambda _: None, **given)
