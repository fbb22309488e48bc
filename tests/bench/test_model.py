"""``kw bench model``: its formulas against brute force, its promises, its figures."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
import typer

from kernelwright.bench.model import exact_counts, measure
from kernelwright.bench.model.exact_counts import counted_rows, launches, sectors, wavefronts
from kernelwright.bench.model.published import GPUS, PUBLISHED, Published, Quantity
from kernelwright.bench.model.timed_kernels import TimedKernels
from kernelwright.bench.result import Row
from kernelwright.cli.commands import bench
from kernelwright.errors import DeviceError
from kernelwright.target import gpu

H200 = gpu("h200")


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_sectors_are_those_that_lanes_touch(width: int) -> None:
    for stride, offset, lanes in product((0, 1, 2, 3, 8, 33), range(0, 32, width), (0, 1, 7, 31, 32)):
        first = [offset + lane * stride * width for lane in range(lanes)]
        touched = {byte // 32 for each in first for byte in range(each, each + width)}
        assert sectors(width, stride * width, offset, lanes) == len(touched), (stride, offset, lanes)


@pytest.mark.parametrize("width", [4, 8, 16])
@pytest.mark.parametrize("stride", [1, 2, 3, 4, 5, 8, 16, 32, 33])
def test_wavefronts_are_those_of_the_busiest_bank(width: int, stride: int) -> None:
    """Of each half or quarter of the warp, as wide as 128 bytes."""
    words, at_once = width // 4, 128 // width
    found = 0
    for part in range(32 // at_once):
        banks: dict[int, set[int]] = {}
        for lane, word in product(range(part * at_once, (part + 1) * at_once), range(words)):
            address = lane * stride * words + word
            banks.setdefault(address % 32, set()).add(address)
        found += max(len(each) for each in banks.values())
    assert wavefronts(width, stride) == found


@pytest.mark.parametrize(
    "kernel", ["copy16", "first_lanes", "ragged", "banks8", "add", "constants", "shuffles", "barriers"]
)
def test_counters_are_exact(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    some = [each for each in launches() if each.kernel == kernel][-2:]
    monkeypatch.setattr(exact_counts, "launches", lambda: iter(some))
    rows = counted_rows(H200)
    assert len(rows) == sum(len(each.exact) for each in some)
    assert [row for row in rows if row["counted"] != row["exact"]] == []


def wrong_by_one(gpu: object, every: int) -> list[Row]:
    return [
        {"gpu": "h200", "kernel": "copy4", "launch": "a", "counter": "global load sectors", "exact": 12, "counted": 12},
        {"gpu": "h200", "kernel": "copy4", "launch": "b", "counter": "global load sectors", "exact": 12, "counted": 13},
    ]


def quick(monkeypatch: pytest.MonkeyPatch, off: float, counted: object = None) -> None:
    """Without what takes long: two counters, one figure, one launch."""
    one = Quantity("a rate", "GB/s", lambda gpu: 90.0)
    figures = [Published(one, "h200", 100.0, "somebody"), Published(one, "h200", 10.0, "somebody", unlike="why")]
    monkeypatch.setattr(measure, "PUBLISHED", figures)
    monkeypatch.setattr(
        measure, "over_suite", lambda quick, say: ([], [{"kernel": "k"}, {"kernel": "k", "off %": off}])
    )
    monkeypatch.setattr(measure, "counted_rows", counted or (lambda gpu, every: wrong_by_one(gpu, every)[:1]))


def test_what_is_measured(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    quick(monkeypatch, -1.5)
    bench.command("model", quick=True, as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert [row.get("off %") for row in found["rows"]] == [None, -10.0, 800.0]
    assert found["rows"][0] == {"counters of": "copy4", "launches": 1, "counters": 1, "exact": 1}
    assert [(one["value"], one["holds"]) for one in found["promises"]] == [(0, True), (1.5, True)]
    # What cannot be compared is printed, and is in no median.
    assert found["notes"] == ["a rate: 1 published, the median 10.0 % off, the farthest 10.0 %"]
    assert found["rows"][2]["note"] == "why"


@pytest.mark.parametrize(("off", "counted"), [(0.1, wrong_by_one), (-2.1, None)])
def test_a_promise_that_does_not_hold(
    off: float, counted: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    quick(monkeypatch, off, counted)
    with pytest.raises(typer.Exit) as ended:
        bench.command("model", quick=True)
    assert ended.value.exit_code == 1
    said = capsys.readouterr().out
    assert "DOES NOT HOLD" in said
    assert ("h200, copy4, b: 13 global load sectors, and not 12" in said) == (counted is not None)


def test_figures_have_a_source_and_a_gpu() -> None:
    for each in PUBLISHED:
        assert each.figure > 0 and each.source and each.gpu in GPUS, each
    named = [(each.quantity.name, each.gpu, each.source) for each in PUBLISHED]
    assert len(set(named)) == len(named)


def test_a_microbenchmark_follows_the_figure_it_is_of() -> None:
    """Through the code of the kernel, the caches and the scoreboard, not from the table to the page."""
    by_name = {each.quantity.name: each.quantity for each in PUBLISHED}
    for name, field, factor, within in (
        ("L2, latency", "l2_latency", 2, 0.05), ("memory, latency", "dram_latency", 2, 0.05),
        ("L2", "l2_bytes_per_cycle", 0.5, 0.15),  # whose blocks wait, too
    ):  # fmt: skip
        changed: dict[str, Any] = {field: int(getattr(H200, field) * factor)}
        other = replace(H200, **changed)
        assert by_name[name].estimated(other) / by_name[name].estimated(H200) == pytest.approx(factor, rel=within)


def test_a_launch_without_an_estimate_says_why() -> None:
    with (
        TimedKernels("counted.cu", H200) as kernels,
        pytest.raises(DeviceError, match=r"first_lanes has no estimate.*null"),
    ):
        kernels.launch("first_lanes", 1, 32, 0, 0, 32)
