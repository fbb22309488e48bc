"""``kw tune --with``: winners as versions of a program, each behind a threshold, and what takes the result."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kernelwright.guards import BlockIs, LaunchFacts
from kernelwright.kernel_version import Version, version_from_json
from kernelwright.launch import Launch
from kernelwright.versions.program import INFINITE, Compared
from kernelwright.versions.tuned_winners import threshold_name, told, tuned

from .conftest import PROGRAM, Kw
from .test_compile import start
from .test_run import EXPECTED, counted

VERSION = Version(
    "_Z5againPKfPfii", "again-1:v7", "clean", "0" * 64, (), "; ir", (BlockIs((64, 1, 1)),), ("block == 64 x 1 x 1",)
)


def facts(blocks: int, threads: int) -> LaunchFacts:
    return LaunchFacts(Launch("_Z5againPKfPfii", (blocks, 1, 1), (threads, 1, 1), 0, b""), ())


def test_a_threshold_is_a_check_that_can_be_stored_and_exported() -> None:
    (version,) = tuned([VERSION], {threshold_name(VERSION): 256})
    assert threshold_name(VERSION) == "again-1:v7/again"
    assert [all(guard.holds(facts(n, 64)) for guard in version.guards) for n in (3, 4, 5)] == [False, True, True]
    assert not all(guard.holds(facts(8, 32)) for guard in version.guards)
    assert version_from_json(json.loads(json.dumps(version.as_json()))) == version
    assert "grid" in version.guards[-1].as_c() and "grid" in version.guards[-1].as_python()


@pytest.mark.parametrize("thresholds", [{}, {"again-1:v7/again": INFINITE}])
def test_a_winner_that_is_never_to_be_taken_is_left_out(thresholds: dict[str, int]) -> None:
    assert tuned([VERSION], thresholds) == []


def test_what_is_compared_is_heard_and_a_failed_check_is_no_threshold() -> None:
    heard: list[Compared] = []
    (version,) = told([VERSION], {"again-1:v7/again": 1}, heard)
    assert [version.guards[0].holds(facts(2, 64)), version.guards[0].holds(facts(4, 32))] == [True, False]
    assert heard == [Compared("again-1:v7/again", 128, True), Compared("again-1:v7/again", 128, False)]
    (untuned,) = told([VERSION], {}, heard)
    assert not untuned.guards[0].holds(facts(2, 64))


@pytest.fixture(scope="module")
def tuning(kw: Kw, runs: Path) -> tuple[Path, dict[str, Any]]:
    """The winner's check asks for 5 passes."""
    path = runs / "again.tuning"
    done = kw("tune", PROGRAM, "--with", "again-1", "--data", "5", "--data", "4", "-o", path, "--json")
    assert done.returncode == 0, done.stderr
    return path, json.loads(done.stdout)


def test_a_winner_gets_a_threshold(tuning: tuple[Path, dict[str, Any]]) -> None:
    path, found = tuning
    name = next(iter(found["thresholds"]))
    assert re.fullmatch(r"again-1:v\d+/again", name)
    by_name = {d["name"]: d for d in found["datasets"]}
    assert by_name["5"]["decisions"][0]["verdict"] == "taken" and by_name["4"]["decisions"][0]["verdict"] == "refused"
    assert by_name["5"]["decisions"][0]["values"] == [256] and found["thresholds"][name] <= 256
    assert by_name["5"]["tuned_us"] < by_name["5"]["untuned_us"] and by_name["4"]["configurations"] == 1
    assert f"-- thresholds of {PROGRAM} --with again-1" in path.read_text()


def test_run_and_compile_take_the_result(tuning: tuple[Path, dict[str, Any]], kw: Kw, tmp_path: Path) -> None:
    path, _ = tuning
    done = kw("run", PROGRAM, "--with", path, "--", 5)
    assert (done.returncode, done.stdout) == (0, EXPECTED) and counted(done.stderr)["winner"] == 1, done.stderr
    high = tmp_path / "high.tuning"
    high.write_text(re.sub(r"=\d+", "=257", path.read_text()))
    done = kw("run", PROGRAM, "--with", high, "--", 5)
    assert counted(done.stderr)["winner"] == 0 and "threads of the launch >= 257" in done.stderr
    done = kw("compile", PROGRAM, "--with", path, "-o", tmp_path / "app")
    done = start(tmp_path / "app", 5, KERNELWRIGHT_WINNERS="count")
    assert done.stdout == EXPECTED and counted(done.stderr)["winner"] == 1


def test_export_takes_the_result(tuning: tuple[Path, dict[str, Any]], kw: Kw, tmp_path: Path) -> None:
    path, found = tuning
    ((name, threshold),) = found["thresholds"].items()
    winner = name.partition("/")[0]
    done = kw("export", path, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    out = tmp_path / "out"
    single = out / winner.replace(":", "-")
    assert (
        f"| again | {winner} | threads of the launch >= {threshold} | passes == 5;" in (out / "README.md").read_text()
    )
    assert (out / path.name).read_text() == path.read_text() and (out / f"{path.name}.json").is_file()
    assert f'"threads of the launch >= {threshold}"' in (out / "again.h").read_text()
    assert "grid.x" in (single / "README.md").read_text(), "its threshold is one of its checks"
    # CuPy's chain, on a stand-in whose kernels write down their files.
    script = tmp_path / "use.py"
    script.write_text(USE_CUPY.replace("OUT", str(out)).replace("BLOCKS", str(-(-threshold // 64))))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["kernel", "kernel.original", "kernel.original", "1", "2"]
    done = kw("export", path, "-o", out)
    assert done.returncode == 2 and "is not empty" in done.stderr
    never = tmp_path / "never.tuning"
    never.write_text(re.sub(r"(?m)^(again-1.*)=.*", rf"\1={INFINITE}", path.read_text()))
    done = kw("export", never, "-o", tmp_path / "none")
    assert done.returncode == 2 and "nothing to export" in done.stderr and not (tmp_path / "none").exists()


USE_CUPY = """
import sys, types, pathlib, numpy as np
cupy = types.ModuleType("cupy")
cupy.cuda = types.SimpleNamespace(Device=lambda: types.SimpleNamespace(compute_capability="90"))
def module(path):
    stem = pathlib.Path(path).name
    return types.SimpleNamespace(get_function=lambda name: lambda *_, **more: print(stem.split(".sm_")[0].removesuffix(".ptx")))
cupy.RawModule = module
sys.modules["cupy"] = cupy
sys.path.insert(0, "OUT")
import winner_cupy
winner = winner_cupy.Winner()
values, out = np.ones(999, np.float32), np.zeros(999, np.float32)
for blocks, passes in ((BLOCKS, 5), (BLOCKS, 4), (1, 5)):
    winner((blocks,), (64,), (values, out, np.int32(200), np.int32(passes)))
print(*winner.launches.values())
"""


def test_files_without_winners_and_other_programs_are_refused(kw: Kw, tmp_path: Path) -> None:
    plain = tmp_path / "plain.tuning"
    plain.write_text("-- thresholds of app.cu\n-- on h200\nrows=4\n")
    done = kw("run", PROGRAM, "--with", plain, "--", 5)
    assert done.returncode == 2 and "holds no thresholds of winners" in done.stderr
    done = kw("tune", "--exec", "./app {data}", "--with", "again-1", "--data", "5")
    assert done.returncode == 2 and "--with is for CUDA programs" in done.stderr
    done = kw("tune", "app.py", "--with", "again-1", "--data", "5")
    assert done.returncode == 2 and "--with is for CUDA programs" in done.stderr
