"""The loop: it finds what is planted, the same from the same seed, whatever the number of workers and however often killed."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelwright.edits import Gene, Original
from kernelwright.edits.kinds.delete import Delete
from kernelwright.errors import Misuse, ToolError
from kernelwright.evaluate import Case, Workload, load_workload
from kernelwright.evaluate.judging import sampled_cases
from kernelwright.evaluate.judging.worker_answer import read_answer
from kernelwright.evaluate.outcome import Ok, Rejected
from kernelwright.evaluate.run.answers import Answer
from kernelwright.evaluate.run.journal import Journal
from kernelwright.evaluate.run.settings import RunSettings
from kernelwright.evaluate.workload.subject import Given
from kernelwright.evolution.genomes import GENOMES, EvolveRun
from kernelwright.evolution.hot_instructions import Heat
from kernelwright.evolution.new_run import create
from kernelwright.evolution.proposals import Proposals
from kernelwright.farm import Lost, Raised
from kernelwright.ir import parse_module
from kernelwright.stories.evolve import evolve, resume
from kernelwright.stories.variant_search.search import Search
from kernelwright.stories.variant_search.standing import Standing

AGAIN = Path(__file__).with_name("again.py")
FITS = Path(__file__).with_name("fits.py")
LARGE = Path(__file__).with_name("large.py")
SERIES = Path(__file__).with_name("series.py")
EVALUATIONS = 20
"""Enough for all phases of the search, and for a gain that is proven."""


def results(run: EvolveRun) -> list[tuple[Any, ...]]:
    """What a run has found, without what hangs on the order in which workers finished."""
    return [(found.candidate, found.outcome) for found in run.front]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> EvolveRun:
    return evolve(AGAIN, folder=tmp_path_factory.mktemp("runs") / "again", evaluations=EVALUATIONS, seed=1, jobs=2)


def test_what_is_planted_is_found(found: EvolveRun) -> None:
    best = found.best
    assert best is not None and best.speedup > 1.3
    assert best.outcome.error == 0
    assert found.ended is not None and found.ended["best"] == best.name


def test_the_best_is_minimal(found: EvolveRun) -> None:
    best = found.best
    assert best is not None
    # A check of the launch that the proof asked for takes no time.
    edits = [gene for gene in best.written if gene["edit"] != "require-launch"]
    shorter = {row.hash for row in found.rows() if len(row.candidate) == len(edits) - 1}
    assert shorter  # every shorter one was asked about, and none is as good
    for row in found.rows():
        genes = [gene for gene in row.candidate if gene["edit"] != "require-launch"]
        if len(genes) == len(edits) - 1 and all(g in edits for g in genes) and isinstance(row.outcome, Ok):
            assert row.outcome.time_us > best.outcome.time_us


def test_what_is_asked_after_the_search_is_no_part_of_its_rate(found: EvolveRun) -> None:
    """A proof of minutes lies between two such candidates."""
    standing = Standing(found, fresh=60)
    standing.began, standing.searched = 100.0, 130.0
    search: Search[Any] = Search(found, None, standing, lambda standing: None)  # type: ignore[arg-type]
    standing.is_over = True
    search._told(Answer(999, ("late",), [], Rejected("compare", "wrong"), "key", True, {}))
    assert (standing.rate, standing.evaluations) == (2.0, 1)


def test_the_number_of_workers_changes_nothing(found: EvolveRun, tmp_path: Path) -> None:
    alone = evolve(AGAIN, folder=tmp_path / "alone", evaluations=EVALUATIONS, seed=1, jobs=1)
    assert results(alone) == results(found)


@pytest.mark.slow
def test_another_seed_asks_something_else(found: EvolveRun, tmp_path: Path) -> None:
    other = evolve(AGAIN, folder=tmp_path / "other", evaluations=20, seed=2, jobs=2)
    assert [row.candidate for row in other.rows()] != [row.candidate for row in found.rows()]


def test_resuming_a_finished_run_evaluates_nothing(found: EvolveRun) -> None:
    count = len(found.journal)
    seen: list[Standing] = []
    again = resume(found.folder, watch=seen.append)
    assert len(again.journal) == count
    assert results(again) == results(found)
    assert seen[-1].fresh == 0 and seen[-1].evaluations >= count
    assert seen[-1].notes and len(set(seen[-1].notes)) == len(seen[-1].notes)  # noted before, and told once


def test_resuming_a_finished_run_searches_nothing(found: EvolveRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelwright.stories.evolve.VariantAnswers", None)  # nobody could be asked
    before = len(found.journal.events())
    again = resume(found.folder)
    assert len(again.journal.events()) == before and again.best is not None


def test_the_history_is_a_table(found: EvolveRun) -> None:
    history = found.history
    assert len(history) == len(found.journal)
    assert set(history["phase"]) >= {"scan", "evolve"}
    assert {"metric_registers", "metric_instructions", "build_seconds"} <= set(history.dtype.names)


def test_gevo_draws_the_papers_edits_alone(tmp_path: Path) -> None:
    run = evolve(AGAIN, folder=tmp_path / "gevo", evaluations=24, seed=1, preset="gevo", population=8, jobs=2)
    kinds = {gene["edit"] for row in run.rows() for gene in row.candidate} - {"require-launch"}  # which a proof adds
    assert kinds <= {"copy", "delete", "move", "swap", "replace-instruction", "replace-operand"}
    assert len(kinds) > 3


def test_genes_are_drawn_where_the_time_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that became fast is worth less attention: by time, not by work, and by that of the candidate."""
    text = (
        "define ptx_kernel void @NAME(ptr addrspace(1) %p, i32 %n) {\n"
        "  %v = load i32, ptr addrspace(1) %p\n  %w = add i32 %v, %n\n  store i32 %w, ptr addrspace(1) %p\n  ret void\n}\n"
    )
    originals = {name: Original(parse_module(text.replace("NAME", name)), name) for name in ("left", "right")}
    heat = Heat({name: dict.fromkeys(original.nodes, 1.0) for name, original in originals.items()}, {}, {})
    monkeypatch.setattr("kernelwright.evolution.proposals.hot", lambda *_: heat)
    proposals = Proposals(load_workload(AGAIN), originals, RunSettings())
    dice, candidate = random.Random(1), (Gene("left", Delete(0)),)

    def share(of: tuple[Gene, ...]) -> float:
        drawn = [gene.kernel for _ in range(400) if (gene := proposals.draw(dice, of))]
        return drawn.count("left") / len(drawn)

    assert 0.4 < share(()) < 0.6
    proposals.learn((), Ok(10.0, 0.0, {"us left": 9.0, "us right": 1.0}))
    proposals.learn(candidate, Ok(2.0, 0.0, {"us left": 1.0, "us right": 1.0}))
    assert 0.68 < share(()) < 0.82 and 0.4 < share(candidate) < 0.6  # three to one: the root of nine to one
    assert next(proposals.scan()).kernel == "left"


