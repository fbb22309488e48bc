"""Programs judged, in the farm's workers: compiled, run on all cases, and the fitness function asked what the answers are worth."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from kernelwright.breeding.back_end_table import back_end
from kernelwright.breeding.program_results import Answers, allow_deep_calls, answers_of
from kernelwright.errors import Misuse
from kernelwright.evaluate.judging.fitness import Evaluated
from kernelwright.evaluate.outcome import Metrics, Ok, Outcome, Rejected
from kernelwright.farm.bundle_runner import Ran
from kernelwright.grammar import Problem, load_problem

FITNESS = "fitness"
"""The name of the figure in outcomes."""


def judging(
    path: str, backend: str, timeout_s: float, held_out: bool = False
) -> Callable[[list[str]], list[Evaluated]]:
    """The set-up of a worker: the problem of a file, and a way to run programs. ``held_out``: on the inputs held out."""
    allow_deep_calls()
    problem = load_problem(Path(path))
    if held_out:
        problem = problem.on_held_out or problem
    runner = back_end(backend).runner(problem)

    def work(texts: list[str]) -> list[Evaluated]:
        return [_judged(problem, each, timeout_s) for each in runner.run(texts)]

    return work


def _judged(problem: Problem, ran: Ran[Answers], timeout_s: float) -> Evaluated:
    """With its share of the seconds that its bundle took: ``compile``, where anything was compiled, and ``run``, its fitness
    included. A fitness function that raises or hangs harms one program only."""
    begin = time.perf_counter()
    answers = answers_of(ran)
    outcome = answers if isinstance(answers, Rejected) else _worth(problem, answers, timeout_s)
    run_s = ran.run_s + time.perf_counter() - begin
    timings = {"compile": ran.compile_s, "run": run_s} if ran.compile_s else {"run": run_s}
    return Evaluated(outcome, "", timings=timings)


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
