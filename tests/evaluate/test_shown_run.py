"""A run as Python shows it."""

from __future__ import annotations

import html
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelwright.breeding.run import PROGRAMS, BreedRun, facts_of, settings_for
from kernelwright.breeding.worker_judge import worth_of
from kernelwright.errors import Misuse
from kernelwright.evaluate.outcome import Rejected
from kernelwright.grammar import load_problem

MEDIAN = Path(__file__).parents[2] / "examples" / "median.py"


@pytest.fixture
def run(tmp_path: Path) -> Iterator[BreedRun]:
    folder = tmp_path / "a<b"
    folder.mkdir()
    with BreedRun.create(
        folder, PROGRAMS, facts_of(MEDIAN, settings_for(load_problem(MEDIAN), backend="interpreted"))
    ) as made:
        made.journal.record("a", worth_of(90.0), timings={"run": 0.5, "compile": 0.25})
        made.journal.record("min(", Rejected("compile", "expected a value"))
        made.journal.record("max(a, b)", worth_of(40.0))
        yield made


def test_a_run_is_a_line_and_in_a_notebook_a_table(run: BreedRun) -> None:
    assert repr(run) == f"<BreedRun {run.folder}: running, 3 candidates, best v3, fitness 40>"
    shown = run._repr_html_()
    assert shown.startswith("<table>") and "a&lt;b" in shown and "<td>v3, fitness 40</tr>" in shown
    run.close()
    assert repr(run) == f"<BreedRun {run.folder}: closed>"
    assert run._repr_html_() == html.escape(repr(run))


def test_a_closed_run_says_that_it_is(run: BreedRun) -> None:
    pytest.importorskip("pandas")
    run.close()
    for asked in (run.to_pandas, lambda: run.best, lambda: run.history):
        with pytest.raises(Misuse, match="is closed") as raised:
            asked()
        assert "open it again" in str(raised.value)


def test_a_run_is_a_frame_of_pandas(run: BreedRun) -> None:
    pytest.importorskip("pandas")
    frame = run.to_pandas()
    assert frame.index.tolist() == ["v1", "v2", "v3"] and frame["ok"].tolist() == [True, False, True]
    assert frame.loc["v1", "fitness"] == 90 and frame.loc["v1", "seconds"] == 0.75
    assert frame.loc["v2", "reason"] == "expected a value" and frame.loc["v3", "candidate"] == "max(a, b)"


def test_without_pandas_a_sentence_says_what_to_do(run: BreedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(Misuse, match="pandas is not installed here") as raised:
        run.to_pandas()
    assert "pip install pandas" in str(raised.value)
