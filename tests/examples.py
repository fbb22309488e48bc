"""How many examples a property is tried on: a few in the fast tests, drawn anew every time, all of them in ``make slow``."""

from __future__ import annotations

FEWER = 3

_all = False


def try_all() -> None:
    """From now on ``few`` is all. For conftest, before any test is read."""
    global _all
    _all = True


def few(count: int) -> int:
    """``count`` in ``make slow``, a third of it else, and never less than ten."""
    return count if _all else max(min(count, 10), count // FEWER)
