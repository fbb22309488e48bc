"""Explored kernels and searches on a GPU: what is prepared, what is measured and what is said of it; with a stand-in for the GPU."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from kernelwright.bench.gpu.explored import MANIFEST, ExploredRow, head
from kernelwright.bench.gpu.measured_search import SUBJECT
from kernelwright.bench.gpu.preparing.explored import prepare_explored, spread
from kernelwright.bench.gpu.preparing.measured_search import prepare_searches
from kernelwright.stories.explore import explore
from tests.warm_cache import WarmCache

from .conftest import Fake
from .test_make_gpu import go


def silent(line: str) -> None:
    pass


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, warm_cache: WarmCache) -> Path:
    """Prepared: a matrix product of which six kernels were tried. Not to be changed."""
    place = tmp_path_factory.mktemp("explored")
    with pytest.MonkeyPatch.context() as patched, warm_cache.at(place / "cache") as cache:
        patched.setenv("KERNELWRIGHT_CACHE", str(cache))
        made = place / "kept" / "kw-runs" / "matmul"
        explore("matmul", (64, 64, 64), device="h200", folder=made, evaluations=6, seed=1, jobs=1).close()
        notes: list[str] = []
        prepare_explored(place / "prepared" / "explored", place / "kept", silent, notes)
        assert notes == []
    (place / "prepared" / "manifest.json").write_text(json.dumps({"format": 1, "notes": []}))
    return place / "prepared"


def rows_of(folder: Path) -> list[ExploredRow]:
    return [ExploredRow.from_json(each) for each in json.loads((folder / "explored" / MANIFEST).read_text())]


def test_roles_estimates_and_bounds(folder: Path) -> None:
    rows = rows_of(folder)
    assert {row.problem for row in rows} == {"matmul 64 64 64"} and {row.model for row in rows} == {"h200"}
    assert [row.role for row in rows[:2]] == ["best", "naive"] and rows[-1].role == "tiled by hand"
    assert all(0 < row.bound_us <= row.estimated_us for row in rows[:-1]) and rows[-1].bound_us == 0
    assert all((folder / "explored" / f"{row.image}.sm_90.cubin").is_file() for row in rows)


def measured(fake: Fake, folder: Path, tmp_path: Path, part: str) -> dict[str, Any]:
    done = go("--prepared", folder, "--only", part, "--results", tmp_path)
    assert "Traceback" not in done.stderr, done.stderr
    content = json.loads(next(tmp_path.glob("*.json")).read_text())
    found: dict[str, Any] = next(each for each in content["parts"] if each["name"] == part)
    return found


def test_every_kernel_is_run_compared_and_timed(fake: Fake, folder: Path, tmp_path: Path) -> None:
    """The stand-in computes nothing, which is seen; it has no cuBLAS."""
    part = measured(fake, folder, tmp_path, "explored")
    first, *kernels = part["rows"]
    assert first["problem"] == "matmul 64 64 64" and "over naive" in first
    assert len(kernels) == len(rows_of(folder)) and all("C is off by nan" in row["outputs"] for row in kernels)
    assert {row["measured us"] for row in kernels} == {1e-3}  # as long as what does nothing takes
    assert {(row["a tenth below"], row["a tenth above"]) for row in kernels} == {(1e-3, 1e-3)}
    promises = {each["name"]: (each["value"], each["holds"]) for each in part["promises"]}
    assert promises["kernels whose outputs are wrong"] == (len(kernels), False)
    assert promises["problems that fail"] == (0, True)


def test_what_table_2_says() -> None:
    def row(role: str, us: float, estimated: float = 0.0) -> dict[str, Any]:
        return {"role": role, "measured us": us, "estimated us": estimated}

    kernels = [row("best", 50, 40), row("naive", 500, 480), row("", 60, 50), row("", 70, 60), row("", 45, 70)]
    found = head("matmul 1024 1024 1024", [*kernels, row("tiled by hand", 75, 65), row("cuBLAS", 40)])
    assert (found["over cuBLAS"], found["the paper's"], found["over tiled by hand"]) == (0.8, 0.78, 1.5)
    assert (found["over naive"], found["over naive, estimated"]) == (10, 12)
    assert found["fastest measured us"] == 45 and found["kernels"] == 6
    assert found["rank correlation"] == pytest.approx(0.429, abs=1e-3)
    assert "over cuBLAS" not in head("axpy 8", kernels) and "kernels" not in head("axpy 8", kernels[:2])


def test_kernels_from_the_fastest_to_the_slowest() -> None:
    assert spread(range(100), 4) == [0, 33, 66, 99]
    assert spread([3, 4], 4) == [3, 4] and spread([], 4) == []


def test_without_runs_nothing_is_prepared(tmp_path: Path) -> None:
    notes: list[str] = []
    prepare_explored(tmp_path / "explored", tmp_path, silent, notes)
    prepare_searches(tmp_path / "searches", {}, silent, notes)
    assert json.loads((tmp_path / "explored" / MANIFEST).read_text()) == []
    assert len(notes) == 3 and all("there is no run" in note for note in notes)
    assert list((tmp_path / "searches").iterdir()) == []


def test_a_damaged_run_is_a_note(tmp_path: Path) -> None:
    (tmp_path / "kw-runs" / "broken").mkdir(parents=True)
    (tmp_path / "kw-runs" / "broken" / "journal.db").write_text("no journal")
    notes: list[str] = []
    prepare_explored(tmp_path / "explored", tmp_path, silent, notes)
    assert len(notes) == 1 and notes[0].startswith("explored, broken: ")


@pytest.mark.slow
def test_a_search_on_what_a_finished_run_was_judged_by(fake: Fake, tmp_path: Path) -> None:
    """Of a run whose folder is gone by then. The stand-in computes nothing, which the search sees in the original."""
    from kernelwright.bench.evolve import kept_run

    kept = tmp_path / "kept"
    with kept_run(kept, "nn-clean-40-seed1", "nn", 40, 1, ("--accept", "clean")) as run:
        path = run.folder
    notes: list[str] = []
    prepared = tmp_path / "prepared"
    prepare_searches(prepared / "searches", {("nn", "clean"): path}, silent, notes)
    shutil.rmtree(kept)
    assert (prepared / "searches" / "nn" / SUBJECT).is_file() and len(notes) == 2
    (prepared / "manifest.json").write_text(json.dumps({"format": 1, "notes": []}))
    part = measured(fake, prepared, tmp_path / "results", "searches")
    [row] = part["rows"]
    assert row["program"] == "nn" and "on cuda:0, the original fails its own check" in row["failed"]