@pytest.mark.slow
def test_two_objectives_give_a_front(tmp_path: Path) -> None:
    run = evolve(SERIES, folder=tmp_path / "run", evaluations=80, seed=1, objectives=("time", "error"), jobs=2)
    front = run.front
    assert any(f.outcome.error > 0 for f in front)
    assert all(
        a.outcome.time_us < b.outcome.time_us and a.outcome.error > b.outcome.error
        for a, b in itertools.pairwise(front)
    )


# -- interrupted -------------------------------------------------------------------------------------------------------

SCRIPT = f"""
import sys
from pathlib import Path
from kernelwright.stories.evolve import evolve, resume
folder = Path(sys.argv[1])
if (folder / "journal.db").exists():
    resume(folder, jobs=2)
else:
    evolve(Path(sys.argv[2]), folder=folder, evaluations={EVALUATIONS}, seed=1, jobs=2)
"""


def killed_at_random(folder: Path, kills: int, seed: int, workload: Path = AGAIN) -> int:
    """Runs, kills, resumes, until the run has come to its end; how often it was killed in fact."""
    dice = random.Random(seed)
    done = 0
    while True:
        process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder), str(workload)], start_new_session=True)
        if done < kills:
            before = rows_in(folder)
            wanted = before + dice.randrange(1, 8)
            while process.poll() is None and rows_in(folder) < wanted:
                time.sleep(0.01)  # looking takes a tenth of that
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
                done += 1
        code = process.wait(timeout=300)
        if code == 0:
            return done
        assert code == -signal.SIGKILL


