"""``make gpu``: nothing to do where there is no GPU, a result file where there is one (a stand-in's, here)."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from kernelwright.bench.gpu.again import NOTE, again
from kernelwright.bench.gpu.calibrate import gpu_like, ranks_of
from kernelwright.bench.gpu.cases import CASES
from kernelwright.bench.gpu.measured_rates import QUANTITIES
from kernelwright.bench.gpu.preparing.everything import prepare
from kernelwright.bench.gpu.result import page
from kernelwright.bench.gpu.sanitizer import TOOLS, check_program, run_sanitizer
from kernelwright.bench.result import Measured
from kernelwright.cuda.wire.protocol import DeviceProperties
from kernelwright.device.checking.findings import FindingKind
from kernelwright.device.real_gpu.worker import GpuInfo
from kernelwright.errors import Misuse

from .conftest import Fake

ROOT = Path(__file__).parents[2]


def go(*arguments: str | Path, python: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *python, ROOT / "benchmarks" / "gpu.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=400, cwd=ROOT)


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prepared")
    prepare(folder, lambda line: None, small=True, kernels=("heat",), suite=(), python=None)
    return folder


def test_without_a_gpu_it_says_so_and_all_is_well(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if Path("/dev/nvidiactl").exists():
        pytest.skip("this machine has a GPU")
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    done = go("--results", tmp_path)
    assert (done.returncode, done.stdout) == (0, "there is no NVIDIA driver on this machine; nothing was run\n")
    assert list(tmp_path.iterdir()) == []


def test_a_driver_without_gpus_is_no_gpu(fake: Fake, tmp_path: Path) -> None:
    fake.set("FAKE_CUDA_GPUS", "0")
    done = go("--results", tmp_path)
    assert (done.returncode, done.stdout) == (0, "the driver reports no NVIDIA GPU; nothing was run\n")


def test_what_was_prepared_is_timed_and_written_down(fake: Fake, prepared: Path, tmp_path: Path) -> None:
    done = go("--prepared", prepared, "--only", "calibration", "--results", tmp_path)
    assert done.returncode == 1, done.stderr  # a handful of variants is not what is promised
    [found] = tmp_path.glob("*.json")
    assert found.name.endswith("-stand-in-0.json")
    content = json.loads(found.read_text())
    assert (content["gpu"]["name"], content["gpu"]["CUDA"], content["gpu"]["arch"]) == ("Stand-in 0", "12.8", "sm_90")
    assert content["versions"]["cuda-bindings"].startswith("12.9")
    rows = [r for r in content["parts"][1]["rows"] if "variant" in r]
    assert {r["kind"] for r in rows} == {"shape", "deletion"}
    assert {r["measured us"] for r in rows} == {10.0}
    assert all(r["estimated us"] > 0 for r in rows)
    assert "rows" not in content["fit"] and "calibration" in content["fit"]
    assert f"# Stand-in 0, {content['date']}" in found.with_suffix(".md").read_text()
    # Machine code where there is some for this GPU, and every sample after the input was put back.
    assert "load cubin" in fake.named("load")
    launches = [c for c in fake.named("launch") if "kw_wait" not in c]
    assert all(c.startswith("launch heat") for c in launches)
    assert len(fake.named("copy")) >= 2 * len(launches)


def test_a_variant_that_fails_is_a_row_with_the_reason(fake: Fake, prepared: Path, tmp_path: Path) -> None:
    manifest = json.loads((prepared / "manifest.json").read_text())
    broken = tmp_path / "prepared"
    (broken / "images").mkdir(parents=True)
    for image in (prepared / "images").iterdir():
        (broken / "images" / image.name).write_bytes(image.read_bytes())
    victim = manifest["variants"][2]
    # Its own image, so that no other variant shares it.
    victim["image"] = "broken"
    (broken / "images" / "broken.ptx").write_bytes(b"BAD")
    (broken / "manifest.json").write_text(json.dumps(manifest))
    go("--prepared", broken, "--only", "calibration", "--results", tmp_path)
    [found] = tmp_path.glob("*.json")
    rows = [r for r in json.loads(found.read_text())["parts"][1]["rows"] if "variant" in r]
    failed = [r for r in rows if "failed" in r]
    assert [r["variant"] for r in failed] == [victim["name"]]
    assert "unknown opcode" in failed[0]["failed"] and "measured us" not in failed[0]
    assert sum("measured us" in r for r in rows) == len(rows) - 1


@pytest.mark.slow
def test_a_folder_that_was_not_prepared(fake: Fake, tmp_path: Path) -> None:
    """What does not need it is measured all the same."""
    (tmp_path / "llvmlite.py").write_text("raise ImportError('llvmlite is not here')\n")
    fake.set("PYTHONPATH", str(tmp_path))
    done = go("--prepared", tmp_path, "--only", "calibration", "--only", "compile", "--results", tmp_path / "results")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    first, second = json.loads(next((tmp_path / "results").glob("*.json")).read_text())["parts"]
    assert (first["name"], second["name"]) == ("preparation", "compile")
    assert "was not prepared" in first["notes"][0] and not first["promises"][0]["holds"]
    assert "was not prepared" in done.stdout


def test_running_what_was_prepared_needs_no_compiler(fake: Fake, prepared: Path, tmp_path: Path) -> None:
    """Nothing but NumPy, as on the machine with the GPU."""
    blocker = tmp_path / "site"
    blocker.mkdir()
    for name in ("llvmlite", "ziglang", "scipy", "typer", "rich", "jinja2"):
        (blocker / f"{name}.py").write_text(f"raise ImportError('{name} is not here')\n")
    fake.set("PYTHONPATH", str(blocker))
    done = go("--prepared", prepared, "--only", "calibration", "--only", "compile", "--results", tmp_path)
    assert done.returncode == 1, done.stderr
    content = json.loads(next(tmp_path.glob("*.json")).read_text())
    assert [p["name"] for p in content["parts"]] == ["preparation", "calibration", "compile"]
    assert content["parts"][1]["rows"]
    assert any("not measured" in note for note in content["parts"][2]["notes"])


def test_a_machine_that_lacks_a_compiler_says_what_to_do(fake: Fake, tmp_path: Path) -> None:
    if (ROOT / "build" / "gpu" / "manifest.json").is_file():
        pytest.skip("there is a prepared folder here")
    blocker = tmp_path / "site"
    blocker.mkdir()
    code = "import sys, runpy; sys.modules['llvmlite'] = None; sys.argv = ['gpu.py']; runpy.run_path('benchmarks/gpu.py', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert done.returncode == 2
    assert "this Python lacks llvmlite" in done.stderr and "make setup" in done.stderr and "--prepare" in done.stderr


def make_gpu() -> Any:
    spec = importlib.util.spec_from_file_location("make_gpu", ROOT / "benchmarks" / "gpu.py")
    assert spec and spec.loader
    spec.loader.exec_module(module := importlib.util.module_from_spec(spec))
    return module


def test_a_part_that_fails_keeps_what_it_has_told() -> None:
    def fails() -> Measured:
        raise MemoryError("no memory left")

    told = Measured("tune", rows=[{"program": "nw"}], notes=["earlier"])
    part = make_gpu()._attempt("tune", fails, [told])
    assert part.rows == [{"program": "nw"}] and part.notes == ["earlier", "it ended with MemoryError: no memory left"]
    assert part.promises[-1].holds is False and make_gpu()._attempt("tune", fails).rows == []


def test_tests_that_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    module = make_gpu()
    monkeypatch.setattr(module, "TESTS_TIMEOUT_S", 0.01)
    part = module._tests()
    assert "still running after 0.01 s" in part.notes[0] and part.promises[0].holds is False


def test_a_part_that_fails_leaves_the_others(fake: Fake, prepared: Path, tmp_path: Path) -> None:
    broken = tmp_path / "prepared"
    broken.mkdir()
    (broken / "manifest.json").write_text((prepared / "manifest.json").read_text())
    done = go("--prepared", broken, "--only", "calibration", "--only", "suite", "--results", tmp_path)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    parts = json.loads(next(tmp_path.glob("*.json")).read_text())["parts"]
    assert [p["name"] for p in parts] == ["preparation", "calibration", "suite"]
    assert "it ended with FileNotFoundError" in parts[1]["notes"][0] and not parts[1]["promises"][0]["holds"]


def test_a_program_is_checked_where_it_is_prepared(tmp_path: Path) -> None:
    (tmp_path / "program").write_text("no program")
    assert "failed: " in check_program(tmp_path, "nn") and not (tmp_path / "check.json").exists()


@pytest.mark.slow
def test_the_suite_goes_to_the_gpu_as_we_and_as_nvcc_build_it(fake: Fake, tmp_path: Path) -> None:
    """The stand-in computes nothing: what is asked is that every program comes to its end there, and is found out."""
    folder = tmp_path / "prepared"
    manifest = prepare(folder, lambda line: None, small=True, kernels=("heat",), suite=("nn", "hotspot"), python=None)
    assert manifest["suite"] == ["nn", "hotspot"] and not manifest["notes"]
    assert {(folder / "suite" / name / "check.json").read_text() for name in manifest["suite"]} == {"[]"}
    done = go("--prepared", folder, "--only", "suite", "--results", tmp_path)
    assert done.returncode == 1, done.stderr
    _, part = json.loads(next(tmp_path.glob("*.json")).read_text())["parts"]
    ours, nvccs = part["rows"][:2], part["rows"][2:]
    for row in ours:
        assert row["against the oracle"] != "equal" and "exit code" not in row["against the oracle"]
        assert row["against the virtual GPU"] != "equal"
    assert len(nvccs) == (2 if shutil.which("nvcc") else 0)
    assert all("exit code" not in row["against the oracle"] for row in nvccs)
    assert len([c for c in fake.named("launch") if "advance" in c]) >= 2


SANITIZER = """#!/bin/sh
echo "$KERNELWRIGHT_DEVICE $*" >> LOG
while [ "${1#/}" = "$1" ]; do [ "$1" = --tool ] && tool=$2; shift; done
"$@" || exit
case $tool in
    racecheck) echo "========= RACECHECK SUMMARY: HAZARDS hazards displayed (0 errors, 0 warnings)" ;;
    synccheck) [ SYNC = silent ] || echo "========= ERROR SUMMARY: SYNC errors" ;;
    *) echo "========= COMPUTE-SANITIZER"; echo "========= ERROR SUMMARY: 0 errors" ;;
