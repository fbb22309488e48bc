"""``@FILE`` and ``-optf FILE``: flags in files, as CMake and others write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.cli.options_files import with_options_files
from kernelwright.errors import Misuse
from tests.cli.conftest import Kw, kw  # noqa: F401


def test_words_of_files_stand_in_the_place_of_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.rsp").write_text("one.o 'two words.o'\n@b.rsp")
    Path("b.rsp").write_text('-DS=\\"x\\" three.o')
    Path("c.txt").write_text("-O3")
    given = ["kw", "compile", "@a.rsp", "-o", "x", "-optf", "c.txt,b.rsp", "--options-file=c.txt", "@"]
    assert with_options_files(given) == [
        "kw", "compile", "one.o", "two words.o", '-DS="x"', "three.o", "-o", "x", "-O3", '-DS="x"', "three.o", "-O3", "@",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["@gone.rsp"], "gone.rsp cannot be read"),
        (["@itself.rsp"], "itself.rsp names itself"),
        (["@open.rsp"], "open.rsp is none: no closing quotation"),
        (["-optf"], "-optf needs a file"),
    ],
)
def test_bad_files(words: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("itself.rsp").write_text("@itself.rsp")
    Path("open.rsp").write_text("'x")
    with pytest.raises(Misuse, match=says):
        with_options_files(words)


def test_the_command_reads_them(kw: Kw, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "main.cu").write_text("__global__ void k(int *p) { *p = N; }\n")
    (tmp_path / "flags").write_text("-DN=12345 -ptx")
    done = kw("compile", "main.cu", "@flags", "-o", "-")
    assert done.returncode == 0 and "12345" in done.stdout, done.stderr
    done = kw("compile", "main.cu", "@gone")
    assert done.returncode == 2 and "gone cannot be read" in done.stderr and "Traceback" not in done.stderr


def test_behind_two_dashes_are_sources(tmp_path: Path) -> None:
    words = ["kw", "compile", "-o", "x", "--", "@gone.rsp", "-optf"]
    assert with_options_files(words) == words
