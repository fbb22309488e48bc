"""``kw explore``: all implementations of a computation, and the best of them.

kw explore matmul 1024 1024 1024 --device h200     the fastest kernel of a computation of the library
kw explore my_computation.py 65536                 that of a computation of one's own (docs/explore.md)
kw explore matmul 1024 1024 1024 --dynamic "m n k"   one kernel for all sizes, given at launch, tuned at these
kw explore matmul 1024 1024 1024 --device cuda:0   the fastest by their estimates measured on a GPU, beside cuBLAS
kw explore axpy 65536 --strategy best-first        stops when nothing in the space can be faster
kw explore --replay kw-runs/matmul-1/decisions.json  the kernel of these decisions, run as a whole
kw explore --bundle matmul                         one program of the best kernels of all sizes on record
kw explore --resume kw-runs/matmul-1               goes on with a run that was interrupted
"""

from __future__ import annotations

import json
import shlex
import sys
import time
from pathlib import Path
from typing import Annotated

import click
import typer

from kernelwright.cli.commands.explore.result import explore_lines, explore_result
from kernelwright.cli.commands.explore.view import explore_view_of
from kernelwright.cli.support.resuming import refuse_settled, saying_how_to_resume, spelled_flags
from kernelwright.cli.support.streams import progress
from kernelwright.device.settings import calibrated
from kernelwright.errors import Misuse
from kernelwright.evaluate.outcome import Ok
from kernelwright.evaluate.run.run import FOLDER, new_folder
from kernelwright.exploration.decisions import DECISIONS
from kernelwright.exploration.dispatched_program import write_dispatched_program
from kernelwright.exploration.on_gpu.which import chosen_gpu
from kernelwright.exploration.run import ExploreRun
from kernelwright.exploration.subject import Subject
from kernelwright.search.strategies import DEFAULT_TREE_SEARCH, TREE_SEARCHES
from kernelwright.space.library import EXAMPLES
from kernelwright.stories.explore import checked_settings, create, on, proceed

WITH_RESUME = ("resume", "jobs", "as_json")
"""Flags that a run does not settle when it begins."""
STRATEGY_HELP = "; ".join(f"{each.name}: {each.what}" for each in TREE_SEARCHES.values()) + "."


