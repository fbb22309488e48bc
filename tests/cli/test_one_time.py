"""One definition of time: the same kernel on the same data takes the same in every command that says how long, to the last bit."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kernelwright.evolution.genomes import GENOMES, EvolveRun
from kernelwright.target import DEFAULT_GPU
from tests import kw_process

SMOOTH = str(Path(__file__).parents[2] / "examples" / "smooth.cu")
DATA = ("--", "64", "4")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("time")


def test_profile_run_and_evolve_say_the_same(folder: Path) -> None:
    profiled = json.loads(kw_process.kw("profile", SMOOTH, "--json", *DATA, cwd=folder).stdout)["kernels"][0]
    said = kw_process.kw("profile", SMOOTH, *DATA, cwd=folder).stdout
    reported = kw_process.kw("run", "--report", "--device", DEFAULT_GPU, SMOOTH, *DATA, cwd=folder).stderr
    us, launch_us = profiled["time_us"], profiled["launch_us"]
    assert us > 0 and launch_us > 0
    assert f"{us:.4g} us in kernels, and {launch_us:.4g} us that launching them costs" in said
    figures = re.search(r"^kw: +(\d+) +([\d.]+) +([\d.]+) +[\d.]+ +smooth$", reported, re.M)
    assert figures is not None, reported
    assert figures.groups() == ("1", f"{us:.4g}", f"{launch_us:.4g}")

    ran = json.loads(kw_process.kw("run", "--json", "--device", DEFAULT_GPU, SMOOTH, *DATA, cwd=folder).stdout)
    (row,) = ran["kernels"]
    assert (row["time_us"], row["launch_us"], row["launches"], row["faults"]) == (us, launch_us, 1, 0)

    plain = ("--keep-flags", "--given-data", "--evaluations", "2", "--no-report", "--name", "once")
    kw_process.kw("evolve", SMOOTH, *plain, *DATA, cwd=folder)
    with EvolveRun.open(folder / "kw-runs" / "once", GENOMES) as run:
        assert run.original is not None
        assert run.original.time_us == us
        assert run.original.metrics["with_launches_us"] == pytest.approx(us + launch_us, rel=1e-12)
    shown = json.loads(kw_process.kw("show", "once", "--json", cwd=folder).stdout)
    assert shown["original_us"] == us
    assert "data sets)" not in kw_process.kw("show", "once", cwd=folder).stdout


def test_a_mean_of_several_sets_is_called_one(finished_run: Path, tmp_path: Path) -> None:
    (tmp_path / "kw-runs").mkdir()
    (tmp_path / "kw-runs" / "again-1").symlink_to(finished_run)
    with EvolveRun.open(finished_run, GENOMES) as run:
        assert run.original is not None
        count = sum(name.startswith("data set ") for name in run.original.metrics)
    for command in ("show", "explain"):
        said = kw_process.kw(command, "again-1", cwd=tmp_path).stdout
        assert (f"us in its kernels (geometric mean of {count} data sets)" in said) == (count > 1 and command == "show")
        assert (f"us in kernels (geometric mean of {count} data sets)" in said) == (count > 1 and command == "explain")
