"""Programs judged, in worker processes: run on all cases, and the fitness function asked what the answers are worth."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from kernelwright.errors import Misuse
from kernelwright.evaluate.outcome import Metrics, Ok, Outcome, Rejected
from kernelwright.grammar import Problem, load_problem
from kernelwright.stories.breeding.executor import Answers, deep
from kernelwright.stories.breeding.table import executor

FITNESS = "fitness"
"""The name of the figure in outcomes."""


def judging(path: str, backend: str, timeout_s: float) -> Callable[[list[str]], list[Outcome]]:
    """The set-up of a worker: the problem of a file, and a way to run programs."""
    deep()
    problem = load_problem(Path(path))
    running = executor(backend, problem)

    def work(texts: list[str]) -> list[Outcome]:
        return judge(problem, running.answers(texts), timeout_s)

    return work


def judge(problem: Problem, answers: Sequence[Answers], timeout_s: float) -> list[Outcome]:
    """What became of each: its fitness, or why it has none. A fitness function that raises or hangs harms one program only."""
    return [each if isinstance(each, Rejected) else _worth(problem, each, timeout_s) for each in answers]


def worth_of(fitness: float) -> Ok:
    """The outcome of a program that has a fitness."""
    return Ok(0.0, 0.0, Metrics({FITNESS: fitness}))


def _worth(problem: Problem, answers: Any, timeout_s: float) -> Outcome:
    before = signal.signal(signal.SIGALRM, _late)
    _late.warned = False
    signal.setitimer(signal.ITIMER_REAL, timeout_s, timeout_s)
    try:
        worth = problem.worth(answers)
    except _Late:
        return Rejected("timeout", f"the fitness function did not end within {timeout_s:g} s")
    except Misuse as error:
        return Rejected("crash", error.message)
    except (Exception, SystemExit) as error:
        said = f": {error}" if str(error) else ""
        return Rejected("crash", f"the fitness function raised {type(error).__name__}{said}", _where(error))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    if worth is None:
        return Rejected("compare", "its fitness is no finite number")
    return worth_of(worth)


class _Late(BaseException):
    """Not an ``Exception``: a fitness function that catches those does not catch it."""


class _Alarm:
    """What happens when the time is up: the fitness function ends; one that goes on nevertheless ends its process."""

    def __init__(self) -> None:
        self.warned = False

    def __call__(self, number: int, frame: FrameType | None) -> NoReturn:
        if self.warned:
            print("the fitness function goes on when its time is up", file=sys.stderr, flush=True)
            os._exit(1)
        self.warned = True
        raise _Late


_late = _Alarm()


def _where(error: BaseException) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{last.filename}:{last.lineno}"