def command(
    computation: Annotated[
        str | None, typer.Argument(help=f"{', '.join(EXAMPLES)}; or a Python file that defines one.")
    ] = None,
    sizes: Annotated[
        list[int] | None, typer.Argument(help="Its sizes, in order; the usual ones where not given.")
    ] = None,
    dynamic: Annotated[
        str,
        typer.Option(help="Sizes that the kernel is given at launch, as 'm n k'; 'm n:4' where n is a multiple of 4."),
    ] = "",
    at: Annotated[
        list[str] | None,
        typer.Option(help="With --dynamic: one more launch the best has to be right at, as '500 300 7'."),
    ] = None,
    device: Annotated[
        str,
        typer.Option(
            help="The GPU that kernels are for, as h200, or a TOML file of your own; cuda:0: the best are measured there."
        ),
    ] = "auto",
    calibration: Annotated[str, typer.Option(help="Constants of the timing model: a file of kw model fit.")] = "",
    evaluations: Annotated[int | None, typer.Option(help="Kernels tried at most; default 1000.")] = None,
    budget: Annotated[float | None, typer.Option(help="Seconds at most.")] = None,
    gap: Annotated[float, typer.Option(help="Stop when the best is proven to be at most this share slower.")] = 0.0,
    until: Annotated[float | None, typer.Option(help="Stop when the best takes at most so many microseconds.")] = None,
    decide: Annotated[
        list[str] | None, typer.Option(help="A decision that all kernels keep, as 'size(mad.m1) = 16'.")
    ] = None,
    strategy: Annotated[str, typer.Option(help=STRATEGY_HELP)] = DEFAULT_TREE_SEARCH,
    seed: Annotated[int, typer.Option(help="Seed of all that is random.")] = 0,
    jobs: Annotated[int | None, typer.Option(help="Worker processes; default the cores there are.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the run; default the computation's with a number.")] = None,
    resume: Annotated[str | None, typer.Option(help="Go on with this run; besides, --jobs and --json.")] = None,
    replay: Annotated[Path | None, typer.Option(help="Decisions that a run wrote: their kernel is run.")] = None,
    bundle: Annotated[
        str | None,
        typer.Option(help="A computation whose best kernels of all sizes become one program, kw-runs/NAME.cu."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="End by printing one JSON object.")] = False,
) -> None:
    """Explore all implementations of a computation. Exit code 1 when nothing faster than the naive kernel was found."""
    if jobs is not None and jobs < 1:
        raise Misuse(f"--jobs {jobs} is no number from 1 up", hint="as --jobs 2")
    if bundle is not None:
        if computation or sizes or resume or replay:
            raise Misuse("--bundle makes a program of what has been explored", hint="kw explore --bundle matmul")
        path = write_dispatched_program(Path(FOLDER), bundle)
        print(
            json.dumps({"program": str(path)})
            if as_json
            else f"{path}\nkw run {path} -- SIZES; kw tune {path} --data 'SIZES'"
        )
        return
    if resume is not None or replay is not None:
        if computation or sizes or name or evaluations or budget or decide or dynamic or at:
            raise Misuse("a run knows what it explores, and so do its decisions", hint="kw explore --resume RUN")
        if replay is not None:
            _replay(replay, as_json)
            return
        context = click.get_current_context(silent=True)  # None where it is called as a function
        way = f"kw explore --resume {shlex.quote(str(resume))}"
        refuse_settled(spelled_flags(context) if context else {}, WITH_RESUME, way)
        run = ExploreRun.open(str(resume), DECISIONS, write=True)
    else:
        if computation is None:
            raise Misuse("there is nothing to explore", hint=f"kw explore axpy 65536; there are {', '.join(EXAMPLES)}")
        gpu = chosen_gpu(calibrated(device, calibration))
        subject = Subject.of(computation, sizes or (), gpu.modelled, _words(dynamic))
        settings = checked_settings(
            subject,
            decisions=decide or (),
            at=[_launch(each) for each in at or ()],
            strategy=strategy,
            evaluations=evaluations if evaluations is not None or budget is not None else 1000,
            seconds=budget,
            gap=gap,
            until_us=until,
            seed=seed,
            **on(gpu),
        )
        run = create(new_folder(subject.computation, name=name), subject, settings)
    begin = time.monotonic()
    with run, saying_how_to_resume(run):
        about = f"{run.subject} on {run.subject.device}, {run.settings.strategy}, seed {run.settings.seed}"
        progress(f"run {run.folder}: {about}")
        with explore_view_of(sys.stderr) as view:
            proceed(run, jobs=jobs, watch=view.show)
        result = explore_result(run, time.monotonic() - begin)
        shown = explore_lines(result, run.open_end)
    print(json.dumps(result) if as_json else shown)
    if not result["best"] or result["speedup"] <= 1:
        raise typer.Exit(1)


def _words(text: str) -> list[str]:
    return text.replace(",", " ").split()


def _launch(text: str) -> list[int]:
    try:
        return [int(word) for word in _words(text)]
    except ValueError:
        raise Misuse(
            f"--at {text!r} is no list of sizes", hint="as --at '500 300 7', in the order of the sizes"
        ) from None


def _replay(path: Path, as_json: bool) -> None:
    from kernelwright.exploration.files import read_replay
    from kernelwright.exploration.judge import KernelJudge
    from kernelwright.exploration.kernel_space import KernelSpace

    subject, decisions = read_replay(path)
    space = KernelSpace(subject)
    kernel = space.kernel(decisions)
    with KernelJudge(space, 1) as judge:
        outcome = judge.whole(decisions)
    if as_json:
        print(json.dumps({**subject.as_json(), "outcome": outcome.as_json(), "source": kernel.source}))
    else:
        said = f"estimated {outcome.time_us:.2f} us" if isinstance(outcome, Ok) else f"rejected, {outcome}"
        print(f"{subject} on {subject.device}: {said}\n\n{kernel.source}")
    if not isinstance(outcome, Ok):
        raise typer.Exit(1)
