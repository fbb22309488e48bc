"""``kw compare``: two variants, two runs, two bred runs, and what cannot be compared."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from kernelwright.breeding.run import PROGRAMS, BreedRun, facts_of, settings_for
from kernelwright.breeding.worker_judge import worth_of
from kernelwright.evolution.genomes import GENOMES, EvolveRun
from kernelwright.grammar import load_problem
from kernelwright.stories.compare import Compared, compare
from tests import kw_process

MEDIAN = Path(__file__).parents[2] / "examples" / "median.py"


@pytest.fixture(scope="module")
def folder(finished_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("compare")
    shutil.copytree(finished_run, made / "kw-runs" / "again-1")
    for name, worth in (("median-1", 7.0), ("median-2", 3.0)):
        (made / "kw-runs" / name).mkdir()
        facts = facts_of(MEDIAN, settings_for(load_problem(MEDIAN), backend="interpreted", seed=int(worth)))
        with BreedRun.create(made / "kw-runs" / name, PROGRAMS, facts) as run:
            run.journal.record("max(a, b)", worth_of(worth))
    return made


def kw(folder: Path, *arguments: str) -> Any:
    return kw_process.kw(*arguments, cwd=folder)


def test_the_best_beside_another_variant(folder: Path) -> None:
    with EvolveRun.open(folder / "kw-runs" / "again-1", GENOMES) as run:
        best, others = run.best, [each for each in run.accepted if len(each.candidate) > 0]
        assert best is not None
        other = next(each for each in others if each.candidate != best.candidate)
        kept = [gene for gene in best.written if gene in other.written]
        gains = run.gains(best)
        label = (run.proof(best.name) or {})["label"]
    done = kw(folder, "compare", "again-1", f"again-1:{other.name}", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["a"]["variant"] == best.name and found["b"]["variant"] == other.name
    assert found["a"]["speedup"] == round(best.speedup, 4) and found["a"]["label"] == label
    assert found["b"]["edits"] == len(other.candidate) == len(found["common"]) + len(found["only_b"])
    assert len(found["common"]) == len(kept) and len(found["only_a"]) == len(best.candidate) - len(kept)
    assert [each["a"] for each in found["sets"] if not each["held_out"]] == [
        round(gain.speedup, 4) for gain in gains if gain.speedup is not None and not gain.held_out
    ]
    shown = kw(folder, "compare", "again-1", f"again-1:{other.name}").stdout
    for words in (*found["common"], *found["only_a"], *found["only_b"]):
        assert f"    {words}" in shown
    assert "in both: " in shown and label in shown and "data set" in shown


def test_a_variant_beside_itself_and_the_original(folder: Path) -> None:
    run = folder / "kw-runs" / "again-1"
    same = compare(str(run), f"{run}:best")
    assert isinstance(same, Compared)
    assert same.a == same.b and not same.only_a and not same.only_b and len(same.common) == same.a.edits > 0
    assert all(each.a == each.b for each in same.sets) and not same.notes
    original = compare(str(run), f"{run}:v1")
    assert isinstance(original, Compared)
    assert original.b.label == "the original" and original.b.edits == 0 and not original.common
    assert len(original.only_a) == original.a.edits


def test_two_bred_runs(folder: Path) -> None:
    found = json.loads(kw(folder, "compare", "median-1", "median-2", "--json").stdout)
    assert (found["a"]["fitness"], found["b"]["fitness"], found["notes"]) == (7.0, 3.0, [])
    shown = kw(folder, "compare", "median-1", "median-2").stdout
    assert "b: max(a, b)" in shown and "kw-runs/median-2" in shown


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("again-1", "median-1"), "a run of kw evolve and one of kw breed cannot be compared"),
        (("again-1", "nothing"), "there is no run 'nothing'"),
        (("again-1:v999", "again-1"), "no variant 'v999'"),
        (("again-1",), "Missing argument"),
    ],
)
def test_what_cannot_be_compared_is_told(folder: Path, arguments: tuple[str, ...], says: str) -> None:
    done = kw(folder, "compare", *arguments)
    assert done.returncode == 2 and says in done.stderr and "next: " in done.stderr
