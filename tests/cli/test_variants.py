"""``kw explain``, ``kw minimize``, ``kw prove``, ``kw export``, ``kw report`` and ``kw show`` as a person uses them."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer

from kernelwright.cli.app import app
from kernelwright.cli.support.error_exit import tell
from kernelwright.errors import KernelwrightError
from kernelwright.evolution.genomes import GENOMES, EvolveRun
from tests.announced_lines import without_announced


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


def kw(folder: Path, *arguments: str) -> Done:
    """The command in this process, which is a second quicker than in one of its own; errors as ``guard`` tells them."""
    command = typer.main.get_command(app)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(sys, "argv", ["kw", *arguments])
                code = command(prog_name="kw", standalone_mode=False)
        except KernelwrightError as error:
            tell(str(error))
            code = error.exit_code
    return Done(code or 0, out.getvalue(), err.getvalue())


def test_the_command_itself(folder: Path) -> None:
    command = [sys.executable, "-m", "kernelwright", "explain", "again-1:v999"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 2 and without_announced(done.stderr).startswith(
        "kw: again-1 has no variant 'v999'\nnext: "
    )


@pytest.fixture(scope="module")
def folder(finished_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("variants")
    shutil.copytree(finished_run, made / "kw-runs" / "again-1")
    return made


@pytest.fixture(scope="module")
def best(finished_run: Path) -> str:
    with EvolveRun.open(finished_run, GENOMES) as run:
        assert run.best is not None
        return run.best.name


def test_explain_says_why(folder: Path, best: str) -> None:
    done = kw(folder, "explain", "again-1")
    assert done.returncode == 0 and not done.stderr  # it was explained before: nothing runs
    said = done.stdout
    assert said.startswith(f"{best}: 1.") and "only for launches with" in said
    assert "relies on: passes == 5 in all 2 launches" in said and "time in kernels" in said
    as_json = json.loads(kw(folder, "explain", f"again-1:{best}", "--json").stdout)
    with EvolveRun.open(folder / "kw-runs" / "again-1", GENOMES) as run:
        assert as_json == run.explained(best)


def test_explain_can_be_asked_again(folder: Path, best: str, tmp_path: Path) -> None:
    shutil.copytree(folder / "kw-runs" / "again-1", tmp_path / "copy")
    before = kw(tmp_path, "explain", "copy").stdout
    again = kw(tmp_path, "explain", "copy", "--again", "--jobs", "1")
    assert again.returncode == 0 and "kw: what each of" in again.stderr
    assert again.stdout == before
    with EvolveRun.open(tmp_path / "copy", GENOMES) as run:
        assert len(run.journal.events("explained")) == 2


def test_minimize_says_what_was_left(folder: Path, best: str) -> None:
    done = kw(folder, "minimize", f"kw-runs/again-1:{best}", "--jobs", "1")
    assert done.returncode == 0
    first, *edits, valid_for = done.stdout.splitlines()
    assert first.startswith(f"{best}, {len(edits)} edits, 1.") and f"-> {best}, {len(edits)} edits" in first
    assert all(": " in line for line in edits) and valid_for.startswith(f"{best} is ")


def test_prove_shows_the_proof_there_is_and_makes_one_of_another_variant(folder: Path, best: str) -> None:
    known = kw(folder, "prove", "again-1")
    assert known.returncode == 0 and known.stdout.startswith(f"{best}: proven - ")
    with EvolveRun.open(folder / "kw-runs" / "again-1", GENOMES) as run:
        other = [f.name for f in run.accepted if f.candidate and f.is_gain and f.name != best][-1]
    made = json.loads(kw(folder, "prove", f"again-1:{other}", "--json").stdout)
    assert made["variant"] == other and {"label", "checks", "speedup"} <= made.keys()
    with EvolveRun.open(folder / "kw-runs" / "again-1", GENOMES) as run:
        proof = run.proof(other)
        assert proof is not None and proof["label"] == made["label"]


def test_a_label_that_is_too_bad_is_exit_code_1(folder: Path, best: str, tmp_path: Path) -> None:
    shutil.copytree(folder / "kw-runs" / "again-1", tmp_path / "copy")
    with EvolveRun.open(tmp_path / "copy", GENOMES, write=True) as run:
        proof = dict(run.proof(best) or {})
        checks = [c | {"status": "failed"} if c["name"] == "sub-warps" else c for c in proof["checks"]]
        run.journal.note(
            "proof",
            {"name": best, "variant": best, "label": "lock-step only", "checks": checks, "seed": 1, "notes": []},
        )
    done = kw(tmp_path, "prove", "copy")
    assert done.returncode == 1 and done.stdout.startswith(f"{best}: lock-step only - ")


def test_export_and_report_say_where_they_are(folder: Path, best: str) -> None:
    done = kw(folder, "export", "again-1")
    assert done.returncode == 0 and done.stdout.startswith(f"again-1-{best}: README.md")
    assert (folder / f"again-1-{best}" / "load.py").exists()
    assert kw(folder, "report", "again-1").stdout.strip() == "kw-runs/again-1/report.html"
    assert kw(folder, "report", "again-1", "-o", "page.html").returncode == 0
    assert (folder / "page.html").read_text() == (folder / "kw-runs" / "again-1" / "report.html").read_text()


def test_show_names_the_edits(folder: Path, best: str) -> None:
    said = kw(folder, "show", "again-1").stdout
    assert f"{best}, 1." in said and ", proven, in " in said
    assert "specialised input in again: passes is always 5" in said


def test_a_name_with_a_colon_in_it(folder: Path, best: str) -> None:
    shutil.copytree(folder / "kw-runs" / "again-1", folder / "kw-runs" / "a:b")
    assert kw(folder, "prove", "a:b").stdout.startswith(f"{best}: ")
    assert json.loads(kw(folder, "prove", f"a:b:{best}", "--json").stdout)["variant"] == best


def damaged(folder: Path) -> None:
    for name, data in (("foreign", b"not a journal, but long enough to be looked at"), ("empty", b"")):
        (folder / "kw-runs" / name).mkdir(exist_ok=True)
        (folder / "kw-runs" / name / "journal.db").write_bytes(data)
    whole = (folder / "kw-runs" / "again-1" / "journal.db").read_bytes()
    (folder / "kw-runs" / "cut").mkdir(exist_ok=True)
    (folder / "kw-runs" / "cut" / "journal.db").write_bytes(whole[: len(whole) // 3])
    shutil.copytree(folder / "kw-runs" / "again-1", folder / "kw-runs" / "moved", dirs_exist_ok=True)
    with sqlite3.connect(folder / "kw-runs" / "moved" / "journal.db") as db:
        db.execute("UPDATE sessions SET facts = replace(facts, 'again.py', 'gone.py')")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("explain", "nothing"), "there is no run 'nothing'"),
        (("prove", "nothing:v2"), "there is no run 'nothing:v2'"),
        (("export", "again-1:v999"), "has no variant 'v999'"),
        (("explain", "again-1:v1"), "is the original"),
        (("minimize", "again-1:v1"), "is the original"),
        (("export", "again-1:v1"), "is the original"),
        (("export", "again-1:v2"), "v2 is not exported: UNPROVEN"),
        (("explain", "foreign"), "is no run file"),
        (("report", "empty"), "is no run file"),
        (("prove", "cut"), "is damaged"),
        (("explain", "moved", "--again"), "gone.py"),
        (("export", "moved"), "gone.py"),
    ],
)
def test_misuse_is_told_in_a_sentence(folder: Path, arguments: tuple[str, ...], says: str) -> None:
    damaged(folder)
    done = kw(folder, *arguments)
    assert done.returncode in (2, 3), done.stdout
    assert says in done.stderr and "Traceback" not in done.stderr and "next: " in done.stderr


def test_what_was_recorded_is_shown_without_the_workload(folder: Path, best: str) -> None:
    damaged(folder)
    for command in ("report", "explain", "prove"):
        assert kw(folder, command, "moved").returncode == 0
    assert "FixArgument(index=3" in kw(folder, "show", "moved").stdout  # no words without the original
    assert kw(folder, "prove", "moved", "--explain").returncode == 0


def test_a_run_that_is_being_written_can_be_read(folder: Path, best: str) -> None:
    with EvolveRun.open(folder / "kw-runs" / "again-1", GENOMES, write=True):
        for command in ("show", "report", "explain", "prove"):
            assert kw(folder, command, "again-1").returncode == 0
        for command in ("explain", "prove"):
            done = kw(folder, command, "again-1", "--again")
            assert done.returncode == 2 and "is being written by" in done.stderr
