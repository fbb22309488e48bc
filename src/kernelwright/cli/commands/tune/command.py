"""``kw tune``: the right version of a program for every input.

kw tune app.cu --data "64 100" --data "4096 8"                      guards KW_THRESHOLD, arguments as datasets
kw tune matmul.py --data 64x100 --data 4096x8                       kw.versions in Python
kw tune --exec "./app {data}" --data small.bin --data large.bin      any program that prints its comparisons
kw tune app.cu --with app-1,app-2 --data "64" --data "4096"         winners of runs as versions
kw tune app.cu --with app-1,app-2 --by "rows * columns" --data ...   ... and what their thresholds compare
kw tune --explain -o app.tuning                                      what was found, and why
kw tune --resume app-1                                               a run that was interrupted
"""

from __future__ import annotations

import json
import math
import os
import shlex
import sys
import time
from pathlib import Path
from typing import Annotated

import click
import typer

from kernelwright.cache import write_atomically
from kernelwright.cli.commands.tune.subjects import (
    Asked,
    split_given,
    subject_of,
    threshold_path,
)
from kernelwright.cli.support.compile_flags import COMPILE_FLAGS, CompileFlags
from kernelwright.cli.support.error_exit import tell
from kernelwright.cli.support.program_arguments import GivenProgram
from kernelwright.cli.support.resuming import refuse_settled, saying_how_to_resume, spelled_flags
from kernelwright.device.describe_access import plural
from kernelwright.device.settings import calibrated
from kernelwright.errors import Misuse
from kernelwright.evaluate.run.run import new_folder
from kernelwright.evaluate.workload.program_case import TIMEOUT_S
from kernelwright.stories.tune import (
    NO_ARGUMENTS,
    Subject,
    create_run,
    explained,
    opened_run,
    refuse_changed,
    refuse_datasets,
    refuse_files,
    tune_program,
)
from kernelwright.versions.explanation import as_json, conflict_lines, never_reached_lines, trouble_lines
from kernelwright.versions.program import INFINITE, times_as_much
from kernelwright.versions.thresholds import DatasetResult, Tuning

WITH_RESUME = ("resume", "as_json_", "within")
"""Flags that a run does not settle when it begins."""
LONGEST_S = 366 * 86400.0
COMPARE = "relative 1e-5 floor 1e-6"
SHOWN = 5
"""Datasets that the last sentence names."""


def command(
    given: Annotated[list[str] | None, typer.Argument(help="A Python file or a CUDA program; further datasets.")] = None,
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
    outputs: Annotated[list[str] | None, typer.Option(help="FILE[=READER]: a file the program writes, to be compared; READER is a "
                                                     "NumPy type, bytes, text (default) or module:function.")] = None,
    resolution: Annotated[float | None, typer.Option(help="The share of the time that a difference must have to be found for "
                                                     "certain, default 0.02; of estimated times, to count, default any.")] = None,
    runs: Annotated[int, typer.Option(help="Runs of a configuration at most, while noise leaves a comparison open.")] = 40,
    timeout: Annotated[float, typer.Option(help="Seconds that a run may take.")] = TIMEOUT_S,
    within: Annotated[float | None, typer.Option(metavar="SECONDS", help="Begin no run after so long, and keep what is tuned until then; "
                                                 "kw tune --resume goes on.")] = None,
    device: Annotated[str, typer.Option(help="The device that the times are of, as the file names it; default this "
                                        "machine's processor.")] = "",
    calibration: Annotated[str, typer.Option(help="Constants of the timing model, of a CUDA program's times: a file of kw "
                                             "model fit.")] = "",
    as_json_: Annotated[bool, typer.Option("--json", help="End by printing one JSON object.")] = False,
    plot: Annotated[Path | None, typer.Option(help="With --explain: an SVG file for what thresholds of the other datasets do for "
                                              "each one.")] = None,
    resume: Annotated[str | None, typer.Option(help="Go on with an interrupted run: its folder, or its name; besides, --json.")] = None,
    winners: Annotated[list[str] | None, typer.Option("--with", help="RUN[:VARIANT][,RUN...]: these winners are versions of "
                                                      "the program's kernels, with thresholds.")] = None,
    by: Annotated[list[str] | None, typer.Option(help="With --with: [RUN=]VALUE, what a winner's threshold compares, as in 'rows * "
                                                 "columns', 'n <=' (for small n); twice for a range. Default: threads.")] = None,
) -> None:  # fmt: skip
    """Find the thresholds by which a program of several versions picks the right one. Exit code 1 when no thresholds are
    best for all datasets, or --within leaves some out."""
    began = time.monotonic()
    times = [timeout, *([] if within is None else [within])]
    if (
        runs < 1
        or (resolution is not None and not 0 < resolution < 1)
        or not all(0 < each < LONGEST_S for each in times)
    ):
        raise Misuse(
            "--runs, --resolution, --timeout and --within are positive, --resolution is below 1, and times are seconds of a year at most",
            hint="kw tune --help",
        )
    path, more = split_given(given or []) if not execute else (None, list(given or []))
    if explain:
        _explain(_threshold_file(execute, path, output), as_json_, plot)
        return
    if plot is not None:
        raise Misuse("--plot shows what an earlier tuning found", hint="kw tune --explain --plot FILE.svg")
    if resume is not None:
        way = f"kw tune --resume {shlex.quote(resume)}"
        if given or data or execute or winners or by:
            raise Misuse("a run knows what it tunes, and how", hint=way)
        context = click.get_current_context(silent=True)  # None where it is called as a function
        refuse_settled(spelled_flags(context) if context else {}, WITH_RESUME, way)
        run = opened_run(resume)
        os.chdir(run.facts["folder"])
        asked = Asked.from_json(run.facts["asked"])
    else:
        if calibration and (execute or path is None or path.suffix == ".py"):
            raise Misuse(
                "--calibration is for CUDA programs, whose times are estimated",
                hint="kw tune app.cu --calibration FILE",
            )
        device = calibrated(device or "auto", calibration) if calibration else device
        asked = Asked(
            str(path or ""), (*(data or ()), *more), execute, str(output or ""), oracle, str(forest or ""), device, compare,
            tuple(outputs or ()), tuple(winners or ()), tuple(by or ()), tuple(forget or ()), timeout, resolution, runs, fresh,
        )  # fmt: skip
    if any(not name.strip() for name in asked.datasets) and (asked.execute or asked.path.endswith(".py")):
        raise Misuse(
            "a dataset has no name", hint="--data FILE; a program without arguments is a CUDA program's --data ''"
        )
    subject = subject_of(asked, _build)
    rule = asked.rule(deterministic=subject.program.deterministic)
    if resume is None:
        refuse_datasets(subject, refuse_files(subject, fresh=asked.fresh), asked.datasets, asked.forget)
        run = create_run(new_folder(asked.stem), subject, asked.as_json())
    with run, saying_how_to_resume(run):
        refuse_changed(run, subject)
        tell(f"run {run.folder}")
        tuning = tune_program(
            subject, asked.datasets, rule, fresh=asked.fresh, forget=asked.forget, say=tell, run=run,
            is_over=lambda: within is not None and time.monotonic() - began >= within,
        )  # fmt: skip
    _print(tuning, subject, run.folder, as_json_)
    if tuning.conflicts or tuning.not_done:
        raise typer.Exit(1)


