"""Breeding: random programs of the problems that come along are worth the same on every back end, and breeding solves the paper's.

Programs of whole numbers must be worth exactly the same. Keijzer-6 uses functions of single precision, which the C library,
NumPy and libdevice each round in their own way; we allow each four units in the last place. What a program may be off by is
therefore what its fitness moves by when all its functions are off by as much, up, down, or by signs at random, twice that for
two libraries compared, and one part in a million at least.

The runs are kept in ``build/bench-breed``, so that the benchmark can be interrupted and finished ones are not made again;
delete the folder to start over.

Pagie-1 (Pagie and Hogeweg 1997) in a grammar that leads to itself shows how a first generation is filled.

The three problems of the literature that others breed, too, are bred beside DEAP (``bench/breed_peers.py``). ``--programs pagie1`` measures
how often a problem's target is reached, ours and DEAP's, and nothing else (``bench/breed_success.py``).

Promises: of 600 first programs at least 500 are distinct, within a second; no program of any problem is worth anything else on
any back end; each of the paper's reaches its fitness from the stated seeds within the
stated number of programs (search: at least one seed of ten); a run that is made again has the same journal.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.bench.breed_peers import compare
from kernelwright.bench.breed_success import success_rates
from kernelwright.bench.result import Measured, Say
from kernelwright.breeding.back_end_table import BACKENDS
from kernelwright.breeding.choice import sample
from kernelwright.breeding.interpreter import Interpreter
from kernelwright.breeding.program_results import Answers, allow_deep_calls, answers_to
from kernelwright.breeding.run import PROGRAMS as KIND
from kernelwright.breeding.run import BreedRun
from kernelwright.errors import KernelwrightError
from kernelwright.evaluate.outcome import Rejected
from kernelwright.evaluate.run.run import JOURNAL
from kernelwright.farm import Built
from kernelwright.farm.bundle_runner import BundleRunner
from kernelwright.grammar import Grammar, Problem, load_problem
from kernelwright.grammar.breeding import INITIAL, INITIALS, Breeding, Dials
from kernelwright.grammar.c.interpret import OPERATIONS
from kernelwright.grammar.c.llvm import named_functions
from kernelwright.grammar.c.tree import MATH
from kernelwright.grammar.problems import NAMES, path_of
from kernelwright.search.generations import Generations
from kernelwright.stories.breed import breed, resume

KEPT = Path("build") / "bench-breed"
PROGRAMS, QUICK_PROGRAMS = 1000, 60
BATCH = 100
UNITS = 4
"""In the last place: how far the result of a math function may be off."""
FLOOR = 1e-6
"""Of the fitness; the least that is tolerated."""
ROUNDS_OF_SIGNS = 6

EXACT_FUNCTIONS = frozenset({"sqrt", "fabs", "floor", "ceil", "fmin", "fmax"})

REACHED: Mapping[str, tuple[tuple[int, ...], int, int]] = {
    "keijzer6": ((1, 2, 3, 4), 4, 15_000),
    "search": (tuple(range(1, 11)), 1, 15_000),
    "multiplier5": ((1, 2), 2, 20_000),
}
"""Seeds, of how many of them the problem's target is promised, and within how many programs each."""


PAGIE = Grammar.parse("<e> ::= <e>+<e> | <e>-<e> | <e>*<e> | pdiv(<e>,<e>) | <v>\n<v> ::= x | y | 1.0f")
FILLED = 600


def measure(quick: bool, say: Say, names: Sequence[str] = ()) -> Measured:
    """``quick``: 60 programs of each problem; none bred, but one seed beside DEAP. ``names``: problems whose success rates alone are
    measured."""
    result = Measured("breed")
    allow_deep_calls()
    if names:
        success_rates(result, names, quick, say)
        return result
    _filled(result, say)
    for name in NAMES:
        problem = load_problem(path_of(name))
        texts = sample(problem, QUICK_PROGRAMS if quick else PROGRAMS, seed=1)
        say(f"{name}: {len(texts)} random programs")
        _equal(result, problem, texts, say)
        _assembled(result, problem, texts)
    for name, (seeds, least, most) in () if quick else REACHED.items():
        _reached(result, name, seeds, least, most, say)
    compare(result, quick, say)
    return result


