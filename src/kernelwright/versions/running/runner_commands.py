"""Python files and CUDA programs as commands that speak the line protocol, each run in a process of its own."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import kernelwright
from kernelwright.versions.running import warm_runner
from kernelwright.versions.running.external_program import DATA, OUTPUTS, TIMES, ExternalProgram


def python_program(path: Path, timeout_s: float) -> ExternalProgram:
    """A Python file with ``kw.versions``; a dataset is what its ``inputs`` takes."""
    return ExternalProgram(f"{_module('python_runner')} {shlex.quote(str(path))} {DATA} {OUTPUTS}", timeout_s)


def cuda_program(executable: Path, device: str, timeout_s: float) -> ExternalProgram:
    """An executable on a virtual GPU; a dataset is its arguments. Its times repeat."""
    runner = f"{_module('cuda_runner')} {shlex.quote(device)} {shlex.quote(str(executable.absolute()))}"
    return ExternalProgram(f"{runner} {TIMES} {DATA}", timeout_s, deterministic=True, start=warm_runner.start)


def _module(name: str) -> str:
    """The command that runs a module of this installation, wherever it is run from."""
    root = Path(kernelwright.__file__).parents[1]
    return (
        f"PYTHONPATH={shlex.quote(str(root))} {shlex.quote(sys.executable)} -P -m kernelwright.versions.running.{name}"
    )
