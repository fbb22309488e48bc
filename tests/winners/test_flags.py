"""A run whose candidates start from other compile flags: programs are compiled with the given ones, winners with those."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import HERE, SRC, Kw

pytestmark = pytest.mark.slow  # two searches

PROGRAM = HERE / "flags_program.cu"
SEARCH = """
import runpy
from kernelwright.passes.options import PassOptions
from kernelwright.stories import flags
flags.single_changes = lambda given: [PassOptions.parse("-O3 unroll=2000")]
runpy.run_module("kernelwright", run_name="__main__")
"""
"""``kw``, with a single set of flags to try."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the program and the run ``series-1``."""
    folder = tmp_path_factory.mktemp("flags")
    shutil.copy(PROGRAM, folder / "series.cu")
    words = ["evolve", "series.cu", "--evaluations", "3", "--seed", "1", "--given-data", "--no-report"]
    environment = {**os.environ, "PYTHONPATH": SRC}
    command = [sys.executable, "-c", SEARCH, *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "--threshold unroll=2000" in done.stdout, done.stderr
    return folder


def launches(said: str) -> dict[str, int]:
    """By version, from the table on standard error: ``v3``, ``flags``, ``the original``."""
    found = re.findall(r"^kw: +(\d+) .* series: (?:series-1:)?(the original|\w+)", said, re.MULTILINE)
    return {version: int(count) for count, version in found}


@pytest.fixture(scope="module")
def plain(kw: Kw, folder: Path) -> dict[str, str]:
    """What the program writes without winners."""
    return {how: kw("run", "series.cu", "--", *how.split(), cwd=folder).stdout for how in ("5", "3 onto")}


def test_the_program_as_given_runs_the_winner(kw: Kw, folder: Path, plain: dict[str, str]) -> None:
    done = kw("run", "series.cu", "--with", "series-1", "--", 5, cwd=folder)
    assert (done.returncode, done.stdout) == (0, plain["5"]) and "no error" in plain["5"]
    found = launches(done.stderr)
    (edited,) = found.keys() - {"flags", "the original"}
    assert found == {edited: 1, "flags": 0, "the original": 0}, done.stderr


def test_where_a_check_fails_the_flags_alone_still_count(kw: Kw, folder: Path, plain: dict[str, str]) -> None:
    done = kw("run", "series.cu", "--with", "series-1", "--", 3, "onto", cwd=folder)
    assert (done.returncode, done.stdout) == (0, plain["3 onto"])
    found = launches(done.stderr)
    assert (found["flags"], found["the original"], sum(found.values())) == (1, 0, 1), done.stderr


def test_a_program_compiled_with_the_winner_carries_both(kw: Kw, folder: Path, plain: dict[str, str]) -> None:
    made = kw("compile", "series.cu", "--with", "series-1", "-o", "faster", cwd=folder)
    assert made.returncode == 0 and "not the one" not in made.stderr, made.stderr
    for arguments, version in (("5", "v"), ("3 onto", "flags")):
        done = kw("run", "--report", "./faster", "--", *arguments.split(), cwd=folder)
        found = launches(done.stderr)
        ran = [name for name, count in found.items() if count]
        assert done.stdout == plain[arguments] and len(ran) == 1 and ran[0].startswith(version), done.stderr


def test_the_patch_is_of_the_source_as_given_and_the_flags_are_said(kw: Kw, folder: Path) -> None:
    done = kw("patch", "series-1", cwd=folder)
    assert "not said in CUDA C: compile flags: --threshold unroll=2000" in done.stderr
    assert "is not the one that the run began with" not in done.stderr
    assert done.returncode == 0 and "+__global__ void series(" in done.stdout
    sizes = re.search(r"(\d+) PTX instructions, the variant (\d+), the original \d+", done.stderr)
    assert sizes is not None and sizes[1] == sizes[2], "compiled with the run's flags"
