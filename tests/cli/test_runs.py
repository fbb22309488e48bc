"""``kw runs``: names that a person gives, states, and runs that go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kernelwright.cli.commands.runs import command
from kernelwright.errors import Misuse
from kernelwright.evaluate.run.run import FOLDER, Run, new_folder
from kernelwright.evolution.genomes import GENOMES


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def begun(name: str) -> Run[Any]:
    return Run.create(new_folder("app", name=name), GENOMES, {})


def test_a_name_is_the_folder_and_is_not_taken_twice() -> None:
    begun("mine").close()
    assert (Path(FOLDER) / "mine" / "journal.db").is_file()
    with pytest.raises(Misuse, match=r"there is kw-runs/mine already"):
        new_folder("app", name="mine")
    assert new_folder("app").name == "app-1"


@pytest.mark.parametrize("name", ["", ".", "..", "../up", "a/b", "-x", "two words", "/tmp/x"])
def test_what_is_no_name_is_refused(name: str, here: Path) -> None:
    with pytest.raises(Misuse, match="is no name of a run"):
        new_folder("app", name=name)
    assert not list(here.iterdir())


def test_states() -> None:
    with begun("one") as run:
        assert run.state == "running" and "works on it" in run.open_end
    with Run.open("one") as run:
        assert run.state == "resumable" and run.open_end == "not finished: kw evolve --resume kw-runs/one"
    with Run.open("one", GENOMES, write=True) as run:
        run.journal.note("end", {})
    with Run.open("one") as run:
        assert run.state == "finished" and run.open_end == ""


def test_runs_are_deleted_by_name_and_by_folder(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "two", "three"):
        begun(name).close()
    command(delete=["one", "kw-runs/two", "two"])
    assert capsys.readouterr().out == "deleted kw-runs/one\ndeleted kw-runs/two\n"
    assert [path.name for path in (here / FOLDER).iterdir()] == ["three"]


def test_nothing_goes_when_one_cannot(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun("one").close()
    (here / "other").mkdir()
    (here / "other" / "journal.db").write_bytes(b"somebody else's")
    with pytest.raises(Misuse, match="there is no run 'absent'"):
        command(delete=["one", "absent"])
    with pytest.raises(Misuse):
        command(delete=["one", "other"])
    with begun("two"), pytest.raises(Misuse, match=r"two is being written by this process"):
        command(delete=["one", "two"])
    monkeypatch.chdir(here / FOLDER / "two")
    with pytest.raises(Misuse, match="holds the folder you are in"):
        command(delete=["../one", "."])
    assert sorted(path.name for path in (here / FOLDER).iterdir()) == ["one", "two"]
    assert (here / "other" / "journal.db").is_file()
