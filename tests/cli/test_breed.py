"""``kw breed`` as a person uses it."""

from __future__ import annotations

import html
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from kernelwright.breeding.back_end_table import back_end
from kernelwright.breeding.program_results import answers_to
from kernelwright.breeding.run import PROGRAMS, BreedRun
from kernelwright.grammar import load_problem
from kernelwright.report.breeding import bred_page
from kernelwright.stories.breed import problem_path
from tests import kw_process
from tests.warm_cache import WarmCache

MEDIAN = Path(__file__).parents[2] / "examples" / "median.py"


BAD = {"endless": "<e> ::= <e> + 1", "undefined": "<e> ::= <value> | x", "nothing": "x + 1\n<e> ::= 2"}
"""Grammars, by the files they stand in."""


def kw(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return kw_process.kw(*arguments, cwd=folder)


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, warm_cache: WarmCache) -> Iterator[None]:
    """Fitness that an earlier run of the tests has found would end these before they begin."""
    with pytest.MonkeyPatch.context() as patch, warm_cache.at(tmp_path_factory.mktemp("cache")) as folder:
        patch.setenv("KERNELWRIGHT_CACHE", str(folder))
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("breeding")
    (made / "median.py").write_text(MEDIAN.read_text())
    slow = MEDIAN.read_text().replace("lambda median:", "lambda median: __import__('time').sleep(0.02) or")
    (made / "slow.py").write_text(slow.replace("perfect=0", "perfect=-1"))
    grammar = "<value> ::= min(<value>, <value>) | max(<value>, <value>) | a | b | c"
    for name, other in BAD.items():
        (made / f"{name}.py").write_text(MEDIAN.read_text().replace(grammar, other))
    (made / "nan.py").write_text(MEDIAN.read_text().replace("lambda median: float(", "lambda median: float('nan') + ("))
    (made / "empty.py").write_text("x = 1\n")
    (made / "broken.py").write_text("1 / 0\n")
    (made / "cases.py").write_text(MEDIAN.read_text().replace("cases[:, 2]", "cases[:6, 2]"))
    held_out = (
        'held_out={n: cases[:, 0] for n in "abc"},\n    held_out_fitness=lambda median: [].index("no"),\n    perfect=0'
    )
    (made / "fails.py").write_text(MEDIAN.read_text().replace("perfect=0", held_out))
    return made


@pytest.fixture(scope="module")
def bred(folder: Path) -> dict[str, Any]:
    done = kw(folder, "breed", "median.py", "--seed", "1", "--jobs", "1", "--json")
    assert done.returncode == 0, done.stderr
    assert "kw: run kw-runs/median-1, seed 1" in done.stderr and "generation 1 of 50" in done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_a_run_ends_with_the_best_program(folder: Path, bred: dict[str, Any]) -> None:
    assert bred["reached"] is True and bred["fitness"] == bred["target"] == 0
    assert bred["readable"] == f"median = {bred['program']};" and bred["best"].startswith("v")
    shown = kw(folder, "show", "median-1")
    assert shown.returncode == 0 and bred["readable"] in shown.stdout and "which is the target" in shown.stdout
    # SymPy is an extra: the formula, or why there is none.
    formula, why = bred["simplified"], bred["simplified_why"]
    said = f"simplified, and equal on all cases: {formula}" if formula else f"not simplified: {why}"
    assert bool(formula) != bool(why) and said in shown.stdout
    page = kw(folder, "report", "median-1", "-o", "median.html")
    assert page.returncode == 0 and html.escape(formula or why) in (folder / "median.html").read_text()
    (row,) = [row for row in json.loads(kw(folder, "runs", "--json").stdout) if row["run"] == bred["run"]]
    assert row["state"] == "finished" and row["best"] == f"{bred['best']}, fitness 0"


def test_resuming_what_is_finished_says_the_same(folder: Path, bred: dict[str, Any]) -> None:
    again = json.loads(kw(folder, "breed", "--resume", "median-1", "--json").stdout)
    assert {k: v for k, v in again.items() if k != "seconds"} == {k: v for k, v in bred.items() if k != "seconds"}


def test_what_an_earlier_run_knows_is_told_and_changes_nothing(folder: Path, bred: dict[str, Any]) -> None:
    given = ("breed", "median.py", "--seed", "1", "--jobs", "1", "--backend", bred["backend"], "--json")
    again = json.loads(kw(folder, *given).stdout)
    assert again["remembered"] == again["evaluations"] == bred["evaluations"] and bred["remembered"] == 0
    anew = json.loads(kw(folder, *given, "--no-cache").stdout)
    assert anew["remembered"] == 0
    speed = ("individuals_per_second", "search_seconds", "compile_seconds", "run_seconds")
    changing = ("run", "seconds", "remembered", *speed)
    assert len({json.dumps({k: v for k, v in each.items() if k not in changing}) for each in (bred, again, anew)}) == 1


def test_a_run_says_how_fast_it_was(folder: Path) -> None:
    given = (
        "breed",
        "keijzer6",
        "--generations",
        "2",
        "--population",
        "50",
        "--target",
        "-1",
        "--jobs",
        "1",
        "--no-cache",
    )
    done = kw(folder, *given, "--backend", "host", "--name", "fast")
    assert "100 individuals, " in done.stdout and " a second: searching 0." in done.stdout
    assert "workers compiling " in done.stdout and "running " in done.stdout
    found = json.loads(kw(folder, "show", "fast", "--json").stdout)
    assert found["individuals"] == 100 and 100 / found["individuals_per_second"] <= found["seconds"] + 1
    assert found["compile_seconds"] > found["run_seconds"] > 0 and found["search_seconds"] > 0
    interpreted = json.loads(kw(folder, *given, "--backend", "interpreted", "--json").stdout)
    assert interpreted["compile_seconds"] == 0 and interpreted["run_seconds"] > 0


