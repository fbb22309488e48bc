"""One program of others: built, run, checked, as its Makefile says, each in the time it is given.

Its Makefile finds our compiler under the name ``nvcc``, on the path and where ``CUDA_PATH`` and its like point; what it runs is the
commands of its target ``run``, else the executable that was made, without arguments. Without a Makefile, its ``CMakeLists.txt`` says which
sources it has, and without that all of its folder are.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from kernelwright.bench.programs.cmake_lists import read_lists
from kernelwright.bench.programs.projects import Project
from kernelwright.cuda.toolkit_folder import make_toolkit
from kernelwright.executable import installation_command, worker_command
from kernelwright.lazy_dataclasses import dataclass

CUDA_FOLDERS = ("CUDA_PATH", "CUDA_HOME", "CUDA_DIR", "CUDA_ROOT", "CUDA_INSTALL_PATH", "CUDA_TOOLKIT_PATH")
BUILD_S = 300.0
RUN_S = 60.0
CHECK_S = 180.0
_PLACE = re.compile(r"^(kw: )?([^\s:]+:\d+(:\d+)?: )?(fatal )?(error: )?")
_ERROR = re.compile(r"\berror\b|^kw: |No rule to make|not found|cannot find|undefined", re.I)
_SHELL = re.compile(r"[;&|<>`$*?]")


@dataclass(frozen=True)
class Step:
    """``cause``: why it did not end well, in a few words; empty for one that did. ``said``: what it printed."""

    cause: str
    said: str
    seconds: float
    is_late: bool = False

    @property
    def ended_well(self) -> bool:
        return not self.cause


def toolkit(folder: Path, compile_flags: Sequence[str]) -> Path:
    """A folder that looks like an installed toolkit and has our compiler in it."""
    return make_toolkit(folder, installation_command("kernelwright"), worker_command(), compile_flags)


def build(project: Project, at: Path, tools: Path, compile_flags: Sequence[str] = ()) -> Step:
    """Builds the copy of a program that lies in ``at``."""
    if project.makefile is not None and shutil.which("make"):
        words = ["make", "-k", "-f", project.makefile.name, *(f"{name}={tools}" for name in CUDA_FOLDERS), "NVCC=nvcc"]
        return _step([*words, *_target(project, at)], at, tools, BUILD_S)
    lists = read_lists(at, tools)
    sources = list(lists.sources) or [path.name for path in project.sources]
    folders = [f"-I{folder}" for folder in lists.folders]
    for beside in lists.commands:
        step = _step(beside, at, tools, BUILD_S)
        if not step.ended_well and beside[0] != "cp":  # what is copied and not there is missed by those that need it
            return step
    command = [sys.executable, "-m", "kernelwright", "compile", *compile_flags, *folders, *sources, "-o", "kw-program"]
    return _step([*command, "--emit", "exe"], at, tools, BUILD_S)


def _target(project: Project, at: Path) -> list[str]:
    """Nothing for the first target, unless that runs the program as well."""
    first = next(
        (m[1] for m in re.finditer(r"^([\w./-]+)\s*:(?!=)", _makefile(project, at), re.M) if m[1] != ".PHONY"), ""
    )
    return ["all"] if first == "run" and re.search(r"^all\s*:", _makefile(project, at), re.M) else []


def _makefile(project: Project, at: Path) -> str:
    return (at / project.makefile.name).read_text(errors="replace") if project.makefile else ""


def made(at: Path, since: float) -> list[Path]:
    """Executables that were written in a folder since a time, newest last."""
    found = [p for p in at.rglob("*") if p.is_file() and not p.is_symlink() and os.access(p, os.X_OK)]
    found = [
        p for p in found if p.stat().st_mtime >= since and p.suffix not in (".o", ".so", ".sh", ".py") and _is_elf(p)
    ]
    return sorted(found, key=lambda p: (p.stat().st_mtime, p.name))


def _is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def run_commands(project: Project, at: Path, tools: Path, programs: Sequence[Path]) -> list[list[str]]:
    """How the program is run: commands of its target ``run`` that name an executable that was made; else the newest alone."""
    found: list[list[str]] = []
    names = {path.name for path in programs}
    if re.search(r"^run\s*:", _makefile(project, at), re.M) and shutil.which("make"):
        told = _step(
            ["make", "-n", "-f", str(project.makefile and project.makefile.name), "run"], at, tools, RUN_S
        ).said
        for line in told.splitlines():
            words = [] if _SHELL.search(line) else _words(line)
            if words and Path(words[0]).name in names:
                found.append(words)
    if found or not programs:
        return found
    return [[str(programs[-1].relative_to(at).parent / programs[-1].name)]]


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return []


def reduced(command: Sequence[str], divisor: int) -> list[str]:
    """The command with its whole numbers divided, to no less than 1; the program's name stays as it is."""
    return [
        command[0],
        *(str(max(1, int(word) // divisor)) if word.isdigit() and int(word) else word for word in command[1:]),
    ]


def run(command: Sequence[str], at: Path, tools: Path, device: str) -> Step:
    """Runs a built program in its folder for at most ``RUN_S`` seconds."""
    first = command[0] if "/" in command[0] else f"./{command[0]}"
    return _step([first, *command[1:]], at, tools, RUN_S, device)


def check(command: Sequence[str], at: Path, tools: Path, device: str) -> Step:
    """``kw check`` of one command line; its cause is the first finding."""
    first = command[0] if "/" in command[0] else f"./{command[0]}"
    words = [sys.executable, "-m", "kernelwright", "check", "--device", device, first, "--", *command[1:]]
    return _step(words, at, tools, CHECK_S)


def _step(command: Sequence[str], at: Path, tools: Path, limit_s: float, device: str = "") -> Step:
    environment = {
        **os.environ, "PATH": f"{tools / 'bin'}:{os.environ.get('PATH', '')}", "LIBRARY_PATH": str(tools / "lib64"),
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")]),
        "KERNELWRIGHT_WORKER": worker_command(), **{name: str(tools) for name in CUDA_FOLDERS},
    }  # fmt: skip
    if device:
        environment["KERNELWRIGHT_DEVICE"] = device
    begun = time.monotonic()
    with tempfile.TemporaryFile() as out:
        try:
            process = subprocess.Popen(
                list(command), cwd=at, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            return Step(f"{command[0]}: {error.strerror}", "", 0.0)
        try:
            status = process.wait(limit_s)
            cause = "" if status == 0 else "?"
        except subprocess.TimeoutExpired:
            status, cause = 0, f"not at its end after {limit_s:g} s"
        finally:
            _end(process)
        out.seek(0)
        said = out.read(1 << 20).decode("utf-8", "replace")
    is_late = cause not in ("", "?")
    return Step(cause_of(said, status) if cause == "?" else cause, said, time.monotonic() - begun, is_late)


def _end(process: subprocess.Popen[bytes]) -> None:
    """With all that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def cause_of(said: str, status: int) -> str:
    """The first line that names an error, without its place; how a process ended that names none."""
    for line in said.splitlines():
        if _ERROR.search(line) and "ignored" not in line:
            return _PLACE.sub("", line.strip())[:120]
    if status < 0:
        return f"killed by {signal.Signals(-status).name}"
    last = said.strip().splitlines()
    return f"exit code {status}" + (f": {last[-1].strip()[:80]}" if last else "")
