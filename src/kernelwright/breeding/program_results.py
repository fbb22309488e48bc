"""What running a program gives: an answer for each case, or the reason why there are none."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from kernelwright.errors import CompileError
from kernelwright.evaluate.outcome import Rejected
from kernelwright.farm.bundle_runner import BundleRunner, Ran
from kernelwright.farm.lost_items import Raised

Answers = NDArray[Any] | Rejected

DEEP = 20_000
"""Levels of calls: programs are read and interpreted by recursion, and a long sum is a deep tree."""


def allow_deep_calls() -> None:
    """Lets this process call as deeply as programs need."""
    sys.setrecursionlimit(max(DEEP, sys.getrecursionlimit()))


def answers_to(runner: BundleRunner[Answers], texts: Sequence[str]) -> list[Answers]:
    """What each program gives, in their order."""
    return [answers_of(each) for each in runner.run(texts)]


def answers_of(ran: Ran[Answers]) -> Answers:
    """What a program gave; a rejection for one that does not compile. Raises what else has failed."""
    if not isinstance(ran.result, Raised):
        return ran.result
    if isinstance(ran.result.error, CompileError):
        return not_compiled(ran.result.error)
    raise ran.result.error


def not_compiled(error: CompileError) -> Rejected:
    """The rejection of a program that a compiler has refused."""
    place = error.place
    where = f"column {place.column} of {place.text.strip()[:80]!r}" if place and place.text and place.column else ""
    return Rejected("compile", error.message, where)
