"""What a worker of a pool answered about one candidate, as an outcome: also where the worker did not survive it."""

from __future__ import annotations

from kernelwright.errors import KernelwrightError, Misuse
from kernelwright.evaluate.judging.fitness import Evaluated
from kernelwright.evaluate.outcome import Rejected
from kernelwright.farm import Lost, Raised


def read_answer(answer: object) -> Evaluated:
    """A candidate that ends its worker has that as its outcome. Raises ``Misuse`` where the worker did: it is the user's."""
    if isinstance(answer, Lost):
        return Evaluated(Rejected(answer.stage, answer.reason), "")
    if isinstance(answer, Raised):
        if isinstance(answer.error, Misuse):
            raise answer.error
        # A defect of ours that one candidate brings to light is no reason to lose the others; it is counted and shown.
        stage = "compile" if isinstance(answer.error, KernelwrightError) else "crash"
        return Evaluated(Rejected(stage, f"it could not be evaluated: {answer.reason}"), "")
    assert isinstance(answer, Evaluated)
    return answer
