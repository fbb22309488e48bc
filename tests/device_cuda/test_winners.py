"""Winners of searches on a GPU (a stand-in's, here): outputs, labels, times against both baselines, and what cannot be had."""

from __future__ import annotations

import json
import math
import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelwright.bench.gpu.preparing.winners as preparing
from kernelwright.bench.gpu.carried import (
    CarriedBuffer,
    CarriedCase,
    CarriedRun,
    CarriedVariant,
    Contents,
    Memory,
)
from kernelwright.bench.gpu.nvcc import compile_kernels, find_nvcc, kernel_image
from kernelwright.bench.gpu.preparing.everything import prepare
from kernelwright.bench.gpu.preparing.winners import finished_runs, prepare_winners
from kernelwright.bench.gpu.result import page
from kernelwright.bench.gpu.winners import headlines, run_winners, whole
from kernelwright.bench.result import Measured
from kernelwright.device.arena import ARENA_BASE
from kernelwright.device.real_gpu.worker import CudaWorker
from kernelwright.edits.gene import Gene
from kernelwright.edits.kinds.fix_launch import FixArgument
from kernelwright.errors import Misuse
from kernelwright.evaluate.timing.duel import Estimate
from kernelwright.evolution.genomes import GENOMES, EvolveRun, Genes
from kernelwright.suite import load
from tests import kw_process

from .conftest import Fake
from .test_make_gpu import go

HERE = Path(__file__).parent
AT = ARENA_BASE + (1 << 16)
NVCC = "nvcc-add.sm_90.cubin"


def silent(line: str) -> None:
    pass


@pytest.fixture
def worker(fake: Fake) -> Iterator[CudaWorker]:
    with CudaWorker(timeout_s=20, folder=fake.cache) as made:
        yield made


def carry(
    folder: Path,
    program: str = "add",
    *,
    original: str = "MODULE SLOW",
    best: str = "MODULE",
    nvcc: str = "MODULE SLOW nvcc",
    label: str = "clean",
    others: tuple[str, ...] = (),
    adds: float = 1,
    tolerance: str = "exact",
    arm: str = "clean",
    estimates: tuple[float, float] = (20.0, 10.0),
) -> Path:
    """A folder as preparation leaves it, with a kernel that adds 1: two launches, one of which stands for three."""
    place = folder / program
    (place / "images").mkdir(parents=True)
    contents = Contents()

    def case(number: int, values: list[float], weight: float) -> CarriedCase:
        before = np.array(values, np.float32)
        keys = contents.keep(before.tobytes()), contents.keep((before + np.float32(adds)).tobytes())
        buffer = CarriedBuffer("p", AT, "<f4", *keys)
        packed = struct.pack("<Qi", AT, len(values)).hex()
        return CarriedCase(f"add_one #{number}", "add_one", (1, 1, 1), (32, 1, 1), 0, packed, weight, (), (buffer,))

    def variant(name: str, role: str, label: str, text: str, us: float) -> CarriedVariant:
        (place / "images" / f"{name}.ptx").write_text(text)
        return CarriedVariant(name, role, label, (name, name), {"h100": (us, us)})

    more = [variant(f"v{n + 3}", "other", "unproven", text, 10.0 + n) for n, text in enumerate(others)]
    best_one = variant("v2", "best", label, best, estimates[1])
    run = CarriedRun(
        program, arm, f"{program}-{arm}-20-seed1-1", tolerance, (case(0, [1, 2, 3], 1.0), case(1, [5, 5], 3.0)),
        variant("original", "original", "", original, estimates[0]), (best_one, *more),
    )  # fmt: skip
    run.write(place)
    contents.write(place)
    if nvcc:
        (place / "images" / NVCC).write_bytes(nvcc.encode() + b"\n.text.add_one\0")
    return place


def row_of(result: Measured) -> dict[str, Any]:
    [row] = [row for row in result.rows if "run" in row]
    return row


def holds(result: Measured) -> bool | None:
    return next(p.holds for p in result.promises if "label" in p.name)


def originals(result: Measured) -> bool | None:
    return next(p.holds for p in result.promises if "original" in p.name)


# -- on the GPU ----------------------------------------------------------------------------------------------------------