def rows_in(folder: Path) -> int:
    import sqlite3

    try:
        with sqlite3.connect(f"file:{folder}/journal.db?mode=ro", uri=True) as db:
            return int(db.execute("SELECT COUNT(*) FROM outcomes").fetchone()[0])
    except sqlite3.Error:
        return 0


@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_killed_and_resumed_it_finds_the_same(found: EvolveRun, tmp_path: Path, kills: int) -> None:
    folder = tmp_path / "killed"
    killed = killed_at_random(folder, kills, seed=kills)
    assert killed >= min(kills, 2)
    with EvolveRun.open(folder, GENOMES) as run:
        assert results(run) == results(found)
        assert run.best is not None and found.best is not None
        assert run.best.candidate == found.best.candidate
        hashes = [row.hash for row in run.rows()]
        assert len(hashes) == len(set(hashes))  # nothing that was recorded was evaluated again


@pytest.mark.slow
def test_killed_and_resumed_a_run_that_samples_large_launches_finds_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampled_cases, "LEAST_WORK", sampled_cases.LEAST_WORK)  # which the workload lowers
    whole = evolve(LARGE, folder=tmp_path / "whole", evaluations=EVALUATIONS, seed=1, jobs=2)
    assert any("on a sample of their blocks" in note for note in whole.notes)
    assert killed_at_random(tmp_path / "killed", 4, seed=4, workload=LARGE) >= 2
    with EvolveRun.open(tmp_path / "killed", GENOMES) as run:
        assert outcomes(run) == outcomes(whole) and len(run.journal) == len(whole.journal)
        assert stands_for(run) == stands_for(whole) and run.notes == whole.notes


def outcomes(run: EvolveRun) -> dict[Any, Any]:
    return {json.dumps(row.candidate): (row.outcome, row.key) for row in run.rows()}


def stands_for(run: EvolveRun) -> list[Any]:
    """The variants that are named at its end, and what their proofs say; the front of each generation."""
    named = [run.best, run.proven, run.for_any_size]
    fronts = [
        (event.data["n"], event.data["front"], event.data["credit"]) for event in run.journal.events("generation")
    ]
    return [*((each.candidate, (run.proof(each.name) or {}).get("checks")) for each in named if each), fronts]


