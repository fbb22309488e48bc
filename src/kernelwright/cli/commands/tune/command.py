"""``kw tune``: the right version of a program for every input.

kw tune --exec "./app {data}" --data small.bin --data large.bin      any program that prints its comparisons
kw tune --explain -o app.tuning                                      what was found, and why
"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from kernelwright.cache import file_digest
from kernelwright.cli.support.error_exit import tell
from kernelwright.errors import Misuse
from kernelwright.evaluate.run.machine_facts import machine
from kernelwright.evaluate.workload.case import Arrays
from kernelwright.evaluate.workload.program_case import TIMEOUT_S
from kernelwright.evaluate.workload.rule_text import parse_rule
from kernelwright.stories.tune import Subject, explained, tune_program
from kernelwright.versions.checked_program import CheckedProgram
from kernelwright.versions.explanation import as_json, conflict_lines
from kernelwright.versions.external_program import DATA, ExternalProgram, output_of
from kernelwright.versions.forest import Forest
from kernelwright.versions.program import INFINITE
from kernelwright.versions.resolution import Resolution
from kernelwright.versions.threshold_file import Identity
from kernelwright.versions.thresholds import Tuning

COMPARE = "relative 1e-5 floor 1e-6"


def command(
    execute: Annotated[str, typer.Option("--exec", help="The program as a shell command, {data} for the dataset; also "
                                         "{thresholds} and {times}, paths of files.")] = "",
    data: Annotated[list[str] | None, typer.Option("--data", help="A dataset; once for each.")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The threshold file; default the program's name "
                                                "with .tuning.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show what an earlier tuning found; run nothing.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Use nothing of an earlier tuning.")] = False,
    forget: Annotated[list[str] | None, typer.Option(help="Leave out a dataset of an earlier tuning.")] = None,
    forest: Annotated[Path | None, typer.Option(help="The tuning forest as JSON, where it is known.")] = None,
    oracle: Annotated[str, typer.Option(help="The file with the right output, {data} for the dataset; else the untuned "
                                        "program's output is right.")] = "",
    compare: Annotated[str, typer.Option(help="The rule by which outputs are compared.")] = COMPARE,
    resolution: Annotated[float, typer.Option(help="The share of the time that a difference must have to be found "
                                              "for certain.")] = 0.02,
    runs: Annotated[int, typer.Option(help="Runs of a configuration at most, while noise leaves a comparison open.")] = 40,
    timeout: Annotated[float, typer.Option(help="Seconds that a run may take.")] = TIMEOUT_S,
    device: Annotated[str, typer.Option(help="The device that the times are of, as the file names it; default this "
                                        "machine's processor.")] = "",
    as_json_: Annotated[bool, typer.Option("--json", help="End by printing one JSON object.")] = False,
) -> None:  # fmt: skip
    """Find the thresholds by which a program of several versions picks the right one. Exit code 1 when no thresholds are
    best for all datasets."""
    if runs < 1 or not 0 < resolution < 1 or timeout <= 0:
        raise Misuse(
            "--runs, --resolution and --timeout are positive, and --resolution is below 1", hint="kw tune --help"
        )
    rule = Resolution.noisy(resolution, runs)
    if explain:
        path = output or (_default_path(execute) if execute else None)
        if path is None:
            raise Misuse("there is nothing to explain", hint="kw tune --explain -o FILE, the threshold file")
        found = explained(path)
        print(json.dumps({"file": str(path), **found}) if as_json_ else "\n".join(found["lines"]))
        return
    if not execute:
        raise Misuse("there is nothing to tune", hint=f'kw tune --exec "./app {DATA}" --data FILE --data FILE')
    program = ExternalProgram(execute, timeout)
    checked = CheckedProgram(program, parse_rule(compare), lambda dataset: _oracle_output(oracle, dataset))
    path = output or _default_path(execute)
    identity = Identity(execute, device or str(machine()["processor"]), _program_digest(execute))
    subject = Subject(checked, identity, path, _declared(forest))
    tuning = tune_program(subject, data or [], rule, fresh=fresh, forget=forget or (), say=tell)
    _print(tuning, path, as_json_)
    if tuning.conflicts:
        raise typer.Exit(1)


def _print(tuning: Tuning, path: Path, as_object: bool) -> None:
    if as_object:
        print(json.dumps({"file": str(path), **as_json(tuning)}))
        return
    for name, value in tuning.thresholds.items():
        print(f"{name}={value if value != INFINITE else f'{INFINITE}   (never taken)'}")
    for dataset in tuning.datasets:
        share = dataset.untuned_us / dataset.tuned_us
        print(f"{dataset.name}: {dataset.tuned_us:.6g} us tuned, {share:.3g} times as fast as untuned")
        for failure in dataset.failures:
            print(f"  failed: {failure}")
    if tuning.conflicts:
        print("\n".join(conflict_lines(tuning)))
    print(f"{tuning.runs} runs; written to {path}", file=sys.stderr)


def _default_path(execute: str) -> Path:
    """``app.tuning`` for ``./app {data}``, in the folder of the program."""
    words = shlex.split(execute)
    program = next((w for w in words if "=" not in w), "program")
    return Path(program + ".tuning") if "/" in program else Path(f"{program}.tuning")


def _program_digest(execute: str) -> str:
    """Hash of the files that the command names: the program itself, a script."""
    return ",".join(digest for word in shlex.split(execute) if (digest := file_digest(word)))


def _declared(path: Path | None) -> Forest | None:
    if path is None:
        return None
    try:
        return Forest.from_json(json.loads(path.read_text()))
    except (OSError, ValueError) as error:
        raise Misuse(
            f"{path} holds no forest: {error}", hint='{"guards": [...], "edges": [[parent, child, false]]}'
        ) from None


def _oracle_output(pattern: str, dataset: str) -> Arrays | None:
    if not pattern:
        return None
    path = Path(pattern.replace(DATA, dataset))
    if not path.is_file():
        raise Misuse(f"there is no oracle {path} for dataset {dataset}", hint=f'as in --oracle "{DATA}.expected"')
    return output_of(path)