def test_a_winner_against_both_baselines(worker: CudaWorker, fake: Fake, tmp_path: Path) -> None:
    carry(tmp_path)
    result = run_winners(tmp_path, ["add"], worker, silent)
    row = row_of(result)
    assert (row["program"], row["variant"], row["label"]) == ("add", "v2", "clean")
    assert (row["outputs"], row["label holds"], row["virtual"]) == ("right", "yes", 2.0)
    # Four launches of 30 us against four of 10.
    assert (row["ours us"], row["variant us"]) == ("120 [120, 120]", "40 [40, 40]")
    assert (row["over ours"], row["interval"], row["verdict"]) == (3.0, [3.0, 3.0], "faster")
    assert (row["over nvcc"], row["verdict over nvcc"], row["nvcc's outputs"]) == (3.0, "faster", "right")
    assert [p.holds for p in result.promises] == [True, True, True]
    assert "the estimates are for the h100" in result.notes[0]
    assert "load MODULE SLOW nvcc" in fake.named("load")


def test_slower_and_no_different(worker: CudaWorker, tmp_path: Path) -> None:
    carry(tmp_path, "slower", original="MODULE", best="MODULE SLOW", nvcc="MODULE SLOW nvcc")
    carry(tmp_path, "same", original="MODULE one", best="MODULE other", nvcc="MODULE nvcc")
    slower, same = (r for r in run_winners(tmp_path, ["slower", "same"], worker, silent).rows if "run" in r)
    assert (slower["over ours"], slower["verdict"], slower["verdict over nvcc"]) == (0.3333, "slower", "tie")
    assert (same["over ours"], same["verdict"]) == (1.0, "tie")


def test_a_wrong_output_breaks_the_label_and_leaves_the_others(worker: CudaWorker, tmp_path: Path) -> None:
    carry(tmp_path, "bad", best="MODULE WRONG")
    carry(tmp_path, "good")
    result = run_winners(tmp_path, ["bad", "good"], worker, silent)
    bad, good = (row for row in result.rows if "run" in row)
    assert "add_one #0: 'p' error 1 under 'exact': 3 of 3 elements" in bad["outputs"]
    assert (bad["label holds"], good["label holds"], good["outputs"]) == ("NO", "yes", "right")
    assert bad["verdict"] == "faster", "it has a time all the same"
    assert holds(result) is False
    # What is wrong counts for no gain.
    [gain] = [row for row in result.rows if "mean gain of" in row]
    assert (gain["programs"], gain["over ours %"]) == (1, 200.0)


def test_what_is_wrong_only_now_and_then_is_wrong(worker: CudaWorker, tmp_path: Path) -> None:
    carry(tmp_path, best="MODULE SELDOM")
    assert row_of(run_winners(tmp_path, ["add"], worker, silent))["label holds"] == "NO"


@pytest.mark.parametrize("label", ["lock-step only", "schedule-dependent", "unproven"])
def test_a_label_that_claims_nothing_is_not_broken(worker: CudaWorker, tmp_path: Path, label: str) -> None:
    carry(tmp_path, best="MODULE WRONG", label=label)
    result = run_winners(tmp_path, ["add"], worker, silent)
    assert row_of(result)["label holds"] == "claims nothing here" and holds(result) is None


def test_the_runs_own_tolerance_is_taken(worker: CudaWorker, tmp_path: Path) -> None:
    carry(tmp_path, best="MODULE WRONG", tolerance="absolute 1.0")
    row = row_of(run_winners(tmp_path, ["add"], worker, silent))
    assert (row["outputs"], row["label holds"]) == ("right", "yes")


def test_a_variant_that_faults(worker: CudaWorker, tmp_path: Path) -> None:
    carry(tmp_path, "bad", best="MODULE FAULT", others=("MODULE FAULT too",))
    carry(tmp_path, "good")
    result = run_winners(tmp_path, ["bad", "good"], worker, silent)
    bad, good = (row for row in result.rows if "run" in row)
    assert "illegal memory access" in bad["failed"] and "over ours" not in bad
    assert (bad["label holds"], good["verdict"]) == ("NO", "faster")
    [other] = [row for row in result.rows if "ranked" in row]
    assert "illegal memory access" in other["failed"]
    assert [p.holds for p in result.promises] == [False, True, False]


