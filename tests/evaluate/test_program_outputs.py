"""Outputs of programs that differ from run to run: the lines that do are left out, the rest is compared, and how much is said."""

from __future__ import annotations

import pytest

from kernelwright.evaluate.judging.program_outputs import COMPARED, FILES_LEFT_OUT, LINES_LEFT_OUT, StableOutputs
from kernelwright.evaluate.outcome import Ok, Rejected
from kernelwright.evaluate.workload.rule_text import Rules, parse_rules

FIRST = b"sum 42\ntook 12.3 ms\nlast 7\n"
SECOND = b"sum 42\ntook 11.9 ms\nlast 7\n"


def judged(found: bytes, rules: Rules | None = None, *, first: bytes = FIRST, second: bytes = SECOND) -> Ok | Rejected:
    stable = StableOutputs.of({"stdout": first}, {"stdout": second})
    return stable.judge({"stdout": found}, rules or Rules())


def test_a_line_with_a_time_does_not_hide_the_rest() -> None:
    right = judged(b"sum 42\ntook 99 ms\nlast 7\n")
    assert (
        isinstance(right, Ok) and right.metrics[COMPARED] == len("sum 42last 7") and right.metrics[LINES_LEFT_OUT] == 1
    )
    wrong = judged(b"sum 43\ntook 99 ms\nlast 7\n")
    assert isinstance(wrong, Rejected) and wrong.stage == "compare" and "expected 42" in wrong.reason


def test_rules_hold_for_what_is_compared() -> None:
    assert isinstance(judged(b"sum 43\ntook 9 ms\nlast 7\n", parse_rules("relative 10%")), Ok)


@pytest.mark.parametrize("found", [b"sum 42\nlast 7\n", b"", b"sum 42\ntook 1 ms\nlast 7\nmore\n"])
def test_another_number_of_lines_is_wrong(found: bytes) -> None:
    assert "lines, expected 3" in judged(found).reason  # type: ignore[union-attr]


def test_texts_of_different_lengths_are_compared_in_order() -> None:
    first, second = b"a 1\nwait\nwait\nb 2\n", b"a 1\nwait\nb 2\n"
    assert isinstance(judged(b"a 1\nwait\nwait\nwait\nb 2\n", first=first, second=second), Ok)
    lacking = judged(b"a 1\nwait\nwait\nb 3\n", first=first, second=second)
    assert isinstance(lacking, Rejected) and "'b 2'" in lacking.reason
    assert isinstance(judged(b"b 2\nwait\na 1\n", first=first, second=second), Rejected)


def test_what_has_nothing_in_common_is_not_compared() -> None:
    for first, second in ((b"1.5 ms\n", b"1.6 ms\n"), (b"\xff\x00", b"\xff\x01"), (b"\n1\n", b"\n2\n")):
        found = judged(b"anything", first=first, second=second)
        assert isinstance(found, Ok) and found.metrics[COMPARED] == 0 and found.metrics[FILES_LEFT_OUT] == 1


def test_a_file_that_is_not_written_any_more_is_missed() -> None:
    stable = StableOutputs.of({"out": b"1", "stdout": FIRST}, {"out": b"1", "stdout": SECOND})
    assert stable.judge({"stdout": FIRST}, Rules()) == Rejected("program", "it wrote no out")
