"""Tables of figures as the commands print them."""

from __future__ import annotations

import pytest

from kernelwright.cli.support.tables import print_rows


def test_long_texts_are_folded_and_not_cut(capsys: pytest.CaptureFixture[str]) -> None:
    path = "".join(f"/folder{n}" for n in range(60))
    print_rows([{"what": "libdevice", "found": path, "fix": ""}])
    printed = capsys.readouterr().out
    assert path in "".join(printed.split()) and max(map(len, printed.splitlines())) <= 200


def test_numbers_stand_to_the_right_and_none_is_empty(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows([{"name": "a", "ms": 5}, {"name": "b", "ms": None}, {"name": "c", "ms": 1000}])
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()[:4]] == [
        "name    ms",
        "a        5",
        "b",
        "c     1000",
    ]