def test_an_original_that_faults_says_nothing_of_its_variants(worker: CudaWorker, tmp_path: Path) -> None:
    carry(tmp_path, "bad", original="MODULE FAULT")
    carry(tmp_path, "good")
    bad, good = (r for r in run_winners(tmp_path, ["bad", "good"], worker, silent).rows if "run" in r)
    assert bad["failed"].startswith("the original fails: add_one #0: ") and "label holds" not in bad
    assert good["verdict"] == "faster"


def test_an_original_that_differs_from_the_recording_is_the_measure(worker: CudaWorker, tmp_path: Path) -> None:
    carry(tmp_path, "alike", adds=1.001)
    carry(tmp_path, "unlike", adds=1.001, best="MODULE WRONG")
    result = run_winners(tmp_path, ["alike", "unlike"], worker, silent)
    alike, unlike = (r for r in result.rows if "run" in r)
    assert "3 of 3 elements" in alike["original's outputs"]
    assert (alike["outputs"], alike["label holds"], unlike["label holds"]) == ("right", "yes", "NO")
    assert originals(result) is True


def test_an_original_that_gives_quite_other_outputs_is_found_out(worker: CudaWorker, tmp_path: Path) -> None:
    carry(tmp_path, adds=1.5)
    result = run_winners(tmp_path, ["add"], worker, silent)
    row = row_of(result)
    assert (row["outputs"], row["verdict"]) == ("right", "faster"), "as the original's"
    assert row["label holds"] == "not judged: the original's outputs are others than those recorded"
    assert originals(result) is False and holds(result) is None


def test_an_original_that_differs_from_run_to_run_is_no_measure(worker: CudaWorker, tmp_path: Path) -> None:
    carry(tmp_path, original="MODULE SELDOM", best="MODULE WRONG", adds=1)
    result = run_winners(tmp_path, ["add"], worker, silent)
    assert row_of(result)["label holds"] == "not judged: the original differs from run to run"
    assert holds(result) is None


