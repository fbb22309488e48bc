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


def test_the_best_of_all_seeds_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(measure, "QUICK", (Problem("axpy", (4096,), 2, (1, 2), (DEFAULT_TREE_SEARCH,), naive=1.0),))
    monkeypatch.setattr(measure, "AGAIN", 3)
    tried: list[int] = []
    whole_us = measure._whole_us

    def counted(subject: Any, kernel: Any, seed: int = measure.SEED) -> float:
        tried.append(seed)
        return whole_us(subject, kernel, seed)

    monkeypatch.setattr(measure, "_whole_us", counted)
    (row,) = measure.measure(True, silent).rows
    assert tried == [measure.SEED, 1, 2, 3]  # the naive kernel, for the mark, then the best
    assert (
        row["the best, again"] == f"{row['least']:.3f} to {row['least']:.3f}"
    )  # what it does does not depend on its data
