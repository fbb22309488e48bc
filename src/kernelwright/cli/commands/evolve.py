"""``kw evolve``: search for a faster kernel, and say what each gain depends on.

kw evolve app.cu -- ARGUMENTS          a CUDA program as it is: recorded, then searched
kw evolve suite:hotspot                a program that ships with the package
kw evolve kw-runs/matmul-1             the best kernel of a run of kw explore, with its program
kw evolve workload.py                  a Python file that defines `workload`
kw evolve --device cuda:0 ...          candidates are judged as ever; times are taken on a real GPU
kw evolve --resume kw-runs/app-1       goes on with a run that was interrupted
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from kernelwright.cli.support.compile_flags import COMPILE_FLAGS, CompileFlags, takes_flags
from kernelwright.cli.support.evolve_data import MadeData, made_data
from kernelwright.cli.support.evolve_flags import searched_flags
from kernelwright.cli.support.evolve_result import lines_of, result_of
from kernelwright.cli.support.evolve_view import view_of
from kernelwright.cli.support.plain_flags import Flag, tell_flags_behind
from kernelwright.cli.support.program_arguments import PROGRAM_FLAGS, GivenProgram, split
from kernelwright.cli.support.resuming import refuse_settled, saying_how_to_resume, spelled_flags
from kernelwright.cli.support.streams import program_speaks_on_stderr, progress
from kernelwright.cuda.names import is_called, readable
from kernelwright.device.settings import calibrated, virtual_gpu
from kernelwright.errors import Misuse, ToolError
from kernelwright.evaluate.capture.capture import Capture
from kernelwright.evaluate.capture.record_program import record
from kernelwright.evaluate.capture.select_launches import PER_GROUP, PER_GROUP_OF_FURTHER, choose, look, rest
from kernelwright.evaluate.judging.whole_program import Program
from kernelwright.evaluate.run.run import folder_if_any, new_folder
from kernelwright.evaluate.run.settings import RunSettings
from kernelwright.evaluate.workload.rule_text import parse_rules
from kernelwright.evaluate.workload.subject import Chosen, Larger, PythonFile, Recordings, Subject
from kernelwright.evolution.genomes import GENOMES, EvolveRun
from kernelwright.evolution.new_run import create, gone_if_refused
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.search.strategies import DEFAULT, listed
from kernelwright.stories.evolve import proceed
from kernelwright.target import DEFAULT_GPU
from kernelwright.values import replaced

DataSet = tuple[Path, tuple[str, ...]]
"""A recording, and the program's arguments that it is of."""
SUITE = "suite:"
INPUTS, LARGER_INPUTS = "inputs", "larger"
"""Below a run: what a suite program of the first data set reads, and of a larger one to which what is found is transferred."""
EVALUATIONS = 2000
LEAST_S, TIMES_LONGER = 20.0, 10.0
"""What a run of the program with changed arguments may take: seconds, and so many times what the given ones took."""

WITH_RESUME = ("resume", "jobs", "cluster", "no_report", "as_json")
"""Flags that a run does not settle when it begins."""
DIGITS = 15
"""Of a number on the command line, at most."""

