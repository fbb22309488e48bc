"""Options are values that print, parse, and refuse what they do not know."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.errors import Misuse
from kernelwright.passes.options import PassOptions
from kernelwright.passes.pipeline import STEPS, THRESHOLDS

OPTIONAL = [s.short for s in STEPS if s.optional]

options = st.builds(
    PassOptions.of,
    st.integers(0, 3),
    st.sets(st.sampled_from(OPTIONAL)),
    st.dictionaries(st.sampled_from(sorted(THRESHOLDS)), st.integers(0, 10_000)),
)


@given(options)
def test_text_round_trips(value: PassOptions) -> None:
    assert PassOptions.parse(str(value)) == value
    assert pickle.loads(pickle.dumps(value)) == value
    assert hash(PassOptions.parse(str(value))) == hash(value)


@given(options, options)
def test_different_options_print_differently(a: PassOptions, b: PassOptions) -> None:
    """The text goes into cache keys."""
    assert (str(a) == str(b)) == (a == b)


def test_names_resolve_and_order_does_not_matter() -> None:
    a = PassOptions.of(2, ["straight-line strength reduction", "nary"], {"unroll": 5, "inline": 7})
    b = PassOptions.of(2, ["gra", "slsr", "slsr"], {"inline": 7, "unroll": 5})
    assert a == b
    assert str(a) == "-O2 -gra -slsr inline=7 unroll=5"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: PassOptions.of(3, ["slrs"]), "did you mean slsr"),
        (lambda: PassOptions.of(3, ["memory-space infrence"]), "memory-space inference"),
        (lambda: PassOptions.of(3, ["zzzzzz"]), "there are "),
        (lambda: PassOptions.of(3, thresholds={"unrol": 1}), "did you mean unroll"),
        (lambda: PassOptions.of(3, ["reflect"]), "cannot be left out"),
        (lambda: PassOptions.of(4), "-O0, -O1, -O2 or -O3"),
        (lambda: PassOptions.of(-1), "no optimisation level -1"),
        (lambda: PassOptions.of(3, thresholds={"inline": -1}), "inline=-1"),
        (lambda: PassOptions(3, frozenset({"nary"})), "another name of 'gra'"),
        (lambda: PassOptions(3, frozenset(), (("unroll", 1), ("inline", 1))), "sorted by name"),
        (lambda: PassOptions.parse("-O3 slsr"), "'slsr' is neither"),
        (lambda: PassOptions.parse("inline=many"), "inline=many"),
    ],
)
def test_what_is_wrong_is_misuse_and_says_what_to_do(make: object, said: str) -> None:
    with pytest.raises(Misuse) as error:
        make()  # type: ignore[operator]
    assert said in str(error.value)
    assert "next: " in str(error.value)
