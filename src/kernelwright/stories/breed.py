"""Breeding: programs for a problem, found in the language of its grammar (paper 001), on one screen.

for each generation, until the target is reached:
    ask        a generation of genotypes, and the programs that they derive
    judge      look each program up in the journal, or run it in the pool; record
    tell       what each is worth, in the order asked, so that workers change nothing about what is found
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from kernelwright.breeding.farm_judge import ProgramJudge, judged_on_held_out
from kernelwright.breeding.run import PROGRAMS, BreedRun, Settings, facts_of, settings_for
from kernelwright.breeding.speed import Stopwatch
from kernelwright.breeding.standing import Standing, note_end, note_generation, worth_of_outcome
from kernelwright.errors import Misuse, check_callable, check_kind
from kernelwright.evaluate.outcome import Outcome, Rejected
from kernelwright.evaluate.run.answers import Answer, Answers
from kernelwright.evaluate.run.run import given_folder
from kernelwright.grammar import load_problem, problems
from kernelwright.grammar.breeding import Individual, breeding_of
from kernelwright.search import Budget, Result, Strategy
from kernelwright.search.strategies import STRATEGIES
from kernelwright.stories.variant_search.progress import breeding_line, shown

Watch = Callable[[Standing], None]
STRATEGY = "generations"
SHOWN_EVERY = 50
"""Programs from one look at a generation in progress to the next."""
TRIED = 8
"""Programs of the first generation that are judged one by one, to tell a broken problem at once."""


def breed(
    problem: Path | str,
    *,
    folder: Path | str | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    cache: bool = True,
    watch: Watch | None = None,
    **settings: Any,
) -> BreedRun:
    """Breeds programs; returns the finished run, open for reading.

    ``problem``: one that comes along (``grammar.problems.NAMES``), or the path of a Python file that defines ``problem``.
    ``settings``: those of ``Settings`` and ``Dials`` (generations, population, seed, target, ...).
    ``folder``: of the run; else a fresh one below ``kw-runs``. ``cluster``: the
    address of a Ray cluster that does the work. ``cache``: whether fitness that earlier runs found is taken over.
    ``watch``: called after each generation; without one, progress is shown in a terminal and in a notebook.
    Raises ``Misuse`` for a problem that judges nothing, and whatever else the user can fix.
    """
    path = problem_path(problem)
    chosen = settings_for(load_problem(path), jobs=jobs, **settings)
    check_callable(watch, "watch")
    made = given_folder(folder, path.stem)
    with create(made, path, chosen) as run, shown(watch, words=breeding_line) as seen:
        proceed(run, jobs=jobs, cluster=cluster, cache=cache, watch=seen)
    return BreedRun.open(made, PROGRAMS)


def resume(
    path: Path | str,
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    cache: bool = True,
    watch: Watch = lambda standing: None,
) -> BreedRun:
    """Goes on with a run that was interrupted: it ends as if it had not been."""
    with BreedRun.open(path, PROGRAMS, write=True) as run:
        proceed(run, jobs=jobs, cluster=cluster, cache=cache, watch=watch)
    return BreedRun.open(run.folder, PROGRAMS)


def problem_path(problem: Path | str) -> Path:
    """The file of a problem, given by its name or its path. Raises ``Misuse``."""
    check_kind(
        problem, (str, Path), "the problem", "give a name, as kw.breed('keijzer6'), or the path of a Python file"
    )
    path = Path(problem)
    return path if path.suffix == ".py" else problems.path_of(str(problem))


def create(folder: Path, problem: Path, settings: Settings) -> BreedRun:
    """A new run in ``folder``, which is there already. Raises ``Misuse`` when another one is in it."""
    return BreedRun.create(folder, PROGRAMS, facts_of(problem, settings))


def proceed(
    run: BreedRun,
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    cache: bool = True,
    watch: Watch = lambda standing: None,
) -> Standing:
    """Breeds from the beginning, in an open run; what its journal knows already is not judged again. ``cluster``, ``cache``: as
    for ``breed``."""
    strategy = _strategy(run)
    answers = Answers(run, in_order=True)
    with ProgramJudge(run, jobs, cluster, cache=cache) as judge:
        standing, stopwatch = Standing(run, jobs=judge.jobs), Stopwatch(run.journal)

        def told(answer: Answer[str]) -> None:
            standing.fresh = judge.judged
            if answer.fresh and answers.evaluated % SHOWN_EVERY == 0:
                watch(standing)

        while generation := stopwatch.searched(strategy.ask):
            standing.generation, standing.phase = strategy.progress.generation, strategy.progress.phase
            if standing.generation == 1:
                _try_some(generation, judge)
                stopwatch.started()
                standing.began = time.monotonic()
            found = answers.of([each.text for each in generation], judge, told=told)
            standing.remembered, standing.trouble = judge.remembered, judge.trouble
            note_generation(standing, generation, found)
            stopwatch.note(standing.generation, len(generation))
            watch(standing)
            if standing.best is not None and run.reaches(standing.best.fitness):
                break
            results = [_result(run, *each) for each in zip(generation, found, strict=True)]
            stopwatch.searched(partial(strategy.tell, results))
    note_end(standing, _on_held_out(run, standing, cluster))
    watch(standing)
    return standing


def _on_held_out(run: BreedRun, standing: Standing, cluster: str | None) -> Outcome | None:
    """What the best comes to on inputs that it was not chosen by; None where there are none, and where that is known."""
    if standing.best is None or run.ended is not None or not run.problem.held_out:
        return None
    return judged_on_held_out(run, standing.best.text, cluster)


def _try_some(generation: list[Individual], judge: ProgramJudge) -> None:
    """Raises ``Misuse`` when the fitness function itself, or what surrounds programs, fails for whatever it is given."""
    outcomes = judge.tried([each.text for each in generation[:TRIED]])
    failed = [each for each in outcomes if isinstance(each, Rejected) and each.stage in ("crash", "timeout", "compile")]
    if failed and len(failed) == len(outcomes):
        raise Misuse(
            f"none of {len(outcomes)} random programs could be judged; the first: {failed[0]}",
            hint="kw breed --explain shows programs and the code around them",
        )


def _strategy(run: BreedRun) -> Strategy[Individual]:
    settings = run.settings
    operators = breeding_of(run.problem, settings.dials)
    budget = Budget(generations=settings.generations)
    return STRATEGIES[STRATEGY].make(operators, seed=settings.seed, budget=budget, rates=settings.dials)


def _result(run: BreedRun, individual: Individual, answer: Answer[str]) -> Result[Individual]:
    """What is worth nothing is rejected."""
    worth = worth_of_outcome(answer.outcome)
    return Result(individual, None if worth is None else (worth if run.goal == "least" else -worth,))


__all__ = ["Settings", "Standing", "breed", "create", "problem_path", "proceed", "resume", "settings_for"]
