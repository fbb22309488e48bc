"""A new user's first hour: what README and its pages show is typed command by command, and each is watched from the outside.

Everything is empty at first: a new home folder, so that neither our cache nor that of the bundled compiler has anything, and a folder
with the examples alone. In three rounds: in a terminal with nothing there; once more with the caches that the first has filled;
through a pipe, from nothing again. Searches that would go on for longer get a Ctrl-C. Not quick, the package is installed into a
new environment beforehand, by pip, and installing counts for nothing; ``quick`` follows README and the tutorial alone, with the package
that measures.

*Silent* is the longest time in which a command said nothing, before its first word and after its last included. On a machine that
others use the clock tells of them, too: beside each figure stands the processor time that the command's processes took
meanwhile. Where a bound is missed by the clock, held by processor time, and others took more than a fifth of the machine, it has
not been measured.

Promises: the first ``kw run`` says something within 5 s, ``kw evolve`` shows its first candidate within 10 s, nothing is silent for
longer than 2 s, no command fails.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from kernelwright.bench.first_hour.shown_commands import BEGIN, Shown, followed
from kernelwright.bench.first_hour.watched import Watched, watched
from kernelwright.bench.result import Measured, Row, Say
from kernelwright.errors import ToolError
from kernelwright.lazy_dataclasses import dataclass

ROOT = Path(__file__).parents[4]
"""A checkout, where the package lies in one."""
FIRST_S, CANDIDATE_S, SILENT_S = 5.0, 10.0, 2.0
BEGIN_LIMIT_S, LIMIT_S = 600.0, 30.0
"""After which a command gets a Ctrl-C: what README and the tutorial show is followed to its end."""
BUSY = 0.2
"""The share of the machine from which on others disturb."""
PROCESSOR = "processor seconds"
CANDIDATE = rb"candidates\s+[1-9]"
INTERRUPTED = 130


@dataclass(frozen=True)
class Round:
    name: str
    terminal: bool
    empty: bool
    """Whether it begins with a new home folder."""


ROUNDS = (
    Round("terminal, all empty", True, True),
    Round("terminal, caches warm", True, False),
    Round("pipe, all empty", False, True),
)


@dataclass(frozen=True)
class Followed:
    """A command of a round, and what came of it."""

    round: Round
    shown: Shown
    watched: Watched

    @property
    def fails(self) -> bool:
        """1 is an answer: not faster, target not reached; also of one that came to its end as it was interrupted."""
        return self.watched.exit_code not in ((INTERRUPTED, 0, 1) if self.watched.interrupted else (0, 1))

    def row(self) -> Row:
        """A row of the result; times in seconds, of the clock and of the processor."""
        first, silence, end = self.watched.first, self.watched.silence, self.watched.end
        return {
            "round": self.round.name,
            "page": self.shown.page,
            "command": str(self.shown),
            "first output, s": round(first.at_s, 2),
            "cpu s": round(first.cpu_s, 2),
            "silent, s": round(silence.seconds, 2),
            "cpu s meanwhile": round(silence.cpu_s, 2),
            "from": round(silence.begin_s, 1),
            "whole, s": round(end.at_s, 1),
            "whole, cpu s": round(end.cpu_s, 1),
            "exit code": f"{self.watched.exit_code}{' (Ctrl-C)' if self.watched.interrupted else ''}",
        }


def measure(quick: bool, say: Say) -> Measured:
    """``quick``: README and the tutorial alone, the first and the last round."""
    result = Measured("first-hour")
    shown = followed(ROOT, BEGIN if quick else ())
    with tempfile.TemporaryDirectory(prefix="kernelwright-hour-") as name:
        folder = Path(name)
        kw = [sys.executable, "-m", "kernelwright"] if quick else _installed(folder / "environment", say)
        rows = list(_rounds(folder, kw, shown, ROUNDS[:: 2 if quick else 1], result, say))
    result.rows += [each.row() for each in rows]
    _promised(result, rows)
    return result


def _installed(folder: Path, say: Say) -> list[str]:
    """The command, of the checkout installed into a new environment. Raises ``ToolError``."""
    say("pip install, into a new environment")
    for command in (
        [sys.executable, "-m", "venv", str(folder)],
        [str(folder / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", str(ROOT)],
    ):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            last = (done.stderr or done.stdout).strip().splitlines()
            raise ToolError(
                f"the package cannot be installed: {last[-1] if last else done.returncode}",
                hint="kw bench first-hour --quick takes the one that is there",
            )
    return [str(folder / "bin" / "kw")]


def _rounds(
    folder: Path, kw: Sequence[str], shown: Sequence[Shown], rounds: Sequence[Round], result: Measured, say: Say
) -> Iterator[Followed]:
    for number, each in enumerate(rounds):
        if each.empty:
            home = folder / f"home{number}"
            home.mkdir()
        place = folder / f"place{number}"
        shutil.copytree(ROOT / "examples", place / "examples")
        for command in shown:
            if missing := [
                word for word in command.words if word.startswith("kw-runs/") and not (place / word).exists()
            ]:
                result.notes.append(
                    f"{each.name}: {command} left out, {missing[0]} is not there after so short a search"
                )
                continue
            say(f"{each.name}: {command}")
            limit = BEGIN_LIMIT_S if command.page in BEGIN else LIMIT_S
            came = watched([*kw, *command.words], place, _environment(home, kw), terminal=each.terminal, limit_s=limit)
            found = Followed(each, command, came)
            first, silence = came.first, came.silence
            say(
                f"    first output after {first.at_s:.1f} s ({first.cpu_s:.1f} of processor time), silent for {silence.seconds:.1f} s "
                f"({silence.cpu_s:.1f}) from {silence.begin_s:.1f} on, {came.end.at_s:.1f} s in all"
            )
            if found.fails:
                last = came.text.strip().splitlines()
                result.notes.append(f"{each.name}: {command} fails: {last[-1] if last else came.exit_code}")
            yield found


def _environment(home: Path, kw: Sequence[str]) -> dict[str, str]:
    """Of a new user: nothing is set, and the home folder is another."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("KERNELWRIGHT_", "XDG_", "ZIG_", "PYTHON")) and name != "COLUMNS"
    }
    own: Mapping[str, str] = {"PYTHONPATH": str(Path(__file__).parents[3])} if len(kw) > 1 else {}
    return {**kept, **own, "HOME": str(home), "TERM": "xterm-256color", "COLUMNS": "118", "LINES": "40"}


