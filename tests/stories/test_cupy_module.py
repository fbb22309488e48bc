"""The CuPy module of an export, on a stand-in for CuPy that runs the folder's IR on a virtual GPU."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import kernelwright as kw
from kernelwright.evolution.genomes import GENOMES, EvolveRun
from kernelwright.stories.export import export


@pytest.fixture(scope="module")
def folder(finished_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with EvolveRun.open(finished_run, GENOMES) as run:
        return export(run, "best", tmp_path_factory.mktemp("cupy") / "out")


@pytest.fixture(scope="module")
def names(finished_run: Path) -> list[str]:
    """The run's best, and what of it is for any size."""
    with EvolveRun.open(finished_run, GENOMES) as run:
        assert run.best is not None and run.for_any_size is not None
        return [f"{run.name}:{each.name}" for each in (run.best, run.for_any_size)]


class StandIn:
    """Enough of CuPy: ``loaded`` are the files that were asked for."""

    def __init__(self, capability: str, device: kw.Device) -> None:
        self.loaded: list[str] = []
        self.cuda = SimpleNamespace(Device=lambda: SimpleNamespace(compute_capability=capability))
        self._device = device

    def RawModule(self, path: str) -> Any:
        assert Path(path).is_file()
        self.loaded.append("/".join(Path(path).parts[Path(path).parts.index("out") + 1 :]))
        which = "kernel.original.ll" if ".original." in path else "kernel.ll"
        kernel = kw.load(Path(path).parent / which)

        def launch(grid: Any, block: Any, arguments: Any, shared_mem: int = 0) -> None:
            done = self._device.launch(kernel.kernel("again"), grid, block, arguments, shared_bytes=shared_mem)
            assert done.fault is None

        return SimpleNamespace(get_function=lambda name: launch)


@pytest.fixture
def device() -> Iterator[kw.Device]:
    with kw.Device("h200", timing=False) as made:
        yield made


def winner(folder: Path, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch, **more: Any) -> Any:
    monkeypatch.setitem(sys.modules, "cupy", stand_in)
    spec = importlib.util.spec_from_file_location("winner_cupy", folder / "winner_cupy.py")
    assert spec is not None and spec.loader is not None
    module: ModuleType = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Winner(**more)


def launched(winner: Any, passes: Any, n: int = 256) -> None:
    values, out = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
    winner((4,), (64,), (values, out, np.int32(n), passes))
    assert np.array_equal(out, values * 3 + 1)


def test_it_runs_the_best_or_what_fits_any_size_or_the_original(
    folder: Path, names: list[str], device: kw.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    best, free = names
    stand_in = StandIn("90", device)
    made = winner(folder, stand_in, monkeypatch)
    launched(made, np.int32(5))
    launched(made, np.int32(4))
    launched(made, np.int32(4))
    assert made.launches == {best: 1, free: 2} and made.failed == {(best, "passes == 5"): 2}
    code = "kernel.sm_90.cubin" if (folder / "kernel.sm_90.cubin").exists() else "kernel.sm_90.ptx"
    assert stand_in.loaded == [code, f"any-size/{code}"] and not made.troubles
    launched(made, np.int32(5), 257)
    short = "bytes behind in >= 4 * n"
    assert made.launches["original"] == made.failed[best, short] == made.failed[free, short] == 1
    assert stand_in.loaded[2:] == ["kernel.original.ptx"]
    with pytest.raises(TypeError, match=r"np\.int32\(5\)"):
        launched(made, 5)


def test_a_gpu_it_has_no_code_for(
    folder: Path, names: list[str], device: kw.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = []
    made = winner(folder, StandIn("60", device), monkeypatch, original=lambda *_, **__: ran.append(1))
    with pytest.raises(AssertionError):
        launched(made, np.int32(5))  # the original given computes nothing
    assert ran == [1] and made.launches == {"original": 1}
    assert list(made.troubles) == names
    assert "no code here for a GPU of compute capability 6.0" in made.troubles[names[1]]
