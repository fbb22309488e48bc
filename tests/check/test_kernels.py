"""Every planted defect of ``kernels/`` is found at its lines, and its sound look-alikes raise no alarm."""

from __future__ import annotations

from collections import Counter

import pytest

from kernelwright.bench.check.planted_kernels import ALL, PlantedKernel

FOLLOWS = {"race": {"uninitialised"}}
"""A missing barrier also shows as memory that is not written yet."""


@pytest.mark.parametrize("planted", ALL, ids=lambda p: f"{p.path.stem}-{p.name}")
def test_what_the_comment_says(planted: PlantedKernel) -> None:
    report = planted.launch().report
    said = [one.described() for one in report.defects]
    if planted.verdict == "finds":
        assert any(planted.is_met_by(one) for one in report.defects), said
        assert {one.kind for one in report.defects} <= {planted.kind} | FOLLOWS.get(planted.kind, set()), said
        assert all(one.line and (one.also is None or one.also.line) for one in report.defects), (
            "no finding without its line"
        )
    else:
        assert not said
    if planted.verdict == "note":
        assert any(planted.is_met_by(one) for one in report.notes), report.notes


@pytest.mark.parametrize("planted", [each for each in ALL if each.verdict == "note"], ids=lambda p: p.name)
def test_notes_are_findings_when_asked_to_be_strict(planted: PlantedKernel) -> None:
    report = planted.launch(strict=True).report
    assert any(planted.is_met_by(one) for one in report.defects), report.notes


def test_what_cannot_matter_is_a_note_however_strict() -> None:
    for name in ("flag_of_a_block", "number_of_the_launch", "one_element_for_all", "flag_of_a_grid"):
        (planted,) = [each for each in ALL if each.name == name]
        report = planted.launch(strict=True).report
        assert report.notes and not report.defects, name


def test_there_are_enough() -> None:
    count = Counter(each.verdict for each in ALL)
    assert count["finds"] >= 60 and count["sound"] >= 60, count
