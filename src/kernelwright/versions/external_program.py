"""Any program that speaks the line protocol: a shell command with ``{data}`` where a dataset stands.

    ./app -L --tuning {thresholds} -t {times} < {data}

``{thresholds}`` is the path of the threshold file, ``{times}`` that of a file into which the program writes microseconds, a
number per line; their mean is its time. A run is ended when it takes ten times as long as the best of its dataset.
"""

from __future__ import annotations

import os
import shlex
import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from kernelwright.errors import Misuse
from kernelwright.evaluate.outcome import Rejected
from kernelwright.evaluate.workload.case import Arrays
from kernelwright.evaluate.workload.program_case import TIMEOUT_S, end_session, how_it_ended, reader_of
from kernelwright.versions.checked_program import Answer
from kernelwright.versions.line_protocol import ENVIRONMENT, comparisons, threshold_lines, time_us
from kernelwright.versions.program import Ran, Thresholds

DATA, THRESHOLDS, TIMES = "{data}", "{thresholds}", "{times}"
PATIENCE = 10.0
"""Times the best run of a dataset after which a run has lost."""
LEAST_S = 1.0


class ExternalProgram:
    """A command as a program of several versions. Its standard output is what it computes."""

    deterministic = False

    def __init__(self, command: str, timeout_s: float = TIMEOUT_S) -> None:
        if DATA not in command:
            raise Misuse(f"{command!r} does not say where the dataset goes", hint=f'as in --exec "./app {DATA}"')
        self.command = command
        self._timeout_s = timeout_s
        self._best_s: dict[str, float] = {}

    def answer(self, dataset: str, thresholds: Thresholds) -> Answer:
        with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
            return self._answer(dataset, thresholds, Path(folder))

    def _answer(self, dataset: str, thresholds: Thresholds, folder: Path) -> Answer:
        said, complained, times = folder / "stdout", folder / "stderr", folder / "times"
        given = folder / "thresholds"
        given.write_text(threshold_lines(thresholds))
        texts = {DATA: dataset, THRESHOLDS: str(given), TIMES: str(times)}
        command = self.command
        for mark, text in texts.items():
            command = command.replace(mark, shlex.quote(text))
        environment = {**os.environ, ENVIRONMENT: str(given)}
        limit = min(self._timeout_s, max(LEAST_S, PATIENCE * self._best_s.get(dataset, self._timeout_s)))
        failure: Rejected | None = None
        begin = time.perf_counter()
        with said.open("wb") as out, complained.open("wb") as err:
            process = subprocess.Popen(
                ["/bin/sh", "-c", command], env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                start_new_session=True,
            )  # fmt: skip
        code = 0
        try:
            code = _as_signal(process.wait(limit))
        except subprocess.TimeoutExpired:
            failure = Rejected("timeout", f"it was still running after {limit:.3g} s")
        finally:
            end_session(process)
        seconds = time.perf_counter() - begin
        text = complained.read_text(errors="replace")
        if code:
            failure = Rejected("crash" if code < 0 else "program", how_it_ended(code, complained, said))
        compared = comparisons(text, thresholds)
        if failure is not None:
            return Answer(Ran(compared, None, failure), {})
        self._best_s[dataset] = min(seconds, self._best_s.get(dataset, seconds))
        took = _mean(times) if times.exists() else time_us(text)
        return Answer(Ran(compared, seconds * 1e6 if took is None else took), output_of(said))


def _as_signal(code: int) -> int:
    """A shell's way to say that its command was ended by a signal, 128 and more, as ``subprocess`` says it."""
    return 128 - code if 128 < code < 128 + signal.NSIG else code


def _mean(times: Path) -> float | None:
    """The mean of the numbers in a file; None where there is none."""
    try:
        found = [float(word) for word in times.read_text(errors="replace").split()]
    except ValueError:
        return None
    return statistics.fmean(found) if found else None


def output_of(path: Path) -> Arrays:
    """A program's output: its numbers and words where it is text, else its bytes."""
    content = path.read_bytes()
    if b"\0" in content:
        return {"stdout": np.frombuffer(content, dtype=np.uint8)}
    return reader_of("text")("stdout", path)
