"""``kw breed``: programs for a problem, found in the language of a grammar.

kw breed keijzer6                      a problem that comes along: keijzer6, search, multiplier5, pagie1, ...
kw breed my_problem.py                 a Python file that defines `problem`
kw breed --explain my_problem.py       its grammar, some derivations, the code around them, and the back end
kw breed --resume kw-runs/search-1     goes on with a run that was interrupted
"""

from __future__ import annotations

import json
import shlex
import sys
import time
from typing import Annotated, Any

import click
import typer

from kernelwright.breeding.back_end_table import BACKENDS
from kernelwright.breeding.run import PROGRAMS, BreedRun, settings_for
from kernelwright.breeding.simplified import simplified_best
from kernelwright.breeding.speed import speed_of
from kernelwright.cli.support.breed_view import view_of
from kernelwright.cli.support.resuming import refuse_settled, saying_how_to_resume, spelled_flags
from kernelwright.cli.support.streams import progress
from kernelwright.errors import Misuse
from kernelwright.evaluate.outcome import Rejected
from kernelwright.evaluate.run.run import new_folder
from kernelwright.grammar.problem import load_problem
from kernelwright.grammar.problems import NAMES
from kernelwright.stories.breed import create, problem_path, proceed

WITH_RESUME = ("resume", "jobs", "cluster", "no_cache", "as_json")
"""Flags that a run does not settle when it begins."""
BACKEND_HELP = f"How programs are run: {', '.join(BACKENDS)}; auto measures which is the quickest."


def command(
    problem: Annotated[str | None, typer.Argument(help=f"{', '.join(NAMES)}, or a Python file.")] = None,
    generations: Annotated[int | None, typer.Option(help="Generations at most.")] = None,
    population: Annotated[int | None, typer.Option(help="Individuals of a generation.")] = None,
    target: Annotated[float | None, typer.Option(help="Fitness at which to stop; default a perfect one.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of all that is random.")] = 0,
    backend: Annotated[
        str,
        typer.Option(help=BACKEND_HELP),
    ] = "auto",
    timeout: Annotated[float | None, typer.Option(help="Seconds that the fitness function may take.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Worker processes; default the cores there are.")] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Work on a Ray cluster: HOST:PORT of its head, or auto for this machine's.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the run; default the problem's with a number.")] = None,
    resume: Annotated[
        str | None, typer.Option(help="Go on with this run; besides, --jobs, --cluster, --no-cache and --json.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show what would be bred, and how; breed nothing.")
    ] = False,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Judge every program, also those of earlier runs.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="End by printing one JSON object.")] = False,
) -> None:
    """Breed programs in the language of a grammar. Exit code 1 when the target was not reached."""
    if jobs is not None and jobs < 1:
        raise Misuse(f"--jobs {jobs} is no number from 1 up", hint="as --jobs 2")
    given = {"generations": generations, "population": population, "target": target, "timeout_s": timeout}
    wanted = {key: value for key, value in given.items() if value is not None}
    if resume is not None:
        way = f"kw breed --resume {shlex.quote(resume)}"
        if problem or wanted or name or explain:
            raise Misuse("a run knows what it breeds, and how", hint=way)
        context = click.get_current_context(silent=True)  # None where it is called as a function
        refuse_settled(spelled_flags(context) if context else {}, WITH_RESUME, way)
        run = BreedRun.open(resume, PROGRAMS, write=True)
    else:
        if problem is None:
            raise Misuse("there is nothing to breed", hint="kw breed keijzer6, or a Python file that defines `problem`")
        path = problem_path(problem)
        settings = settings_for(load_problem(path), seed=seed, backend=backend, jobs=jobs, **wanted)
        if explain:
            from kernelwright.cli.support.breed_explain import explained

            print(explained(path, settings, as_json, jobs))
            return
        run = create(new_folder(path.stem, name=name), path, settings)
    begin = time.monotonic()
    with run, saying_how_to_resume(run):
        settings = run.settings
        progress(f"run {run.folder}, seed {settings.seed}, {settings.backend}")
        with view_of(sys.stderr) as view:
            standing = proceed(run, jobs=jobs, cluster=cluster, cache=not no_cache, watch=view.show)
        if standing.trouble:
            print(f"kw: fitness is not kept for later runs: {standing.trouble}", file=sys.stderr)
        result = result_of(run, time.monotonic() - begin, standing.remembered)
    print(json.dumps(result) if as_json else lines(result))
    if not result["best"] or result["reached"] is False:
        raise typer.Exit(1)