# -- promises ----------------------------------------------------------------------------------------------------------


def _promised(result: Measured, rows: Sequence[Followed]) -> None:
    run = next(each.watched for each in rows if each.shown.words[0] == "run")
    _at_most(result, "seconds from the first kw run to its first output", run, run.first.at_s, run.first.cpu_s, FIRST_S)
    evolved = [each.watched for each in rows if each.shown.words[0] == "evolve"]
    met = [(each, each.until(CANDIDATE) or each.end) for each in evolved]
    watched_, latest = max(met, key=lambda each: each[1].at_s)
    _at_most(
        result, "seconds until kw evolve shows its first candidate", watched_, latest.at_s, latest.cpu_s, CANDIDATE_S
    )
    for terminal, where in ((True, "in a terminal"), (False, "through a pipe")):
        some = [each.watched for each in rows if each.round.terminal is terminal]
        longest = max(some, key=_severity)
        silence = longest.silence
        _at_most(result, f"seconds of the longest silence {where}", longest, silence.seconds, silence.cpu_s, SILENT_S)
    others = sum(each.watched.others for each in rows) / len(rows)
    if others > BUSY:
        _by_processor(result, rows, run.first.cpu_s, max(each.cpu_s for _, each in met))
    result.at_most("first-hour: commands that fail", sum(each.fails for each in rows), 0)
    result.notes.append(f"others took {100 * others:.0f} % of the processor meanwhile")


def _by_processor(result: Measured, rows: Sequence[Followed], first_s: float, candidate_s: float) -> None:
    """The same in processor time, which others do not draw out, where the clock tells of them: of two cores a command can take twice the
    clock's."""
    result.at_most(f"first-hour: {PROCESSOR} until the first kw run says something", first_s, FIRST_S)
    result.at_most(f"first-hour: {PROCESSOR} until kw evolve shows its first candidate", candidate_s, CANDIDATE_S)
    silent = max(each.watched.silence.cpu_s for each in rows)
    result.at_most(f"first-hour: {PROCESSOR} in the longest silence of a command", silent, SILENT_S)


def _severity(of: Watched) -> tuple[int, float]:
    """The larger the worse: a silence that is the command's own, then one that others have drawn out."""
    silence = of.silence
    if silence.seconds <= SILENT_S:
        return 0, silence.seconds
    return 1 if _is_disturbed(of, silence.seconds, silence.cpu_s, SILENT_S) else 2, silence.seconds


def _is_disturbed(of: Watched, clock_s: float, cpu_s: float, bound: float) -> bool:
    """Whether others, not the command, are why the bound is missed."""
    return clock_s > bound >= cpu_s and of.others > BUSY


def _at_most(result: Measured, what: str, of: Watched, clock_s: float, cpu_s: float, bound: float) -> None:
    disturbed = _is_disturbed(of, clock_s, cpu_s, bound)
    result.at_most(f"first-hour: {what}", None if disturbed else clock_s, bound)
    if disturbed:
        result.notes.append(
            f"{what}: {clock_s:.2f} by the clock, {cpu_s:.2f} of processor time, while others took {100 * of.others:.0f} % of the machine"
        )
