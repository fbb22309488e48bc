"""What a pool says of a candidate, read as an outcome."""

from __future__ import annotations

import pytest

from kernelwright.errors import CompileError, Misuse
from kernelwright.evaluate.judging.fitness import Evaluated
from kernelwright.evaluate.judging.worker_answer import read_answer
from kernelwright.evaluate.outcome import Ok, Rejected
from kernelwright.farm import Lost, Raised


def test_every_end_of_a_worker_is_an_outcome() -> None:
    done = Evaluated(Ok(1.0, 0.0), "key")
    assert read_answer(done) is done
    assert read_answer(Lost("crash", "killed by signal 11")).outcome == Rejected("crash", "killed by signal 11")
    ours = read_answer(Raised(ZeroDivisionError("by zero"))).outcome
    theirs = read_answer(Raised(CompileError("no such type"))).outcome
    assert isinstance(ours, Rejected) and ours.stage == "crash" and "by zero" in ours.reason
    assert isinstance(theirs, Rejected) and theirs.stage == "compile"


def test_a_mistake_of_the_user_is_not_the_candidates() -> None:
    with pytest.raises(Misuse, match="no such input"):
        read_answer(Raised(Misuse("no such input")))
