"""Whole programs with winners inside, in turns: what is compared, what is said, with a stand-in for what runs them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelwright.bench.gpu import programs
from kernelwright.bench.gpu.deadline import Deadline
from kernelwright.bench.result import Measured
from kernelwright.errors import DeviceError
from kernelwright.suite import load

NN = {"program": "nn", "arm": "clean", "variant": "v7", "label": "clean", "searched": 1.2}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / programs.MANIFEST).write_text(json.dumps([NN]))
    (tmp_path / "nn-clean").write_text("")
    return tmp_path


def stand_in(monkeypatch: pytest.MonkeyPatch, off: bool = False, fails: bool = False) -> list[str]:
    """Programs whose kernel takes 10 us, 8 with winners; ``off``: with other outputs then. The sides, in the order they ran."""
    ran: list[str] = []
    program = load("nn")

    def run(executable: Path, argv: Sequence[str], work: Path, runtime: object, device: str, winners: str) -> list[Any]:
        ran.append(winners)
        if fails:
            raise DeviceError("it ended with exit code 1")
        found = program.oracle(work, tuple(argv))
        for name in program.outputs:
            values = found[name.removesuffix(".bin")]
            kind = np.float32 if name == "distances.bin" else np.int32
            (values + (off and winners == "on")).astype(kind).tofile(work / name)
        each = [3.0, None if len(ran) == 4 else 5.0] if winners == "on" else [4.0, 6.0]  # late, once
        return [{"kernel": "k", "launches": 2, "time_us": 0.0, "each_us": each, "late": each.count(None)}]

    monkeypatch.setattr(programs, "_run", run)
    monkeypatch.setattr(programs, "find_nvcc", lambda: None)
    return ran


def measured(folder: Path, until: Deadline | None = None) -> Measured:
    return programs.run_programs(folder, folder, "cuda:0", lambda line: None, until or Deadline())


def test_sides_take_turns(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = stand_in(monkeypatch)
    row, mean = measured(folder).rows
    assert ran == ["off", "on"] * (1 + programs.TURNS)
    assert (row["outputs"], row["launches"], row["over ours"], row["between"]) == ("equal", 2, 1.25, [1.25, 1.6667])
    assert row["late"] == 1
    assert row["kernels"] == {"k": [2, 10.0, 8.0]} and "over nvcc" not in row
    assert mean == {"mean": "over ours", "arm": "clean", "programs": 1, "times as fast": 1.25}


def test_other_outputs_break_a_promise(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, off=True)
    found = measured(folder)
    assert "differ" in found.rows[0]["outputs"]
    assert [p.holds for p in found.promises] == [True, False]


def test_a_program_that_fails_is_a_row_and_a_broken_promise(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, fails=True)
    found = measured(folder)
    assert found.rows == [{**NN, "failed": "it ended with exit code 1"}]
    assert False in [p.holds for p in found.promises]


def test_what_is_not_begun_in_time_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = stand_in(monkeypatch)
    found = measured(folder, Deadline.within(0))
    assert ran == [] and found.notes == ["not reached in time: nn-clean"]