def test_without_nvcc(worker: CudaWorker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelwright.bench.gpu.nvcc.find_nvcc", lambda: None)
    carry(tmp_path, "nn", nvcc="")
    carry(tmp_path, "mine", nvcc="")
    rows = [r for r in run_winners(tmp_path, ["nn", "mine"], worker, silent).rows if "run" in r]
    assert [row["nvcc"] for row in rows] == ["there is no nvcc", "no suite program 'mine'"]
    assert all(row["verdict"] == "faster" and "over nvcc" not in row for row in rows)


def test_kernels_of_nvcc_that_are_missing_or_fail(worker: CudaWorker, tmp_path: Path) -> None:
    (carry(tmp_path, "lacks") / "images" / NVCC).write_bytes(b"MODULE\n.text.add_one_more\0")
    carry(tmp_path, "faults", nvcc="MODULE FAULT")
    carry(tmp_path, "differs", nvcc="MODULE WRONG nvcc")
    rows = run_winners(tmp_path, ["lacks", "faults", "differs"], worker, silent).rows
    lacks, faults, differs = (row for row in rows if "run" in row)
    assert lacks["nvcc"] == "nvcc's code has no add_one" and lacks["verdict"] == "faster"
    assert "illegal memory access" in faults["nvcc"] and faults["verdict"] == "faster"
    assert "elements lie outside" in differs["nvcc's outputs"] and differs["label holds"] == "yes"


@pytest.mark.parametrize("prepared", ["", "MODULE nvcc"])
def test_a_machines_own_nvcc_comes_first(
    worker: CudaWorker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prepared: str
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "nvcc").write_text(
        '#!/bin/sh\necho "$@" >> ' + str(tmp_path / "asked") + '\nwhile [ "$1" != -o ]; do shift; done\n'
        "printf 'MODULE SLOW nvcc\\n.text.add_one\\0' > $2\n"
    )
    (tools / "nvcc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    carry(tmp_path, "nn", nvcc=prepared)
    assert row_of(run_winners(tmp_path, ["nn"], worker, silent))["over nvcc"] == 3.0
    assert "-O3" in (tmp_path / "asked").read_text() and "-arch=sm_90" in (tmp_path / "asked").read_text()


def test_what_is_damaged_or_missing_is_a_row(worker: CudaWorker, tmp_path: Path) -> None:
    (carry(tmp_path, "memory") / "memory.npz").write_bytes(b"PK no archive")
    (carry(tmp_path, "code") / "images" / "v2.ptx").unlink()
    foreign = next(carry(tmp_path, "foreign").glob("*.json"))
    foreign.write_text(json.dumps({**json.loads(foreign.read_text()), "format": 99}))
    carry(tmp_path, "good")
    programs = ["memory", "code", "foreign", "gone", "good"]
    result = run_winners(tmp_path, programs, worker, silent)
    rows = {row["program"]: row for row in result.rows if "run" in row}
    assert list(rows) == programs
    assert rows["memory"]["failed"] and "its code is missing" in rows["code"]["failed"]
    assert "was not prepared by this version (format 99)" in rows["foreign"]["failed"]
    assert "holds no run" in rows["gone"]["failed"] and rows["good"]["verdict"] == "faster"
    assert result.promises[-1].value == 1 and result.promises[-1].holds is False


def test_how_the_virtual_gpu_ranks_them(worker: CudaWorker, tmp_path: Path) -> None:
    """Estimates: best 10, others 10, 11, 12; on the GPU best and first 10, the others 30 and 30 us."""
    carry(tmp_path, others=("MODULE 3", "MODULE SLOW 4", "MODULE SLOW 5"))
    result = run_winners(tmp_path, ["add"], worker, silent)
    ranked = [row for row in result.rows if "ranked" in row]
    assert [(row["variant"], row["over ours"]) for row in ranked] == [("v3", 3.0), ("v4", 1.0), ("v5", 1.0)]
    [rank] = [row for row in result.rows if "ranking of" in row]
    scipy = pytest.importorskip("scipy.stats")
    want = scipy.spearmanr([-10, -10, -11, -12], [3, 3, 1, 1]).statistic
    assert (rank["ranking of"], rank["variants"]) == ("add-clean-20-seed1-1", 4)
    assert rank["rank correlation"] == pytest.approx(want, abs=1e-3)


def test_headlines_of_both_arms_and_the_ranking_of_all() -> None:
    def row(program: str, arm: str, label: str, ours: float, virtual: float, **more: Any) -> dict[str, Any]:
        return {
            "program": program, "run": "r", "arm": arm, "label": label, "outputs": "right", "over ours": ours,
            "virtual": virtual, **more,
        }  # fmt: skip

    rows = [
        row("a", "found", "data-specific", 1.2, 1.3),
        row("a", "found", "unproven", 1.5, 1.4),
        row("b", "found", "clean", 1.1, 1.2, **{"over nvcc": 1.3}),
        row("btree-regular", "found", "data-specific", 9.0, 8.0),
        row("a", "clean", "clean", 1.1, 1.1),
        row("b", "clean", "benign", 2.0, 2.0),
        row("c", "clean", "clean", 5.0, 5.0, outputs="wrong"),
        {"program": "d", "run": "r", "failed": "no"},
    ]
    found, clean, ranking = headlines(rows)
    assert (found["programs"], found["over ours %"], found["virtual %"], found["over nvcc %"]) == (2, 30.0, 30.0, 30.0)
    assert (clean["programs"], clean["over ours %"]) == (1, 10.0) and "over nvcc %" not in clean
    assert (ranking["variants"], ranking["ranking of"]) == (7, "all winners")


def test_a_program_from_its_launches() -> None:
    def about(low: float, median: float, high: float) -> Estimate:
        return Estimate(median, low, high, 100, 0.99)

    # 10 launches of 8 us, twice as fast; 1 of 20 us, the same.
    twice = (10.0, about(7, 8, 9), about(3, 4, 5), about(1.6, 2, 2.5))
    same = (1.0, about(19, 20, 21), about(19, 20, 21), about(0.8, 1, 1.25))
    ratio = whole([twice, same])
    assert (ratio.first_us, ratio.second_us) == ((89, 100, 111), (49, 60, 71))
    assert ratio.speedup == pytest.approx((100 / (80 / 1.6 + 20 / 0.8), 100 / 60, 100 / (80 / 2.5 + 20 / 1.25)))
    assert (ratio.verdict, ratio.settled) == ("faster", True)
    endless = whole([(1.0, about(8, 8, 8), about(4, 4, 4), about(-math.inf, 2, math.inf))])
    assert endless.speedup == (0.0, 2.0, math.inf) and (endless.verdict, endless.settled) == ("tie", False)
    tied = whole([(1.0, about(8, 8, 8), about(8, 8, 8), about(0.999, 1, 1.001))])
    assert (tied.verdict, tied.settled) == ("tie", True)


def test_what_is_carried_comes_back(tmp_path: Path) -> None:
    place = carry(tmp_path, others=("MODULE x",))
    [path] = place.glob("*.json")
    run = CarriedRun.read(path)
    run.write(tmp_path)
    assert CarriedRun.read(tmp_path / path.name) == run
    memory = Memory(place)
    [buffer] = run.cases[0].buffers
    assert memory.before(run.cases[0]) == [(AT, struct.pack("<3f", 1, 2, 3))]
    assert memory.typed(buffer, "after").tolist() == [2, 3, 4]
    path.write_text("[]")
    with pytest.raises(Misuse, match="was not prepared by this version"):
        CarriedRun.read(path)


# -- preparing -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as kw bench evolve leaves it, with one short run."""
    folder = tmp_path_factory.mktemp("bench-evolve")
    words = ["--name", "add-found-16-seed1-1", "--evaluations", "16", "--seed", "1", "--accept", "any", "--no-report"]
    done = kw_process.kw("evolve", str(HERE / "add.cu"), *words, "--jobs", "1", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


def prepared(folder: Path, kept: Path, notes: list[str], **more: Any) -> list[str]:
    return prepare_winners(folder, kept, silent, notes, quick=(), **more)


@pytest.fixture(scope="session")
def ready(kept: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What was prepared of that run, and a manifest."""
    folder, notes = tmp_path_factory.mktemp("ready"), list[str]()
    assert prepared(folder / "winners", kept, notes) == ["add"]
    assert notes[-1] == "add is no program of the suite: nvcc was not asked"
    assert all("code by nvcc" in note for note in notes[:-1])
    manifest = {"format": 1, "cases": [], "variants": [], "suite": [], "winners": ["add"], "notes": notes}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def test_a_finished_run_goes_to_the_gpu(fake: Fake, ready: Path, tmp_path: Path) -> None:
    """From a real search to the result file, on a machine that has nothing but NumPy."""
    for name in ("llvmlite", "ziglang", "scipy", "typer", "rich", "jinja2"):
        (tmp_path / f"{name}.py").write_text(f"raise ImportError('{name} is not here')\n")
    fake.set("PYTHONPATH", str(tmp_path))
    done = go("--prepared", ready, "--only", "winners", "--results", tmp_path / "results")
    assert done.returncode == 0, done.stderr + done.stdout
    [found] = (tmp_path / "results").glob("*.json")
    _, part = json.loads(found.read_text())["parts"]
    rows = [row for row in part["rows"] if "run" in row]
    assert rows and {row["program"] for row in rows} == {"add"} and rows[0]["role"] == "best"
    # The stand-in adds 1 and takes 10 us, whatever it is given.
    assert all((row["outputs"], row["verdict"], row["over ours"]) == ("right", "tie", 1.0) for row in rows)
    assert rows[0]["label holds"] == "yes" and rows[0]["virtual"] > 1.005
    assert all(row["nvcc"] == "no suite program 'add'" for row in rows)
    text = found.with_suffix(".md").read_text()
    assert "## winners" in text and "winners whose label does not hold on the GPU: 0.0 (<= 0): holds" in text
    assert set(fake.named("load")) == {"load cubin"} | {c for c in fake.named("load") if ".version" in c}
    launches = {call.split(" arguments ")[0] for call in fake.named("launch") if "kw_wait" not in call}
    assert {call.split(" stream")[0] for call in launches} == {"launch add_one 4,1,1 128,1,1 shared 0"}


def test_estimates_are_those_of_the_search(kept: Path, ready: Path) -> None:
    [path] = (ready / "winners" / "add").glob("*.json")
    carried = CarriedRun.read(path)
    with EvolveRun.open(kept / "kw-runs" / "add-found-16-seed1-1", GENOMES) as run:
        assert run.original is not None and run.best is not None
        best = next(v for v in carried.variants if v.role == "best")
        assert best.name == run.best.name
        assert best.estimated_us("h200", carried.cases) == pytest.approx(run.best.outcome.time_us)
        assert carried.original.estimated_us("h200", carried.cases) == pytest.approx(run.original_us)
        for variant in carried.variants:
            want = run.variant(variant.name).outcome.time_us
            assert variant.estimated_us("h200", carried.cases) == pytest.approx(want)
        roles = [variant.role for variant in carried.variants]
        assert len({run.variant(v.name).key for v in carried.variants}) == len(roles) <= preparing.RANKED
        assert roles == sorted(roles, key=["best", "as GEVO would", "other"].index)


def test_a_launch_that_a_guard_does_not_hold_for_goes_to_the_original(kept: Path, tmp_path: Path) -> None:
    with EvolveRun.open(kept / "kw-runs" / "add-found-16-seed1-1", GENOMES) as run:
        carrying = preparing._Carrying(run, tmp_path, Contents(), [])
        candidates: list[Genes] = [(), (Gene("add_one", FixArgument(1, "i32 500")),)]
        original, fixed = (
            carrying._variant(carrying._builder.build(each), "v", "best", "clean") for each in candidates
        )
    assert original.images[0] == original.images[1]
    assert fixed.images[0] != original.images[0] and fixed.images[1] == original.images[1]
    assert fixed.estimates["h200"][1] == original.estimates["h200"][1]
    assert all((tmp_path / "images" / f"{key}.ptx").is_file() for key in {*fixed.images})


def test_launches_are_carried_whole(ready: Path) -> None:
    """Arguments, memory and device variables, against what the program does."""
    place = ready / "winners" / "add"
    [path] = place.glob("*.json")
    run, memory = CarriedRun.read(path), Memory(place)
    host = np.arange(500, dtype=np.float32) / 2
    for case, count in zip(run.cases, (500, 400), strict=True):
        buffers = {buffer.name: buffer for buffer in case.buffers}
        [(name, address)] = case.variables
        step = next(buffer for buffer in case.buffers if buffer.address == address)
        assert name == "step" and memory.typed(step, "before").tolist() == [1.0]
        [given] = [buffer for buffer in buffers.values() if buffer is not step]
        assert bytes.fromhex(case.arguments)[:12] == struct.pack("<Qi", given.address, count)
        assert np.array_equal(memory.typed(given, "before"), host)
        host[:count] += 1
        assert np.array_equal(memory.typed(given, "after"), host)
        assert (case.grid, case.block, case.weight) == ((4, 1, 1), (128, 1, 1), 1.0)


def test_programs_that_are_too_large_stay_and_are_named(kept: Path, tmp_path: Path) -> None:
    notes: list[str] = []
    assert prepared(tmp_path, kept, notes, most_bytes=1000) == []
    assert not (tmp_path / "add").exists()
    [note] = [note for note in notes if "left out" in note]
    assert note.startswith("add is left out of the winners: it takes ") and "MiB" in note


def test_the_largest_go_first(tmp_path: Path) -> None:
    for name, size in (("a", 10), ("b", 1000), ("c", 100)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "memory.npz").write_bytes(bytes(size))
    notes: list[str] = []
    assert preparing._that_fit(tmp_path, ["a", "b", "c"], 200, notes) == ["a", "c"]
    assert len(notes) == 1 and notes[0].startswith("b is left out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "c"]


def test_which_runs_are_taken(kept: Path, tmp_path: Path) -> None:
    runs = tmp_path / "kw-runs"
    source = kept / "kw-runs" / "add-found-16-seed1-1"
    for name in ("add-found-16-seed1-1", "add-found-9-seed1-1", "add-gevo-16-seed1-1", "add-found-16-seed2-1",
                 "btree-regular-clean-16-seed1-1"):  # fmt: skip
        shutil.copytree(source, runs / name)
    (runs / "nn-found-400-seed1-1").mkdir()
    (runs / "nn-found-400-seed1-1" / "journal.db").write_bytes(b"no journal")
    assert finished_runs(tmp_path) == {
        ("add", "found"): runs / "add-found-16-seed1-1",
        ("btree-regular", "clean"): runs / "btree-regular-clean-16-seed1-1",
    }


def test_a_run_whose_recording_is_gone_is_left_out_with_the_reason(kept: Path, tmp_path: Path) -> None:
    shutil.copytree(kept / "kw-runs", tmp_path / "kw-runs")
    (tmp_path / "kw-runs" / "add-found-16-seed1-1" / "data-1.capture").unlink()
    notes: list[str] = []
    assert prepared(tmp_path / "out", tmp_path, notes) == []
    assert notes[-1].startswith("add, found, is left out: ") and not (tmp_path / "out" / "add").exists()


def test_without_runs_a_few_programs_are_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def fails(command: list[str], **more: Any) -> subprocess.CompletedProcess[str]:
        asked.append(command[3:])
        return subprocess.CompletedProcess(command, 3, "", "kw: hm\nerror: no clang")

    monkeypatch.setattr("kernelwright.bench.gpu.preparing.winners.subprocess.run", fails)
    notes: list[str] = []
    assert prepare_winners(tmp_path, tmp_path / "kept", silent, notes, quick=("nn",)) == []
    assert notes == ["nn was not searched: error: no clang"] * 2
    assert [(words[1], words[words.index("--accept") + 1]) for words in asked] == [
        ("suite:nn", "any"),
        ("suite:nn", "clean"),
    ]
    assert all("120" in words and words[words.index("--seed") + 1] == "1" for words in asked)


@pytest.mark.slow
def test_a_program_of_the_suite_from_search_to_result(
    fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kernelwright.bench.gpu.preparing.everything.QUICK", ("nn",))
    monkeypatch.setattr("kernelwright.bench.gpu.preparing.winners.prepare_winners.__kwdefaults__", {
        **(prepare_winners.__kwdefaults__ or {}), "evaluations": 30,
    })  # fmt: skip
    folder, runs = tmp_path / "prepared", tmp_path / "runs"
    manifest = prepare(folder, silent, small=True, kernels=("saxpy",), suite=(), python=None, runs=runs)
    assert set(finished_runs(runs)) == {("nn", "found"), ("nn", "clean")}
    if not manifest["winners"]:
        assert any("nothing faster was found" in note for note in manifest["notes"])
        pytest.skip("nothing faster was found in so few candidates")
    done = go("--prepared", folder, "--only", "winners", "--results", tmp_path)
    [found] = tmp_path.glob("*.json")
    _, part = json.loads(found.read_text())["parts"]
    # The stand-in leaves the memory as it is: what every kernel gives is not what was recorded, and that is said.
    assert done.returncode == 1 and "gives others than it did when recorded" in done.stdout
    rows = [row for row in part["rows"] if "run" in row]
    assert rows and all(row["label holds"].startswith(("not judged", "claims nothing")) for row in rows)
    assert all(("over nvcc" in row) == (find_nvcc() is not None) for row in rows)


@pytest.mark.skipif(find_nvcc() is None, reason="there is no nvcc here")
def test_nvccs_kernels_are_called_as_ours(tmp_path: Path) -> None:
    assert compile_kernels(load("nn"), "sm_90", tmp_path) == ""
    kernel = "_Z17measure_distancesPK8LocationiS_Pf"
    image = kernel_image(tmp_path, kernel, "sm_90")
    assert image is not None and image.data.startswith(b"\x7fELF")
    assert kernel_image(tmp_path, kernel, "sm_80") is None and kernel_image(tmp_path, kernel[:-1], "sm_90") is None


def test_what_nvcc_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nvcc").write_text("#!/bin/sh\necho 'kernel.cu(1): error: no' >&2\nexit 1\n")
    (tmp_path / "nvcc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    trouble = compile_kernels(load("nn"), "sm_90", tmp_path / "out")
    assert trouble.startswith("nvcc does not compile ") and trouble.endswith("error: no")
    (tmp_path / "nvcc").write_text("no program")
    assert compile_kernels(load("nn"), "sm_90", tmp_path / "out").startswith("nvcc does not")


def test_a_page_shows_winners_and_rankings_apart() -> None:
    part = Measured("winners", [
        {"program": "a", "run": "r", "over ours": 1.5, "interval": [1.4, 1.6]},
        {"ranked": "r", "variant": "v1", "over ours": 1.2},
        {"ranking of": "r", "variants": 4, "rank correlation": 0.8},
    ])  # fmt: skip
    text = page({"gpu": {"name": "X"}, "date": "2026-01-01", "machine": {}, "versions": {}, "parts": [part.as_json()]})
    assert "| a | r | 1.5 | [1.4, 1.6] |" in text and "| r | v1 | 1.2 |" in text and "| r | 4 | 0.8 |" in text