OWN_FLAGS: tuple[Flag, ...] = (
    Flag("resume", ("--resume",), "text", "Go on with this run; besides, --jobs, --cluster, --no-report and --json."),
    Flag("kernel", ("--kernel",), "texts", "Edit this kernel only; may be repeated. Default all that are launched."),
    Flag("case", ("--case",), "texts", "Further ARGUMENTS of the program, another data set; may be repeated."),
    Flag(
        "held_out",
        ("--held-out",),
        "texts",
        "ARGUMENTS of the program, data that only the proof uses; may be repeated.",
    ),
    Flag(
        "tolerance",
        ("--tolerance",),
        "text",
        "How far outputs may be off: 1%, a share of the change made; 'relative 1e-5'.",
    ),
    Flag("objectives", ("--objectives",), "text", "What is made small: time, or time,error, or time,METRIC.", "time"),
    Flag(
        "evaluations",
        ("--evaluations",),
        "text",
        f"Candidates of the search at most; default {EVALUATIONS}. Minimising and proving add some.",
    ),
    Flag("generations", ("--generations",), "text", "Generations at most."),
    Flag("time", ("--time",), "text", "Seconds to search at most; also 5m, 2h."),
    Flag("population", ("--population",), "text", "Individuals of a generation."),
    Flag("seed", ("--seed",), "text", "Seed of all that is random.", "0"),
    Flag("preset", ("--preset",), "text", f"{listed()}.", DEFAULT),
    Flag(
        "accept",
        ("--accept",),
        "text",
        "What a variant must be: proven, clean, safe (as the original), benign, lockstep, any.",
        "safe",
    ),
    Flag(
        "general",
        ("--general",),
        "switch",
        "Fix nothing that launches differ by: no argument, no block, no grid.",
        False,
    ),
    Flag(
        "whole",
        ("--whole",),
        "switch",
        "Run every block of large launches for every candidate, not a sample.",
        False,
    ),
    Flag(
        "given_data",
        ("--given-data",),
        "switch",
        "Make no further data sets from the program's arguments.",
        False,
    ),
    Flag(
        "keep_flags",
        ("--keep-flags",),
        "switch",
        "Search no compile flags: edits start from the program as it is compiled.",
        False,
    ),
    Flag("jobs", ("--jobs",), "text", "Worker processes; default the cores there are."),
    Flag(
        "cluster", ("--cluster",), "text", "Work on a Ray cluster: HOST:PORT of its head, or auto for this machine's."
    ),
    Flag(
        "name", ("--name",), "text", "Name of the run, its folder below kw-runs; default the program's with a number."
    ),
    Flag(
        "no_report", ("--no-report",), "switch", "Without explaining and exporting the best, and writing a page.", False
    ),
    Flag("as_json", ("--json",), "switch", "End by printing one JSON object.", False),
    *PROGRAM_FLAGS,
)


def evolve_files(
    paths: list[str], arguments: list[str], *, flags: CompileFlags, given: Mapping[str, str], **own: Any
) -> int:
    """What ``kw evolve`` does, its flags read; ``given``: the spelling of those on the command line, by name. Returns 0 when
    something faster was found, else 1. Raises ``Misuse``."""
    as_json, jobs = bool(own.pop("as_json")), _whole("--jobs", own.pop("jobs"))
    name, resumed, cluster, report = own.pop("name"), own.pop("resume"), own.pop("cluster"), not own.pop("no_report")
    if resumed is not None:
        way = f"kw evolve --resume {shlex.quote(resumed)}"
        if paths or arguments:
            raise Misuse("a run knows what it evolves", hint=way)
        refuse_settled(given, WITH_RESUME, way)
        run = EvolveRun.open(resumed, GENOMES, write=True)
    else:
        command = shlex.join(["kw", *sys.argv[1:]])
        run = _new_run(paths, arguments, flags, own, name, command, jobs)
    begin = time.monotonic()
    with run, saying_how_to_resume(run), gone_if_refused(run, resumed is None):
        progress(f"run {run.folder}, seed {run.settings.seed}")
        with view_of(run, sys.stderr) as view:
            finished = proceed(run, jobs=jobs, cluster=cluster, report=report, watch=view.show)
        result = result_of(run, time.monotonic() - begin, finished)
    for trouble in finished.troubles if finished else ():
        _say(trouble)
    print(json.dumps(result) if as_json else lines_of(result))
    return 0 if result["best"] else 1


# -- a new run ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Asked:
    """What the command line asks of a new run, besides what is evolved."""

    settings: RunSettings
    kernels: tuple[str, ...]
    """As a person names them."""
    tolerance: str
    name: str | None
    command: str
    jobs: int | None
    keep_flags: bool
    given_data: bool


