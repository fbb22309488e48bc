"""The record of what a compile read: when it can be trusted, and what it notices."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from kernelwright.cuda.inputs import Inputs, files_of, folders_of, now_ns, searched_folders, unchanged


def settled_ns() -> int:
    """A time after everything written so far, in the clock that files are stamped with."""
    time.sleep(0.02)
    return now_ns()


def recorded(files: list[Path], folders: list[Path]) -> list[str]:
    found = Inputs(map(str, files), map(str, folders), settled_ns()).record()
    assert found is not None
    return found


def test_nothing_changed(tmp_path: Path) -> None:
    source = tmp_path / "a b.cu"
    source.write_text("text")
    record = recorded([source], [tmp_path])
    assert unchanged(record)
    assert files_of(record) == (str(source),)
    assert folders_of(record) == (str(tmp_path),)


@pytest.mark.parametrize("change", ["edit", "remove"])
def test_a_file_changed(tmp_path: Path, change: str) -> None:
    source = tmp_path / "a.cu"
    source.write_text("text")
    record = recorded([source], [])
    source.write_text("test") if change == "edit" else source.unlink()
    assert not unchanged(record)


def test_a_tool_changed(tmp_path: Path) -> None:
    """A tool is no header: nothing takes its place, and it takes nobody's."""
    tool, folder = tmp_path / "bin" / "tool.bc", tmp_path / "folder"
    for each in (tool.parent, folder):
        each.mkdir()
    tool.write_text("1")
    record = Inputs((), (str(folder),), settled_ns()).with_tool(str(tool)).record()
    assert record is not None
    (folder / "tool.bc").write_text("")
    assert unchanged(record)
    assert files_of(record) == ()
    tool.write_text("12")
    assert not unchanged(record)
    tool.unlink()
    assert not unchanged(record)
    assert Inputs((), (), 0).with_tool(str(tool)).record() is None


def test_what_a_new_file_may_be_taken_for(tmp_path: Path) -> None:
    (tmp_path / "late" / "sub").mkdir(parents=True)
    header = tmp_path / "late" / "sub" / "x.h"
    header.write_text("")
    early = tmp_path / "early"
    record = recorded([header], [early])
    early.mkdir()
    (early / "y.h").write_text("")
    (early / "sub").mkdir()
    assert unchanged(record)
    (early / "sub" / "x.h").write_text("")
    assert not unchanged(record)


def test_names_asked_for(tmp_path: Path) -> None:
    source = tmp_path / "a.cu"
    source.write_text('#if __has_include("maybe.h") && __has_include( <sub/other.h> )\n#endif\n')
    for name in ("maybe.h", "sub/other.h"):
        record = recorded([source], [tmp_path])
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
        assert not unchanged(record)


def test_a_file_written_since_is_not_trusted(tmp_path: Path) -> None:
    source = tmp_path / "a.cu"
    since_ns = settled_ns()
    source.write_text("text")
    assert Inputs([str(source)], [], since_ns).record() is None


@pytest.mark.parametrize("text", ["__TIME__", "__DATE__", "__TIMESTAMP__"])
def test_a_file_that_tells_the_time_is_not_trusted(tmp_path: Path, text: str) -> None:
    source = tmp_path / "a.cu"
    source.write_text(f"const char *t = {text};")
    assert Inputs([str(source)], [], settled_ns()).record() is None


@pytest.mark.parametrize("name", ["a\nb.cu", "missing.cu"])
def test_a_file_that_cannot_be_recorded(tmp_path: Path, name: str) -> None:
    if "\n" in name:
        (tmp_path / name).write_text("")
    assert Inputs([str(tmp_path / name)], [], settled_ns()).record() is None


def test_folders_come_from_flags_environment_and_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CPATH", "env:/abs")
    command = ["clang", "-Ione", "-I", "two", "-isystem", "/usr/include/x", "-isystem", "three", "-DX", "{source}"]
    found = searched_folders(command, [str(tmp_path / "src" / "a.cu"), "/usr/include/math.h"])
    assert list(found) == [
        *(f"{tmp_path}/{name}" for name in ("one", "two", "three", "env")),
        "/abs",
        f"{tmp_path}/src",
    ]


def test_sums(tmp_path: Path) -> None:
    total = Inputs(["a", "b"], ["x"], 7) + Inputs(["b", "c"], ["x", "y"], 5)
    assert (total.files, total.folders, total.since_ns) == (("a", "b", "c"), ("x", "y"), 5)
