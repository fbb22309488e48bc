"""The whole program with a variant's kernels in it: run as it is, its launches exchanged on their way, its outputs compared.

    whole = WholeProgram(Program(executable, arguments, folder), gpu_name, rules)
    whole.judge(variant.kernels, baseline.kernels)       # Ok or Rejected

Every run has a fresh copy of the folder. Outputs are the standard output and all files that come or change; what two runs of
the original do not agree on (times that it prints) is left out.
"""

from __future__ import annotations

import os
import shutil
import socket
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.device.execution import Execution, Loaded
from kernelwright.device.guard_facts import facts_of_execution
from kernelwright.device.serving.observer import Observed, Observer
from kernelwright.device.serving.run_program import run_program
from kernelwright.device.serving.worker import serve
from kernelwright.device.settings import Settings
from kernelwright.device.virtual_gpu.gpu import Launched, VirtualGpu
from kernelwright.errors import KernelwrightError, Misuse, ToolError
from kernelwright.evaluate.judging.variant import Built
from kernelwright.evaluate.judging.variant_launches import all_hold
from kernelwright.evaluate.outcome import Ok, Outcome, Rejected
from kernelwright.evaluate.workload.comparison import judge
from kernelwright.evaluate.workload.program_case import STDOUT, reader_of
from kernelwright.evaluate.workload.rule_text import Rules

LARGEST_FOLDER = 256 << 20
"""Bytes of a working folder that is copied for each run; a larger one is not."""
MOST_FILES = 5000
RUNS = "kw-runs"

Outputs = dict[str, bytes]


@dataclass(frozen=True)
class Program:
    """How a program is run. ``folder``: what it finds where it works."""

    executable: str
    arguments: tuple[str, ...]
    folder: str

    @property
    def trouble(self) -> str:
        """Why it cannot be run again; empty when it can."""
        if not os.access(self.executable, os.X_OK):
            return f"the program is not there any more ({self.executable})"
        if not Path(self.folder).is_dir():
            return f"its folder is not there any more ({self.folder})"
        size = files = 0
        for where, folders, names in os.walk(self.folder):
            folders[:] = [name for name in folders if name != RUNS]
            files += len(names)
            size += sum(os.lstat(os.path.join(where, name)).st_size for name in names)
            if size > LARGEST_FOLDER or files > MOST_FILES:
                return f"its folder is too large to be copied for every run ({self.folder})"
        return ""


class Exchange(Observer):
    """Runs other kernels than the program's own wherever their guards hold. A session is one program: not for two."""

    def __init__(self, kernels: Mapping[str, Built]) -> None:
        self._kernels = kernels
        self._session: Observed | None = None
        self.exchanged = 0

    def attach(self, session: Observed) -> None:
        self._session = session

    def launch(self, execution: Execution, gpu: VirtualGpu) -> Launched | None:
        built = self._kernels.get(execution.launch.kernel)
        if built is None:
            return None
        assert self._session is not None
        arena = self._session.arena
        exchanged = replace(execution, loaded=Loaded(built.module, execution.loaded.variables, key=built.key))
        if built.guards and not all_hold(built.guards, facts_of_execution(exchanged, arena)):
            return None
        self.exchanged += 1
        return gpu.run(exchanged, arena)


