"""One program of other people: built as its Makefile says, and how it is run.

Its Makefile finds our compiler under the name ``nvcc``, on the path and where ``CUDA_PATH`` and its like point; what it runs is the
commands of its target ``run``, else the executable that was made, without arguments. Without a Makefile, CMake builds it where it is part
of a tree of CMake's, else its ``CMakeLists.txt`` says which sources it has, and without that all of its folder are.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from kernelwright.architectures import DEFAULT_ARCHITECTURE
from kernelwright.bench.programs.cmake_lists import read_lists
from kernelwright.bench.programs.projects import Project
from kernelwright.bench.programs.steps import CUDA_FOLDERS, Step, Steps, folder_of, in_folder
from kernelwright.cuda.toolkit_folder import make_toolkit
from kernelwright.executable import installation_command, worker_command

BUILD_S = 300.0
_ASKED_S = 60.0
SCRIPTS = ("run", "run.sh")
_TEXT_BYTES = 1 << 16
_IN_FOLDER = re.compile(r"^\s*cd\s+(?P<folder>[\w./+-]+)\s*&&\s*(?P<command>.*?)(\s*&&\s*cd\s+[\w./+-]+)?\s*$")
_OUTPUT = re.compile(r"\s+>\s*[\w./+-]+\s*$")
_SHELL = re.compile(r"[;&|<>`$*?]")
_LAUNCHERS = frozenset({"mpirun", "mpiexec", "srun"})


def toolkit(folder: Path, compile_flags: Sequence[str]) -> Path:
    """A folder that looks like an installed toolkit and has our compiler in it."""
    return make_toolkit(folder, installation_command("kernelwright"), worker_command(), compile_flags)


def build(project: Project, at: Path, steps: Steps, compile_flags: Sequence[str] = ()) -> Step:
    """Builds the copy of a program that lies in ``at``."""
    if project.is_of_cmake:
        return _by_cmake(project, at, steps)
    if project.makefile is not None and shutil.which("make"):
        named = [f"{name}={steps.tools}" for name in CUDA_FOLDERS]
        words = ["make", "-k", "-f", project.makefile.name, *named, "NVCC=nvcc", *_target(project, at)]
        return steps.take(words, at, BUILD_S)
    lists = read_lists(at, steps.tools)
    sources = list(lists.sources) or [path.name for path in project.sources]
    folders = [f"-I{folder}" for folder in lists.folders]
    for beside in lists.commands:
        step = steps.take(beside, at, BUILD_S)
        if not step.ended_well and beside[0] != "cp":  # what is copied and not there is missed by those that need it
            return step
    command = [sys.executable, "-m", "kernelwright", "compile", *compile_flags, *folders, *sources, "-o", "kw-program"]
    return steps.take([*command, "--emit", "exe"], at, BUILD_S)


def _by_cmake(project: Project, at: Path, steps: Steps) -> Step:
    words = ["cmake", "-S", ".", "-B", "kw-build", f"-DCMAKE_CUDA_COMPILER={steps.tools}/bin/nvcc", f"-DCUDAToolkit_ROOT={steps.tools}",
             f"-DCMAKE_CUDA_ARCHITECTURES={DEFAULT_ARCHITECTURE[3:]}", "-DCMAKE_BUILD_TYPE=Release"]  # fmt: skip
    step = steps.take(words, at, BUILD_S)
    if step.ended_well:
        step = steps.take(["cmake", "--build", "kw-build", "--target", project.target], at, BUILD_S)
    return step


def _target(project: Project, at: Path) -> list[str]:
    """Nothing for the first target, unless that runs the program as well."""
    if project.target:
        return [project.target]
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


def run_commands(project: Project, at: Path, steps: Steps, programs: Sequence[Path]) -> list[list[str]]:
    """How the program is run: commands of its target ``run``, or of a script of that name beside it (as Rodinia has), that name an
    executable that was made; else the newest alone."""
    found: list[list[str]] = []
    names = {path.name for path in programs}
    if re.search(r"^run\s*:", _makefile(project, at), re.M) and not project.target and shutil.which("make"):
        told = steps.take(["make", "-n", "-f", str(project.makefile and project.makefile.name), "run"], at, _ASKED_S)
        found = _commands(told.said, names)
    if not found:
        scripts = (at / name for name in SCRIPTS if (at / name).is_file())
        found = next((some for path in scripts if (some := _commands(_text(path), names))), [])
    if found or not programs:
        return [words if folder_of(words)[0] else [_called(words[0]), *words[1:]] for words in found]
    return [[_called(str(programs[-1].relative_to(at)))]]


def _commands(text: str, names: Collection[str]) -> list[list[str]]:
    """Lines that are one of the programs with arguments, and nothing more of a shell than where the output goes."""
    found = []
    for line in text.splitlines():
        changes = _IN_FOLDER.match(line)
        line = _OUTPUT.sub("", changes["command"] if changes else line)
        words = [] if _SHELL.search(line) else _alone(_words(line), names)
        if words and Path(words[0]).name in names:
            found.append(in_folder(changes["folder"], words) if changes else words)
    return found


def _alone(words: list[str], names: Collection[str]) -> list[str]:
    """Without what starts several processes of a program: one rank alone is a run, too."""
    if not words or Path(words[0]).name not in _LAUNCHERS:
        return words
    at = next((number for number, word in enumerate(words) if Path(word).name in names), 0)
    return words[at:]


def _called(program: str) -> str:
    return program if "/" in program else f"./{program}"


def _text(script: Path) -> str:
    """Empty for what is no text: a program may be called ``run``."""
    text = script.read_bytes()[:_TEXT_BYTES]
    return "" if b"\0" in text else text.decode(errors="replace")


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return []
