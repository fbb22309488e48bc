"""A back end is added to a copy of the package with one file and one row, and everything that reads the table knows it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "kernelwright"
FILE = '''
"""Individuals that call functions are refused; the others stay text."""

from dataclasses import dataclass

from kernelwright.errors import CompileError
from kernelwright.farm.backends.backend import Refused
from kernelwright.farm.backends.tree import Tree


@dataclass(frozen=True)
class NoFunctions(Tree):
    def compile(self, population, frame, level="quick"):
        wrong = {n: CompileError("it calls a function") for n, text in enumerate(population) if "(" in text}
        if wrong:
            raise Refused("some call functions", wrong)
        return super().compile(population, frame, level)
'''
ROW = '    BackEnd("simple", "programs without functions, interpreted", C, NoFunctions, Interpreter, auto=True),\n'


def test_a_back_end_is_one_file_and_one_row(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "kernelwright", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "kernelwright" / "farm" / "backends" / "no_functions.py").write_text(FILE)
    table = tmp_path / "kernelwright" / "breeding" / "back_end_table.py"
    text = table.read_text()
    for before, line in (
        ("from kernelwright.farm.backends.nvrtc", "from kernelwright.farm.backends.no_functions import NoFunctions\n"),
        ('    BackEnd("host"', ROW),
    ):
        assert text.count(before) == 1
        text = text.replace(before, line + before)
    table.write_text(text)

    def kw(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "kernelwright", *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(tmp_path), "COLUMNS": "200"},
            capture_output=True,
            text=True,
        )
        assert done.returncode in (0, 1), done.stderr
        return done.stdout

    rows = {row["back_end"]: row for row in json.loads(kw("farm", "--json"))["backends"]}
    assert rows["simple"]["usable"] and rows["simple"]["what"] == "programs without functions, interpreted"
    assert "interpreted, simple, host" in " ".join(kw("breed", "--help").replace("│", " ").split())
    explained = json.loads(kw("breed", "--explain", "keijzer6", "--json"))
    assert {row["back end"] for row in explained["backends"]} == {"interpreted", "simple", "host"}
    given = ("--backend", "simple", "--generations", "2", "--population", "30", "--jobs", "1", "--no-cache", "--json")
    found = json.loads(kw("breed", "keijzer6", *given))
    assert found["backend"] == "simple" and found["rejected"]["compile"] > 0 and found["fitness"] is not None
