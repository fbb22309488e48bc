"""``--calibration`` and GPUs of one's own in the commands: what they print, and what runs and threshold files keep."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import kernelwright as kw
from kernelwright.calibration import Calibration
from kernelwright.cli.commands.tune.subjects import Wanted, of_cuda
from kernelwright.evaluate.workload.rule_text import parse_rule
from kernelwright.evolution.genomes import GENOMES, EvolveRun
from kernelwright.report.trust import terms_of
from kernelwright.target import gpu
from kernelwright.versions.threshold_file import Identity
from tests.kw_process import kw as run

TWICE = Calibration("twice", "a100", 40, 0.1, 0.9, "by hand", scale=2.0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(Path(__file__).parent / "saxpy.cu", tmp_path)
    TWICE.save(tmp_path / "twice.json")
    (tmp_path / "slow.toml").write_text('like = "a100"\nclock_mhz = 705\ndram_gb_per_s = 778\n')
    return tmp_path


def profiled(folder: Path, *flags: str) -> dict[str, Any]:
    done = run("profile", "saxpy.cu", *flags, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_profile_and_run(folder: Path) -> None:
    plain, twice = profiled(folder, "--device", "a100"), profiled(folder, "--calibration", "twice.json")
    assert twice["kernels"][0]["time_us"] == pytest.approx(2 * plain["kernels"][0]["time_us"])
    assert twice["device"] == gpu(f"a100@{folder / 'twice.json'}").name and plain["device"] == "a100"
    assert twice["kernels"][0]["sources"]["calibration"] == "twice (40 measurements on a100)"
    slow = profiled(folder, "--device", "slow.toml")
    assert slow["kernels"][0]["time_us"] == pytest.approx(2 * plain["kernels"][0]["time_us"], rel=1e-3), (
        "half the clock"
    )
    text = run("profile", "saxpy.cu", "--device", "slow.toml", cwd=folder).stdout
    assert "of the a100 that it is like; bound by " in text and "of the a100" in slow["kernels"][0]["trust"]
    assert "slow, like the NVIDIA A100" in text
    told = run("run", "saxpy.cu", "--report", "--calibration", "twice.json", cwd=folder)
    assert told.stdout == "no error\n" and "calibration twice (40 measurements on a100)" in told.stderr


@pytest.mark.parametrize(
    "command",
    [
        ("profile", "saxpy.cu", "--device", "h100"),
        ("run", "saxpy.cu", "--device", "h100"),
        ("evolve", "saxpy.cu", "--device", "h100"),
        ("tune", "saxpy.cu", "--device", "h100"),
        ("explore", "axpy", "4096", "--device", "h100"),
    ],
)
def test_one_of_another_gpu_is_a_sentence(folder: Path, command: tuple[str, ...]) -> None:
    done = run(*command, "--calibration", "twice.json", cwd=folder)
    assert done.returncode == 2, done.stdout
    assert (
        "is of another GPU than h100" in done.stderr
        and "--device a100" in done.stderr
        and "Traceback" not in done.stderr
    )


def test_programs_with_times_of_their_own_have_no_calibration(folder: Path) -> None:
    done = run("tune", "--exec", "./app {data}", "--calibration", "twice.json", cwd=folder)
    assert done.returncode == 2 and "--calibration is for CUDA programs" in done.stderr


def test_explore_keeps_it(folder: Path) -> None:
    done = run(
        "explore", "axpy", "4096", "--calibration", "twice.json", "--evaluations", "6", "--jobs", "1", "--name", "x", "--json",
        cwd=folder,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    about = json.loads((folder / "kw-runs" / "x" / "decisions.json").read_text())
    assert about["device"] == gpu(f"a100@{folder / 'twice.json'}").name
    (folder / "twice.json").unlink()
    again = run("explore", "--replay", "kw-runs/x/decisions.json", "--json", cwd=folder)
    assert again.returncode == 0, again.stderr
    plain = about | {"device": "a100"}
    (folder / "kw-runs" / "x" / "plain.json").write_text(json.dumps(plain))
    other = run("explore", "--replay", "kw-runs/x/plain.json", "--json", cwd=folder)
    one, two = (json.loads(each.stdout)["outcome"]["time_us"] for each in (again, other))
    assert one == pytest.approx(2 * two)


def test_evolve_keeps_it(folder: Path) -> None:
    done = run(
        "evolve", "saxpy.cu", "--calibration", "twice.json", "--evaluations", "4", "--jobs", "1", "--name", "e", "--no-report",
        "--keep-flags", "--given-data", "--json", cwd=folder,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    with EvolveRun.open(str(folder / "kw-runs" / "e"), GENOMES) as found:
        assert found.settings.device == gpu(f"a100@{folder / 'twice.json'}").name
        plain = profiled(folder, "--device", "a100")["kernels"][0]["time_us"]
        assert found.original_us == pytest.approx(2 * plain, rel=0.05)
        assert found.original is not None
        assert sum(terms_of(found.original).values()) == pytest.approx(found.original.time_us)
    told = json.loads(done.stdout)["trust"]
    assert (
        told[0].startswith("rank ")
        and "calibration twice (40 measurements on a100), rank 0.90 on variants held out" in told[0]
    )


def test_threshold_files_name_it(folder: Path) -> None:
    def identity(device: str) -> Identity:
        wanted = Wanted(parse_rule("exact"), None, "", None, device, 10.0)
        return of_cuda(folder / "saxpy.cu", wanted, lambda path, device: (folder / "saxpy", device)).identity

    found = identity(f"a100@{folder / 'twice.json'}")
    assert found.device == "a100" and found.calibration == TWICE.text
    assert identity("a100").calibration == "uncalibrated"


def test_python(folder: Path) -> None:
    import numpy as np

    kernel = kw.compile(str(folder / "saxpy.cu")).kernel("saxpy")
    y, x = np.zeros(4096, np.float32), np.ones(4096, np.float32)
    times = []
    for device in (kw.Device("a100"), kw.Device("a100", calibration=TWICE), kw.Device(f"a100@{folder / 'twice.json'}")):
        estimate = device.estimate(kernel, 16, 256, (y, x, np.float32(2), np.int32(4096)))
        times.append((estimate.kernel_us, device.name))
    assert times[1][0] == pytest.approx(2 * times[0][0]) and times[1] == times[2]