def test_a_run_ends_with_what_its_best_is_worth_on_inputs_held_out(folder: Path) -> None:
    given = ("breed", "vladislavleva4", "--generations", "2", "--population", "20", "--jobs", "1", "--name", "ball")
    done = kw(folder, *given, "--backend", "host")
    assert done.returncode == 1, done.stderr
    found = json.loads(kw(folder, "show", "ball", "--json").stdout)
    assert f"on inputs held out: fitness {found['held_out_fitness']:g}\n" in done.stdout
    problem = load_problem(problem_path("vladislavleva4")).on_held_out
    assert problem is not None
    with closing(back_end("interpreted").runner(problem)) as runner:
        (answers,) = answers_to(runner, [found["program"]])
    assert found["held_out_fitness"] == problem.worth(answers) != found["fitness"]  # type: ignore[arg-type]
    again = kw(folder, "breed", "--resume", "ball", "--json")
    assert json.loads(again.stdout)["held_out_fitness"] == found["held_out_fitness"]
    assert "on inputs held out: fitness" in bred_page(BreedRun.open(folder / "kw-runs" / "ball", PROGRAMS))


def test_a_best_without_a_fitness_on_inputs_held_out_says_why(folder: Path) -> None:
    done = kw(folder, "breed", "fails.py", "--generations", "1", "--population", "9", "--jobs", "1")
    assert "on inputs held out: none, because the fitness function raised ValueError" in done.stdout, done.stderr


def test_no_program_with_a_fitness_says_why(folder: Path) -> None:
    done = kw(folder, "breed", "nan.py", "--generations", "2", "--population", "20", "--jobs", "1")
    assert done.returncode == 1 and "the first because its fitness is no finite number" in done.stdout


def test_a_target_that_is_not_reached_is_exit_code_1(folder: Path) -> None:
    done = kw(folder, "breed", "keijzer6", "--generations", "2", "--population", "20", "--target", "0", "--jobs", "1")
    assert done.returncode == 1 and "the target is 0" in done.stdout and "y = " in done.stdout


def test_ctrl_c_leaves_a_run_that_can_be_resumed(folder: Path) -> None:
    given = ("breed", "slow.py", "--population", "60", "--generations", "3", "--jobs", "1", "--no-cache")
    process = subprocess.Popen(
        [sys.executable, "-m", "kernelwright", *given, "--name", "broken"],
        cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        journal = folder / "kw-runs" / "broken" / "journal.db"
        deadline = time.monotonic() + 120
        while not (journal.exists() and rows(journal) > 3):
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130 and "kw breed --resume kw-runs/broken" in said
    resumed = kw(folder, "breed", "--resume", "broken", "--no-cache", "--json")
    whole = kw(folder, *given, "--name", "whole", "--json")
    same = ("fitness", "program", "best", "evaluations", "generations", "rejected")
    assert [json.loads(resumed.stdout)[k] for k in same] == [json.loads(whole.stdout)[k] for k in same]


def rows(journal: Path) -> int:
    import sqlite3

    try:
        with sqlite3.connect(f"file:{journal}?mode=ro", uri=True) as db:
            return int(db.execute("SELECT COUNT(*) FROM outcomes").fetchone()[0])
    except sqlite3.Error:
        return 0


def test_explain_shows_grammar_derivations_kernel_and_back_ends(folder: Path) -> None:
    text = kw(folder, "breed", "--explain", "median.py")
    assert text.returncode == 0, text.stderr
    for word in (
        "<value> ::= min(<value>, <value>)",
        "program 1",
        "is derived",
        "__global__",
        "median = ",
        "the back end:",
        "measured with 24 random programs, run on all 64 cases",
    ):
        assert word in text.stdout
    found = json.loads(kw(folder, "breed", "--explain", "search", "--json").stdout)
    assert found["start"] == "c-block" and found["cases"] == 32 and len(found["programs"]) == 3
    assert {row["back end"] for row in found["backends"]} == {"interpreted", "host"}
    assert not (folder / "kw-runs" / "search-1").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "nothing to breed"),
        (("keijzer",), "did you mean keijzer6"),
        (("missing.py",), "does not exist"),
        (("endless.py",), "never ends"),
        (("undefined.py",), "<value> has no rule"),
        (("nothing.py",), "begins with a rule"),
        (("empty.py",), "defines no `problem`"),
        (("broken.py",), "ZeroDivisionError"),
        (("cases.py",), "6 and 64 cases"),
        (("median.py", "--population", "1"), "too small"),
        (("median.py", "--generations", "0"), "0 generations"),
        (("median.py", "--jobs", "0"), "--jobs 0"),
        (("median.py", "--backend", "gpu"), "interpreted, host, optimised, virtual, llvm, cuda"),
        (("--resume", "nothing"), "there is no run"),
        (("median.py", "--resume", "median-1"), "knows what it breeds"),
    ],
)
def test_misuse_is_told_in_a_sentence(
    folder: Path, bred: dict[str, Any], arguments: tuple[str, ...], says: str
) -> None:
    done = kw(folder, "breed", *arguments)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr and "Traceback" not in done.stderr and "next: " in done.stderr
