"""Any program that speaks the line protocol: a shell command with ``{data}`` where a dataset stands.

    ./app -L --tuning {thresholds} -t {times} < {data}

``{thresholds}`` is the path of the threshold file, ``{times}`` that of a file into which the program writes microseconds, a
number per line; their mean is its time. ``{outputs}`` is that of an ``.npz`` file with what it computes, else its standard output
is that, and the files that it is known to write. A run is ended when it takes ten times as long as the best of its dataset,
or longer where it waits for a processor (``shell_run.py``).
"""

from __future__ import annotations

import math
import os
import shlex
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Protocol

import numpy as np

from kernelwright.errors import Misuse
from kernelwright.evaluate.outcome import Rejected
from kernelwright.evaluate.workload.case import Arrays
from kernelwright.evaluate.workload.program_case import (
    TIMEOUT_S,
    Reader,
    how_it_ended,
    reader_of,
)
from kernelwright.versions.program import Ran, Thresholds
from kernelwright.versions.running.checked_program import Answer
from kernelwright.versions.running.line_protocol import (
    ENVIRONMENT,
    TELL,
    comparisons,
    dispatch_us,
    other_lines,
    threshold_lines,
    time_us,
    unreadable_line,
)
from kernelwright.versions.running.shell_run import ShellRun

DATA, THRESHOLDS, TIMES, OUTPUTS = "{data}", "{thresholds}", "{times}", "{outputs}"
PATIENCE = 10.0
"""Times the best run of a dataset after which a run has lost."""
LEAST_S = 1.0


class Started(Protocol):
    """A run under way."""

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, negative for the signal that ended it. Raises ``subprocess.TimeoutExpired``."""

    def end(self) -> None:
        """Ends it, and what it started."""


Start = Callable[[str, Mapping[str, str], IO[bytes], IO[bytes]], Started]
"""Starts a command with an environment, and files for its standard output and standard error."""


class ExternalProgram:
    """A command as a program of several versions. Where it is ``deterministic``, no run is ended for being slow here."""

    def __init__(
        self,
        command: str,
        timeout_s: float = TIMEOUT_S,
        deterministic: bool = False,
        start: Start | None = None,
        files: Mapping[str, Reader] | None = None,
    ) -> None:
        """``files``: what the program writes besides, by path, with ``{data}`` for the dataset, and how it is read."""
        if DATA not in command:
            raise Misuse(f"{command!r} does not say where the dataset goes", hint=f'as in --exec "./app {DATA}"')
        self.command = command
        self.deterministic = deterministic
        self._timeout_s = timeout_s
        self._start = start or ShellRun
        self._files = dict(files or {})
        for reader in self._files.values():
            reader_of(reader)
        self._best_s: dict[str, float] = {}
        self.dispatch_us: dict[str, float] = {}
        """What deciding costs per call, in microseconds, by dataset, where the program says so."""
        self.unreadable: dict[str, str] = {}
        """By dataset, a line on standard error that seems to be of the protocol and cannot be read."""

    def answer(self, dataset: str, thresholds: Thresholds) -> Answer:
        """Runs the command in a shell; a run that fails or takes too long has no time, but a cause."""
        with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
            return self._answer(dataset, thresholds, Path(folder))

    def _answer(self, dataset: str, thresholds: Thresholds, folder: Path) -> Answer:
        said, complained, times = folder / "stdout", folder / "stderr", folder / "times"
        given, outputs = folder / "thresholds", folder / "outputs.npz"
        given.write_text(threshold_lines(thresholds))
        texts = {DATA: dataset, THRESHOLDS: str(given), TIMES: str(times), OUTPUTS: str(outputs)}
        command = self.command
        for mark, text in texts.items():
            command = command.replace(mark, shlex.quote(text))
        environment = {TELL: "1", **os.environ, ENVIRONMENT: str(given)}
        limit = self._timeout_s
        if not self.deterministic and dataset in self._best_s:
            limit = min(limit, max(LEAST_S, PATIENCE * self._best_s[dataset]))
        failure: Rejected | None = None
        paths = {name: Path(name.replace(DATA, dataset)) for name in self._files}
        before = {name: _stamp(path) for name, path in paths.items()}
        begin = time.perf_counter()
        with said.open("wb") as out, complained.open("wb") as err:
            process = self._start(command, environment, out, err)
        code = 0
        try:
            wait = process.wait_patiently if isinstance(process, ShellRun) else lambda limit, _: process.wait(limit)
            code = _as_signal(wait(limit, self._timeout_s))
        except subprocess.TimeoutExpired:
            failure = Rejected("timeout", f"it was still running after {time.perf_counter() - begin:.3g} s")
        finally:
            process.end()
        seconds = time.perf_counter() - begin
        text = complained.read_text(errors="replace")
        if code:
            complained.write_text(other_lines(text))
            failure = Rejected("crash" if code < 0 else "program", how_it_ended(code, complained, said))
        compared = comparisons(text, thresholds)
        if line := unreadable_line(text):
            self.unreadable[dataset] = line
        if failure is not None:
            return Answer(Ran(compared, None, failure), {})
        self._best_s[dataset] = min(seconds, self._best_s.get(dataset, seconds))
        dispatch = dispatch_us(text)
        if dispatch is not None:
            self.dispatch_us[dataset] = dispatch
        try:
            took = _mean(times) if times.exists() else time_us(text)
        except ValueError as error:
            return Answer(Ran(compared, None, Rejected("program", str(error))), {})
        unwritten = next((path for name, path in paths.items() if _stamp(path) == before[name]), None)
        if unwritten is not None:
            return Answer(Ran(compared, None, Rejected("program", f"it wrote no {unwritten}")), {})
        try:
            output = output_of(outputs if outputs.exists() else said)
            for name, path in paths.items():
                output |= reader_of(self._files[name])(name, path)
        except Exception as error:  # A file that a program wrote may hold anything.
            reason = f"its output cannot be read: {type(error).__name__}: {error}"
            return Answer(Ran(compared, None, Rejected("program", reason)), {})
        return Answer(Ran(compared, seconds * 1e6 if took is None else took), output)


def _as_signal(code: int) -> int:
    """A shell's way to say that its command was ended by a signal, 128 and more, as ``subprocess`` says it."""
    return 128 - code if 128 < code < 128 + signal.NSIG else code


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """Changes whenever a file is written; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _mean(times: Path) -> float | None:
    """The mean of the numbers in a file; None where there is none. Raises ``ValueError`` for what is no time."""
    found = []
    for word in times.read_text(errors="replace").split():
        try:
            number = float(word)
        except ValueError:
            number = math.nan
        if not 0 <= number < math.inf:
            raise ValueError(f"among its times stands {word[:40]!r}, which is no number of microseconds")
        found.append(number)
    return statistics.fmean(found) if found else None


def output_of(path: Path) -> Arrays:
    """A program's output: the arrays of an ``.npz`` file; the numbers and words of a text; else bytes."""
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    content = path.read_bytes()
    if b"\0" in content:
        return {"stdout": np.frombuffer(content, dtype=np.uint8)}
    return reader_of("text")("stdout", path)
