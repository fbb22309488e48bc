"""A program's folder, copied for a run with what its arguments name outside of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kernelwright.evaluate.judging import program_folder
from kernelwright.evaluate.judging.program_folder import contents, copied


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """``suite/cuda/app``, the folder of a program, with data where other programs of the suite find it, too."""
    app = tmp_path / "suite" / "cuda" / "app"
    (app / "sub").mkdir(parents=True)
    (app / "in.txt").write_text("in")
    (tmp_path / "suite" / "data" / "app").mkdir(parents=True)
    (tmp_path / "suite" / "data" / "app" / "graph").write_text("graph")
    (tmp_path / "suite" / "data" / "other").write_text("other")
    (tmp_path / "suite" / "cuda" / "beside").write_text("beside")
    return app


@pytest.mark.parametrize(
    ("argument", "found"),
    [
        ("../../data/app/graph", {"../../data/app/graph": "graph"}),
        ("--file=../beside", {"../beside": "beside"}),
        ("sub/../../beside", {"sub/../../beside": "beside"}),
        ("../../data", {"../../data/app/graph": "graph", "../../data/other": "other"}),
        ("../app/in.txt", {"../app/in.txt": "in", "in.txt": "in"}),
        ("in.txt", {"in.txt": "in"}),
        ("-n", {"in.txt": "in"}),
        ("", {"in.txt": "in"}),
        ("../no/such", {"in.txt": "in"}),
        ("..", {"in.txt": "in"}),
    ],
)
def test_a_run_finds_what_its_arguments_name(tree: Path, tmp_path: Path, argument: str, found: dict[str, str]) -> None:
    folder = copied(str(tree), [argument, "5"], tmp_path / "place")
    assert tmp_path / "place" in folder.parents
    assert {path: (folder / path).read_text() for path in found} == found
    (folder / next(iter(found))).write_text("changed")
    assert (tree / next(iter(found))).read_text() != "changed", "the program's own is not touched"


def test_what_is_written_outside_is_seen(tree: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    folder = copied(str(tree), ["../../data/out.bin", "../../data/app/graph"], place)
    before = contents(place, folder)
    assert before == {"in.txt": b"in", "../../data/app/graph": b"graph"}
    (folder / "../../data/out.bin").write_bytes(b"new")
    assert contents(place, folder) == {**before, "../../data/out.bin": b"new"}
    assert not (tree / "../../data/out.bin").exists()


def test_a_folder_within_one_that_is_named_too(tree: Path, tmp_path: Path) -> None:
    folder = copied(str(tree), ["../../data/app/graph", "../../data"], tmp_path / "place")
    assert (folder / "../../data/other").read_text() == "other"
    assert (folder / "../../data/app/graph").read_text() == "graph"


def test_more_steps_up_than_there_are_folders(tree: Path, tmp_path: Path) -> None:
    up = "/".join([".."] * (len(tree.parts) + 2))
    folder = copied(str(tree), [f"{up}{tree}/in.txt", f"{up}/nowhere/x"], tmp_path / "place")
    assert (folder / "in.txt").read_text() == "in"
    assert (folder / f"{up}{tree}/in.txt").read_text() == "in"


def test_what_is_too_large_is_linked(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_folder, "LARGEST_FOLDER", 4)
    folder = copied(str(tree), ["../../data/app/graph", "../beside"], tmp_path / "place")
    assert os.path.islink(folder / "../../data/app/graph")
    assert (folder / "../beside").read_text() == "beside"
    folder = copied(str(tree), ["../../data"], tmp_path / "again")
    assert os.path.islink(folder / "../../data")
