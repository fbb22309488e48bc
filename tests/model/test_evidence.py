"""What is said of how far an estimate is trusted: by GPU, by what bounds it, by calibration; and what a gain leans on."""

from __future__ import annotations

import re

import pytest

from kernelwright.calibration import Calibration
from kernelwright.device.timing_model.estimate import FACTOR_OF
from kernelwright.device.timing_model.evidence import (
    COMPARED,
    H100,
    LEAST_BOUND,
    OURS,
    compared_on,
    trust,
    unproven_part,
)
from kernelwright.target import GPUS, gpu, with_calibration
from tests.model.test_docs import PAGE


def test_rows_of_the_table_are_what_they_claim() -> None:
    terms = {*FACTOR_OF, "latency", "barriers", "blocks"}
    for row in COMPARED:
        assert row.gpu in GPUS and -1 <= row.rank <= 1 and row.error >= 0 and row.regret_of_ten >= 0, row
        assert set(row.bound) <= terms and sum(row.bound.values()) == row.sampled, row
        ours = row.source in (OURS, H100)
        assert ours or re.search(r"[0-9a-f]{7}, \w+", row.source), (
            "a source is a commit and a licence, or our own result"
        )
    assert len({(row.kernel, row.gpu) for row in COMPARED}) == len(COMPARED)


def test_every_row_stands_in_the_document() -> None:
    for row in COMPARED:
        assert re.search(rf"\| {row.kernel}, {row.gpu} \| {row.sampled} .*\| {row.rank:.2f}", PAGE), row


def test_what_is_said_of_a_gpu() -> None:
    here = trust(gpu("a100"), {"l1": 3.0, "issue": 1.0})
    ranks = [row.rank for row in COMPARED if row.gpu == "a100"]
    assert here.of_gpu.startswith(f"rank {min(ranks):.2f}") and here.of_gpu.endswith("of this GPU")
    assert here.of_bound.startswith("bound by l1: compared, rank")
    assert trust(gpu("p100"), {}).words.startswith("never compared on this GPU, rank")
    assert trust(gpu("a100"), {"shared": 1.0}).of_bound == "bound by shared: never compared"
    assert not compared_on("shared")
    own = gpu("mine:like=a100,clock_mhz=1000")
    assert "of the a100 that it is like" in trust(own, {}).words
    made = with_calibration(gpu("a100"), Calibration("lab", "a100", 80, 0.1, 0.912, scale=1.1))
    assert trust(made, {}).calibration == "calibration lab (80 measurements on a100), rank 0.91 on variants held out"


def test_a_term_needs_enough_variants() -> None:
    for term in {t for row in COMPARED for t in row.bound}:
        assert all(row.bound[term] >= LEAST_BOUND for row in compared_on(term))


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ({"l1": 10.0, "shared": 10.0}, {"l1": 10.0, "shared": 4.0}, "100 % of what it saves"),
        ({"l1": 10.0, "shared": 10.0}, {"l1": 4.0, "shared": 8.0}, "25 % of what it saves"),
        ({"l1": 10.0, "shared": 10.0}, {"l1": 4.0}, "(shared 62 %)"),
        ({"l1": 10.0, "shared": 10.0}, {"l1": 4.0, "shared": 12.0}, "all of what it saves is in parts"),
        ({"l1": 10.0}, {"l1": 12.0}, ""),
        ({}, {}, ""),
    ],
)
def test_what_a_gain_leans_on(before: dict[str, float], after: dict[str, float], said: str) -> None:
    found = unproven_part(before, after)
    assert said in found and bool(said) == bool(found)
