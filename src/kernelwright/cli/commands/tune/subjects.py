"""What ``kw tune`` is asked to tune, as a subject: a shell command, a Python file, a CUDA program."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, field, fields, replace
from pathlib import Path
from typing import Any

import kernelwright
from kernelwright.cache import content_key, file_digest
from kernelwright.calibration import UNCALIBRATED
from kernelwright.cli.support.error_exit import tell
from kernelwright.cli.support.winners_view import given_winners
from kernelwright.device.settings import virtual_gpu
from kernelwright.errors import Misuse, reason
from kernelwright.evaluate.run.machine_facts import machine
from kernelwright.evaluate.workload.case import Arrays
from kernelwright.evaluate.workload.comparison import Rule
from kernelwright.evaluate.workload.program_case import TIMEOUT_S, Reader, reader_of
from kernelwright.evaluate.workload.rule_text import parse_rule
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.stories.tune import Subject
from kernelwright.versions.forest import read_forest
from kernelwright.versions.guard_names import (
    LITERAL_GUARD,
    HasGuard,
    guards_of_command,
    guards_of_listing,
    guards_of_source,
    source_guards,
)
from kernelwright.versions.resolution import Resolution
from kernelwright.versions.running.checked_program import CheckedProgram
from kernelwright.versions.running.external_program import DATA, ExternalProgram, output_of
from kernelwright.versions.running.resident_runner import ResidentRunner
from kernelwright.versions.running.runner_commands import cuda_program, python_guards, python_program
from kernelwright.versions.threshold_file import Identity, with_winners
from kernelwright.versions.tuned_winners import GuardedVersion, guarded

_STARTS_ANOTHER = re.compile(
    r"((ba|da|z|k|fi)?sh|python|pypy|perl|ruby|node|java|julia|lua|Rscript|env|exec|cd|nice|ionice|time|timeout|taskset|chrt"
    r"|numactl|stdbuf|mpirun|mpiexec|srun)[\d.]*"
)
"""Commands whose arguments name the program, which they interpret or start."""


@dataclass(frozen=True)
class Asked:
    """What the command was given, as its run writes it down."""

    path: str
    """The program's file; empty with ``execute``."""
    datasets: tuple[str, ...]
    execute: str = ""
    output: str = ""
    oracle: str = ""
    forest: str = ""
    device: str = ""
    compare: str = ""
    outputs: tuple[str, ...] = ()
    winners: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    """What thresholds of winners compare."""
    forget: tuple[str, ...] = ()
    timeout_s: float = TIMEOUT_S
    resolution: float | None = None
    runs: int = 40
    fresh: bool = False

    def as_json(self) -> dict[str, Any]:
        """By field name, as the run's facts keep it; ``from_json`` reads it."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Asked:
        """What ``as_json`` wrote. Raises ``Misuse`` for anything else."""
        try:
            # A run that was begun before there was ``by`` compares threads.
            known: dict[str, Any] = {"by": [], **value}
            known = {f.name: known[f.name] for f in fields(cls)}
            lists = {name: tuple(v) for name, v in known.items() if isinstance(v, list)}
            return cls(**known | lists)
        except (KeyError, TypeError) as error:
            raise Misuse(f"this run's settings cannot be read ({reason(error)})", hint="start a new run") from error

    def rule(self, *, deterministic: bool) -> Resolution:
        """By which times are compared. Estimated ones repeat, so that any difference counts where no other resolution is asked for."""
        if deterministic:
            return Resolution.exact(2 * (self.resolution or 0.0))
        return Resolution.noisy(self.resolution or 0.02, self.runs)

    @property
    def stem(self) -> str:
        """What its runs are called after."""
        output = Path(self.output) if self.output else None
        return threshold_path(self.execute, Path(self.path) if self.path else None, output).stem


def subject_of(asked: Asked, build: Callable[[Path, str], tuple[Path, str]]) -> Subject:
    """What is asked to be tuned. Raises ``Misuse`` where that is nothing."""
    wanted = Wanted(
        parse_rule(asked.compare),
        Path(asked.output) if asked.output else None,
        asked.oracle,
        Path(asked.forest) if asked.forest else None,
        asked.device,
        asked.timeout_s,
        files_of(asked.outputs),
    )
    for dataset in asked.datasets if asked.oracle else ():
        _oracle_path(asked.oracle, dataset)
    if asked.execute and asked.winners:
        raise Misuse("--with is for CUDA programs that are compiled here", hint="kw tune app.cu --with RUN")
    if asked.by and not asked.winners:
        raise Misuse(
            "--by says what thresholds of winners compare", hint='kw tune app.cu --with RUN --by "rows * columns"'
        )
    if asked.execute:
        return of_command(asked.execute, wanted)
    if not asked.path:
        raise Misuse("there is nothing to tune", hint=f'kw tune app.cu --data "ARGUMENTS", or --exec "./app {DATA}"')
    path = Path(asked.path)
    if asked.winners and path.suffix == ".py":
        raise Misuse("--with is for CUDA programs", hint="kw tune app.cu --with RUN")
    if path.suffix == ".py" and not path.is_file():
        raise Misuse(
            f"{path} {'is a folder' if path.is_dir() else 'does not exist'}", hint="give the path of a Python file"
        )
    if path.suffix != ".py":
        for arguments in asked.datasets:
            words_of(arguments, f"dataset {arguments!r}")
    return of_python(path, wanted) if path.suffix == ".py" else of_cuda(path, wanted, build, asked.winners, asked.by)


@dataclass(frozen=True)
class Wanted:
    """What all kinds of subjects are asked for."""

    rule: Rule
    output: Path | None
    oracle: str
    forest: Path | None
    device: str
    timeout_s: float
    files: Mapping[str, Reader] = field(default_factory=dict)
    """What the program writes besides its standard output, by path, and how it is read."""


def files_of(texts: Sequence[str]) -> dict[str, Reader]:
    """``--outputs``: ``result.bin=float32``; a path alone is read as text. Raises ``Misuse`` for an unknown reader."""
    found: dict[str, Reader] = {}
    for text in texts:
        path, _, reader = text.partition("=")
        found[path] = reader or "text"
        reader_of(found[path])
    return found


def of_command(execute: str, wanted: Wanted) -> Subject:
    """Any program that speaks the line protocol."""
    program = ExternalProgram(execute, wanted.timeout_s, files=wanted.files)
    digest = ",".join(found for word in words_of(execute) if (found := file_digest(word)))
    identity = Identity(execute, _here(wanted), digest)
    path = threshold_path(execute, None, wanted.output)
    return _subject(program, identity, path, wanted, guards_of_command(words_of(execute)))


def of_python(path: Path, wanted: Wanted) -> Subject:
    """A Python file with ``kw.versions``."""
    program = python_program(path, wanted.timeout_s, wanted.files)
    identity = Identity(str(path), _here(wanted), file_digest(str(path)) or "")
    has_guard = guards_of_listing(python_guards(path))
    return _subject(program, identity, threshold_path("", path, wanted.output), wanted, has_guard)


def of_cuda(
    path: Path,
    wanted: Wanted,
    build: Callable[[Path, str], tuple[Path, str]],
    runs: Sequence[str] = (),
    by: Sequence[str] = (),
) -> Subject:
    """A CUDA program. ``build`` returns its executable, and the device as the settings name it. ``runs``: those whose winners are
    versions of its kernels; ``by``: what their thresholds compare."""
    versions = _guarded_winners(runs, by) if runs else []
    resident = ResidentRunner(versions)
    resident.load()  # beside the compiler
    executable, device = build(path, wanted.device or "auto")
    for remark in same_names(path):
        tell(remark)
    program = cuda_program(executable, device, wanted.timeout_s, resident, wanted.files)
    # Estimated times change with the timing model, which is part of the package.
    digest = f"{file_digest(str(path))} {kernelwright.__version__}"
    if versions:
        digest += " " + content_key(p for v in versions for p in (v.version.name, v.version.kernel, v.version.ir))
    calibration = virtual_gpu(device).calibration.text or UNCALIBRATED
    name = with_winners(str(path), ",".join(runs), by)
    identity = Identity(name, device.partition("@")[0], digest, calibration)
    has_guard = guards_of_source(path, [name for version in versions for name, _ in version.names()])
    subject = _subject(
        program, identity, threshold_path("", path, wanted.output), wanted, has_guard, digest=lambda _: ""
    )
    return replace(subject, guards=source_guards(path))


def _guarded_winners(runs: Sequence[str], by: Sequence[str]) -> list[GuardedVersion]:
    found = given_winners(runs, ordered=False)
    return guarded(found.versions, found.arguments, by)


def same_names(path: Path) -> list[str]:
    """A sentence for each name that several guards in a CUDA program's own file have: they share a threshold."""
    lines: dict[str, list[int]] = {}
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        for name in LITERAL_GUARD.findall(line.partition("//")[0]):
            lines.setdefault(name, []).append(number)
    return [
        f"{path} has {len(where)} guards called {name!r}, in lines {', '.join(map(str, where))}: they share one threshold; rename "
        "them if they are to have their own"
        for name, where in lines.items()
        if len(where) > 1
    ]


