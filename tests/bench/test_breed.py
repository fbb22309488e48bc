"""The benchmark of breeding: its runs are kept, gone on with, and made again to be compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kernelwright.bench import breed
from kernelwright.bench.result import Measured
from kernelwright.stories.breed import Standing
from kernelwright.stories.breed import breed as bred

MEDIAN = Path(__file__).parents[2] / "examples" / "median.py"


def stop(standing: Standing) -> None:
    raise KeyboardInterrupt


def test_a_run_is_made_once_and_ended_when_it_was_interrupted(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        bred(MEDIAN, folder=tmp_path / "run", seed=2, backend="interpreted", jobs=1, cache=False, watch=stop)
    with breed._bred(MEDIAN, tmp_path / "run", 2, 1) as run:
        assert run.ended is not None and len(run.journal.sessions) == 2
        rows = [(row.candidate, row.outcome) for row in run.journal.rows()]
    with breed._bred(MEDIAN, tmp_path / "run", 2, 1) as run:
        assert len(run.journal.sessions) == 2
    with breed._bred(MEDIAN, tmp_path / "again", 2, 1) as run:
        assert [(row.candidate, row.outcome) for row in run.journal.rows()] == rows


@pytest.mark.parametrize("seed", [2, 3])
def test_rows_that_differ_are_counted(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breed, "KEPT", tmp_path)
    monkeypatch.setattr(breed, "path_of", lambda name: MEDIAN)
    given: dict[str, Any] = {"backend": "interpreted", "jobs": 1, "cache": False}
    bred(MEDIAN, folder=tmp_path / "median-seed2", seed=2, **given).close()
    bred(MEDIAN, folder=tmp_path / "median-seed2-again", seed=seed, **given).close()
    result = Measured("breed")
    breed._repeated(result, "median", 2, lambda _: None)
    (promise,) = result.promises
    assert promise.holds is (seed == 2) and "runs again" in promise.name