def _new_run(
    paths: list[str], arguments: list[str], flags: CompileFlags, own: dict[str, Any], name: str | None, command: str,
    jobs: int | None,
) -> EvolveRun:  # fmt: skip
    kernels = tuple(own.pop("kernel") or ())
    tolerance = own.pop("tolerance")
    rules = str(parse_rules("exact" if tolerance is None else tolerance))
    further = [_words("--case", text) for text in own.pop("case") or ()]
    held = [_words("--held-out", text) for text in own.pop("held_out") or ()]
    keep_flags, given_data = bool(own.pop("keep_flags")), bool(own.pop("given_data"))
    device = calibrated(own.get("device", "auto"), own.pop("calibration", None))
    settings = _settings(own, DEFAULT_GPU if device == "auto" else device)
    asked = _Asked(settings, kernels, rules, name, command, jobs, keep_flags, given_data)
    # A real GPU takes times; recordings are made on the virtual one.
    own["device"], flags = settings.virtual, flags.for_arch(settings.arch) if settings.arch else flags
    if not paths:
        raise Misuse(
            "there is nothing to evolve", hint="kw evolve app.cu -- ARGUMENTS, or suite:hotspot, or workload.py"
        )
    if len(paths) == 1:
        paths = [_explored(paths[0])]
    first = paths[0]
    if len(paths) == 1 and Path(first).suffix == ".py":
        if arguments or further or held:
            raise Misuse(f"{first} takes no arguments: its cases are in it", hint=f"kw evolve {first}")
        subject: Subject = PythonFile(str(Path(first).resolve()), "" if tolerance is None else rules)
        modules = subject.workload().modules()
        chosen_kernels = _mangled(kernels, list(modules))
        with _folder(Path(first).stem, name) as folder:
            return create(folder, subject, replace(settings, kernels=chosen_kernels), command=command)
    if any(path.startswith(SUITE) for path in paths):
        if len(paths) > 1 or arguments or further or held:
            raise Misuse("a suite program brings its own data", hint=f"kw evolve {first}")
        return _suite_run(first.removeprefix(SUITE), flags, own, asked)
    given = GivenProgram.of([Path(path) for path in paths], arguments, flags, own)
    tell_flags_behind("evolve", (*OWN_FLAGS, *COMPILE_FLAGS), given.paths, given.arguments)
    executable = given.executable()
    with _folder(Path(first).stem, name) as folder:

        def recorded(line: Sequence[str], target: Path, limit_s: float | None = None) -> Path:
            _say(f"recording {shlex.join([Path(first).stem, *line])}")
            with program_speaks_on_stderr(True):
                return record(executable, line, target, given.settings, name=Path(first).stem, limit_s=limit_s)

        lines = [tuple(arguments), *map(tuple, further)]
        begin = time.monotonic()
        sets = [(recorded(line, folder / f"data-{n}.capture"), line) for n, line in enumerate(lines, start=1)]
        made = MadeData()
        if not further and not given_data:
            # With changed arguments a program may wait for ever for what never comes.
            recorded_soon = partial(recorded, limit_s=LEAST_S + TIMES_LONGER * (time.monotonic() - begin))
            made = made_data(arguments, sets[0][0], recorded_soon, settings.demands, settings.virtual, rules, _say)
        held_sets = [
            (recorded(line, folder / f"held-out-{n}.capture"), tuple(line)) for n, line in enumerate(held, start=1)
        ]
        program = Program(str(executable), tuple(arguments), str(Path.cwd()))
        return _recorded_run(folder, [*sets, *made.training], [*held_sets, *made.held_out], asked, program, given)