esac
"""
"""Runs the program, and counts what the test says."""


@pytest.mark.parametrize(
    ("found", "hazards", "sync", "verdict"),
    [
        ("[]", "0", "0", "agrees"),
        ('["race", "order-dependent"]', "3", "0", "agrees"),
        ('["race"]', "0", "0", "differs"),
        ("[]", "1", "0", "differs"),
        ("[]", "0", "silent", "not compared"),
        ("[]", "2", "silent", "differs"),
        (None, "0", "0", "not compared"),
    ],
)
def test_the_sanitizers_verdict_beside_ours(
    found: str | None, hazards: str, sync: str, verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, tools, log = tmp_path / "suite" / "nn", tmp_path / "tools", tmp_path / "log"
    place.mkdir(parents=True)
    tools.mkdir()
    (place / "program").write_text(f'#!/bin/sh\ntest -n "$1" && echo program $1 >> {log}\n')
    if found is not None:
        (place / "check.json").write_text(found)
    script = SANITIZER.replace("LOG", str(log)).replace("HAZARDS", hazards).replace("SYNC", sync)
    (tools / "compute-sanitizer").write_text(script)
    (tools / "compute-sanitizer").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    result = run_sanitizer(tmp_path, ["nn"], "cuda:0", lambda line: None)
    (row,) = result.rows
    assert row["kw check"] == verdict
    differ, judged = result.promises
    assert differ.holds == {"agrees": True, "differs": False, "not compared": None}[verdict]
    assert judged.holds == (verdict != "not compared")
    said = log.read_text().splitlines()
    assert [line.split()[:5] for line in said[::2]] == [
        ["cuda:0", "--tool", tool, "--target-processes", "all"] for tool in TOOLS
    ]
    assert all(line.startswith("program ") for line in said[1::2])


def test_where_there_is_no_sanitizer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if Path("/usr/local/cuda/bin/compute-sanitizer").exists():
        pytest.skip("this machine has one")
    monkeypatch.setenv("PATH", str(tmp_path))
    result = run_sanitizer(tmp_path, ["nn"], "cuda:0", lambda line: None)
    assert "not installed" in result.notes[0] and [p.holds for p in result.promises] == [None, None]


def test_what_the_sanitizer_may_find_we_have_a_name_for() -> None:
    kinds = [kind for kinds in TOOLS.values() for kind in kinds]
    assert len(kinds) == len(set(kinds)) and set(kinds) < set(get_args(FindingKind))


def test_cases_pack_their_arguments_as_the_kernels_declare_them() -> None:
    for case in CASES:
        contents = case.arrays(case.small)
        shapes = list(case.shapes(case.small))
        assert len({s.name for s in shapes}) == len(shapes)
        packed = case.pack(list(range(len(contents))), case.small)
        assert len(packed) == 8 * len(contents) + 4 * len(case.scalars(case.small))
        assert all(
            np.array_equal(a, b) for a, b in zip(contents.values(), case.arrays(case.small).values(), strict=True)
        )


def test_ranks_are_spearmans() -> None:
    scipy = pytest.importorskip("scipy.stats")
    draw = np.random.default_rng(3)
    rows: list[dict[str, Any]] = [
        {"kernel": k, "measured us": float(m), "estimated us": float(e)}
        for k in "ab"
        for m, e in draw.integers(0, 6, (20, 2))
    ]
    rows.append({"kernel": "c", "measured us": 1.0, "estimated us": 1.0})
    found = ranks_of(rows)
    assert set(found) == {"a", "b"}
    for kernel, rank in found.items():
        mine = [r for r in rows if r["kernel"] == kernel]
        want = scipy.spearmanr([r["measured us"] for r in mine], [r["estimated us"] for r in mine]).statistic
        assert rank == pytest.approx(want)


@pytest.mark.parametrize(
    ("name", "arch", "model"),
    [("NVIDIA H200", "sm_90", "h200"), ("NVIDIA A100-SXM4-80GB", "sm_80", "a100"), ("NVIDIA GH9", "sm_90", "h100"),
     ("Tesla T4", "sm_75", "t4"), ("Tesla M40", "sm_52", None)],
)  # fmt: skip
def test_which_model_stands_for_a_gpu(name: str, arch: str, model: str | None) -> None:
    assert gpu_like(GpuInfo(0, name, arch, "", 12080, DeviceProperties())) == model


def test_a_page_shows_promises_and_rows() -> None:
    part = Measured("calibration", [{"kernel": "a|b", "variant": "x"}, {"kernel": "a", "rank correlation": 0.5}])
    part.at_least("rank", 0.5, 0.8)
    text = page(
        {
            "gpu": {"name": "X"},
            "date": "2026-01-01",
            "machine": {"cores": 2},
            "versions": {"p": "1"},
            "parts": [part.as_json()],
        }
    )
    assert "- rank: 0.5 (>= 0.8): **does not hold**" in text
    assert "| a\\|b | x |" in text and "| a | 0.5 |" in text
    assert os.linesep == "\n"


def test_rates_of_a_gpu(fake: Fake, prepared: Path, tmp_path: Path) -> None:
    """A row for every quantity; what a difference of two launches tells has no figure where all take the same time."""
    done = go("--prepared", prepared, "--only", "rates", "--results", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    content = json.loads(next(tmp_path.glob("*.json")).read_text())
    rows = content["parts"][1]["rows"]
    assert [row["rate"] for row in rows] == [quantity.name for quantity in QUANTITIES]
    assert all("measured" in row or row["failed"] == "more work takes no more time" for row in rows)
    figures = {row["rate"]: row.get("measured") for row in rows}
    assert figures["memory, init"] > 0 and figures["unit, fma"] is None
    launched = {call.split()[1] for call in fake.named("launch")} - {"kw_wait"}
    assert launched == {
        name for name, _ in json.loads((prepared / "rates" / "rates.json").read_text())["kernels"].values()
    }


def test_nothing_is_begun_after_the_time_that_was_given(fake: Fake, prepared: Path, tmp_path: Path) -> None:
    go("--prepared", prepared, "--only", "calibration", "--within", "0", "--results", tmp_path)
    part = json.loads(next(tmp_path.glob("*.json")).read_text())["parts"][1]
    assert "not reached in time: heat" in part["notes"]
    assert not [call for call in fake.named("launch") if "heat" in call]


def test_estimates_are_made_again_beside_the_same_times(fake: Fake, prepared: Path, tmp_path: Path) -> None:
    """As when the model has learnt from a result: its times stay, and its estimates become this version's."""
    go("--prepared", prepared, "--only", "calibration", "--results", tmp_path)
    result = next(tmp_path.glob("*.json"))
    content = json.loads(result.read_text())
    rows = [row for row in content["parts"][1]["rows"] if "variant" in row]
    for row in rows:
        row["estimated us"] = 1.0
    before = again(content, prepared, "h100")
    manifest = json.loads((prepared / "manifest.json").read_text())
    wanted = {v["name"]: round(v["estimates"]["h100"], 3) for v in manifest["variants"]}
    made = [row for row in before["parts"][1]["rows"] if "variant" in row]
    assert {row["variant"]: row["estimated us"] for row in made} == wanted
    assert [row["measured us"] for row in made] == [row["measured us"] for row in rows]
    assert NOTE in before["parts"][1]["notes"] and rows[0]["estimated us"] == 1.0
    done = go("--again", result, prepared)
    assert done.returncode == 0 and NOTE in result.with_suffix(".md").read_text(), done.stderr
    content["parts"][1]["rows"][0]["variant"] = "another"
    with pytest.raises(Misuse, match="has no estimate of heat, another"):
        again(content, prepared, "h100")


def test_a_result_or_a_folder_that_is_none(prepared: Path, tmp_path: Path) -> None:
    empty, other = tmp_path / "empty.json", tmp_path / "other.json"
    empty.write_text("")
    other.write_text("[1]")
    for result, folder in ((tmp_path / "missing.json", prepared), (empty, prepared), (other, prepared)):
        done = go("--again", result, folder)
        assert done.returncode == 2 and done.stderr.startswith("error: ") and "Traceback" not in done.stderr
