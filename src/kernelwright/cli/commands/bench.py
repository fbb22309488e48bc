"""``kw bench NAME``: measure what the project promises."""

from __future__ import annotations

import importlib
import json
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kernelwright.bench import BENCHMARKS
from kernelwright.bench.result import Measured
from kernelwright.cli.support.streams import program_speaks_on_stderr, say
from kernelwright.cli.support.tables import print_rows
from kernelwright.errors import Misuse

if TYPE_CHECKING:
    from kernelwright.bench.programs.measure import Manner

ALL = "all"
COMPILE = "compile"
PROGRAMS = "programs"
SEARCH = "search"
OWN, NVIDIA = "own", "nvidia"
LIMIT_S = 120.0
EVOLVE = "evolve"
BY_NAME = ("breed", EVOLVE, "rate", "search", "space", "tune", "tune-large", "tune-sizes")
"""Benchmarks of programs that ship with the package, or of problems, which may be chosen."""
Measure = Callable[..., Measured]


def command(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(BENCHMARKS)}, or all.")],
    places: Annotated[
        list[Path] | None, typer.Argument(help="For programs: folders with CUDA programs, or .cu files.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of tables.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer programs and rounds.")] = False,
    programs: Annotated[
        list[Path] | None,
        typer.Option(
            "--programs",
            help="For compile: only machine code, and what optimisations do to it, of these .cu files or of those in this folder. For "
            "evolve, rate, search, tune, tune-large and tune-sizes: programs by name. For breed and space: problems.",
        ),
    ] = None,
    arms: Annotated[
        list[str] | None,
        typer.Option("--arm", help="For evolve: this way of searching alone, as clean; several times."),
    ] = None,
    compiler_flags: Annotated[
        str, typer.Option("--flags", help="For programs: flags of the compiler, in one word: '-I common -DN=4'.")
    ] = "",
    evaluations: Annotated[
        int | None, typer.Option("--evaluations", help="For search: candidates of a run, in place of 5,000.")
    ] = None,
    headers: Annotated[
        str, typer.Option("--headers", help="For programs of a folder: whose CUDA headers, own or nvidia.")
    ] = "own",
    sample: Annotated[
        int | None, typer.Option("--sample", min=1, help="For programs of a folder: so many, drawn by lot.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of that lot.")] = 0,
    limit: Annotated[
        float | None,
        typer.Option(
            "--limit", min=1, help="For programs of a folder: seconds of processor time to run one, all tries; 120."
        ),
    ] = None,
    divide: Annotated[
        int | None,
        typer.Option("--divide", min=1, help="For programs of a folder: begin with their arguments divided by it."),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, help="For programs of a folder: how many at once; 1.")
    ] = None,
    shrink: Annotated[
        bool,
        typer.Option(
            "--shrink", help="For programs of a folder: make constants of a source smaller, where it is late."
        ),
    ] = False,
    no_check: Annotated[bool, typer.Option("--no-check", help="For programs of a folder: run them only.")] = False,
    rows: Annotated[
        Path | None,
        typer.Option(
            "--rows", help="For programs of a folder: a file that keeps a row of each; what is in it is done."
        ),
    ] = None,
) -> None:
    """Measure what the project promises. Exit code 1 when a promise does not hold."""
    if name not in (*BENCHMARKS, ALL):
        raise Misuse(f"there is no benchmark {name!r}", hint=f"the benchmarks are {', '.join(BENCHMARKS)}, and {ALL}")
    if programs and name not in (COMPILE, *BY_NAME):
        raise Misuse(f"{name} takes no programs", hint=f"kw bench {COMPILE} --programs {programs[0]}")
    if evaluations is not None and name != SEARCH:
        raise Misuse(f"{name} takes no number of candidates", hint=f"kw bench {SEARCH} --evaluations {evaluations}")
    if arms and name != EVOLVE:
        raise Misuse(f"{name} has no ways of searching", hint=f"kw bench {EVOLVE} --arm {arms[0]}")
    if places and name != PROGRAMS:
        raise Misuse(f"{name} takes no folder", hint=f"kw bench {PROGRAMS} {places[0]}")
    of_a_folder = {
        "--flags": compiler_flags, "--headers": headers != OWN, "--sample": sample, "--seed": seed, "--limit": limit,
        "--divide": divide, "--jobs": jobs, "--shrink": shrink, "--no-check": no_check, "--rows": rows,
    }  # fmt: skip
    given = next((option for option, value in of_a_folder.items() if value), None)
    if given and not places:
        raise Misuse(f"{given} is for programs of a folder", hint=f"kw bench {PROGRAMS} FOLDER {given} ...")
    names = tuple(BENCHMARKS) if name == ALL else (name,)
    with program_speaks_on_stderr(as_json):
        if programs and name == COMPILE:
            results = [_of_programs(programs)]
        elif places:
            flags = (*_words(compiler_flags), *_headers(headers))
            manner = _manner(
                is_quick=quick, compile_flags=flags, limit_s=limit or LIMIT_S, first_divisor=divide or 1, jobs=jobs or 1,
                sample=sample, seed=seed, shrinks=shrink, checks=not no_check, rows=rows,
            )  # fmt: skip
            results = [_of_folders(places, manner)]
        else:
            chosen: dict[str, Any] = {"names": [str(each) for each in programs]} if programs else {}
            chosen |= {} if evaluations is None else {"evaluations": evaluations}
            chosen |= {"arms": arms} if arms else {}
            results = [_measured(one, quick, **chosen) for one in names]
    if as_json:
        objects = [result.as_json() for result in results]
        print(json.dumps(objects if name == ALL else objects[0], indent=1))
    else:
        for result in results:
            _show(result)
    if any(p.holds is False for result in results for p in result.promises):
        raise typer.Exit(1)


