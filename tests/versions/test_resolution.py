"""Comparing times: exact ones, noisy ones, failed ones."""

from __future__ import annotations

import math

from kernelwright.versions.resolution import Resolution, Times, Verdict, uncertainty

EXACT, NOISY = Resolution.exact(), Resolution.noisy(0.02, most_runs=10)


def test_exact_times_need_one_run() -> None:
    assert EXACT.verdict(Times([1.0]), Times([1.0000001])) is Verdict.FASTER
    assert EXACT.verdict(Times([1.0]), Times([1.0])) is Verdict.TIE


def test_a_failure_is_slower_than_anything() -> None:
    failed = Times([], failed=True)
    assert EXACT.verdict(failed, Times([1e30])) is Verdict.SLOWER and math.isinf(failed.mean)
    assert NOISY.verdict(Times([1e30]), failed) is Verdict.FASTER
    assert NOISY.verdict(failed, failed) is Verdict.TIE


def test_few_noisy_runs_decide_nothing() -> None:
    assert NOISY.verdict(Times([1.0]), Times([2.0])) is Verdict.OPEN
    assert NOISY.verdict(Times([1.0, 1.2, 0.8, 1.0]), Times([1.05, 1.1, 1.0, 1.05])) is Verdict.OPEN


def test_times_that_agree_within_the_resolution_tie() -> None:
    close = [1.0, 1.0001, 0.9999, 1.0]
    assert NOISY.verdict(Times(close), Times([t + 0.001 for t in close])) is Verdict.TIE
    assert NOISY.verdict(Times(close), Times([t + 0.02 for t in close])) is Verdict.FASTER


def test_an_undecided_comparison_ends_as_a_tie() -> None:
    wild = [1.0, 3.0, 0.5, 2.0, 1.5] * 2
    assert NOISY.verdict(Times(wild), Times([t * 1.1 for t in wild])) is Verdict.TIE


def test_the_interval_is_that_of_the_t_distribution() -> None:
    """SciPy's ``ttest_ind(..., equal_var=False).confidence_interval(0.999)`` of these, to the precision of the table."""
    half = 5.699099880691374
    first, second = [10.0, 10.4, 9.7, 10.1, 10.2, 9.9], [11.0, 12.5, 10.2, 11.7]
    assert half <= uncertainty(Times(first), Times(second)) <= 1.5 * half
