"""docs/proof.md has the labels and checks that there are, with the label each check stands for."""

from __future__ import annotations

import re
from pathlib import Path

from kernelwright.bench.prove.family_table import FAMILIES
from kernelwright.bench.prove.planted import SOUND, UNSAFE
from kernelwright.prove import CHECKS, LABELS

TEXT = (Path(__file__).parents[2] / "docs" / "proof.md").read_text()


def rows(heading: str) -> list[list[str]]:
    section = TEXT.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    table = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def test_labels() -> None:
    assert tuple(row[0].strip("`") for row in rows("Labels")) == LABELS


def test_each_label_says_what_it_takes_for_granted_and_what_would_refute_it() -> None:
    table = rows("What is presupposed, and what would refute a label")
    assert tuple(row[0].strip("`") for row in table[: len(LABELS)]) == LABELS
    asked = {letter for row in table[: len(LABELS)] for letter in row[2].split(", ")}
    assert asked == {row[0] for row in table[len(LABELS) :]}
    assert all(row[1] and row[3] for row in table)


def test_checks() -> None:
    assert [(row[0].strip("`"), row[1]) for row in rows("Checks")] == [(n, kind.label) for n, kind in CHECKS.items()]


def test_figures() -> None:
    found = re.search(r"plants (\d+) unsafe wins .*?and (\d+) sound ones", TEXT, re.DOTALL)
    assert found and (int(found[1]), int(found[2])) == (len(UNSAFE), len(SOUND))
    families = re.search(r"stand (\d+) families\s+of mistakes", TEXT)
    assert families and int(families[1]) == len(FAMILIES)
