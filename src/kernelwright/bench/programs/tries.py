"""A program that was built is run to its end, at full size or smaller, in the time that it is given; and why it could not.

All tries share the time of the program: each but the last has a quarter of it. The first that ends in its time counts; one that was made
smaller and fails is tried smaller still, since sizes that do not fit each other are no fault of the program or of ours. Who knows that
nothing ends at full size begins with a divisor, and comes to the arguments as they are last.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

from kernelwright.bench.programs.shrinking import LAST, reduced
from kernelwright.bench.programs.steps import Step, Steps, folder_of
from kernelwright.lazy_dataclasses import dataclass

STEP = 8
_PATH = re.compile(r"^[\w.+-]*(/[\w.+-]+)+$|^[\w+-]+\.[A-Za-z][\w.]{1,6}$")
_OUTPUT = re.compile(r"out|result|log|dump", re.I)
_NO_FILE = re.compile(
    r"(no such file|file not found|(cannot|can't|can not|could ?n[o']t|couldn.t|unable to|fail(ed|ure)? to|fail(ed|ure)?|error)[^\n]{0,24}"
    r"(open|opening|read|reading|load|loading|find)[^\n]{0,60}(file|\.\w{2,5}\b|['\"/]))",
    re.I,
)
_TOO_LARGE = re.compile(r"out of memory|bad_alloc|memory ?allocation|SIGKILL|cannot allocate", re.I)


@dataclass(frozen=True)
class Run:
    """``commands``: how it was run in the end. ``size``: empty, or what was made smaller. ``seconds``: of that run alone."""

    step: Step
    commands: tuple[tuple[str, ...], ...]
    size: str
    seconds: float
    missing: str = ""
    """A data file that the program wants and that is not there."""


@dataclass(frozen=True)
class Way:
    """How commands are made smaller: by a divisor, and what the row says of it; nothing where they are as they were given."""

    divisor: int
    size: str
    commands: Sequence[Sequence[str]]


def ways_to_run(given: Sequence[Sequence[str]], first: int = 1, repetitions: Collection[int] = ()) -> list[Way]:
    """What is tried in turn: the commands with their arguments divided by ``first``, by 8 times that and so on, up to 512; then, where
    ``first`` is not 1, by an eighth of it and so on, and last as they are. Those of ``repetitions`` are 1 but then."""
    divisors = [first]
    while divisors[-1] < LAST:
        divisors.append(divisors[-1] * STEP)
    while first > 1:
        first //= STEP
        divisors.append(max(1, first))
    ways: list[Way] = []
    for divisor in divisors:
        commands = [reduced(command, divisor, repetitions) for command in given]
        if all(commands != way.commands for way in ways):
            is_whole = commands == [list(command) for command in given]
            ways.append(Way(divisor, "" if is_whole else f"arguments / {divisor}", commands))
    return ways


def run_to_end(
    given: Sequence[Sequence[str]], at: Path, steps: Steps, limit_s: float, shrinks: Sequence[Callable[[], str]] = (),
    first_divisor: int = 1, repetitions: Collection[int] = (),
) -> Run:  # fmt: skip
    """``shrinks``: each makes the program itself smaller than the one before and builds it anew, and says how; empty when it cannot."""
    ways = ways_to_run(given, first_divisor, repetitions)
    smallest = max(ways, key=lambda way: way.divisor)
    left = limit_s
    first: Run | None = None
    why, late_from = "", 0
    for way in ways:
        if way.divisor < late_from:
            continue  # it is larger than one that was late
        is_last = not shrinks and way is (smallest if late_from else ways[-1])
        done = _tried(way.size, way.commands, at, steps, left if is_last else limit_s / 4)
        left -= done.seconds
        if done.step.ended_well or (not way.size and not done.step.is_late and not _TOO_LARGE.search(_all_said(done))):
            return done  # as it was given, whatever smaller ones came to
        first = first or done
        if done.step.is_late:
            late_from = max(late_from, way.divisor)
        elif way.size:
            why = done.step.cause
        if left <= limit_s / 20:
            break
    sizes = [smallest.size] if smallest.size else []
    for number, shrink in enumerate(shrinks, start=1):
        size = shrink() if left > limit_s / 20 else ""
        if size:
            sizes.append(size)
            done = _tried(size, smallest.commands, at, steps, left if number == len(shrinks) else left / 2)
            left -= done.seconds
            if done.step.ended_well:
                return replace(done, size=", ".join(sizes))
            why = done.step.cause if not done.step.is_late else why
    assert first is not None
    return _because(first, why)


def _because(first: Run, why: str) -> Run:
    """``why``: what stopped it when it was smaller."""
    if not why:
        return first
    step = first.step
    cause = f"{step.cause}; when made smaller: {why}"
    return replace(first, step=Step(cause, step.said, step.seconds, step.is_late))


def _all_said(done: Run) -> str:
    return f"{done.step.said}\n{done.step.cause}"


def _tried(size: str, commands: Sequence[Sequence[str]], at: Path, steps: Steps, limit_s: float) -> Run:
    """Its commands one after the other, up to the first that fails."""
    taken = 0.0
    step = Step("nothing to run", "", 0.0)
    said = ""
    for command in commands:
        step = steps.take(command, at, max(1.0, limit_s - taken), on_device=True)
        taken += step.seconds
        said += step.said
        if not step.ended_well:
            break
    missing = "" if step.ended_well or step.is_late else missing_file(commands, at, step.said)
    return Run(Step(step.cause, said, step.seconds, step.is_late), tuple(map(tuple, commands)), size, taken, missing)


def missing_file(commands: Sequence[Sequence[str]], at: Path, said: str) -> str:
    """The first argument that looks like a file to read and is not there, or what the program says of one; else empty."""
    for each in commands:
        folder, command = folder_of(each)
        for word in command[1:]:
            path = word.split("=", 1)[-1]
            if _PATH.match(path) and not _OUTPUT.search(path) and not (at / folder / path).exists():
                return path
    found = _NO_FILE.search(said)
    return " ".join(found[0].split())[:80] if found else ""
