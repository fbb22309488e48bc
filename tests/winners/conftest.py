"""A program whose kernel has a winner, and the command in a folder with the run that found it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kernelwright.evolution.genomes import GENOMES, EvolveRun
from tests import kw_process

HERE = Path(__file__).parent
SRC = str(HERE.parents[1] / "src")
PROGRAM = HERE / "again_program.cu"

Kw = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def runs(finished_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the run ``again-1``."""
    folder = tmp_path_factory.mktemp("winners")
    shutil.copytree(finished_run, folder / "kw-runs" / "again-1")
    return folder


@pytest.fixture(scope="session")
def best(runs: Path) -> str:
    """The run's best variant, as ``--with`` takes it alone."""
    with EvolveRun.open(runs / "kw-runs" / "again-1", GENOMES) as run:
        assert run.best is not None
        return f"again-1:{run.best.name}"


@pytest.fixture(scope="session")
def kw(runs: Path) -> Kw:
    """``kw("run", PROGRAM, "--with", "again-1", "--", "5")`` in the folder of the run."""

    def call(*words: object, cwd: Path = runs, **more: str) -> subprocess.CompletedProcess[str]:
        return kw_process.kw(*map(str, words), cwd=cwd, env={**os.environ, **more})

    return call
