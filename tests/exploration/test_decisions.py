"""Candidates as text, and what is explored: what people write and edit."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.errors import Misuse
from kernelwright.exploration.decisions import DECISIONS, decision_text, parts_of
from kernelwright.exploration.files import best_known, read_decisions, read_replay
from kernelwright.exploration.run import ExploreSettings
from kernelwright.exploration.subject import Subject

NAMES = st.builds("{}.{}".format, st.sampled_from(["x", "mad", "x_to_mad_put"]), st.sampled_from(["n1", "k0~b.k0"]))


@given(st.sampled_from(["order", "dim_kind"]), st.lists(NAMES, min_size=1, max_size=2), st.integers(2, 512) | st.sampled_from(["BLOCK", "IN"]))  # fmt: skip
def test_a_decision_reads_back(choice: str, objects: list[str], value: str | int) -> None:
    assert parts_of(decision_text(choice, tuple(objects), value)) == (choice, tuple(objects), value)


def test_candidates_are_lists_of_texts() -> None:
    decisions = ("size(x.n1) = 32", "order(a, b.k1) = BEFORE")
    assert DECISIONS.from_json(json.loads(json.dumps(DECISIONS.to_json(decisions)))) == decisions


@pytest.mark.parametrize("wrong", [None, "size(x.n1) = 32", [1], ["size x.n1 32"], ["size(x.n1) ="]])
def test_what_is_no_candidate_is_refused(wrong: object) -> None:
    with pytest.raises(Misuse, match="no decision"):
        DECISIONS.from_json(wrong)


def test_a_subject_travels_and_is_written() -> None:
    subject = Subject.of("matmul", [64, 32], "h200")
    assert dict(subject.sizes)["m"] == 64 and dict(subject.sizes)["n"] == 32
    assert str(subject.backbone.name) == "matmul"  # made before it travels
    assert pickle.loads(pickle.dumps(subject)) == subject == Subject.from_json(subject.as_json(), Path())
    assert Subject.of("matmul", {"k": 16}, "h200").as_json()["sizes"]["k"] == 16


@pytest.mark.parametrize(
    ("name", "sizes", "device", "said"),
    [
        ("matmull", [64], "h200", "no computation 'matmull'"),
        ("axpy", [64, 64], "h200", "axpy has 1 sizes, and 2 are given"),
        ("axpy", {"m": 64}, "h200", "axpy has no size m"),
        ("axpy", [0], "h200", "0 iterations"),
        ("axpy", [-4], "h200", "-4 iterations"),
        ("axpy", [1 << 40], "h200", "more than 4 GiB"),
        ("axpy", [64], "h2000", "h2000"),
        ("axpy", [64], "cuda:0", "is a GPU of the table, and cuda:0 is none"),
    ],
)
def test_what_cannot_be_explored_is_said(name: str, sizes: object, device: str, said: str) -> None:
    with pytest.raises(Misuse) as raised:
        Subject.of(name, sizes, device)  # type: ignore[arg-type]
    assert said in raised.value.message


@pytest.mark.parametrize(
    ("given_settings", "said"),
    [
        ({"strategy": "tags"}, "--strategy tags is none of"),
        ({"evaluations": None}, "nothing says when to stop"),
        ({"evaluations": 0}, "a budget is a positive number"),
        ({"seconds": -1.0}, "a budget is a positive number"),
        ({"gap": -0.5}, "a gap of -0.5"),
        ({"until_us": 0.0}, "a time of 0.0 us"),
        ({"until_us": "soon"}, "until_us"),
    ],
)
def test_settings_are_checked(given_settings: dict[str, object], said: str) -> None:
    with pytest.raises(Misuse) as raised:
        ExploreSettings(**given_settings)  # type: ignore[arg-type]
    assert said in raised.value.message


def test_settings_read_back() -> None:
    settings = ExploreSettings(strategy="uct", seconds=3.5, seed=4, until_us=60.0)
    assert ExploreSettings.from_json(settings.as_json()) == settings
    older = {name: value for name, value in ExploreSettings().as_json().items() if name != "until_us"}
    assert ExploreSettings.from_json(older) == ExploreSettings()
    with pytest.raises(Misuse, match="cannot be read"):
        ExploreSettings.from_json({"strategy": "uct"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is no JSON"),
        ("[]", "holds no decisions"),
        ('{"format": 99}', "holds no decisions"),
        ('{"format": 1, "computation": "axpy", "sizes": {"n": 64}}', "no subject"),
        ('{"format": 1, "computation": "axpy", "sizes": {"n": 64}, "device": "h200"}', "no decisions"),
        ('{"format": 1, "computation": "axpy", "sizes": {"n": 64}, "device": "h200", "decisions": ["x"]}', "no decision"),
    ],
)  # fmt: skip
def test_an_edited_replay_file_is_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "decisions.json"
    path.write_text(text)
    with pytest.raises(Misuse) as raised:
        read_decisions(path)
    assert said in raised.value.message
    with pytest.raises(Misuse, match="cannot be read"):
        read_decisions(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ([10**6, 10**6, 10**6], "the arrays of matmul 1000000 1000000 1000000 take more than 4 GiB"),
        ([16384, 16384, 16384], "has 4.4e+12 iterations, all of which a replay runs, and it runs 6.9e+10 at most"),
        ([10**30, 1, 1], "take more than 4 GiB"),
        (["a", 1, 1], "the extent of loop m of matmul is a whole number, not 'a'"),
        ([16.5, 16, 16], "the extent of loop m of matmul is a whole number, not 16.5"),
    ],
)
def test_an_edited_replay_file_that_is_too_large_is_told_of_the_file(
    sizes: list[Any], said: str, tmp_path: Path
) -> None:
    path = tmp_path / "decisions.json"
    about = {"format": 1, "computation": "matmul", "sizes": dict(zip("mnk", sizes, strict=True)), "device": "h200"}
    path.write_text(json.dumps({**about, "decisions": []}))
    with pytest.raises(Misuse) as raised:
        read_replay(path)
    assert said in raised.value.message and str(path) in raised.value.message
    assert "put back what kw explore wrote" in str(raised.value.hint)


@pytest.mark.parametrize("text", ["", "[]", '{"a": 1}', '{"a": {"us": 1}}'])
def test_a_damaged_record_is_begun_anew(text: str, tmp_path: Path) -> None:
    path = tmp_path / "explored.json"
    path.write_text(text)
    assert best_known(path) == best_known(tmp_path / "none") == {}
