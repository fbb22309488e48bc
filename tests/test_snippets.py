"""The snippets of README and docs: Python runs and gives what its comments say, commands have the flags they are shown with."""

from __future__ import annotations

import re
import shlex
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import kernelwright as kw
from kernelwright.cli.app import COMMANDS, app

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
EVERYWHERE = {"--quiet", "--verbose", "--help", "--version", "-q", "-v", "-h"}

_COMMAND = re.compile(r"(?:^ {4}|`)kw ([a-z]+)((?: [^`\n]*)?)", re.M)


def commands() -> list[tuple[str, str, str]]:
    """Page, command and what is behind it, of all that are shown."""
    return [
        (page.name, name, rest)
        for page in PAGES
        for name, rest in _COMMAND.findall(page.read_text())
        if name in COMMANDS
    ]


@cache
def flags_of(command: str) -> frozenset[str]:
    """The flags that ``kw COMMAND --help`` lists."""
    before, sys.argv = sys.argv, ["kw", command, "--help"]
    try:
        told = CliRunner(env={"COLUMNS": "240", "TERM": "dumb"}).invoke(app, [command, "--help"]).output
    finally:
        sys.argv = before
    return frozenset(re.findall(r"(?<![\w-])(--?[A-Za-z][\w-]*)", told)) | EVERYWHERE


def asked(rest: str) -> list[str]:
    """The flags of a shown command: what stands behind ``--`` is the program's, behind two spaces or a semicolon a remark."""
    shown = re.split(r" {2,}|;|\s#|\s--(?=\s|$)", rest.strip())[0]
    try:
        words = shlex.split(shown)
    except ValueError:
        words = shown.split()
    return [word.split("=")[0].rstrip(".,:)") for word in words if re.match(r"--[a-z]", word)]


@pytest.mark.parametrize("command", sorted({name for _, name, _ in commands()}))
def test_a_shown_command_has_the_flags_it_is_shown_with(command: str) -> None:
    unknown = [
        (page, flag, rest.strip())
        for page, name, rest in commands()
        if name == command
        for flag in asked(rest)
        if flag not in flags_of(command)
    ]
    assert not unknown


def test_flags_of_commands_are_read() -> None:
    assert asked(' app.cu --case "300 8" --seed=1 -- --not-ours   a --remark') == ["--case", "--seed"]
    assert "--evaluations" in flags_of("evolve") and "--nothing" not in flags_of("evolve")
    assert len(commands()) > 150


def blocks(page: str, language: str = "python") -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / "docs" / page).read_text(), re.M | re.S)


def test_a_space_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = blocks("spaces.md")
    names: dict[str, object] = {"__name__": "docs"}
    exec(code, names)
    exec("assert partial.values('size', 'n') == [2]", names)  # as the comment says
    told = capsys.readouterr().out
    assert all(word in told for word in ("kind(m)", "size(m)", "kind(n)", "threads_of_a_block"))


def test_a_computation_with_its_kernels() -> None:
    names: dict[str, object] = {}
    for code in blocks("generated-kernels.md"):
        exec(code, names)
    assert "backbone" in names


def test_an_experts_plan_and_computations_of_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    own, plan = blocks("explore.md")
    path = tmp_path / "my_computation.py"
    path.write_text(own)
    names: dict[str, object] = {"__name__": "docs", "__file__": str(path)}
    exec(compile(own, str(path), "exec"), names)
    few = plan.replace("evaluations=200", "evaluations=2")
    assert few != plan
    exec(few, names)
    told = capsys.readouterr().out
    assert "BLOCK" in told and "us" in told
    exec("assert run.best is not None", names)


def test_versions_that_are_chosen_by_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "tune.md").read_text()
    (code,) = re.findall(r"## In Python\n\n((?:    .*\n|\n)+)", text)
    names: dict[str, object] = {
        "make": lambda *shape: np.ones(shape),
        **dict.fromkeys(("outer", "block", "flat"), np.matmul),
    }
    exec(re.sub(r"^    ", "", code, flags=re.M), names)
    exec("assert matmul(*inputs('64x100')).shape == (64, 100)", names)


def test_a_launch_from_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "saxpy.cu").write_text(
        "__global__ void saxpy(const float *x, float *y, float a, int n)\n"
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] += a * x[i]; }\n"
    )
    text = (ROOT / "docs" / "run.md").read_text()
    (code,) = re.findall(r"## From Python\n\n((?:    .*\n)+)", text)
    n = 5000
    names: dict[str, object] = {"x": np.ones(n, np.float32), "y": np.zeros(n, np.float32), "n": n}
    exec(re.sub(r"^    ", "", code, flags=re.M), names)
    assert names["done"].fault is None and np.all(names["y"] == 2.0)  # type: ignore[attr-defined]
    (checked,) = re.findall(
        r"## In tests written in Python\n\n((?:    .*\n)+)", (ROOT / "docs" / "check.md").read_text()
    )
    source = (
        re.sub(r"^    ", "", checked, flags=re.M).replace('"scan"', '"saxpy"').replace("(x, sums, n)", "(x, y, 2.0, n)")
    )
    exec(source, names | {"kw": kw})
    assert "test_scan" in source
    exec(source + "\ntest_scan()", names | {"kw": kw})


def test_what_the_timing_model_names_is_where_it_says() -> None:
    code = blocks("timing-model.md")[0]
    for name, file in re.findall(r"= (\w+)\(.*# (\S+\.py)", code):
        assert f"def {name}(" in (ROOT / "src" / "kernelwright" / file).read_text()
