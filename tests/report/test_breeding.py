"""The page of a bred run: what it says is what the journal has."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from kernelwright.breeding.run import PROGRAMS, BreedRun, facts_of, settings_for
from kernelwright.breeding.simplified import Simplified
from kernelwright.breeding.worker_judge import worth_of
from kernelwright.evaluate.outcome import Rejected
from kernelwright.grammar import load_problem
from kernelwright.report.breeding import bred_page, write_bred_page
from tests import kw_process

MEDIAN = Path(__file__).parents[2] / "examples" / "median.py"


@pytest.fixture
def run(tmp_path: Path) -> BreedRun:
    folder = tmp_path / "median-1"
    folder.mkdir()
    settings = settings_for(load_problem(MEDIAN), backend="interpreted", seed=5, population=40)
    return BreedRun.create(folder, PROGRAMS, facts_of(MEDIAN, settings))


def text_of(page: str) -> str:
    return html.unescape(re.sub(r"<svg.*?</svg>|<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL))


def test_a_page_of_what_was_found(run: BreedRun) -> None:
    for n, (text, worth) in enumerate(
        [("a", 90.0), ("max(a, b)", 40.0), ("min(a, max(a, b))", 90.0), ("min(b, c)", 12.5)]
    ):
        run.journal.record(text, worth_of(worth))
        noted = {"name": f"v{n + 1}", "fitness": min(worth, 90.0)}
        run.journal.note("generation", {"n": n + 1, "best": noted, "new": 1, "evaluations": n + 1})
    run.journal.record("<b>", Rejected("compile", "expected a value, found '<'"))
    page = bred_page(run)
    shown = text_of(page)
    assert "fitness 12.5, the target is 0" in shown and "median = min(b, c);" in shown
    assert "5 programs in 4 generations of 40, seed 5" in shown
    assert "not finished: kw breed --resume" in shown or "works on it" in shown
    rows = re.findall(r"<td>(v\d)<td class=\"n\">([\d.]+)<td><code>(.*?)</code>", page)
    assert rows == [("v4", "12.5", "min(b, c)"), ("v2", "40", "max(a, b)"), ("v1", "90", "a")]
    assert "compile" in shown and "expected a value, found '<'" in shown and "<b>" not in page
    assert page.count("<svg") == 1 and "the best fitness after each generation" in shown
    assert f"kw breed {MEDIAN} --seed 5 --backend interpreted" in shown and "kernelwright 0." in shown
    assert write_bred_page(run, run.folder / "report.html").read_text() == page
    assert "<script" not in page and "http" not in page.replace("http://www.w3.org/1999/xlink", "")


def test_a_formula_stands_beside_the_best(run: BreedRun) -> None:
    run.journal.record("min(a, b)", worth_of(3.0))
    shown = text_of(bred_page(run, Simplified("x < 1")))
    assert "Simplified, and equal on all cases: x < 1" in " ".join(shown.split())
    why = Simplified(why="it is more than one formula")
    assert "Not simplified: it is more than one formula." in text_of(bred_page(run, why))
    assert "implified," not in text_of(bred_page(run)) and "Not" not in text_of(bred_page(run))


def test_a_page_of_nothing(run: BreedRun) -> None:
    page = text_of(bred_page(run))
    assert "no program has a fitness" in page and "0 programs" in page and "The best program" not in page


def test_the_command_knows_bred_runs(run: BreedRun) -> None:
    run.journal.record("a", worth_of(3.0))
    run.close()
    done = kw_process.kw("report", str(run.folder), "-o", "page.html", cwd=run.folder.parent)
    assert (done.returncode, done.stdout) == (0, "page.html\n"), done.stderr
    assert "fitness 3" in (run.folder.parent / "page.html").read_text()
