"""``--resume`` takes what a run does not settle when it begins, and refuses the rest."""

from __future__ import annotations

import importlib

import pytest
import typer
from typer.testing import CliRunner

from kernelwright.errors import Misuse


@pytest.mark.parametrize(
    ("command", "flag", "value"),
    [
        ("tune.command", "--timeout", "600"),
        ("tune.command", "--timeout", "1"),
        ("tune.command", "-o", "other.tuning"),
        ("tune.command", "--fresh", None),
        ("breed", "--seed", "0"),
        ("breed", "--backend", "host"),
        ("explore.command", "--gap", "0.1"),
    ],
)
def test_what_was_settled_when_a_run_began_is_refused(command: str, flag: str, value: str | None) -> None:
    app = typer.Typer()
    app.command()(importlib.import_module(f"kernelwright.cli.commands.{command}").command)
    done = CliRunner().invoke(app, ["--resume", "no run's name", flag, *([value] if value else [])])
    assert isinstance(done.exception, Misuse)
    assert " was settled when the run began" in str(done.exception)
    assert done.exception.hint.endswith("--resume 'no run'\"'\"'s name', or start a new run")


@pytest.mark.parametrize(
    ("command", "flag"), [("tune.command", "--json"), ("breed", "--jobs=1"), ("explore.command", "--jobs=1")]
)
def test_what_a_run_does_not_settle_goes_with_it(command: str, flag: str) -> None:
    app = typer.Typer()
    app.command()(importlib.import_module(f"kernelwright.cli.commands.{command}").command)
    done = CliRunner().invoke(app, ["--resume", "missing", flag])
    assert isinstance(done.exception, Misuse) and "there is no run" in str(done.exception)
