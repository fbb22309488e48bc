"""``kw farm``."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from kernelwright.breeding.back_end_table import BACKENDS
from kernelwright.cache import Cache, content_key
from kernelwright.cli.commands import farm
from kernelwright.errors import Misuse
from kernelwright.farm.fitness_store import FitnessCache


def _run(*arguments: str) -> str:
    app = typer.Typer()
    app.command()(farm.command)
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path))
    return tmp_path


def test_status_names_every_back_end_and_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelwright.farm.backends.nvrtc.find_nvrtc", lambda: None)
    found = json.loads(_run("status", "--json"))
    assert found["cores"] >= 1
    by_name = {row["back_end"]: row for row in found["backends"]}
    assert list(by_name) == list(BACKENDS)
    assert not by_name["nvrtc"]["usable"] and "pip install" in by_name["nvrtc"]["what"]
    assert by_name["host"]["usable"]
    assert "nvrtc" in _run() and "cores" in _run("status")


def test_clear_empties_what_farms_keep_and_nothing_else(own_cache: Path) -> None:
    Cache().put("ir", content_key(["a"]), b"stays")
    FitnessCache(["p"]).put({"x": 1.0})
    kept = {row["cache"]: row["files"] for row in json.loads(_run("--json"))["kept"]}
    assert kept == {"fitness": 1}
    assert json.loads(_run("clear", "--json"))["freed_bytes"] > 0
    assert FitnessCache(["p"]).get("x") is None
    assert Cache().get("ir", content_key(["a"])) == b"stays"
    assert "freed 0.0 MB" in _run("clear")


@pytest.mark.slow
def test_bench_measures_the_farm(capsys: pytest.CaptureFixture[str]) -> None:
    """What it measures is the machine's affair: a promise that does not hold here is no defect."""
    with contextlib.suppress(typer.Exit):
        farm.command("bench", quick=True, as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert found["name"] == "farm" and found["rows"] and found["promises"]


def test_misuse_is_told() -> None:
    with pytest.raises(Misuse, match="does not know 'stat'"):
        farm.command("stat")