@contextmanager
def _folder(stem: str, name: str | None) -> Iterator[Path]:
    """A fresh folder for a run, which is gone again when no run comes of it."""
    folder = new_folder(stem, name=name)
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _words(flag: str, text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        said = str(error)
        raise Misuse(
            f"{flag} {text} is no command line: {said[:1].lower()}{said[1:]}", hint=f"as {flag} '100 2'"
        ) from error


def _suite_run(title: str, flags: CompileFlags, own: dict[str, Any], asked: _Asked) -> EvolveRun:
    from kernelwright.suite.evolving import DATA_SETS, HELD_OUT, data_set, program_and_data

    program = program_and_data(title)
    define = tuple(flag.removeprefix("-D") for flag in program.flags if flag.startswith("-D"))
    source = flags.options.source
    source = replaced(source, define=(*source.define, *define))
    flags = replaced(flags, options=replaced(flags.options, source=source))
    given = GivenProgram.of(list(program.source_paths), (), flags, own)
    executable = given.executable()
    with _folder(title, asked.name) as folder:
        recordings: list[DataSet] = []
        for number, (size, seed) in enumerate((*DATA_SETS, *HELD_OUT), start=1):
            with data_set(program, size, seed) as (inside, line), program_speaks_on_stderr(True):
                if number == 1:
                    _copied(inside, folder / INPUTS)
                    whole = Program(str(executable), line, INPUTS)
                _say(f"recording {shlex.join([title, *line])}")
                target = folder / f"data-{number}.capture"
                record(executable, line, target, given.settings, folder=inside, name=title)
                recordings.append((target, (f"{size} {seed}",)))
        training, larger = len(DATA_SETS), None
        if program.larger is not None:
            (folder / LARGER_INPUTS).mkdir()
            line = program.larger.generate(folder / LARGER_INPUTS, DATA_SETS[0][1])
            larger = Larger(Program(str(executable), line, LARGER_INPUTS), program.larger.what, program.larger.error)
        return _recorded_run(folder, recordings[:training], recordings[training:], asked, whole, given, larger)


def _explored(given: str) -> str:
    """The program that a run of ``kw explore`` has ended with, for its folder or its name; anything else as it was given. Raises
    ``Misuse`` for a run that has none."""
    folder = None if Path(given).is_file() else folder_if_any(given)
    if folder is None:
        return given
    from kernelwright.exploration.files import PROGRAM  # with all of exploration behind it

    if not (folder / PROGRAM).is_file():
        raise Misuse(
            f"{folder} is a run, and has no {PROGRAM}",
            hint=f"kw evolve --resume {given} goes on with one of evolve; one of explore has it at its end",
        )
    return str(folder / PROGRAM)


def _copied(inside: Path, target: Path) -> None:
    try:
        shutil.copytree(inside, target)
    except OSError as error:  # Of a tree it tells every file that failed, with the reason last.
        why = error.args[0][0][2] if isinstance(error, shutil.Error) else error.strerror
        raise ToolError(
            f"the inputs cannot be copied to {target}: {str(why).split(': ')[0]}",
            hint="free space, or work in another folder",
        ) from error


def _recorded_run(
    folder: Path, training: list[DataSet], held_out: list[DataSet], asked: _Asked, program: Program, given: GivenProgram,
    larger: Larger | None = None,
) -> EvolveRun:  # fmt: skip
    """A run on recordings; those held out are for the proof alone."""
    settings, recordings = asked.settings, [path for path, _ in (*training, *held_out)]
    chosen: list[Chosen] = []
    held: list[Chosen] = []
    for number, path in enumerate(recordings):
        with Capture.read(path) as capture:
            wanted = _mangled(asked.kernels, list(capture.kernels)) if number == 0 else settings.kernels
            settings = replace(settings, kernels=wanted)
            looked = look(capture, wanted if number == 0 else [k for k in wanted if k in capture.kernels])
            found = choose(number, looked, PER_GROUP_OF_FURTHER if 0 < number < len(training) else PER_GROUP)
            if number >= len(training):
                held += found
                continue
            _say(_chosen_line(number, capture, found))
            chosen += found
            held += rest(number, looked, found)
    # A run says where its recordings are by their names alone, so that its folder can be moved.
    stored = Recordings(tuple(path.name for path in recordings), tuple(chosen), asked.tolerance, tuple(held), program)
    stored = replace(stored, lines=tuple(shlex.join(words) for _, words in (*training, *held_out)), larger=larger)
    opened = replace(
        stored,
        paths=tuple(str(path) for path in recordings),
        program=program.below(folder),
        larger=None if larger is None else replace(larger, program=larger.program.below(folder)),
    )
    flags = None if asked.keep_flags else searched_flags(opened, given, settings, folder, asked.jobs, _say)
    if flags is not None:
        stored, opened = replace(stored, flags=flags), replace(opened, flags=flags.below(folder))
    return create(folder, stored, settings, command=asked.command, given=opened)


def _chosen_line(number: int, capture: Capture, chosen: tuple[Chosen, ...]) -> str:
    by_kernel: dict[str, list[str]] = {}
    for each in chosen:
        launch = capture.launches[each.launch]
        weight = f" x{each.weight:g}" if each.weight != 1 else ""
        by_kernel.setdefault(readable(launch.kernel), []).append(f"#{launch.number}{weight}")
    which = "; ".join(f"{kernel}: {', '.join(numbers)}" for kernel, numbers in by_kernel.items())
    return f"data set {number + 1}: {len(chosen)} of {len(capture.launches)} launches stand for all ({which})"


def _mangled(names: tuple[str, ...], known: list[str]) -> tuple[str, ...]:
    """The mangled names of the kernels a person names. Raises ``Misuse`` with the names there are."""
    found = []
    for name in names:
        fitting = [k for k in known if is_called(k, name)]
        if len(fitting) != 1:
            what = "several kernels are" if fitting else "no kernel is"
            raise Misuse(f"{what} called {name!r}", hint=f"there are {', '.join(readable(k) for k in known) or 'none'}")
        found += fitting
    return tuple(found)


def _settings(own: dict[str, Any], device: str) -> RunSettings:
    evaluations = _whole("--evaluations", own.pop("evaluations"))
    generations = _whole("--generations", own.pop("generations"))
    seconds = _duration(own.pop("time"))
    if evaluations is None and generations is None and seconds is None:
        evaluations = EVALUATIONS
    return RunSettings.on(
        device if device.startswith("cuda") else virtual_gpu(device).name,
        preset=own.pop("preset"),
        accept=own.pop("accept"),
        objectives=tuple(word.strip() for word in own.pop("objectives").split(",")),
        evaluations=evaluations,
        generations=generations,
        seconds=seconds,
        general=bool(own.pop("general")),
        sampled=not own.pop("whole"),
        population=_whole("--population", own.pop("population")),
        seed=_whole("--seed", own.pop("seed"), least=0) or 0,
    )


def _whole(flag: str, text: str | None, least: int = 1) -> int | None:
    if text is None:
        return None
    if not text.isdecimal() or len(text) > DIGITS or int(text) < least:
        shown = text if len(text) <= DIGITS else f"{text[:DIGITS]}..."
        raise Misuse(f"{flag} {shown} is no number from {least} up that makes sense", hint=f"as {flag} 100")
    return int(text)


def _duration(text: str | None) -> float | None:
    if text is None:
        return None
    unit = {"s": 1.0, "m": 60.0, "h": 3600.0}.get(text[-1:], 0.0)
    number = text[:-1] if unit else text
    try:
        seconds = float(number) * (unit or 1.0)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e9:
        raise Misuse(f"--time {text} is no time", hint="seconds, or 5m, or 2h")
    return seconds


def _say(text: str) -> None:
    print(f"kw: {text}", file=sys.stderr)


def __getattr__(name: str) -> Any:
    """``command`` is made on demand: making it imports typer."""
    if name != "command":
        raise AttributeError(name)
    from typing import Annotated

    import click
    import typer

    def command(flags: CompileFlags, targets: list[str] | None = None, **own: Any) -> int:
        """Search for a faster kernel, and say what each gain depends on: kw evolve app.cu -- ARGUMENTS; exit code 1 if none."""
        given = targets or []
        _, behind = split(sys.argv)
        spelled = spelled_flags(click.get_current_context())
        return evolve_files(given[: len(given) - len(behind)], behind, flags=flags, given=spelled, **own)

    command.__annotations__["targets"] = Annotated[
        list[str] | None,
        typer.Argument(
            help="CUDA files or a program, suite:NAME, a run of kw explore, or a Python file that defines `workload`; -- ARGUMENTS."
        ),
    ]
    return takes_flags(command, OWN_FLAGS)
