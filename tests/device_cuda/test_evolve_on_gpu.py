"""A search that takes its times from a GPU: what it finds, what it asks of the GPU, and how it goes on when interrupted."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.codegen.toolchain import Gpu
from kernelwright.evaluate import run as runs
from kernelwright.evaluate.run import Run
from kernelwright.stories.evolve import evolve, resume

from .conftest import Fake

ADDING = Path(__file__).with_name("adding.py")


@pytest.fixture
def gpu(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """A GPU on which machine code takes the longer the more there is of it."""
    fake.set("FAKE_CUDA_BY_SIZE", "1")
    monkeypatch.setattr(runs, "require_gpu", lambda ordinal: Gpu("Stand-in 0", "sm_90", 1 << 33))
    return fake


def test_found(gpu: Fake, tmp_path: Path) -> None:
    run = evolve(ADDING, device="cuda:0", folder=tmp_path / "run", evaluations=40, seed=1, jobs=2)
    best = run.best
    assert best is not None
    print(best, best.interval, run.original, run.settings)
    for e in run.journal.events():
        print(e.kind, str(e.data)[:300])
    for r in run.rows():
        print(r.id, r.phase, str(r.outcome)[:100], str(r.facts)[:200])
    print(len(gpu.named("launch")), len(gpu.named("load")), len(gpu.named("unload")))