# -- the first generation ----------------------------------------------------------------------------------------------


def _filled(result: Measured, say: Say) -> None:
    """With programs grown to depths of a ramp, and of random integers, by processor time."""
    say("first generations of a grammar that leads to itself")
    for initial in INITIALS:
        draw = Generations(Breeding(PAGIE, initial=initial), seed=1, rates=Dials(population=FILLED)).ask
        begin = time.process_time()
        distinct = len({each.text for each in draw()})
        seconds = time.process_time() - begin
        result.rows.append(
            {
                "first generation": f"Pagie-1, {initial}",
                "programs": FILLED,
                "distinct": distinct,
                "seconds": round(seconds, 2),
            }
        )
        if initial == INITIAL:
            result.at_least(f"breed: distinct programs of {FILLED} that Pagie-1 begins with", distinct, 500)
            result.at_most(f"breed: seconds until Pagie-1 has {FILLED} programs to begin with", seconds, 1.0)


# -- equal fitness -----------------------------------------------------------------------------------------------------


def _equal(result: Measured, problem: Problem, texts: Sequence[str], say: Say) -> None:
    expected = worths(problem, BACKENDS["interpreted"].runner(problem), texts)
    slack = tolerances(problem, texts, expected)
    for backend, row in [each for each in BACKENDS.items() if each[0] != "interpreted"]:
        say(f"{problem.name}: {backend}")
        begin = time.process_time()
        try:
            runner = row.runner(problem)
        except KernelwrightError as error:
            result.notes.append(f"{problem.name} on {backend}: not run here, {error.message}")
            continue
        found = worths(problem, runner, texts)
        runner.close()
        apart = [deviation(a, b) for a, b in zip(expected, found, strict=True)]
        wrong = [n for n, each in enumerate(apart) if not each <= slack[n]]
        result.rows.append(
            {
                "problem": problem.name,
                "back end": backend,
                "programs": len(texts),
                "equal to the bit": sum(each == 0 for each in apart),
                "largest deviation": max((each for each in apart if math.isfinite(each)), default=0.0),
                "beyond tolerance": len(wrong),
                "cpu ms each": round((time.process_time() - begin) / len(texts) * 1e3, 3),
            }
        )
        result.notes += [f"{problem.name} on {backend}: {texts[n]!r:.120}" for n in wrong[:3]]
        result.at_most(f"breed: {problem.name} programs worth something else on {backend}", len(wrong), 0)
    if any(slack):
        loose = sum(each > 1e-4 for each in slack)
        result.notes.append(
            f"{problem.name}: the tolerance is below 1e-4 for all but {loose} programs, which are ill-conditioned"
        )


def worths(problem: Problem, runner: BundleRunner[Answers], texts: Sequence[str]) -> list[float | None]:
    """The fitness of each; None for those that have none, or were rejected."""
    found: list[float | None] = []
    for begin in range(0, len(texts), BATCH):
        for answers in answers_to(runner, texts[begin : begin + BATCH]):
            found.append(None if isinstance(answers, Rejected) else problem.worth(answers))
    return found


def deviation(a: float | None, b: float | None) -> float:
    """Relative; infinite where one has no fitness and the other has."""
    if a is None or b is None:
        return 0.0 if a is b else math.inf
    return abs(a - b) / max(abs(a), abs(b)) if a != b else 0.0


def tolerances(problem: Problem, texts: Sequence[str], expected: Sequence[float | None]) -> list[float]:
    """Of each program: how far its fitness moves when its math functions are off by ``UNITS``; 0 where there are none."""
    if named_functions(f"{problem.language} {problem.before} {problem.after}") <= EXACT_FUNCTIONS:
        return [0.0] * len(texts)
    random = np.random.default_rng(0)
    moved = [FLOOR] * len(texts)
    signs: list[Callable[[tuple[int, ...]], NDArray[Any]]] = [
        lambda shape: np.ones(shape),
        lambda shape: -np.ones(shape),
        *[lambda shape: random.choice([-1.0, 1.0], shape)] * ROUNDS_OF_SIGNS,
    ]
    for sign in signs:
        interpreter = partial(Interpreter, operations=_shaken(sign))
        shaken = worths(problem, replace(BACKENDS["interpreted"], executor=interpreter).runner(problem), texts)
        for n, (a, b) in enumerate(zip(expected, shaken, strict=True)):
            moved[n] = max(moved[n], 2 * deviation(a, b))
    return moved


