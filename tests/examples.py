"""How many examples a property is tried on: a few in the fast tests, drawn anew every time, all of them in ``make slow``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

FEWER = 3

_all = False


def try_all() -> None:
    """From now on ``few`` is all. For conftest, before any test is read."""
    global _all
    _all = True


def first_of(values: Iterable[Any], *, several: bool = False) -> list[Any]:
    """Parameters of a test: the first is tried in the fast tests, all in ``make slow``. ``several``: a value is a tuple of a number of
    them."""
    first, *others = values
    return [first, *(pytest.param(*(value if several else (value,)), marks=pytest.mark.slow) for value in others)]


def few(count: int) -> int:
    """``count`` in ``make slow``, a third of it else, and never less than ten."""
    return count if _all else max(min(count, 10), count // FEWER)