def test_a_full_disk_loses_no_evaluation(found: EvolveRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = Journal.record
    left = iter(range(12))

    def until_full(self: Journal, *given: Any, **named: Any) -> int:
        if next(left, None) is None:
            raise ToolError("the journal cannot grow", hint="free space on the disk, then resume the run")
        return record(self, *given, **named)

    with monkeypatch.context() as patched, pytest.raises(ToolError, match="cannot grow"):
        patched.setattr(Journal, "record", until_full)
        evolve(AGAIN, folder=tmp_path / "full", evaluations=EVALUATIONS, seed=1, jobs=2)
    assert rows_in(tmp_path / "full") == 12
    assert results(resume(tmp_path / "full")) == results(found)


@pytest.mark.slow
def test_time_ends_a_search_and_resuming_ends_it_in_the_same_place(tmp_path: Path) -> None:
    run = evolve(AGAIN, folder=tmp_path / "short", evaluations=None, seconds=1.5, seed=1, jobs=2)
    count = len(run.journal)
    assert run.ended is not None
    again = resume(tmp_path / "short")
    assert len(again.journal) == count and results(again) == results(run)


def test_two_resumes_at_once_are_refused(found: EvolveRun) -> None:
    with EvolveRun.open(found.folder, GENOMES, write=True), pytest.raises(Misuse, match="is being written by"):
        resume(found.folder)


# -- what is no run, and no workload -----------------------------------------------------------------------------------


def test_an_unknown_kernel_names_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="no kernel of this program"):
        evolve(AGAIN, folder=tmp_path / "run", kernels=("nothing",), evaluations=5)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"evaluations": None}, "when to stop"),
        ({"evaluations": 0}, "positive number"),
        ({"accept": "all"}, "clean, safe, benign"),
        ({"preset": "best"}, "is none of default, gevo, random"),
        ({"objectives": ("error",)}, "first objective"),
        ({"objectives": ("time", "time")}, "twice"),
        ({"population": 2}, "too small"),
        ({"population": 10**12}, "never gets anywhere"),
        ({"population": "x"}, "population is a whole number, and not 'x'"),
        ({"evaluations": "5"}, "evaluations is a whole number, and not '5'"),
        ({"seed": "abc"}, "seed is a whole number, and not 'abc'"),
        ({"seconds": "5m"}, "seconds is a number, and not '5m'"),
        ({"device": None}, "device is a text, and not 'None'"),
        ({"seconds": float("nan")}, "positive number"),
        ({"device": "gtx9"}, "gtx9"),
    ],
)
def test_settings_that_make_no_sense(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(Misuse, match=says):
        RunSettings(**settings)
    if "device" in settings:
        with pytest.raises(Misuse, match=says):
            evolve(AGAIN, evaluations=5, **settings)


def test_settings_survive_json() -> None:
    settings = RunSettings(objectives=("time", "error"), kernels=("_Z1kv",), seconds=3.5, seed=9)
    assert RunSettings.from_json(settings.as_json()) == settings


@pytest.mark.parametrize(
    ("content", "says"), [(b"", "no run|damaged|no journal|not a"), (b"SQLite format 3\0" + b"x" * 500, "damaged|no ")]
)
def test_what_is_no_run(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "journal.db").write_bytes(content)
    with pytest.raises(Exception, match=says):
        EvolveRun.open(tmp_path / "r", GENOMES)
    with pytest.raises(Misuse, match="there is no run"):
        EvolveRun.open(tmp_path / "nothing", GENOMES)


def test_a_workload_at_hand_is_evolved_and_resumed_with_itself(found: EvolveRun, tmp_path: Path) -> None:
    workload = load_workload(AGAIN)
    workload.modules()  # what it has made of its source must not travel to the workers
    run = evolve(workload, folder=tmp_path / "given", evaluations=EVALUATIONS, seed=1, jobs=2)
    assert results(run) == results(found)
    (tmp_path / "begun").mkdir()
    create(tmp_path / "begun", Given(workload), RunSettings(evaluations=EVALUATIONS, seed=1)).close()
    with pytest.raises(Misuse, match="only the Python program that started it has"):
        resume(tmp_path / "begun")
    assert results(resume(tmp_path / "begun", given=workload)) == results(found)


@pytest.mark.parametrize(
    "settings", [{"objectives": ("time", "foo")}, {"cluster": "nowhere"}, {"kernels": ("nothing",)}]
)
def test_what_is_refused_before_its_first_evaluation_leaves_nothing(tmp_path: Path, settings: dict[str, Any]) -> None:
    (tmp_path / "mine").mkdir()
    for name in ("new", "mine"):
        with pytest.raises(Misuse):
            evolve(AGAIN, folder=tmp_path / name, evaluations=5, **settings)
    assert not (tmp_path / "new").exists() and (tmp_path / "mine").exists()


def test_a_workload_that_cannot_travel_says_so(tmp_path: Path) -> None:
    workload = Workload(AGAIN.with_suffix(".cu"), "again", (Case(host=lambda launch: {}),))
    with pytest.raises(Misuse, match="cannot be sent to worker processes"):
        evolve(workload, folder=tmp_path / "run", evaluations=5)


def test_a_kernel_with_nothing_to_edit(tmp_path: Path) -> None:
    (tmp_path / "k.ll").write_text(
        'target triple = "nvptx64-nvidia-cuda"\ndefine ptx_kernel void @nothing(ptr %p) {\n  ret void\n}\n'
    )
    case = Case((1,), (32,), {"p": np.zeros(1, np.int32)})
    with pytest.raises(Misuse, match="nothing to edit"):
        evolve(Workload(tmp_path / "k.ll", "nothing", (case,)), folder=tmp_path / "run", evaluations=5)


def test_a_candidate_that_ends_its_process_is_rejected() -> None:
    """What the pool says of a lost or failed item becomes an outcome with a cause."""
    assert read_answer(Lost("crash", "it died")).outcome == Rejected("crash", "it died")
    assert read_answer(Lost("timeout", "too long")).outcome == Rejected("timeout", "too long")
    told = read_answer(Raised(ValueError("odd"))).outcome
    assert isinstance(told, Rejected) and told.stage == "crash" and "odd" in told.reason
    with pytest.raises(Misuse):
        read_answer(Raised(Misuse("wrong")))


def test_what_fits_the_training_data_alone_is_not_the_result(tmp_path: Path) -> None:
    run = evolve(FITS, folder=tmp_path / "fits", evaluations=40, seed=1, jobs=2)
    (fallen,) = run.journal.events("fallen")
    proof = run.proof(fallen.data["variant"])
    assert proof is not None and proof["label"] == "data-specific"
    best = run.best
    if best is not None:  # what is left has a proof of its own
        left = run.proof(best.name)
        assert left is not None and left["label"] in ("proven", "clean")
        assert best.speedup < run.variant(fallen.data["variant"]).speedup


def test_what_is_kept_of_a_best_that_fell_is_the_fastest_without_the_edits_at_fault(
    found: EvolveRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of the best before its proof: what is proven of it may have other edits in their place.
    fault = found.variant(found.journal.events("minimised")[-1].data["variant"]).candidate[0]

    class Judgement:
        is_whole = True

        def __init__(self, label: str) -> None:
            self.label = label

        def as_json(self) -> dict[str, Any]:
            return {"label": self.label, "checks": []}

    class Proofs:
        def __init__(self, run: EvolveRun, *, jobs: int) -> None: ...
        def __enter__(self) -> Proofs:
            return self

        def __exit__(self, *_: object) -> None: ...
        def of(self, candidate: tuple[Gene, ...], speedup: float, *, accept: str = "any") -> Judgement:
            return Judgement("data-specific" if fault in candidate else "clean")

        def provable(self, candidate: tuple[Gene, ...]) -> None: ...
        def masked(self, candidate: tuple[Gene, ...]) -> None: ...
        def relying_on_less(self, candidate: tuple[Gene, ...]) -> list[tuple[Gene, ...]]:
            return []

        def fixes_launch(self, candidate: tuple[Gene, ...]) -> bool:
            return False

    monkeypatch.setattr("kernelwright.stories.variant_search.prove_best.Proofs", Proofs)
    seen: list[str | None] = []

    def watch(standing: Standing) -> None:
        seen.append(standing.best.name if standing.best else None)

    run = evolve(AGAIN, folder=tmp_path / "again", evaluations=EVALUATIONS, seed=1, jobs=2, watch=watch)
    (fallen,) = run.journal.events("fallen")
    assert fault in run.variant(fallen.data["variant"]).candidate
    without = [each.speedup for each in run.accepted if fault not in each.candidate]
    assert max(without) > 1.01 and run.best is not None
    assert fault not in run.best.candidate and run.best.speedup > 0.995 * max(without)
    assert seen[-1] == run.best.name
    assert run.fallen is not None and run.fallen.name == fallen.data["variant"]


def test_the_best_must_be_proven_where_that_is_demanded(tmp_path: Path) -> None:
    run = evolve(AGAIN, folder=tmp_path / "again", evaluations=EVALUATIONS, seed=1, jobs=2, accept="proven")
    assert run.best is not None and run.best.is_gain
    proof = run.proof(run.best.name)
    assert proof is not None and proof["label"] == "proven"
    assert RunSettings.on("h200", accept="proven").accept == "proven"


def test_nothing_is_the_best_where_nothing_is_proven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelwright.stories.obligations.Obligations.of", lambda *_: [])
    monkeypatch.setattr("kernelwright.stories.obligations.Obligations.provable", lambda *_: None)
    monkeypatch.setattr("kernelwright.stories.obligations.Obligations.relying_on_less", lambda *_: [])
    run = evolve(AGAIN, folder=tmp_path / "again", evaluations=30, seed=1, jobs=2, accept="proven")
    assert run.best is None and run.fallen is not None and run.ended is not None


@pytest.mark.parametrize("accept", ["any", "clean"])
def test_an_original_that_proves_nothing_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, accept: str
) -> None:
    def of(*_: object) -> None:
        raise Misuse("the original fails its own check", hint="fix it")

    monkeypatch.setattr("kernelwright.stories.variant_search.prove_best.Proofs.of", of)
    run = evolve(AGAIN, folder=tmp_path / "again", evaluations=30, seed=1, jobs=2, accept=accept)
    assert run.ended is not None
    assert "nothing can be proven: the original fails its own check; fix it" in run.notes
    if accept == "any":
        assert run.best is not None and run.proof(run.best.name) is None
        return
    assert run.best is None and run.fallen is not None
    with pytest.raises(Misuse, match="does not") as told:
        run.variant("best")
    assert f"kw prove {run.folder}:{run.fallen.name}" in str(told.value)
