"""For which launches a gain is: said last by every command that says how much faster something is."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from kernelwright.evolution.genomes import GENOMES, EvolveRun
from kernelwright.prove.labels import LABELS
from kernelwright.stories.candidate_words import CLAIMS, by_kernel, sentence, valid_for
from tests import kw_process


def test_guards_by_kernel() -> None:
    found = by_kernel(["f", "ns::g<int>"], ["ns::g<int>: n == 4", "ns::g<int>: block == 64 x 1 x 1"])
    assert found == {"f": [], "ns::g<int>": ["n == 4", "block == 64 x 1 x 1"]}


def test_a_claim_goes_as_far_as_the_label() -> None:
    for label in (*LABELS, "unproven"):
        said = sentence("v7", label, {"f": ["n == 4", "m <= 2", "k >= 1"]})
        assert said.startswith("v7 ") and "f where n == 4, m <= 2 and k >= 1" in said
        assert ("is proven for every launch" in said) == (label == "proven")
        assert ("nothing is claimed for other launches" in said) == (label not in CLAIMS)
        assert said.endswith("for others the original runs")


def test_what_runs_for_other_launches() -> None:
    assert "for others v9 (2.000x) is tried, then the original runs" in sentence(
        "v7", "clean", {"f": ["a"]}, "v9 (2.000x)"
    )
    assert sentence("v7", "proven", {"f": [], "g": []}) == "v7 is proven for every launch of f, and of g"
    assert sentence("v7", "proven", {"f": ["a == 1"], "g": []}).startswith(
        "v7 is proven for every launch of f where a == 1, and of g;"
    )


@pytest.fixture(scope="module")
def folder(finished_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("valid")
    shutil.copytree(finished_run, made / "kw-runs" / "again-1")
    return made


@pytest.mark.parametrize(
    "words",
    [("show",), ("explain",), ("prove",), ("minimize",), ("export",), ("compare", "again-1")],
    ids=lambda words: words[0],
)
def test_it_is_the_last_sentence(folder: Path, words: tuple[str, ...]) -> None:
    with EvolveRun.open(folder / "kw-runs" / "again-1", GENOMES) as run:
        best = run.variant("best")
        expected = valid_for(run, best)
        guards = (run.explained(best.name) or {})["guards"]
    assert expected.startswith(f"{best.name} is ") and guards
    assert all(guard.partition(": ")[2] in expected for guard in guards)
    done = kw_process.kw(words[0], "again-1", *words[1:], cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith(expected)
    if words[0] not in ("export", "explain"):
        found = json.loads(kw_process.kw(words[0], "again-1", *words[1:], "--json", cwd=folder).stdout)
        assert found.get("valid_for", found.get("a", {}).get("valid_for")) == expected


def test_a_variant_without_an_explanation_and_the_original(folder: Path) -> None:
    with EvolveRun.open(folder / "kw-runs" / "again-1", GENOMES) as run:
        best = run.variant("best")
        other = next(each for each in run.accepted if each.candidate and run.explained(each.name) is None)
        said = valid_for(run, other)
        original = valid_for(run, run.variant("v1"))
    assert re.match(rf"{other.name} (is|was) ", said) and best.name not in said
    assert original == "v1 is the original, for every launch"


def test_a_run_without_its_recording(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kernelwright.errors import ToolError
    from kernelwright.stories import candidate_words

    def gone(*_: object) -> None:
        raise ToolError("the recording is gone")

    monkeypatch.setattr(candidate_words, "_guards", gone)
    with EvolveRun.open(folder / "kw-runs" / "again-1", GENOMES) as run:
        best = run.variant("best")
        assert valid_for(run, best) == f"for which launches {best.name} is cannot be said: the recording is gone"