def result_of(run: BreedRun, seconds: float, remembered: int = 0) -> dict[str, Any]:
    """What the run has come to, as JSON. ``remembered``: programs whose fitness earlier runs had found."""
    held_out, simple = run.held_out, simplified_best(run)
    best, target, generations, speed = run.best, run.target, run.generations, speed_of(run.journal)
    return {
        "run": str(run.folder),
        "best": best.name if best else None,
        "fitness": best.fitness if best else None,
        "held_out_fitness": held_out[0] if held_out else None,
        "held_out_why": held_out[1] if held_out else "",
        "goal": run.goal,
        "target": target,
        "reached": None if target is None else best is not None and run.reaches(best.fitness),
        "generations": len(generations),
        "evaluations": len(run.journal),
        "remembered": remembered,
        "rejected": run.journal.rejected(),
        "why": "" if best else _reason(run),
        "seconds": round(seconds, 1),
        "individuals": speed.individuals if speed else None,
        "individuals_per_second": round(speed.per_s, 1) if speed else None,
        "search_seconds": round(speed.search_s, 3) if speed else None,
        "compile_seconds": round(speed.compile_s, 3) if speed else None,
        "run_seconds": round(speed.run_s, 3) if speed else None,
        "backend": run.settings.backend,
        "program": best.text if best else None,
        "readable": run.readable(best) if best else None,
        "simplified": simple.formula or None,
        "simplified_why": simple.why,
    }


def _reason(run: BreedRun) -> str:
    """Why the first program was rejected."""
    return next(
        (
            f"{row.outcome.reason} ({row.outcome.stage})"
            for row in run.journal.rows()
            if isinstance(row.outcome, Rejected)
        ),
        "",
    )


def lines(result: dict[str, Any]) -> str:
    """The same for a person."""
    before = f" ({result['remembered']} known from earlier runs)" if result["remembered"] else ""
    tried = f"{result['evaluations']} programs{before}, {result['generations']} generations, {result['seconds']:g} s"
    if not result["best"]:
        return f"no program has a fitness{_causes(result)}; {tried}; run {result['run']}{_speed(result)}"
    verdict = {True: ", which is the target", False: f", the target is {result['target']:g}", None: ""}
    said = f"{result['best']}: fitness {result['fitness']:g}{verdict[result['reached']]}; {tried}; run {result['run']}"
    return f"{said}{_held_out(result)}{_speed(result)}\n\n{result['readable']}{_simplified(result)}"


def _simplified(result: dict[str, Any]) -> str:
    if result["simplified"]:
        return f"\n\nsimplified, and equal on all cases: {result['simplified']}"
    return f"\n\nnot simplified: {result['simplified_why']}" if result["simplified_why"] else ""


def _held_out(result: dict[str, Any]) -> str:
    """A line, where a problem has inputs that no program is chosen by."""
    if result["held_out_fitness"] is not None:
        return f"\non inputs held out: fitness {result['held_out_fitness']:g}"
    return f"\non inputs held out: none, because {result['held_out_why']}" if result["held_out_why"] else ""


def _causes(result: dict[str, Any]) -> str:
    count = sum(result["rejected"].values())
    return f": all {count} were rejected, the first because {result['why']}" if count else ""


def _speed(result: dict[str, Any]) -> str:
    """A line; runs of older versions do not say."""
    if result["individuals"] is None:
        return ""
    return (
        f"\n{result['individuals']} individuals, {result['individuals_per_second']:.4g} a second: searching "
        f"{result['search_seconds']:.3g} s; workers compiling {result['compile_seconds']:.3g} s, running "
        f"{result['run_seconds']:.3g} s"
    )
