"""A file of an earlier tuning that somebody edited, cut or damaged: told in a sentence, or harmless."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kernelwright.errors import Misuse
from kernelwright.stories.tune import Subject, explained, tune_program
from kernelwright.versions.threshold_file import Identity, evidence_path
from tests.examples import first_of
from tests.versions.table_programs import Guard, Leaf, Node, TableProgram

OTHERS: tuple[Any, ...] = (None, "x", -1, 1.5, [], {}, [None], {"lines": 3})


def subject(path: Path) -> Subject:
    nodes: dict[str, list[Node]] = {
        str(rows): [Guard("rows", rows, Leaf(100.0 / rows), Guard("elements", rows * 10, Leaf(3.0), Leaf(9.0)))]
        for rows in (4, 50, 60)
    }
    return Subject(TableProgram(nodes), Identity("table", "here", "1"), path, digest=lambda _: "")


def places(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every part of a value, itself left out."""
    for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*here, key)
        yield from places(part, (*here, key))


def changed(value: Any, place: tuple[Any, ...], part: Any) -> Any:
    made = copy.deepcopy(value)
    inner = made
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = part
    return made


@pytest.mark.parametrize("turn", first_of(range(3)))
def test_whatever_stands_in_it_is_told_or_harmless(turn: int, tmp_path: Path) -> None:
    """Every part of the evidence in turn replaced by something else: a third of it at a time."""
    path = tmp_path / "app.tuning"
    tune_program(subject(path), ["4", "50", "60"])
    good = json.loads(evidence_path(path).read_text())
    told = 0
    for number, place in enumerate(places(good)):
        for part in OTHERS[(turn + number) % 3 :: 3]:
            evidence_path(path).write_text(json.dumps(changed(good, place, part)))
            for use in (lambda: explained(path), lambda: tune_program(subject(path), ["4", "50", "60"])):
                try:
                    use()
                except Misuse as error:
                    assert error.message and "Error(" not in error.message
                    told += 1
    assert told > 33


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        ("[]", "is no evidence of kw tune, or is damaged"),
        ("3", "is no evidence of kw tune, or is damaged"),
        ('{"format": 7}', "has format 7"),
        ("\xff", "is no text"),
    ],
)
def test_what_is_no_evidence_is_told(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "app.tuning"
    evidence_path(path).write_bytes(text.encode("latin-1"))
    for use in (lambda: explained(path), lambda: tune_program(subject(path), ["4"])):
        with pytest.raises(Misuse, match=said):
            use()
