"""docs/mistakes.md: every mistake of its tables is made, and what is said is what the page says."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelwright as kw
from kernelwright.breeding.run import PROGRAMS, BreedRun, facts_of, settings_for
from kernelwright.errors import KernelwrightError
from kernelwright.grammar import load_problem
from tests import kw_process

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "mistakes.md").read_text()
CODE = re.compile(r"`([^`]+)`")


def rows(heading: str) -> list[list[str]]:
    table = PAGE[PAGE.index(heading) :].split("\n\n")[0]
    return [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]


COMMANDS = rows("| typed |")
WRITTEN = rows("| written |")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("mistakes")
    shutil.copytree(ROOT / "examples", made / "examples")
    for name, text in re.findall(r"^    // (\w+\.cu)\n((?:    .*\n?)+)", PAGE, re.M):
        (made / name).write_text(re.sub(r"^    ", "", text, flags=re.M))
    run = made / "kw-runs" / "smooth-1"
    run.mkdir(parents=True)
    problem = made / "examples" / "median.py"
    BreedRun.create(
        run, PROGRAMS, facts_of(problem, settings_for(load_problem(problem), backend="interpreted"))
    ).close()
    return made


def test_there_are_twenty() -> None:
    assert len(COMMANDS) + len(WRITTEN) == 20


@pytest.mark.parametrize("row", COMMANDS, ids=lambda row: row[0].strip("`"))
def test_a_command(folder: Path, row: list[str]) -> None:
    typed, code, said = row
    (command,) = CODE.findall(typed)
    done = kw_process.kw(*shlex.split(command)[1:], cwd=folder)
    assert done.returncode == int(code), done.stderr
    for text in CODE.findall(said):
        assert text in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and "defect" not in done.stderr


@pytest.fixture(scope="module")
def names() -> Iterator[dict[str, Any]]:
    program = kw.compile(ROOT / "examples" / "hello.cu", arch="sm_90")
    a, b, total = np.ones(10_000, np.float32), np.ones(10_000, np.float32), np.zeros(10_000, np.float32)
    with kw.Device("h200") as device:
        yield {"device": device, "add": program.kernel("add"), "a": a, "b": b, "total": total}


@pytest.mark.parametrize("row", WRITTEN, ids=lambda row: row[0].strip("`"))
def test_a_line_of_python(names: dict[str, Any], row: list[str]) -> None:
    written, said = row
    (line,) = CODE.findall(written)
    with pytest.raises(KernelwrightError) as raised:
        eval(line, dict(names))
    for text in CODE.findall(said):
        assert text in str(raised.value)
