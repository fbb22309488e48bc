"""``kw bench space`` keeps the explorations that have come to their end, and begins an interrupted one anew."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from kernelwright.bench.space import measure
from kernelwright.bench.space.measure import Problem
from kernelwright.search.strategies import DEFAULT_TREE_SEARCH


def silent(line: str) -> None:
    pass


def test_what_is_finished_is_not_explored_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(measure, "QUICK", (Problem("axpy", (4096,), 2, (1, 2), (DEFAULT_TREE_SEARCH,)),))
    asked: list[int] = []
    explore = measure.explore

    def counted(*given: Any, **settings: Any) -> Any:
        asked.append(settings["seed"])
        return explore(*given, **settings)

    monkeypatch.setattr(measure, "explore", counted)
    first = measure.measure(True, silent)
    assert asked == [1, 2]
    again = measure.measure(True, silent)
    assert asked == [1, 2] and again.rows == first.rows
    (kept,) = (tmp_path / measure.KEPT).iterdir()
    folder = next(kept.glob("*-2"))
    (folder / "journal.db").unlink()  # as if it had been killed before it wrote anything
    measure.measure(True, silent)
    assert asked == [1, 2, 2]
    shutil.move(kept, kept.with_name("anotherx"))
    measure.measure(True, silent)
    assert asked == [1, 2, 2, 1, 2]