def _shaken(sign: Callable[[tuple[int, ...]], NDArray[Any]]) -> Mapping[str, Callable[..., NDArray[Any]]]:
    """The interpreter's operations, its math functions off by ``UNITS`` in the last place."""

    def off(function: Callable[..., NDArray[Any]]) -> Callable[..., NDArray[Any]]:
        def operation(*values: NDArray[Any]) -> NDArray[Any]:
            exact = function(*values)
            shaken = exact + sign(exact.shape) * UNITS * np.spacing(np.abs(exact))
            return np.asarray(np.where(np.isfinite(exact), shaken, exact)).astype(exact.dtype)

        return operation

    shaken = {name: off(OPERATIONS[name]) for name in MATH if name not in EXACT_FUNCTIONS}
    return {**OPERATIONS, **shaken}


# -- code for a GPU ----------------------------------------------------------------------------------------------------


def _assembled(result: Measured, problem: Problem, texts: Sequence[str]) -> None:
    """Every program becomes machine code; without a GPU at hand it was not run."""
    for row in [each for each in BACKENDS.values() if each.needs_gpu]:
        compiler = row.compiler()
        if missing := compiler.missing():
            result.notes.append(f"{problem.name} with {row.name}: {missing}")
            continue
        begin, places = time.process_time(), 0
        runner = BundleRunner[Answers](
            compiler, row.language.frame(problem), partial(row.language.translate, problem), None, row.level
        )
        for at in range(0, len(texts), BATCH):
            places += sum(isinstance(each, Built) for each in runner.compile(texts[at : at + BATCH]))
        seconds = time.process_time() - begin
        result.rows.append(
            {
                "problem": problem.name,
                "to a cubin with": row.name,
                "programs": places,
                "cpu ms each": round(seconds / len(texts) * 1e3, 3),
            }
        )
        result.at_least(f"breed: {problem.name} programs compiled by {row.name}", places, len(texts))


# -- reaching a fitness ------------------------------------------------------------------------------------------------


def _reached(result: Measured, name: str, seeds: Sequence[int], least: int, most: int, say: Say) -> None:
    path, reached = path_of(name), 0
    for seed in seeds:
        say(f"{name}, seed {seed}")
        with _bred(path, KEPT / f"{name}-seed{seed}", seed) as run:
            best, count = run.best, len(run.journal)
            done = best is not None and run.reaches(best.fitness) and count <= most
            reached += done
            result.rows.append(
                {
                    "problem": name,
                    "seed": seed,
                    "fitness": float(f"{best.fitness:.4g}") if best else None,
                    "target": run.target,
                    "programs tried": count,
                    "generations": len(run.generations),
                    "seconds": round(run.spent_seconds, 1),
                    "reached": "yes" if done else "no",
                }
            )
    _repeated(result, name, seeds[-1], say)
    result.at_least(f"breed: seeds that reach the target of {name} within {most} programs", reached, least)


def _repeated(result: Measured, name: str, seed: int, say: Say) -> None:
    """The run of a seed made once more, with another number of workers: its journal must be the same."""
    say(f"{name}, seed {seed}, again")
    folder = KEPT / f"{name}-seed{seed}-again"
    with _bred(path_of(name), KEPT / f"{name}-seed{seed}", seed) as one, _bred(path_of(name), folder, seed, 1) as two:
        first, second = ([(row.candidate, row.outcome) for row in run.journal.rows()] for run in (one, two))
    differ = sum(a != b for a, b in zip_longest(first, second))
    result.at_most(f"breed: rows that differ when seed {seed} of {name} runs again", differ, 0)


def _bred(path: Path, folder: Path, seed: int, jobs: int | None = None) -> BreedRun:
    """A run, made now, or to its end, unless it is there."""
    if not (folder / JOURNAL).is_file():
        return breed(path, folder=folder, seed=seed, backend="interpreted", jobs=jobs, cache=False)
    run = BreedRun.open(folder, KIND)
    if run.ended is None:
        run.close()
        return resume(folder, jobs=jobs, cache=False)
    return run
