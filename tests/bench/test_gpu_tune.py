"""The tuner's part of ``make gpu``, with stand-ins for nvcc and for what it builds."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from kernelwright.bench.gpu import deadline, tune
from kernelwright.bench.gpu.deadline import NEVER, Deadline
from kernelwright.bench.result import Measured
from kernelwright.cuda.link import LinkOptions
from kernelwright.executable import build_executable, worker_command
from kernelwright.pipeline import compile as compile_program
from kernelwright.suite.multiversion.table import PROGRAMS

STAND_IN = """#!{python}
import os, sys
given = dict(line.split("=") for line in open(os.environ["KW_THRESHOLDS"]).read().split())
pairs, length = map(int, sys.argv[1:])
assert os.environ["CUDA_VISIBLE_DEVICES"] == "3" and "KW_TUNING" in os.environ
taken = pairs >= int(given.get("pairs_outer", 2**63 - 1))
print(f"Compared pairs_outer <= {{pairs}}: {{str(taken).lower()}}.", file=sys.stderr)
print("score", pairs * length)
print(f"Took {{length * 10 if taken else pairs * 10}} us.", file=sys.stderr)
"""


def stand_in(source: Path, executable: Path) -> str:
    assert "KW_THRESHOLD" in source.read_text() and (source.parent / tune.HEADER).is_file()
    executable.write_text(STAND_IN.format(python=sys.executable))
    executable.chmod(0o755)
    return ""


def test_a_program_is_tuned_in_times_that_it_measures() -> None:
    found = tune.run_tune(3, lambda _: None, stand_in, ["nw"])
    assert [(row["dataset"], row["untuned us"], row["tuned us"]) for row in found.rows] == [
        ("1 96", 10.0, 10.0),
        ("512 8", 5120.0, 80.0),
    ]
    assert all(row["configurations"] == row["promised"] == 2 and row["served"] for row in found.rows)
    assert [(p.value, p.holds) for p in found.promises] == [(1.0, True), (0.0, True), (0.0, True)]


@cache
def whole() -> Measured:
    """With all the time it wants."""
    return tune.run_tune(3, lambda _: None, stand_in, ["lud", "nw"])


class Clock:
    """A second passes whenever somebody looks."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        self.now += 1.0
        return self.now


@pytest.mark.parametrize("seconds", [0, 4, 12, 20, 30, 60, 400])
def test_programs_share_the_time_there_is(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has its turn before one that takes long goes on; what is known is written down after each turn."""
    monkeypatch.setattr(deadline, "time", Clock())
    kept: list[Measured] = []
    found = tune.run_tune(3, lambda _: None, stand_in, ["lud", "nw"], Deadline(float(seconds)), kept.append)
    rows = {(row["program"], row["dataset"]) for row in found.rows}
    every = {(name, dataset) for name in ("lud", "nw") for dataset in PROGRAMS[name].datasets}
    told = " ".join(found.notes)
    assert rows <= every and all(dataset in told for _, dataset in every - rows if "not reached" not in told)
    assert (rows == every) == (not found.notes)
    assert {0: not rows and "not reached in time: lud, nw" in told, 400: rows == every}.get(int(seconds), True)
    # What was kept last is what is returned, and nothing that was known is lost from one to the next.
    known = [{(row["program"], row["dataset"]) for row in part.rows} for part in kept]
    assert all(a <= b for a, b in itertools.pairwise(known)) and (not kept or kept[-1].rows == found.rows)
    same = [row for row in whole().rows if (row["program"], row["dataset"]) in rows]
    assert [row["configurations"] for row in found.rows] == [row["configurations"] for row in same]


def test_a_share_of_the_time_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "time", Clock())
    assert Deadline(101.0).share(4).ends == 1.0 + 25.0 and Deadline(0.5).share(4).is_over
    assert NEVER.share(4) is NEVER


def test_a_program_that_cannot_be_tuned_takes_nothing_from_the_others() -> None:
    def build(source: Path, executable: Path) -> str:
        stand_in(source, executable)
        if "lud" in executable.name:
            executable.write_text("#!/bin/sh\nexit 3\n")
        return ""

    kept: list[Measured] = []
    found = tune.run_tune(3, lambda _: None, build, ["lud", "nw"], keep=kept.append)
    assert [row["program"] for row in found.rows] == ["nw", "nw"] and len(kept) == 2
    assert found.notes == [
        "lud is not tuned: no dataset runs in any version: program: it ended with exit code 3 and said nothing"
    ]
    failing = next(p for p in found.promises if p.name == "programs of which no dataset runs")
    assert (failing.value, failing.holds) == (1.0, False)


def test_what_is_not_built_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    found = tune.run_tune(0, lambda _: None, lambda *_: "no such architecture", ["nw"])
    assert found.notes == ["nw is not built: no such architecture"] and not found.rows
    assert all(promise.holds is None for promise in found.promises)
    monkeypatch.setattr(tune, "find_nvcc", lambda: None)
    assert tune.run_tune(0, lambda _: None).notes == ["not measured: there is no nvcc"]


def test_it_needs_no_compiler_but_nvcc() -> None:
    names = ("llvmlite", "ziglang", "scipy", "typer", "rich", "jinja2")
    code = f"import sys\nsys.modules.update(dict.fromkeys({names}))\nimport kernelwright.bench.gpu.tune as t\nt.PROGRAMS['lud'].text()"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_a_timed_program_computes_the_same_and_tells_its_time(tmp_path: Path) -> None:
    """In place, too: each run begins with the inputs copied again."""
    said = []
    for timed in ("", "#define KW_TIMED 3\n"):
        source, executable = tmp_path / "lud.cu", tmp_path / "lud"
        source.write_text(timed + PROGRAMS["lud"].text())
        build_executable(compile_program(source), [], executable, LinkOptions(device="h200", worker=worker_command()))
        said.append(subprocess.run([executable, "8"], capture_output=True, text=True, check=True))
    assert said[0].stdout == said[1].stdout != ""
    assert "Took" not in said[0].stderr
    assert float(re.findall(r"^Took (\S+) us\.$", said[1].stderr, re.M)[0]) > 0
