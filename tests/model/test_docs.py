"""The page about the model says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kernelwright.calibration import FACTORS
from kernelwright.device.timing_model.estimate import FACTOR_OF
from kernelwright.target import GPUS, KIB, MIB, Gpu

PAGE = (Path(__file__).parents[2] / "docs" / "timing-model.md").read_text()
UNITS = {"KiB": KIB, "MiB": MIB}


def figure(it: Gpu, name: str) -> float:
    found: object = it
    for part in name.split("."):
        found = found[part] if isinstance(found, dict) else getattr(found, part)
    assert isinstance(found, int | float)
    return found


def test_the_tables_are_the_code() -> None:
    """A table for each family of GPUs, all with the same rows."""
    named: list[str] = []
    for table in re.findall(r"^\| figure \|.*(?:\n\|.*)+", PAGE, re.MULTILINE):
        header, _, *rows = table.splitlines()
        names = [cell.strip() for cell in header.strip("|").split("|")][1:]
        named += names
        assert len(rows) == 35, names
        for row in rows:
            head, *values = [cell.strip() for cell in row.strip("|").split("|")]
            found = re.match(r"`([\w.]+)`(?:, (\w+))?", head)
            assert found
            unit = UNITS.get(found[2] or "", 1)
            assert [figure(GPUS[n], found[1]) / unit for n in names] == pytest.approx([float(v) for v in values]), row
    assert named == list(GPUS)


def test_every_term_and_every_constant_is_explained() -> None:
    for name in (*FACTOR_OF, "latency", "barriers"):
        assert f"`{name}`" in PAGE, name
    for name in (*FACTORS, "norm"):
        assert f"`{name}`" in PAGE, name
