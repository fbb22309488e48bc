"""``kw bench search``: the curve of a search out of its journal, means and seeds, and what is promised of them."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from kernelwright.bench import search
from kernelwright.bench.evolve import Arm
from kernelwright.bench.search import climbed, curve_of, ratios, row_of
from kernelwright.errors import KernelwrightError, Misuse
from kernelwright.evaluate.outcome import Ok, Outcome, Rejected
from kernelwright.evaluate.run.journal import Journal, Row
from kernelwright.evaluate.run.run import FOLDER, JOURNAL
from kernelwright.evolution.genomes import GENOMES, EvolveRun


def row(number: int, outcome: Outcome, trained_us: float | None = None) -> Row:
    facts = {} if trained_us is None else {"trained": {"time_us": trained_us, "error": 0.0}}
    return Row(number, 1, 0.0, [number], f"h{number}", f"k{number}", "scan", outcome, facts)


WRONG = Rejected("compare", "another output")
ROWS = [
    row(1, Ok(10.0, 0.0)),
    row(2, WRONG),
    row(3, Ok(8.0, 0.0)),
    row(4, Rejected("order", "two writes"), trained_us=5.0),
    row(5, Ok(9.0, 0.0)),
    row(6, Ok(4.0, 0.0)),
]


def test_a_curve_is_the_best_so_far_of_what_is_right_in_training() -> None:
    assert curve_of(ROWS, 10.0, (1, 2, 3, 4, 5, 6)) == {1: 1.0, 2: 1.0, 3: 1.25, 4: 2.0, 5: 2.0, 6: 2.5}


def test_a_curve_is_read_at_the_points_asked_for_alone() -> None:
    assert curve_of(ROWS, 10.0, (3, 5)) == {3: 1.25, 5: 2.0}


def test_a_search_that_had_nothing_left_to_ask_stays_where_it_was() -> None:
    assert curve_of(ROWS, 10.0, (5, 100, 1000)) == {5: 2.0, 100: 2.5, 1000: 2.5}
    assert curve_of([], 10.0, (5,)) == {5: 1.0}


def test_the_curve_of_a_run_ends_at_its_fastest(finished_run: Path) -> None:
    with EvolveRun.open(finished_run, GENOMES) as run:
        rows, base = list(run.searched()), run.original_us
        assert base is not None
        curve = curve_of(rows, base, range(1, len(rows) + 1))
        assert list(curve) == list(range(1, len(rows) + 1))
        assert list(curve.values()) == sorted(curve.values())
        fastest = max(run.fastest_trained[1], *(found.speedup for found in run.accepted))
        assert curve[len(rows)] == pytest.approx(fastest) and curve[1] == 1.0 < curve[len(rows)]


CURVES = {"default": [{5: 2.0}, {5: 8.0}], "control": [{5: 1.0}, {5: 2.0}], "random": [{5: 2.0}, {5: 2.0}]}


def test_a_row_has_the_geometric_mean_and_all_seeds() -> None:
    found = row_of("nn", 10, 5, CURVES)
    assert (found["program"], found["evaluations"], found["candidates"], found["seeds"]) == ("nn", 10, 5, 2)
    assert (found["default"], found["default, by seed"]) == (4.0, "2.000 8.000")


def test_ratios_are_by_seed_over_all_programs() -> None:
    other = CURVES | {"default": [{5: 1.0}, {5: 1.0}]}
    rows = [row_of("nn", 10, 5, CURVES), row_of("bfs", 10, 5, other), row_of("bfs", 5, 5, CURVES)]
    # Seed 1: 2 and 1, seed 2: 4 and 1/2.
    assert ratios(rows, 10, 5, "default", "control") == pytest.approx([2.0**0.5, 2.0**0.5])


def test_what_the_default_climbed_is_by_run() -> None:
    early = {arm: [{2: 1.0}, {2: 8.0}] for arm in CURVES}
    rows = [row_of("nn", 5, 2, early), row_of("nn", 5, 5, CURVES), row_of("nn", 2, 2, CURVES | early)]
    assert climbed(rows, 5, 2) == [2.0, 1.0]


def test_a_program_that_it_does_not_run_is_named() -> None:
    with pytest.raises(Misuse, match="search has no program 'lud'") as caught:
        search.measure(True, lambda line: None, ["lud"])
    assert "nn" in str(caught.value.hint)


@pytest.mark.parametrize("evaluations", [1, search.APART])
def test_a_budget_without_a_curve_is_refused(evaluations: int) -> None:
    with pytest.raises(Misuse, match=f"a budget of {evaluations} leaves no curve"):
        search.measure(False, lambda line: None, ["nn"], evaluations)


def test_another_budget_is_the_last_point(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, ...]] = []

    def curve(program: str, arm: Arm, points: Sequence[int], seed: int, say: object) -> search.Curve:
        asked.append(tuple(points))
        return {point: 1.0 + point / 1e4 for point in points}

    monkeypatch.setattr(search, "_curve", curve)
    result = search.measure(False, lambda line: None, ["nn"], 1500)
    assert set(asked) == {(100, 200, 400, 1000, 1500), (search.APART,)}
    assert [row["candidates"] for row in result.rows] == [search.APART, 100, 200, 400, 1000, 1500]
    assert {row["evaluations"] for row in result.rows[1:]} == {1500}
    # Three arms of five seeds, and what is run apart: not the random edits, whose first candidates are a shorter run.
    assert len(asked) == 5 * (3 + 2) and result.rows[0]["random"] == result.rows[3]["random"] == 1.04
    climbing = result.promises[-1]
    assert "1500 candidates over the first 200" in climbing.name and climbing.holds


@pytest.mark.slow
def test_one_run_gives_the_whole_curve_and_one_that_was_killed_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same rows whether or not a run was cut off in the middle; what is finished is not made again."""
    monkeypatch.setattr(search, "SEEDS", (1,))
    said: list[str] = []

    def rows(folder: str) -> Sequence[search.Row]:
        monkeypatch.setattr(search, "KEPT", tmp_path / folder)
        return search.measure(True, said.append).rows

    whole = rows("a")
    last = search.QUICK_POINTS[-1]
    assert [each["candidates"] for each in whole] == [search.QUICK_APART, *search.QUICK_POINTS]
    assert whole[-1]["evaluations"] == last and whole[0]["evaluations"] == search.QUICK_APART
    # Edits drawn at random have no plan: the run of 60 begins as that of 40.
    assert (
        whole[0]["random"]
        == next(each for each in whole if each["candidates"] == 40 and each is not whole[0])["random"]
    )

    killed: list[Path] = []

    def cut_off(command: list[str], *, cwd: Path, **settings: object) -> subprocess.CompletedProcess[str]:
        """The first run is killed once some of its candidates are recorded."""
        if killed:
            return run(command, cwd=cwd, **settings)  # type: ignore[call-overload, no-any-return]
        journal = cwd / FOLDER / command[command.index("--name") + 1] / JOURNAL
        killed.append(journal)
        process = subprocess.Popen(
            command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        while not (journal.is_file() and _recorded(journal) > 10):
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise KeyboardInterrupt

    run = subprocess.run
    monkeypatch.setattr(subprocess, "run", cut_off)
    with pytest.raises(KeyboardInterrupt):
        rows("b")
    assert 10 < _recorded(killed[0]) < last
    assert rows("b") == whole

    monkeypatch.setattr(subprocess, "run", lambda *a, **k: pytest.fail("a finished run was made again"))
    assert rows("b") == whole


def _recorded(journal: Path) -> int:
    try:
        with Journal.open(journal) as opened:
            return len(opened)
    except KernelwrightError:  # it is just being made
        return 0
