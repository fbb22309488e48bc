"""The benchmark of random sequences goes on where it was interrupted."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from kernelwright.bench import edits
from kernelwright.bench.edits import CHUNK, Progress, Tally, random_genome, run_sequence
from kernelwright.edits import Original
from kernelwright.errors import IRError
from tests.edits.conftest import suite_kernels


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path))


def test_an_interrupted_run_goes_on() -> None:
    tally = Tally(CHUNK, Counter({"copy": 3}), 1, 2 * CHUNK, ["seed 7: no"])
    with pytest.raises(KeyboardInterrupt), Progress(3 * CHUNK) as progress:
        assert progress.left == [(0, CHUNK), (CHUNK, 2 * CHUNK), (2 * CHUNK, 3 * CHUNK)]
        progress.note((CHUNK, 2 * CHUNK), tally)
        raise KeyboardInterrupt
    with progress.path.open("a") as file:
        file.write('\n{"seeds": [0, 2')  # killed while it wrote
    with Progress(3 * CHUNK) as again:
        assert again.left == [(0, CHUNK), (2 * CHUNK, 3 * CHUNK)] and again.before == tally
    assert not again.path.exists()


def test_other_code_starts_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    path = Progress(CHUNK).path
    monkeypatch.setattr(edits, "content_key", lambda parts: "f" * 40)
    assert Progress(CHUNK).path != path


def test_what_is_refused_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(text: str) -> None:
        raise IRError("nothing is good enough")

    monkeypatch.setattr(edits, "check", refuse)
    tally = Tally()
    run_sequence(list(suite_kernels()[:3]), 1, tally)
    assert tally.refused[0].startswith("seed 1, ") and "nothing is good enough" in tally.refused[0]
    assert tally.sequences == 1


def test_sequences_are_the_same_every_time(kernels: tuple[Original, ...]) -> None:
    assert random_genome(kernels[0], random.Random(5)) == random_genome(kernels[0], random.Random(5))
