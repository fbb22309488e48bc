"""Why a variant is faster: what each edit does, figure by figure against the journal, and what is said when that fails."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kernelwright.edits.gene import Gene
from kernelwright.edits.kinds.fast_math import FastMath
from kernelwright.edits.kinds.fix_launch import FixArgument
from kernelwright.edits.kinds.no_alias import NoAlias
from kernelwright.errors import Misuse
from kernelwright.evaluate.outcome import Ok
from kernelwright.evaluate.run.variant_answers import VariantAnswers
from kernelwright.evolution.genomes import GENOMES, EvolveRun
from kernelwright.farm import Lost
from kernelwright.stories import explain as explaining
from kernelwright.stories.explain import explain

AGAIN = "_Z5againPKfPfii"


@pytest.fixture(scope="module")
def run(finished_run: Path) -> EvolveRun:
    return EvolveRun.open(finished_run, GENOMES)


@pytest.fixture(scope="module")
def explained(run: EvolveRun) -> dict[str, Any]:
    best = run.best
    assert best is not None
    found = run.explained(best.name)
    assert found is not None
    return dict(found)


def times(run: EvolveRun) -> dict[tuple[Gene, ...], float]:
    return {
        tuple(map(Gene.from_json, row.candidate)): row.outcome.time_us
        for row in run.rows()
        if isinstance(row.outcome, Ok)
    }


def test_gains_are_those_of_the_journal(run: EvolveRun, explained: dict[str, Any]) -> None:
    best, measured = run.best, times(run)
    assert best is not None
    original, whole = measured[()], measured[best.candidate]
    assert explained["variant"] == best.name and explained["speedup"] == best.speedup
    assert len(explained["edits"]) == len(best.candidate) > 1
    for index, (gene, edit) in enumerate(zip(best.candidate, explained["edits"], strict=True)):
        rest = best.candidate[:index] + best.candidate[index + 1 :]
        assert edit["number"] == index + 1
        assert edit["alone"] == pytest.approx((original - measured[(gene,)]) / original)
        assert edit["within"] == pytest.approx((measured[rest] - whole) / original)


def test_pairs_are_those_that_do_not_add_up(run: EvolveRun, explained: dict[str, Any]) -> None:
    best, measured = run.best, times(run)
    assert best is not None
    original = measured[()]
    by_numbers = {(pair["a"], pair["b"]): pair for pair in explained["pairs"]}
    for a in range(len(best.candidate)):
        for b in range(a + 1, len(best.candidate)):
            two = (best.candidate[a], best.candidate[b])
            together, *alone = ((original - measured[c]) / original for c in (two, two[:1], two[1:]))
            excess = together - sum(alone)
            assert ((a + 1, b + 1) in by_numbers) == (abs(excess) > 0.005)


def test_it_says_what_changes_what_is_relied_on_and_when_it_may_be_used(explained: dict[str, Any]) -> None:
    before, after = explained["counters"]["instructions"]
    assert after < before
    assert explained["guards"] and all(guard.startswith("again: ") for guard in explained["guards"])
    assert all(edit["invariants"] for edit in explained["edits"])
    assert not any("not observed" in note for note in explained["notes"])
    (patch,) = explained["patches"].values()
    assert patch.startswith("--- again, original") and "!dbg" not in patch
    inputs = [edit["sentence"] for edit in explained["edits"] if edit["kind"] == "specialised input"]
    assert {"passes is always 5", "blocks are always 64 x 1 x 1"} & set(inputs)


def copied(finished_run: Path, folder: Path) -> EvolveRun:
    shutil.copytree(finished_run, folder / "again-1")
    return EvolveRun.open(folder / "again-1", GENOMES, write=True)


def added(run: EvolveRun, *candidate: Gene) -> str:
    """A variant of one's own making, evaluated into the run; its name."""
    with VariantAnswers(run, 1) as answers:
        answers.reference()
        (answer,) = answers.of([candidate], "test", 0)
    return f"v{answer.row}"


def test_what_the_assembler_would_have_done_anyway_is_told(finished_run: Path, tmp_path: Path) -> None:
    with copied(finished_run, tmp_path) as run:
        name = added(run, Gene(AGAIN, NoAlias(0)), Gene(AGAIN, NoAlias(1)))
        found = explain(run, name, jobs=1)
    if found.edits[0].same_code is None:
        pytest.skip("no assembler is installed")
    # There are two pointers: that the first shares no memory says it of the second, too. Only the first lets loads go through
    # the read-only cache.
    assert [edit.same_code for edit in found.edits] == [False, True]
    assert all(edit.alone and edit.within == 0 and not edit.counters for edit in found.edits)
    assert [(pair.a, pair.b, pair.relation) for pair in found.pairs] == [(1, 2, "less together")]


def test_source_lines_stand_beside_the_edits(finished_run: Path, tmp_path: Path) -> None:
    text = (Path(__file__).parent / "again.cu").read_text().splitlines()
    line = next(number for number, each in enumerate(text, start=1) if "3.0f" in each)
    with copied(finished_run, tmp_path) as run:
        nodes = run.builder().originals[AGAIN].nodes
        product = next(id for id, node in nodes.items() if node.instruction.opcode == "fmul")
        found = explain(run, added(run, Gene(AGAIN, FastMath(product, "nsz"))), jobs=1)
    (edit,) = found.edits
    assert (edit.kind, edit.place, edit.source) == ("precision", f"again.cu:{line}", text[line - 1])
    shown = [(Path(file).name, number, its, marks) for file, number, its, marks in found.source]
    first = next(number for number, each in enumerate(text, start=1) if each.startswith("__global__ void again("))
    kernel = range(first, text.index("}", first) + 2)  # all of it
    assert shown == [("again.cu", n, text[n - 1], (1,) if n == line else ()) for n in kernel]


class NoPool:
    """A pool whose workers all die, but for one item."""

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def __enter__(self) -> NoPool:
        return self

    def __exit__(self, *_: object) -> None: ...

    def map(self, items: list[tuple[int, tuple[Gene, ...]]]) -> Iterator[tuple[int, object]]:
        for number, (first, genes) in enumerate(items):
            dies = len(genes) > 1 or first == 0
            yield number, Lost("memory", "it needed too much") if dies else [(first, "argument 3 == i32 5 always")]


def test_what_cannot_be_observed_is_said(finished_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explaining, "Pool", NoPool)
    with copied(finished_run, tmp_path) as run:
        name = added(run, Gene(AGAIN, NoAlias(0)), Gene(AGAIN, FixArgument(3, "i32 5")))
        found = explain(run, name, jobs=1)
    assert [edit.invariants for edit in found.edits] == [(), ("passes == 5 always",)]
    assert any(note.startswith("what edit 1 relies on was not observed: it needed too much") for note in found.notes)


def test_the_original_and_what_is_not_there_are_refused(finished_run: Path, tmp_path: Path) -> None:
    with copied(finished_run, tmp_path) as run:
        with pytest.raises(Misuse, match="is the original"):
            explain(run, "v1")
        with pytest.raises(Misuse, match="has no variant 'v999'"):
            explain(run, "v999")
        wrong = next(f"v{r.id}" for r in run.rows() if not isinstance(r.outcome, Ok))
        with pytest.raises(Misuse, match="was rejected: "):
            explain(run, wrong)