def words_of(text: str, what: str = "") -> list[str]:
    """The words of a shell command, or of a program's arguments. Raises ``Misuse`` for quotes that do not end."""
    try:
        return shlex.split(text)
    except ValueError as error:
        reason = f"{what} is no list of arguments" if what else f"--exec {text!r} is no shell command"
        raise Misuse(f"{reason}: {error}", hint="close the quotes") from None


def threshold_path(execute: str, path: Path | None, output: Path | None) -> Path:
    """The threshold file: ``app.tuning`` for ``./app {data}``, ``python app.py {data}`` and ``app.cu``, in the folder of the program.

    Raises ``Misuse`` for a command whose program cannot be told.
    """
    if output is not None:
        return output
    if path is not None:
        return path.with_suffix(".tuning")
    starts_another = False
    for word in words_of(execute):
        if _STARTS_ANOTHER.fullmatch(Path(word).name):
            starts_another = True
        elif starts_another and Path(word).is_file():
            return Path(word).with_suffix(".tuning")
        elif not starts_another and "=" not in word:
            return Path(f"{word}.tuning")
    raise Misuse(
        f'which program --exec "{execute}" runs cannot be told, so that its threshold file has no name',
        hint="name it: -o app.tuning",
    )


def _subject(
    program: ExternalProgram,
    identity: Identity,
    path: Path,
    wanted: Wanted,
    has_guard: HasGuard,
    digest: Callable[[str], str] = lambda dataset: file_digest(dataset) or "",
) -> Subject:
    checked = CheckedProgram(program, wanted.rule, lambda dataset: _oracle_output(wanted.oracle, dataset))
    return Subject(
        checked,
        identity,
        path,
        read_forest(wanted.forest) if wanted.forest is not None else None,
        digest,
        program.dispatch_us,
        program.unreadable,
        checked.remarks,
        has_guard,
    )


def _here(wanted: Wanted) -> str:
    return wanted.device or str(machine()["processor"])


def _oracle_output(pattern: str, dataset: str) -> Arrays | None:
    return output_of(_oracle_path(pattern, dataset)) if pattern else None


def _oracle_path(pattern: str, dataset: str) -> Path:
    """Raises ``Misuse`` where it is not there."""
    path = Path(pattern.replace(DATA, dataset))
    if not path.is_file():
        raise Misuse(f"there is no oracle {path} for dataset {dataset}", hint=f'as in --oracle "{DATA}.expected"')
    return path


def split_given(given: Sequence[str]) -> tuple[Path | None, list[str]]:
    """The program and the datasets among the arguments of the command."""
    return (Path(given[0]), list(given[1:])) if given else (None, [])
