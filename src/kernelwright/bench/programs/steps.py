"""Commands of other people's programs, each in the time it is given, with all that it starts.

Time is processor time of the command and what it starts, so that another load on the machine, and other programs beside it, make none
late; one that uses none for ``IDLE_S``, and would not if it could, waits for what does not come. Several may run at once, each in a thread
of its own; ``Steps.stop`` ends them from another, and no more begin.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from kernelwright.executable import worker_command
from kernelwright.lazy_dataclasses import dataclass

CUDA_FOLDERS = ("CUDA_PATH", "CUDA_HOME", "CUDA_DIR", "CUDA_ROOT", "CUDA_INSTALL_PATH", "CUDA_TOOLKIT_PATH")
SAID_BYTES = 1 << 20
IDLE_S, IDLE_CPU_S = 20.0, 0.2
"""A program that uses less of the processor in so long is waiting. What serves it takes some thousandths meanwhile."""
WALL_TIMES = 10
"""A machine that is not there for us: so many times the limit on the clock are late as well."""
_LOOK_S, _LOOK_SHARE = (0.05, 1.0), 0.05
"""It is looked after in steps of a twentieth of the time it takes: looking costs the processor 5 ms."""
_PLACE = re.compile(r"^(kw: )?([^\s:]+:\d+(:\d+)?: )?(fatal )?(error: )?")
_REMARK = re.compile(r"^kw: (.*, for \d+ s|.*\(once\)|ignored: .*|compil(ing|ed) for .*, not for .*)$")
_ERROR = re.compile(r"\berror\b|^kw: |No rule to make|not found|cannot find|undefined", re.I)


@dataclass(frozen=True)
class Step:
    """``cause``: why it did not end well, in a few words; empty for one that did. ``said``: what it printed. ``seconds``: of
    processor time."""

    cause: str
    said: str
    seconds: float
    is_late: bool = False

    @property
    def ended_well(self) -> bool:
        """Whether it has no cause of failure."""
        return not self.cause


_FROM = ("env", "-C")


def in_folder(folder: str, command: Sequence[str]) -> list[str]:
    """The command, begun in a folder below."""
    return [*_FROM, folder, *command]


def folder_of(command: Sequence[str]) -> tuple[str, list[str]]:
    """The folder that ``in_folder`` names, empty where there is none, and the command itself."""
    words = list(command)
    return (words[2], words[3:]) if tuple(words[:2]) == _FROM else ("", words)


class Stopped(Exception):
    """``Steps.stop`` was called: what a step came to says nothing about the program."""


class Steps:
    """``tools``: a folder like a toolkit's, whose ``nvcc`` is found first. ``cores``: for one launch of the virtual GPU. What is killed
    cannot tidy up: temporary files lie in ``tools``, and go with it."""

    def __init__(self, tools: Path, device: str, cores: int) -> None:
        self.tools = tools
        self._device, self._cores = device, cores
        self._lock = threading.Lock()
        self._is_over = False
        self._at_work: set[subprocess.Popen[bytes]] = set()

    def take(self, command: Sequence[str], at: Path, limit_s: float, *, on_device: bool = False) -> Step:
        """Runs a command in ``at``; with nothing to read from. Raises ``Stopped``."""
        with tempfile.TemporaryFile() as out:
            try:
                process = self._started(command, at, out.fileno(), on_device)
            except OSError as error:
                return Step(f"{command[0]}: {error.strerror}", "", 0.0)
            try:
                late = _waited(process, limit_s)
            finally:
                taken = _end(process)
                with self._lock:
                    self._at_work.discard(process)
            if self._is_over:
                raise Stopped
            out.seek(0)
            said = out.read(SAID_BYTES).decode("utf-8", "replace")
        if late.cause:
            return Step(late.cause, said, max(taken, late.seconds), is_late=True)
        cause = cause_of(said, process.returncode) if process.returncode else ""
        return Step(cause, said, max(taken, late.seconds))

    def stop(self) -> None:
        """Ends what is at work."""
        with self._lock:
            self._is_over = True
            for process in self._at_work:
                _kill(process)

    def _started(self, command: Sequence[str], at: Path, out: int, on_device: bool) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._is_over:
                raise Stopped
            process = subprocess.Popen(
                list(command), cwd=at, env=self._environment(on_device), stdin=subprocess.DEVNULL, stdout=out,
                stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
            self._at_work.add(process)
        return process

    def _environment(self, on_device: bool) -> dict[str, str]:
        tools, temporary = self.tools, self.tools / "tmp"
        temporary.mkdir(parents=True, exist_ok=True)
        return {
            **os.environ, "PATH": f"{tools / 'bin'}:{os.environ.get('PATH', '')}", "LIBRARY_PATH": str(tools / "lib64"),
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")]),
            "KERNELWRIGHT_WORKER": worker_command(), "KERNELWRIGHT_CORES": str(self._cores),
            "TMPDIR": str(temporary),
            **{name: str(tools) for name in CUDA_FOLDERS}, **({"KERNELWRIGHT_DEVICE": self._device} if on_device else {}),
        }  # fmt: skip


def _waited(process: subprocess.Popen[bytes], limit_s: float) -> Step:
    """Until it ends, or is late; with processor time as far as it was seen. It is not reaped: its number stays its own."""
    begun = grown_at = time.monotonic()
    used = grown = 0.0
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        now = time.monotonic()
        time.sleep(min(_LOOK_S[1], max(_LOOK_S[0], _LOOK_SHARE * (now - begun))))
        seen, is_ready = _session(process.pid)
        used, now = max(used, seen), time.monotonic()
        if used > grown + IDLE_CPU_S or is_ready:
            grown, grown_at = used, now
        if used > limit_s or now - begun > WALL_TIMES * limit_s:
            return Step("not at its end in time", "", used)
        if now - grown_at > IDLE_S:
            return Step("waits for what does not come", "", used)
    return Step("", "", used)


def _session(session: int) -> tuple[float, bool]:
    """Processor time, in seconds, of all processes of a session, with those of their children that have ended; and whether one of them
    runs, or would if there were a processor for it."""
    ticks, is_ready = 0, False
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            try:
                fields = Path(entry.path, "stat").read_text(errors="replace").rpartition(")")[2].split()
            except OSError:
                continue  # it has ended
            if int(fields[3]) == session:
                ticks += sum(map(int, fields[11:15]))
                is_ready = is_ready or fields[0] in "RD"
    return ticks / os.sysconf("SC_CLK_TCK"), is_ready


def _kill(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _end(process: subprocess.Popen[bytes]) -> float:
    """With all that it started; returns processor time of what it waited for, in seconds."""
    _kill(process)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime


def cause_of(said: str, status: int) -> str:
    """The first line that names an error, without its place; how a process ended that names none."""
    for line in said.splitlines():
        if _ERROR.search(line) and "ignored" not in line and not _REMARK.match(line):
            return _PLACE.sub("", line.strip())[:120]
    if status < 0:
        return f"killed by {signal.Signals(-status).name}"
    last = said.strip().splitlines()
    return f"exit code {status}" + (f": {last[-1].strip()[:80]}" if last else "")