def _result(dataset: DatasetResult) -> str:
    if not math.isfinite(dataset.best_us):
        return f"fails in every version; leave it out with --forget {shlex.quote(dataset.name)}"
    if not math.isfinite(dataset.tuned_us):
        return "fails with these thresholds"
    if not math.isfinite(dataset.untuned_us):
        return f"{dataset.tuned_us:.6g} us tuned; untuned it fails"
    share = times_as_much(dataset.untuned_us, dataset.tuned_us)
    return f"{dataset.tuned_us:.6g} us tuned, {share:.3g} times as fast as untuned"


def _threshold_file(execute: str, path: Path | None, output: Path | None) -> Path:
    if not (execute or path or output):
        raise Misuse("there is nothing to explain", hint="kw tune --explain app.cu, or -o FILE, the threshold file")
    return threshold_path(execute, path, output)


def _explain(path: Path, as_object: bool, plot: Path | None) -> None:
    found = explained(path)
    if plot is not None:
        rows = found.get("left_out", [])
        if not rows:
            raise Misuse("there is nothing to plot: fewer than three datasets were tuned on", hint="kw tune --data ...")
        from kernelwright.report.figures import left_out
        from kernelwright.report.tuning import left_out_shares

        write_atomically(plot, left_out(left_out_shares(rows)).encode())
    print(json.dumps({"file": str(path), **found}) if as_object else "\n".join(found["lines"]))


def _print(tuning: Tuning, subject: Subject, folder: Path, as_object: bool) -> None:
    if as_object:
        more = {"dispatch_us": dict(subject.dispatch_us), "remarks": dict(subject.remarks)}
        print(json.dumps({"file": str(subject.path), "run": str(folder), **as_json(tuning), **more}))
        return
    for name, value in tuning.thresholds.items():
        print(f"{name}={value if value != INFINITE else f'{INFINITE}   (never taken)'}")
    for dataset in tuning.datasets:
        decides = subject.dispatch_us.get(dataset.name)
        cost = "" if decides is None else f"; deciding takes {decides:.3g} us a call"
        print(f"{dataset.name or NO_ARGUMENTS}: {_result(dataset)}{cost}")
        for line in trouble_lines(dataset):
            print(f"  {line}")
    for line in (*never_reached_lines(tuning), *(conflict_lines(tuning) if tuning.conflicts else ())):
        print(line)
    if tuning.not_done:
        print(f"not tuned in time: {', '.join(tuning.not_done)}; kw tune --resume {shlex.quote(str(folder))} goes on")
    else:
        print(f"{tuning.runs} runs; written to {subject.path}", file=sys.stderr)
    print(_valid_for(tuning, subject), file=sys.stderr)


def _valid_for(tuning: Tuning, subject: Subject) -> str:
    """For which inputs the gain is: thresholds decide on time alone, whatever the input."""
    timed = [dataset.name or NO_ARGUMENTS for dataset in tuning.datasets]
    shown = ", ".join(timed[:SHOWN]) + (", ..." if len(timed) > SHOWN else "")
    return (
        f"any input may run with these thresholds; their times are those of {plural(len(timed), 'dataset')} ({shown}) on "
        f"{subject.identity.device}, and how fast others are is not known"
    )


def _build(path: Path, device: str) -> tuple[Path, str]:
    """The executable of a CUDA program, and the device by its name."""
    flags = CompileFlags.of({flag.name: flag.default for flag in COMPILE_FLAGS})
    given = GivenProgram.of([path], [], flags, {"device": device}, virtual_for="kw tune")
    return given.executable(), given.settings.name
