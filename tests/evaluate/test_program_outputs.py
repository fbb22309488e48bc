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


def test_a_further_run_narrows_what_is_known() -> None:
    """The first two took as long, or drew their random numbers from the same second."""
    stable = StableOutputs.of({"stdout": FIRST, "out": b"1"}, {"stdout": FIRST, "out": b"1"})
    assert stable.is_whole
    assert isinstance(stable.judge({"stdout": SECOND, "out": b"1"}, Rules()), Rejected)
    narrowed = stable.narrowed({"stdout": SECOND, "out": b"1"})
    assert not narrowed.is_whole and narrowed.left_out == 0
    right = narrowed.judge({"stdout": b"sum 42\ntook 9 ms\nlast 7\n", "out": b"1"}, Rules())
    assert isinstance(right, Ok) and right.metrics[LINES_LEFT_OUT] == 1
    assert isinstance(narrowed.judge({"stdout": SECOND.replace(b"42", b"43"), "out": b"1"}, Rules()), Rejected)


def test_lines_are_narrowed_again_and_again() -> None:
    lines = [
        b"a 1\nb 2\nc 3\nd 4\n",
        b"a 9\nb 2\nc 3\nd 4\n",
        b"a 9\nb 9\nc 3\nd 4\n",
        b"c 3\nx\nd 4\n",
        b"d 4\n",
        b"e\n",
    ]
    stable, left = StableOutputs.of({"stdout": lines[0]}, {"stdout": lines[1]}), []
    for text in lines[2:]:
        stable = stable.narrowed({"stdout": text})
        left.append(stable.compared_bytes)
    assert left == [len("c 3d 4"), len("c 3d 4"), len("d 4"), 0] and stable.left_out == 1
    assert stable.narrowed({}).left_out == 1