def _measured(name: str, quick: bool, **chosen: Any) -> Measured:
    measure: Measure = importlib.import_module(BENCHMARKS[name][0]).measure
    return measure(quick, lambda line: say(f"  {name}: {line}\n"), **chosen)  # a reader who goes away ends no benchmark


def _of_programs(places: Sequence[Path]) -> Measured:
    from kernelwright.bench.compile.measure import measure_programs

    return measure_programs(places, lambda line: say(f"  {COMPILE}: {line}\n"))


def _manner(**options: Any) -> Manner:
    from kernelwright.bench.programs.measure import Manner

    return Manner(**options)


def _of_folders(places: Sequence[Path], manner: Manner) -> Measured:
    from kernelwright.bench.programs.measure import measure_folders

    return measure_folders(places, lambda line: say(f"  {PROGRAMS}: {line}\n"), manner)


def _headers(whose: str) -> tuple[str, ...]:
    """Flags of the compiler. Raises ``Misuse`` for other names, ``ToolError`` where NVIDIA's are not installed."""
    from kernelwright.cuda.toolkit import wheel_headers

    if whose == OWN:
        return ()
    if whose != NVIDIA:
        raise Misuse(f"--headers {whose}: there are no such headers", hint=f"--headers {OWN}, or --headers {NVIDIA}")
    wheel_headers()
    return ("--headers", NVIDIA)


def _words(flags: str) -> list[str]:
    try:
        return shlex.split(flags)
    except ValueError as error:
        raise Misuse(f"--flags {flags} are no flags: {str(error).lower()}", hint="--flags '-I common'") from None


def _show(result: Measured) -> None:
    print_rows(result.rows)
    for note in result.notes:
        print(f"note: {note}")
    verdict = {True: "holds", False: "DOES NOT HOLD", None: "not measured here"}
    print_rows([{"promise": p.name, "value": p.value, "bound": p.bound, "": verdict[p.holds]} for p in result.promises])
