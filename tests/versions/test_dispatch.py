"""``kw.versions``: which version a call takes, where thresholds come from, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kernelwright as kw
from kernelwright.errors import Misuse
from kernelwright.versions.guard_expressions import guard_expression
from kernelwright.versions.program import Compared


def outer(rows: int, columns: int = 1) -> str:
    return "outer"


def block(rows: int, columns: int = 1) -> str:
    return "block"


def flat(rows: int, columns: int = 1) -> str:
    return "flat"


BY = [("rows", ">="), ("rows * columns", ">=")]


def test_a_call_takes_the_first_version_whose_guard_holds() -> None:
    function = kw.versions("f", [outer, block, flat], by=BY)
    assert function(10**9, 10**9) == "flat", "untuned, no guard holds"
    function.thresholds = {"f.rows": 100, "f.rows*columns": 1000}
    assert [function(100), function(99, 11), function(99, 10), function(rows=99, columns=11)] == [
        "outer",
        "block",
        "flat",
        "block",
    ]


def test_comparisons_are_told_in_order() -> None:
    function = kw.versions("f", [outer, block, flat], by=BY)
    function.thresholds = {"f.rows*columns": 20}
    seen: list[Compared] = []
    function.watch = seen.append
    function(5, 7)
    assert seen == [Compared("f.rows", 5, False), Compared("f.rows*columns", 35, True)]


def test_at_most_takes_small_values() -> None:
    function = kw.versions("f", [outer, flat], by=[("rows", "<=")])
    function.thresholds = {"f.-(rows)": -8}
    assert [function(7), function(8), function(9)] == ["outer", "outer", "flat"]


def test_sizes_are_derived_from_arguments() -> None:
    def first(a: object, b: object) -> int:
        return 1

    def second(a: object, b: object) -> int:
        return 2

    def sizes(a: np.ndarray, b: np.ndarray) -> dict[str, int]:  # type: ignore[type-arg]
        return {"rows": a.shape[0], "columns": b.shape[1]}

    function = kw.versions("f", [first, second], by=[("rows*columns", ">=")], sizes=sizes)
    function.thresholds = {"f.rows*columns": 12}
    assert function(np.zeros((3, 1)), np.zeros((1, 4))) == 1 and function(np.zeros((3, 1)), np.zeros((1, 3))) == 2
    direct = kw.versions("g", [first, second], by=[("a.shape[0] * b.shape[-1]", ">=")])
    direct.thresholds = {"g.a.shape[0]*b.shape[-1]": 12}
    assert direct(np.zeros((3, 1)), np.zeros((1, 4))) == 1


def test_thresholds_come_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "f.tuning"
    path.write_text("-- comment\nf.rows=5\ng.rows=1\n")
    function = kw.versions("f", [outer, flat], by=[("rows", ">=")], thresholds=path)
    assert [function(4), function(5)] == ["flat", "outer"]
    monkeypatch.setenv("KW_THRESHOLDS", str(path))
    assert kw.versions("f", [outer, flat], by=[("rows", ">=")])(5) == "outer"
    path.write_text("f.columns=5\n")
    with pytest.raises(Misuse, match=r"f has no guard f.columns: it has f.rows"):
        kw.versions("f", [outer, flat], by=[("rows", ">=")], thresholds=path)(5)


def test_a_file_of_another_program_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the header in C tells it; not while it is tuned, when thresholds come one after the other."""
    path = tmp_path / "f.tuning"
    path.write_text("-- thresholds of other.py\ng.rows=5\n")
    function = kw.versions("f", [outer, flat], by=[("rows", ">=")], thresholds=path)
    with pytest.warns(
        UserWarning, match=r"f\.tuning has no threshold for guard f\.rows, whose .* not taken; it has g\.rows"
    ):
        assert function(9) == "flat"
    assert function(9) == "flat"  # said once
    monkeypatch.setenv("KW_TUNING", "1")
    assert kw.versions("f", [outer, flat], by=[("rows", ">=")], thresholds=path)(9) == "flat"
    monkeypatch.delenv("KW_TUNING")
    path.write_text("-- nothing was tuned\n")
    assert kw.versions("f", [outer, flat], by=[("rows", ">=")], thresholds=path)(9) == "flat"


def test_deciding_is_measured() -> None:
    function = kw.versions("f", [outer, block, flat], by=BY)
    seen: list[Compared] = []
    function.watch = seen.append
    assert 0 < function.dispatch_us(5, 7) < 1000 and not seen


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ([("rows", ">=")], "3 versions and 1 guards"),
        ([("rows", ">="), (" rows", ">=")], "two guards are called 'f.rows'"),
        ([("rows", ">"), ("columns", ">=")], "compares by '>'"),
        ([("height", ">="), ("columns", ">=")], "needs height, and the arguments are rows, columns"),
        ([("rows *", ">="), ("columns", ">=")], "is no expression"),
    ],
)
def test_guards_that_are_wrong_are_told(by: list[tuple[str, str]], said: str) -> None:
    with pytest.raises(Misuse, match=said):
        kw.versions("f", [outer, block, flat], by=by)


@pytest.mark.parametrize(
    "text", ["f(rows)", "rows.__class__", "rows if rows else 1", "rows / 2", "1.5", "[rows]", "rows == 1"]
)
def test_expressions_only_compute(text: str) -> None:
    with pytest.raises(Misuse):
        guard_expression(text)


def test_a_value_that_is_no_number_is_told() -> None:
    with pytest.raises(Misuse, match="is 'x', no whole number"):
        guard_expression("rows").value({"rows": "x"})
    assert guard_expression("max(rows, 2) // 2 % 3").value({"rows": np.int32(10)}) == 2