class WholeProgram:
    """Judges variants by runs of a whole program. Standard streams are redirected meanwhile, so: one per process.

    Raises ``Misuse`` when the original does not run. A folder that cannot be copied is told when a variant is judged.
    """

    def __init__(self, program: Program, gpu: str, rules: Rules) -> None:
        self.program = program
        self._settings = Settings.for_device(gpu)
        self._rules = rules
        self._uncopied: ToolError | None = None
        self._expected: Outputs = {}
        try:
            self._expected = self._stable()
        except ToolError as error:
            self._uncopied = error

    def _stable(self) -> Outputs:
        """What two runs of the original agree on."""
        runs = [self._run({})[0] for _ in range(2)]
        for run in runs:
            if isinstance(run, Rejected):
                raise Misuse(f"the whole program does not run again: {run}", hint="record it again: start a new run")
        first, second = (run for run in runs if not isinstance(run, Rejected))
        return {name: data for name, data in first.items() if second.get(name) == data}

    def judge(self, kernels: Mapping[str, Built]) -> Outcome:
        """What comes of the program with these kernels in place of its own. Time is not taken.

        Raises ``ToolError`` when its folder cannot be copied, ``Misuse`` when none of the kernels took part: nothing is
        known of them then.
        """
        if self._uncopied is not None:
            raise self._uncopied
        found, exchanged = self._run(kernels)
        outcome = found if isinstance(found, Rejected) else self._compared(found)
        if kernels and not exchanged and isinstance(outcome, Ok):
            guarded = any(built.guards for built in kernels.values())
            why = "none of its launches meets the guards" if guarded else "it launches none of the changed kernels"
            raise Misuse(why, hint="the program may read its standard input, which is empty here")
        return outcome

    def _compared(self, found: Outputs) -> Outcome:
        worst = 0.0
        for name, expected in self._expected.items():
            if name not in found:
                return Rejected("program", f"it wrote no {name}")
            if found[name] == expected:
                continue
            for part, values in _arrays(name, expected).items():
                got = _arrays(name, found[name]).get(part)
                if got is None:
                    return Rejected("compare", f"'{name}' is of another form")
                verdict = judge(self._rules.of(part), got, values)
                if not verdict.accepted:
                    return Rejected("compare", f"'{part}' {verdict.sentence}")
                worst = max(worst, verdict.figure)
        return Ok(0.0, worst)

    def _run(self, kernels: Mapping[str, Built]) -> tuple[Outputs | Rejected, int]:
        """What comes of the program, and how many launches were exchanged."""
        with tempfile.TemporaryDirectory(prefix="kernelwright-") as temporary:
            folder, said = Path(temporary) / "run", Path(temporary) / STDOUT
            _copy(self.program.folder, folder)
            before = _contents(folder)

            def serve_connection(connection: socket.socket) -> bytes:
                exchange = Exchange(kernels)
                serve(connection, lambda: self._settings, [exchange])
                return str(exchange.exchanged).encode()

            executable = str(Path(self.program.executable).absolute())
            try:
                with _streams_in(said, folder):
                    ran = run_program([executable, *self.program.arguments], self._settings, serve_connection)
            except KernelwrightError as error:
                return Rejected("program", error.message), 0
            # A worker that was killed says nothing.
            exchanged = sum(int(said_by or 0) for said_by in ran.results)
            if ran.exit_code:
                lines = said.read_bytes()[-2000:].decode(errors="replace").strip().splitlines()
                why = f"it ended with exit code {ran.exit_code}: {lines[-1] if lines else ''}"
                return Rejected("program", why), exchanged
            changed = {name: data for name, data in _contents(folder).items() if before.get(name) != data}
            return {**changed, STDOUT: said.read_bytes()}, exchanged


def _copy(folder: str, target: Path) -> None:
    """Copies files, folders and links; pipes, sockets and devices are left out. Raises ``ToolError`` naming what cannot be read."""
    try:
        shutil.copytree(folder, target, symlinks=True, ignore=_left_out)
    except shutil.Error as error:
        raise ToolError(f"its folder cannot be copied: {error.args[0][0][0]}") from error
    except OSError as error:
        raise ToolError(f"its folder cannot be copied: {error.filename or error}") from error


def _left_out(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name == RUNS or not _is_plain(os.path.join(folder, name))]


def _is_plain(path: str) -> bool:
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:  # gone since the folder was read
        return False
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)


def _contents(folder: Path) -> Outputs:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def _arrays(name: str, data: bytes) -> Mapping[str, NDArray[Any]]:
    """A file's numbers as far as they can be told: of a text its numbers and its words, else single-precision numbers."""
    try:
        data.decode("ascii")
    except UnicodeDecodeError:
        kind = "<f4" if len(data) % 4 == 0 else "u1"
        return {name: np.frombuffer(data, dtype=kind)}
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        return reader_of("text")(name, Path(file.name))


@contextmanager
def _streams_in(said: Path, folder: Path) -> Iterator[None]:
    """Within, this process works in ``folder``, and what it and its children print goes to a file."""
    here, kept = os.getcwd(), [os.dup(1), os.dup(2)]
    target = os.open(said, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    errors = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(target, 1)
        os.dup2(errors, 2)
        os.chdir(folder)
        yield
    finally:
        os.chdir(here)
        for number, descriptor in enumerate(kept, start=1):
            os.dup2(descriptor, number)
        for descriptor in (*kept, target, errors):
            os.close(descriptor)
