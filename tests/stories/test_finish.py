"""The end of a run: explained, exported, written down; killed there it is finished later, and what was found stays as it is."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from kernelwright.evaluate.run.settings import RunSettings
from kernelwright.evaluate.workload.subject import PythonFile
from kernelwright.evolution.genomes import GENOMES, EvolveRun
from kernelwright.evolution.new_run import create
from kernelwright.report.evolution import evolution_page
from kernelwright.stories.evolve import evolve, resume
from kernelwright.stories.explain import explain
from kernelwright.stories.export import export
from kernelwright.stories.finish import OLD, finish
from kernelwright.stories.variant_search.standing import Standing
from tests import kw_process

AGAIN = Path(__file__).with_name("again.py")


@pytest.fixture
def unexplained(finished_run: Path, tmp_path: Path) -> Path:
    """A run that has come to its end, and was not explained."""
    shutil.copytree(finished_run, tmp_path / "again-1")
    with sqlite3.connect(tmp_path / "again-1" / "journal.db") as db:
        db.execute("DELETE FROM events WHERE kind = 'explained'")
    return tmp_path / "again-1"


def test_a_run_is_finished_as_often_as_one_likes(unexplained: Path) -> None:
    with EvolveRun.open(unexplained, GENOMES, write=True) as run:
        said: list[str] = []
        first = finish(run, jobs=1, say=said.append)
        assert said[0] == "explain" and said[-2:] == ["export", "report"]
        best = run.best
        assert best is not None
        assert first.explained and first.troubles == ()
        assert first.report == run.folder / "report.html" and first.report.stat().st_size > 10_000
        assert first.exported == run.folder / f"export-{best.name}"
        count = len(run.journal)
        (first.exported / "README.md").unlink()
        said.clear()
        second = finish(run, jobs=1, say=said.append)
        assert said == ["export", "report"]
        assert second == first and (first.exported / "README.md").exists()
        assert len(run.journal) == count


def test_what_goes_wrong_at_the_end_is_told_and_the_rest_made(finished_run: Path, tmp_path: Path) -> None:
    shutil.copytree(finished_run, tmp_path / "again-1")
    with EvolveRun.open(tmp_path / "again-1", GENOMES, write=True) as run:
        (run.folder / "report.html").mkdir()
        done = finish(run)
        assert done.report is None and done.exported is not None
        assert len(done.troubles) == 1 and done.troubles[0].startswith("reporting failed: ")


@pytest.fixture(scope="module")
def exported_run(finished_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was exported and reported."""
    folder = tmp_path_factory.mktemp("exported") / "again-1"
    shutil.copytree(finished_run, folder)
    with EvolveRun.open(folder, GENOMES, write=True) as run:
        assert finish(run).exported is not None
    return folder


