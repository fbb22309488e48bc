"""Rules of comparison against exact arithmetic, element by element, and on everything a candidate may produce."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from kernelwright.errors import Misuse
from kernelwright.evaluate.workload.comparison import (
    Absolute,
    Change,
    Exact,
    Gevo,
    Given,
    Ignore,
    Metric,
    Relative,
    Rule,
    Spread,
    Ulp,
    judge,
)

Array = NDArray[Any]
TYPES = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
RULES: list[Rule] = [
    Exact(), Absolute(0.5), Relative(0.01), Relative(0.01, 1e-3), Ulp(4), Change(0.01), Spread(0.01), Gevo(0.01),
]  # fmt: skip


def arrays_of(kind: str) -> st.SearchStrategy[tuple[Array, Array, Array]]:
    shape = hnp.array_shapes(min_dims=1, max_dims=2, max_side=5)
    return shape.flatmap(lambda s: st.tuples(*(hnp.arrays(np.dtype(kind), s) for _ in range(3))))


PAIRS = st.sampled_from(TYPES).flatmap(arrays_of)


def exact_distance(found: Any, expected: Any) -> Fraction | float:
    """The difference of two numbers in exact arithmetic, by the rules for NaN and infinity."""
    f, e = float(found), float(expected)
    if isinstance(found, np.integer):
        return abs(Fraction(int(found)) - int(expected))
    if f == e or (math.isnan(f) and math.isnan(e)):
        return Fraction(0)
    if not (math.isfinite(f) and math.isfinite(e)):
        return math.inf
    return abs(Fraction(f) - Fraction(e))


def close(figure: float, exact: Fraction | float) -> bool:
    if exact == 0 or exact == math.inf:
        return figure == exact
    # Differences beyond the largest double are infinite; those below the smallest are at least not zero.
    if exact > Fraction(1.7e308):
        return figure > 1e308
    return abs(figure - float(exact)) <= 1e-12 * float(exact) + 1e-320


@given(PAIRS)
def test_absolute_figure_is_the_largest_exact_difference(pair: tuple[Array, Array, Array]) -> None:
    found, expected, _ = pair
    exact = max(exact_distance(f, e) for f, e in zip(found.ravel(), expected.ravel(), strict=True))
    verdict = judge(Absolute(1e-3), found, expected)
    assert close(verdict.figure, exact)
    assert verdict.accepted == (verdict.figure <= 1e-3)


@given(PAIRS, st.floats(0, 10))
def test_relative_figure_in_exact_arithmetic(pair: tuple[Array, Array, Array], floor: float) -> None:
    found, expected, _ = pair
    worst: Fraction | float = Fraction(0)
    for f, e in zip(found.ravel(), expected.ravel(), strict=True):
        far = exact_distance(f, e)
        if far and far != math.inf:
            size = max(abs(Fraction(int(e)) if isinstance(e, np.integer) else Fraction(float(e))), Fraction(floor))
            far = far / size if size else math.inf
        worst = max(worst, far)
    assert close(judge(Relative(0.5, floor), found, expected).figure, worst)


@given(st.sampled_from(["f2", "f4", "f8"]).flatmap(arrays_of))
def test_ulp_counts_the_steps_between(pair: tuple[Array, Array, Array]) -> None:
    found, _, _ = pair
    finite = np.nan_to_num(found, nan=1.0, posinf=2.0, neginf=-2.0)
    stepped = finite
    with np.errstate(over="ignore"):
        for _ in range(3):
            stepped = np.nextafter(stepped, np.array(np.inf, found.dtype))
    if np.isfinite(stepped).all():
        assert judge(Ulp(3), stepped, finite).figure == 3
        assert judge(Ulp(3), finite, stepped).accepted
        assert not judge(Ulp(2), stepped, finite).accepted


def test_ulp_across_zero_and_of_integers() -> None:
    least = np.array([5e-324])
    assert judge(Ulp(2), least, -least).figure == 2
    assert judge(Ulp(0), np.array([0.0]), np.array([-0.0])).figure == 0
    assert judge(Ulp(3), np.array([2], np.int8), np.array([-1], np.int8)).figure == 3
    assert judge(Ulp(1e9), np.array([np.inf]), np.array([1.7e308])).figure == math.inf


@pytest.mark.parametrize("rule", RULES, ids=str)
@given(pair=PAIRS)
def test_every_rule_finds_equal_equal_and_different_different(rule: Rule, pair: tuple[Array, Array, Array]) -> None:
    found, expected, before = pair
    earlier = Given(before, (found,))
    assert judge(rule, expected.copy(), expected, earlier).figure == 0
    verdict = judge(rule, found, expected, earlier)
    same = np.array_equal(found, expected, equal_nan=found.dtype.kind == "f")
    assert (verdict.figure == 0) == same, verdict
    assert verdict.figure >= 0 and not math.isnan(verdict.figure)
    assert verdict.accepted == (verdict.figure <= rule.tolerance) and bool(verdict.sentence) != verdict.accepted


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize(
    ("found", "expected"), [(math.nan, 1), (1, math.nan), (math.inf, 1), (1, -math.inf), (math.inf, -math.inf)]
)
def test_a_nan_or_infinity_in_one_alone_is_infinitely_far(rule: Rule, found: float, expected: float) -> None:
    values = np.array([[0.0, 1.0, 2.0]] * 2)
    values[0, 1], values[1, 1] = found, expected
    verdict = judge(rule, values[0], values[1], Given(np.zeros(3)))
    assert verdict.figure == math.inf and not verdict.accepted


@pytest.mark.parametrize("rule", [*RULES, Metric(lambda f, e: 0.0, 1.0)], ids=str)
def test_shape_and_type_must_agree(rule: Rule) -> None:
    expected = np.zeros(6, np.float32)
    for found, says in ((expected.reshape(2, 3), "shape"), (expected[:5], "shape"), (np.zeros(6), "float64")):
        verdict = judge(rule, found, expected)
        assert not verdict.accepted and verdict.figure == math.inf and says in verdict.sentence


def test_integers_do_not_overflow() -> None:
    low, high = np.array([np.iinfo(np.int64).min]), np.array([np.iinfo(np.int64).max])
    assert judge(Absolute(1), low, high).figure == 2.0**64
    assert judge(Absolute(1), np.array([0], np.uint8), np.array([255], np.uint8)).figure == 255
    # Two numbers that no double tells apart.
    assert judge(Exact(), np.array([2**62]), np.array([2**62 + 1])).figure == 1


def test_a_sentence_shows_the_worst_element() -> None:
    found, expected = np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3)
    found[1, 2], found[0, 0] = 9.0, 0.5
    verdict = judge(Exact(), found, expected)
    assert "2 of 6" in verdict.sentence and "[1, 2] = 9.0, expected 5.0" in verdict.sentence


def test_complex_truth_and_records() -> None:
    z = np.array([1 + 2j, 3 - 1j])
    assert judge(Absolute(1), z + 0.5j, z).figure == 0.5
    yes = np.array([True, False])
    assert judge(Exact(), ~yes, yes).figure == 1
    record = np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")])
    other = record.copy()
    assert judge(Relative(0.1), other, record).accepted
    other["b"] = 2.0000001
    assert not judge(Relative(0.1), other, record).accepted  # no size to be relative to: byte by byte
    with pytest.raises(Misuse, match="Python objects"):
        judge(Exact(), np.array([None]), np.array([1], dtype=object))


def test_other_byte_orders_and_layouts() -> None:
    big = np.arange(12, dtype=">f4").reshape(3, 4)
    assert judge(Ulp(1), big.T.copy().T, big).figure == 0
    moved = big.copy()
    moved[0, 0] = np.nextafter(np.float32(0), np.float32(1))
    assert judge(Ulp(1), moved, big).figure == 1


def test_empty_arrays_agree() -> None:
    assert judge(Change(0.1), np.zeros((0, 3)), np.zeros((0, 3))).figure == 0


# -- change, spread, gevo ----------------------------------------------------------------------------------------------

HOT = np.linspace(320, 345, 100)


def test_hotspot_doing_nothing_passes_gevo_but_not_change() -> None:
    expected = HOT * 1.0006
    assert judge(Gevo(0.01), HOT, expected).accepted
    assert judge(Change(0.01), HOT, expected, Given(before=HOT)).figure == pytest.approx(1)
    # The usual form: the kernel writes a changed copy to a buffer that held anything.
    for before in (np.zeros(100), np.full(100, -4.3e8), None):
        assert judge(Change(0.01), HOT, expected, Given(before, (HOT,))).figure == pytest.approx(1)


@given(
    hnp.arrays(np.float64, 8, elements=st.floats(-1e6, 1e6)), hnp.arrays(np.float64, 8, elements=st.floats(-1e6, 1e6))
)
def test_leaving_a_buffer_as_it_was_never_passes_change(before: Array, expected: Array) -> None:
    verdict = judge(Change(0.99), before, expected, Given(before))
    assert verdict.figure == 0 or verdict.figure >= 1


def test_change_is_not_inflated_by_what_memory_held() -> None:
    expected = np.array([1.0, 2.0, 3.0])
    wild = Given(np.full(3, 1e30))
    assert judge(Change(0.01), expected + 0.5, expected, wild).figure == pytest.approx(0.5 / 2)
    # One element has no spread; its own size is what there is.
    assert judge(Change(0.01), np.array([101.0]), np.array([100.0]), Given(np.array([1e30]))).figure == pytest.approx(
        0.01
    )


def test_a_spread_of_rounding_alone_is_no_scale() -> None:
    ones = np.ones(100, np.float32)
    ones[::2] = np.nextafter(np.float32(1), np.float32(2))
    found = ones[::-1].copy()
    assert judge(Change(1e-4), found, ones, Given(np.zeros(100, np.float32))).accepted


def test_a_buffer_that_should_not_change_must_not() -> None:
    assert judge(Change(0.5), HOT + 1e-9, HOT, Given(HOT)).figure == math.inf


def test_spread_is_of_the_bulk() -> None:
    expected = np.linspace(0, 1, 1000)
    expected[7] = 3e38  # a sentinel must not make everything close
    found = expected.copy()
    found[0] += 0.5
    assert 0.4 < judge(Spread(0.01), found, expected).figure < 0.7
    # Nearly all equal: the spread is then that of all.
    rare = np.zeros(100)
    rare[3] = 10.0
    assert judge(Spread(0.01), rare + 1, rare).figure == pytest.approx(0.1)
    assert judge(Spread(0.01), np.full(5, 2.0), np.full(5, 3.0)).figure == math.inf


def test_gevo_takes_negative_numbers_by_their_size() -> None:
    assert judge(Gevo(0.01), np.array([-2.0]), np.array([-1.0])).figure == 1


# -- metrics -----------------------------------------------------------------------------------------------------------


def share_of_wrong_labels(found: Array, expected: Array) -> float:
    return float(np.mean(found.round() != expected))


def raises(found: Array, expected: Array) -> float:
    raise IndexError("no such label")


@pytest.mark.parametrize("function", [share_of_wrong_labels, f"{__name__}:share_of_wrong_labels"])
def test_a_metric_of_the_users_own(function: Any) -> None:
    found, expected = np.array([0.2, 1.4, 2.0, 7.0]), np.array([0.0, 1.0, 2.0, 3.0])
    assert judge(Metric(function, 0.3), found, expected).figure == 0.25
    assert judge(Metric(function, 0.3), found, expected).accepted
    assert not judge(Metric(function, 0.2), found, expected).accepted


def test_a_metric_is_asked_about_equal_outputs_too() -> None:
    assert judge(Metric(lambda f, e: 0.75, 0.5), HOT, HOT).figure == 0.75


@pytest.mark.parametrize(
    ("function", "says"), [(raises, "no such label"), (lambda f, e: "many", "could not convert"), (lambda f, e: math.nan, "inf")]
)  # fmt: skip
def test_a_metric_that_fails_rejects(function: Any, says: str) -> None:
    verdict = judge(Metric(function, 1e9), HOT, HOT)
    assert not verdict.accepted and verdict.figure == math.inf and says in verdict.sentence


def test_a_metric_below_zero_counts_as_zero() -> None:
    assert judge(Metric(lambda f, e: -0.1, 0.0), HOT, HOT).figure == 0


@pytest.mark.parametrize("name", ["no_such_module:f", f"{__name__}:no_such", f"{__name__}:HOT"])
def test_a_metric_that_is_not_there(name: str) -> None:
    with pytest.raises(Misuse, match=r"metric|function"):
        judge(Metric(name, 0.1), HOT, HOT)


def test_ignored_memory_may_hold_anything() -> None:
    assert judge(Ignore(), np.zeros(3), np.ones((4, 4))).accepted
