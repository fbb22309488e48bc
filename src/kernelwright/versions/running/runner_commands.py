"""Python files and CUDA programs as commands that speak the line protocol, each run in a process of its own."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

import kernelwright
from kernelwright.evaluate.workload.program_case import Reader
from kernelwright.versions.running.external_program import DATA, OUTPUTS, TIMES, ExternalProgram
from kernelwright.versions.running.resident_runner import ResidentRunner


def python_program(path: Path, timeout_s: float, files: Mapping[str, Reader] | None = None) -> ExternalProgram:
    """A Python file with ``kw.versions``; a dataset is what its ``inputs`` takes."""
    return ExternalProgram(
        f"{_module('python_runner')} {shlex.quote(str(path))} {DATA} {OUTPUTS}", timeout_s, files=files
    )


def python_guards(path: Path) -> str:
    """The command that prints the names of a Python file's guards, one a line."""
    return f"{_module('python_runner')} {shlex.quote(str(path))}"


def cuda_program(
    executable: Path,
    device: str,
    timeout_s: float,
    resident: ResidentRunner | None = None,
    files: Mapping[str, Reader] | None = None,
) -> ExternalProgram:
    """An executable on a virtual GPU; a dataset is its arguments. Its times repeat. ``resident``: the process that runs it, one of its own
    if there is none, with the winners that are tuned with it."""
    runner = f"{_module('cuda_runner')} {shlex.quote(device)} {shlex.quote(str(executable.absolute()))}"
    return ExternalProgram(
        f"{runner} {TIMES} {DATA}",
        timeout_s,
        deterministic=True,
        start=(resident or ResidentRunner()).start,
        files=files,
    )


def _module(name: str) -> str:
    """The command that runs a module of this installation, wherever it is run from."""
    root = Path(kernelwright.__file__).parents[1]
    return (
        f"PYTHONPATH={shlex.quote(str(root))} {shlex.quote(sys.executable)} -P -m kernelwright.versions.running.{name}"
    )
