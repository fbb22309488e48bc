"""Winners from Python: ``kw.Device(winners=kw.winners("again-1"))``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import kernelwright as kw
from kernelwright.errors import Misuse
from kernelwright.guards import Apart, ArgumentIs, AtStart, Guard
from kernelwright.launch_relations import Divisible, Relation, quantity

SOURCE = Path(__file__).parents[1] / "stories" / "again.cu"


def launched(device: kw.Device, kernel: kw.Kernel, passes: int) -> tuple[str, float]:
    """The version that ran, and its time; the result is checked."""
    values, out = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
    done = device.launch(kernel, 4, 64, (values, out, np.int32(256), np.int32(passes)))
    assert done.fault is None and np.array_equal(out, values * 3 + 1)
    return done.version, done.time_us


def test_a_launch_runs_the_winner_or_the_original(runs: Path, best: str) -> None:
    kernel = kw.compile(SOURCE, arch="sm_90").kernel("again")
    given = kw.winners(str(runs / "kw-runs" / best))
    with kw.Device("h200", winners=given) as device, kw.Device("h200") as plain:
        name, time_us = launched(device, kernel, 5)
        original, original_us = launched(plain, kernel, 5)
        assert name.startswith("again-1:v") and original == "" and time_us < original_us
        assert launched(device, kernel, 4)[0] == ""
        assert launched(device, kernel, 5)[0] == name
        (row,) = device.winners
        (version,) = row["versions"]
        assert (version["launches"], row["original"]["launches"]) == (2, 1)
        assert "passes == 5" in version["failed"]


GONE: tuple[Guard, ...] = (
    ArgumentIs(9, "i32 5", b"\5\0\0\0"),
    Apart(9),
    AtStart(9),
    Relation((quantity("bytes", 9),), ">=", (quantity("argument", 2),)),
    Relation((quantity("argument", 2),), ">=", (quantity("argument", 9),)),
    Divisible((quantity("argument", 9),), 4),
)
"""Every kind of check that asks for an argument, about one that no launch has."""


def test_a_check_on_an_argument_that_is_gone_fails_and_is_counted(runs: Path, best: str) -> None:
    kernel = kw.compile(SOURCE, arch="sm_90").kernel("again")
    (given,) = kw.winners(str(runs / "kw-runs" / best))
    asking = replace(given, guards=GONE, words=tuple(map(str, GONE)))
    with kw.Device("h200", winners=[asking]) as device:
        assert launched(device, kernel, 5)[0] == ""
        (row,) = device.winners
        assert (row["versions"][0]["failed"], row["original"]["launches"]) == (dict.fromkeys(asking.words, 1), 1)


def test_another_kernel_keeps_its_own(runs: Path, tmp_path: Path) -> None:
    changed = tmp_path / "again.cu"
    changed.write_text(SOURCE.read_text().replace("in[i] * 3.0f + 1.0f", "3.0f * in[i] + 1.0f + 0.0f * n"))
    kernel = kw.compile(changed, arch="sm_90").kernel("again")
    with kw.Device("h200", winners=kw.winners(str(runs / "kw-runs" / "again-1"))) as device:
        assert launched(device, kernel, 5)[0] == ""
        assert "not the one that the run began with" in device.winners[0]["versions"][0]["refused"]


def test_what_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="there is no run"):
        kw.winners(str(tmp_path / "nothing"))