@pytest.mark.parametrize("moment", ["export", "swap", "clean"])
def test_killed_while_exporting_the_next_end_exports(
    exported_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Wherever it is killed, what is called the export is whole."""
    shutil.copytree(exported_run, tmp_path / "again-1")
    with EvolveRun.open(tmp_path / "again-1", GENOMES, write=True) as run:
        (target,) = run.folder.glob("export-*")
        files = {path.name for path in target.iterdir()}
        rename, rmtree = Path.rename, shutil.rmtree

        def half(run: EvolveRun, name: str, folder: Path) -> Path:
            export(run, name, folder)
            (folder / "evidence.json").unlink()
            raise KeyboardInterrupt

        def renamed(self: Path, to: Path) -> Path:
            if str(to) == str(target):
                raise KeyboardInterrupt
            return rename(self, to)

        def removed(path: Path, ignore_errors: bool = False) -> None:
            if str(path).endswith(OLD) and path.exists():
                (path / "evidence.json").unlink()
                raise KeyboardInterrupt
            rmtree(path, ignore_errors=ignore_errors)

        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            if moment == "export":
                patched.setattr("kernelwright.stories.finish.export", half)
            elif moment == "swap":
                patched.setattr(Path, "rename", renamed)
            else:
                patched.setattr(shutil, "rmtree", removed)
            finish(run)
        assert not target.exists() or {path.name for path in target.iterdir()} == files
        done = finish(run)
        assert done.exported == target and done.troubles == ()
        assert {path.name for path in target.iterdir()} == files
        assert [path.name for path in run.folder.glob("export-*")] == [target.name]


def test_what_is_asked_afterwards_is_no_part_of_the_search(unexplained: Path) -> None:
    with EvolveRun.open(unexplained, GENOMES, write=True) as run:
        best, front, rejected, before = run.best, run.front, run.rejected, run.fastest_trained
        assert best is not None and run.original is not None
        # Something that would be the fastest by far, if it counted.
        instant = type(run.original)(run.original.time_us / 100, 0.0, run.original.metrics)
        facts = {"trained": {"time_us": instant.time_us, "error": 0.0}}
        run.journal.record([gene.as_json() for gene in best.candidate[:1]] * 2, instant, phase="explain", facts=facts)
        explain(run, "best", jobs=1)
        assert run.ended is not None
        assert run.evaluations == run.ended["evaluations"] < len(run.journal)
        assert (run.best, run.front, run.rejected, run.fastest_trained) == (best, front, rejected, before)
        assert f"{run.evaluations} candidates, " in evolution_page(run)


def test_a_run_that_is_not_at_its_end_counts_all_there_is(tmp_path: Path) -> None:
    with create(tmp_path, PythonFile(str(AGAIN)), RunSettings()) as run:
        assert run.evaluations == 0 and list(run.searched()) == []


@pytest.mark.slow
def test_from_python_it_is_asked_for(tmp_path: Path) -> None:
    seen: list[str] = []

    def watch(standing: Standing) -> None:
        seen.append(standing.phase)

    run = evolve(AGAIN, folder=tmp_path / "run", evaluations=30, seed=1, jobs=2, watch=watch)
    assert not (run.folder / "report.html").exists() and seen[-1] == "finished"
    best = run.best
    assert best is not None
    seen.clear()
    again = resume(run.folder, jobs=2, report=True, watch=watch)
    assert (run.folder / "report.html").exists() and (run.folder / f"export-{best.name}" / "load.py").exists()
    assert again.explained(best.name) is not None
    assert {"explain", "export", "report"} <= set(seen) and seen[-1] == "finished" and seen.count("finished") == 1


def test_time_spent_ends_with_what_was_recorded_last(finished_run: Path, tmp_path: Path) -> None:
    shutil.copytree(finished_run, tmp_path / "again-1")
    with sqlite3.connect(tmp_path / "again-1" / "journal.db") as db:
        db.execute("UPDATE sessions SET at = 1000.0 * id")
        db.execute("UPDATE outcomes SET at = 1000.0 * session + 1")
        db.execute("UPDATE events SET at = 1000.0 * session + 2")
        db.execute("UPDATE events SET at = 1000.0 * session + 50 WHERE kind = 'end'")
        db.execute("INSERT INTO sessions (at, facts) VALUES (9000.0, '{}')")  # it did nothing
    with EvolveRun.open(tmp_path / "again-1", GENOMES) as run:
        assert len(run.journal.sessions) == 3  # of the search, of the explanation, and that one
        assert run.spent_seconds == 50 + 2


def test_killed_at_its_end_resuming_finishes_it(unexplained: Path, tmp_path: Path) -> None:
    folder = tmp_path / "kw-runs" / "again-1"
    folder.parent.mkdir()
    unexplained.rename(folder)
    command = [sys.executable, "-m", "kernelwright", "evolve", "--resume", "again-1", "--json"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert process.stderr is not None
        assert any("phase explain" in line for line in process.stderr)
        os.killpg(process.pid, signal.SIGKILL)
    finally:
        process.kill()
        process.communicate(timeout=60)
    assert not (folder / "report.html").exists()
    with EvolveRun.open(folder, GENOMES) as run:
        assert run.ended is not None
        evaluations = run.evaluations
    done = kw_process.kw(*command[3:], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["evaluations"] == evaluations
    assert (tmp_path / result["report"]).is_file() and (tmp_path / result["export"] / "evidence.json").is_file()
