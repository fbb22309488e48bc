"""The order of search: cycles in grains of half a percent, then code size, then edits."""

from __future__ import annotations

import pytest

from kernelwright.device.model.search_order import search_key
from kernelwright.errors import Misuse


def test_gains_too_small_to_tell_are_none() -> None:
    reference = 1234.5
    same = search_key(reference, 100, 0, reference)
    assert search_key(reference * 0.9951, 100, 0, reference) == same
    assert search_key(reference * 0.994, 100, 0, reference) < same
    assert search_key(reference * 1.001, 100, 0, reference) > same


def test_the_reference_itself_is_two_hundred_grains() -> None:
    assert {
        search_key(c, 1, 0, c).cycles for c in (0.1, 3.0, 7.7, 1234.5, 1e9 / 3, *(n / 7 for n in range(1, 500)))
    } == {200}


def test_ties_go_to_less_code_then_fewer_edits() -> None:
    """A genome that grows by edits which do nothing loses to the one without them."""
    reference = 1000.0
    best = search_key(899.9, 90, 3, reference)
    assert best < search_key(896.0, 91, 1, reference)  # half a percent is no gain, an instruction is
    assert best < search_key(899.9, 90, 4, reference)
    assert search_key(890.0, 200, 50, reference) < best
    assert sorted([search_key(c, 10, e, reference) for c, e in ((999.0, 2), (1000.0, 1), (500.0, 9))])[0].edits == 9


def test_a_reference_of_nothing_is_refused() -> None:
    with pytest.raises(Misuse, match="must be positive"):
        search_key(1.0, 1, 0, 0.0)
