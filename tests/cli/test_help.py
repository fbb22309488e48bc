"""What ``-h`` shows first."""

from __future__ import annotations

import sys

import pytest
import typer

from kernelwright.cli.app import COMMANDS, _run, app


def help_of(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    monkeypatch.setattr(sys, "argv", ["kw", *words])
    typer.main.get_command(app)(prog_name="kw", standalone_mode=False)
    return capsys.readouterr().out


@pytest.mark.parametrize("spelling", ["-h", "--help"])
def test_commands_stand_in_groups(
    spelling: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = help_of(capsys, monkeypatch, spelling)
    places = [shown.index(f"│ {name} ") for name in COMMANDS]
    assert places == sorted(places)
    for group in {group for _, group, _ in COMMANDS.values()}:
        assert shown.count(f" {group} ─") == 1


def test_a_commands_own_flags_stand_before_the_compilers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = help_of(capsys, monkeypatch, "evolve", "-h")
    places = [
        shown.index(word) for word in ("--evaluations", "Where and how", "--device", "How the program is", "--arch")
    ]
    assert places == sorted(places)


@pytest.mark.parametrize(("word", "said"), [("-512", "-512 is a negative number"), ("-x", "'-x'")])
def test_a_negative_size_is_no_option(
    word: str, said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["kw", "space", "size", "axpy", word])
    assert _run() == 2
    assert said in capsys.readouterr().err
