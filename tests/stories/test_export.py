"""A variant to take along: what is in the folder does what it says, with the tools of others."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import kernelwright as kw
from kernelwright.edits import Apart, BlockIsWarp, load_genes
from kernelwright.errors import Misuse, ToolError
from kernelwright.evolution.genomes import GENOMES, EvolveRun
from kernelwright.report.finding_words import for_people
from kernelwright.report.selected_variant import label_of
from kernelwright.stories.export import export, exported, write_folder
from kernelwright.stories.finish import finish

AGAIN = "_Z5againPKfPfii"


@pytest.fixture(scope="module")
def folder(finished_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with EvolveRun.open(finished_run, GENOMES) as run:
        return export(run, "best", tmp_path_factory.mktemp("export") / "out")


def loader(folder: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("load", folder / "load.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def arguments(n: int = 200, passes: int = 5) -> list[Any]:
    values = np.random.default_rng(3).random(n, dtype=np.float32)
    return [values, np.zeros(n, np.float32), np.int32(n), np.int32(passes)]


def test_all_files_are_there(folder: Path) -> None:
    names, second = (
        {path.name for path in each.iterdir() if path.suffix != ".cubin"} for each in (folder, folder / "any-size")
    )
    assert names - {"any-size"} == second == {
        "README.md", "load.py", "edits.json", "evidence.json", "kernel.ll", "kernel.ptx", "kernel.patch", "kernel.edits.patch",
        "kernel.original.ll", "kernel.h", "winner_cupy.py", "kernel.original.ptx", "kernel.sm_75.ptx", "kernel.sm_90.ptx",
    }  # fmt: skip


def test_what_is_for_any_size_goes_along(folder: Path, finished_run: Path, tmp_path: Path) -> None:
    with EvolveRun.open(finished_run, GENOMES) as run:
        best, free = run.best, run.for_any_size
        assert best is not None and free is not None
        alone = exported(run, free, run.proof(free.name), "")
        labels = [label_of(run, each.name) for each in (best, free)]
    names = [f"again-1:{each.name}" for each in (best, free)]
    second = folder / "any-size"
    assert {name for name in alone.files if (second / name).read_bytes() != alone.files[name]} == set()
    assert f'again_versions[] = {{ "{names[0]}", "{names[1]}", NULL }}' in (folder / "kernel.h").read_text()
    assert json.loads((folder / "evidence.json").read_text())["for_any_size"] == free.name
    readme = (folder / "README.md").read_text()
    assert f"for any size: {free.name}, {free.speedup:.3f} times as fast as the original, {labels[1]}." in readme
    assert loader(folder).failing((4,), (64,), arguments(passes=4)) == ["passes == 5"]
    assert loader(second).fits(
        (4,), (64,), arguments(passes=4)
    )  # blocks of 64 are the program's own, whatever its data
    one = (second / "kernel.h").read_text()
    assert names[1] in one and names[0] not in one and not (second / "any-size").exists()


def test_the_exported_ir_computes_what_the_original_does(folder: Path) -> None:
    loaded = loader(folder)
    outputs = []
    for file in ("kernel.ll", "kernel.original.ll"):
        given = arguments()
        program = kw.load(folder / file)
        with kw.Device("h200") as device:
            device.launch(program.kernel(AGAIN), (4,), (64,), given)
        outputs.append(given[1])
    assert np.array_equal(*outputs) and outputs[0].any()
    given = arguments()
    with kw.Device("h200") as device:
        loaded.on_kernelwright(device)((4,), (64,), given)
    assert np.array_equal(given[1], outputs[1])
    assert np.allclose(given[1], given[0] * 3 + 1)


@pytest.mark.parametrize(
    ("block", "holds"), [((32,), True), (16, True), ((8, 2, 2), True), ((33,), False), ((8, 4, 2), False)]
)
def test_fits_counts_the_threads_of_a_warp(folder: Path, block: Any, holds: bool) -> None:
    assert eval(BlockIsWarp().as_python(), {**vars(loader(folder)), "block": block}) is holds


def test_fits_sees_memory_that_is_shared(folder: Path) -> None:
    apart, own = arguments(), vars(loader(folder))
    shared = [apart[0], apart[0][:5], *apart[2:]]
    assert eval(Apart(1).as_python(), {**own, "arguments": apart}) is True
    assert eval(Apart(1).as_python(), {**own, "arguments": shared}) is False


def test_fits_tells_which_launches_the_variant_is_for(folder: Path) -> None:
    fits = loader(folder).fits
    assert fits((4,), (64,), arguments())
    assert fits((4, 1, 1), 64, arguments())
    assert not fits((4,), (64,), arguments(passes=4))
    assert not fits((4,), (32,), arguments())
    evidence = json.loads((folder / "evidence.json").read_text())
    assert len(evidence["guards"][AGAIN]) == len(loader(folder).failing((1 << 30, 7, 9), (4, 5, 6), []))


@pytest.mark.skipif(shutil.which("patch") is None, reason="needs the patch command")
def test_the_patch_makes_the_variant_of_the_original(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "kernel.original.ll", tmp_path)
    done = subprocess.run(["patch", "-p1"], cwd=tmp_path, input=(folder / "kernel.patch").read_bytes(), check=False)
    assert done.returncode == 0
    assert (tmp_path / "kernel.original.ll").read_text() == (folder / "kernel.ll").read_text()


@pytest.mark.skipif(shutil.which("ptxas") is None, reason="needs ptxas")
def test_ptxas_takes_the_ptx(folder: Path, tmp_path: Path) -> None:
    command = ["ptxas", "-arch=sm_90", str(folder / "kernel.ptx"), "-o", str(tmp_path / "x.cubin")]
    assert subprocess.run(command, check=False).returncode == 0


def test_edits_and_evidence_can_be_read_back(finished_run: Path, folder: Path) -> None:
    with EvolveRun.open(finished_run, GENOMES) as run:
        best = run.best
        assert best is not None
        assert load_genes((folder / "edits.json").read_text()) == best.candidate
        evidence = json.loads((folder / "evidence.json").read_text())
        assert evidence["proof"] == run.proof(best.name)
        assert evidence["speedup"] == best.speedup and evidence["warning"] == ""
    readme = (folder / "README.md").read_text()
    assert evidence["label"] in readme and "passes == 5" in readme and f"{best.speedup:.3f} times" in readme
    assert "UNPROVEN" not in readme
    edits = evidence["explained"]["edits"]
    assert readme.count("   Relies on: ") == len(edits)
    for edit in edits:
        assert all(sentence in readme for sentence in map(for_people, edit["invariants"]))


def test_what_is_unproven_is_refused_and_else_marked(finished_run: Path, tmp_path: Path) -> None:
    with EvolveRun.open(finished_run, GENOMES) as run:
        name = next(f.name for f in run.accepted if f.candidate and run.proof(f.name) is None)
        with pytest.raises(Misuse, match=r"not exported: UNPROVEN"):
            export(run, name, tmp_path / "refused")
        assert not (tmp_path / "refused").exists()
        made = export(run, name, tmp_path / "marked", unproven=True)
    for file in ("README.md", "load.py", "kernel.ll", "kernel.ptx", "evidence.json"):
        assert "UNPROVEN" in (made / file).read_text(), file
    kw.load(made / "kernel.ll")
    if shutil.which("ptxas"):
        command = ["ptxas", "-arch=sm_90", str(made / "kernel.ptx"), "-o", str(tmp_path / "x.cubin")]
        assert subprocess.run(command, check=False).returncode == 0
    if shutil.which("patch"):
        text = (made / "kernel.ll").read_text()
        subprocess.run(["patch", "-p1"], cwd=made, input=(made / "kernel.patch").read_bytes(), check=True)
        assert (made / "kernel.original.ll").read_text() == text


def test_the_readme_of_what_is_data_specific(finished_run: Path, tmp_path: Path) -> None:
    shutil.copytree(finished_run, tmp_path / "run")
    with EvolveRun.open(tmp_path / "run", GENOMES, write=True) as run:
        best = run.best
        assert best is not None
        proof = dict(run.proof(best.name) or {})
        checks = [
            c | {"status": "failed", "detail": "wrong on negative"} if c["name"] == "different" else c
            for c in proof["checks"]
        ]
        run.journal.note("proof", {**proof, "variant": best.name, "label": "data-specific", "checks": checks})
        readme = exported(run, best, run.proof(best.name), "").files["README.md"].decode()
        unexplained = next(f for f in run.accepted if f.candidate and run.explained(f.name) is None)
        other = exported(run, unexplained, None, "UNPROVEN").files["README.md"].decode()
    assert "right for launches like those of the training data" in readme and "different: wrong on negative." in readme
    assert "For every launch" not in readme
    assert "Relies on" not in other and f"kw explain {tmp_path / 'run'}:{unexplained.name}" in other


def test_what_its_proof_rejected_is_refused(finished_run: Path, tmp_path: Path) -> None:
    shutil.copytree(finished_run, tmp_path / "run")
    with EvolveRun.open(tmp_path / "run", GENOMES, write=True) as run:
        best = run.best
        assert best is not None
        proof = dict(run.proof(best.name) or {})
        run.journal.note("proof", {**proof, "name": best.name, "variant": best.name, "label": "schedule-dependent"})
        with pytest.raises(Misuse, match="schedule-dependent") as refused:
            export(run, "best", tmp_path / "out")
        assert "--unproven" in str(refused.value.hint)
        made = export(run, "best", tmp_path / "out", unproven=True)
        assert "REJECTED: its proof calls it schedule-dependent" in (made / "README.md").read_text()
        finished = finish(run)
        assert finished.exported is None and finished.troubles == ()


def test_a_folder_in_use_is_left_alone(finished_run: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    with EvolveRun.open(finished_run, GENOMES) as run:
        with pytest.raises(Misuse, match="is not empty"):
            export(run, "best", tmp_path)
        with pytest.raises(Misuse, match="is not empty"):
            export(run, "best", tmp_path / "mine")
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize("full_after", [1, 3])
def test_nothing_is_left_of_what_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full_after: int
) -> None:
    from kernelwright.stories import export as exporting

    written: list[Path] = []

    def full(path: Path, data: bytes) -> None:
        if len(written) == full_after:
            raise OSError(28, "No space left on device")
        path.write_bytes(data)
        written.append(path)

    monkeypatch.setattr(exporting, "write_atomically", full)
    (tmp_path / "there").mkdir()
    for name in ("new", "there"):
        written.clear()
        with pytest.raises(ToolError, match="No space left"):
            write_folder(tmp_path / name, dict.fromkeys(("README.md", "load.py", "any-size/load.py", "kernel.h"), b"."))
    assert not (tmp_path / "new").exists() and not any((tmp_path / "there").iterdir())


def test_several_kernels_have_files_each(tmp_path: Path) -> None:
    from kernelwright.stories.export import stems_of

    names = ["_Z4reduIfEvPT_", "_Z4reduIdEvPT_", "_Z1fi", "_Z1ff"]
    stems = stems_of(names)
    assert stems["_Z4reduIfEvPT_"] == "redu_float_" and len(set(stems.values())) == 4
    assert stems_of(names[:1]) == {names[0]: "kernel"}
