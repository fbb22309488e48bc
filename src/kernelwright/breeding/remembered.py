"""Fitness of earlier runs, by everything that decides it: the problem's file and cases, what its fitness function sees, the
back end, and ourselves.

What a fitness function reads while it runs, or draws at random, is beyond what can be seen: then ``--no-cache``.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from kernelwright.breeding.back_end_table import back_end
from kernelwright.cache import installation
from kernelwright.farm.fitness_store import FitnessCache
from kernelwright.grammar import Problem

ROOMS = ("grammar", "breeding", "farm", "codegen", "device")
"""Of ours that decide a fitness, besides those that decide what a compile gives."""


def remembered(problem: Problem, path: Path, backend: str) -> FitnessCache:
    """The fitness known of programs of the problem in ``path`` on a back end."""
    return FitnessCache(_decides(problem, path, backend))


def _decides(problem: Problem, path: Path, backend: str) -> Iterator[str | bytes]:
    compiler = back_end(backend).compiler().fingerprint()
    yield from (backend, compiler, np.__version__, installation(), _ourselves(), problem.fingerprint)
    yield path.read_bytes() if path.is_file() else b""
    yield from _seen_by(problem.fitness)
    folder = path.resolve().parent
    for module in sorted(_files_below(folder)):
        yield module.read_bytes()


def _seen_by(fitness: Any) -> Iterator[str | bytes]:
    """The data that a function refers to: globals, what it closes over, defaults."""
    given = dict(getattr(fitness, "__globals__", {}))
    code = getattr(fitness, "__code__", None)
    for name, cell in zip(code.co_freevars if code else (), getattr(fitness, "__closure__", None) or (), strict=True):
        given[f"closed {name}"] = cell.cell_contents
    given["defaults"] = (getattr(fitness, "__defaults__", None), getattr(fitness, "__kwdefaults__", None))
    for name, value in sorted(given.items()):
        if name.startswith("__") or isinstance(value, ModuleType | Problem) or callable(value):
            continue
        try:
            data = pickle.dumps(value)
        except Exception:
            continue  # no data
        yield name
        yield data


def _files_below(folder: Path) -> set[Path]:
    """Of the modules that were imported from where the problem lies."""
    files = {Path(file) for module in list(sys.modules.values()) if (file := getattr(module, "__file__", None))}
    ours = Path(__file__).resolve().parents[1]
    return {file for file in files if file.is_relative_to(folder) and not file.is_relative_to(ours) and file.is_file()}


def _ourselves() -> str:
    package = Path(__file__).resolve().parents[1]
    stamps = []
    for path in sorted(path for room in ROOMS for path in (package / room).rglob("*.py")):
        status = path.stat()
        stamps.append(f"{path.relative_to(package)} {status.st_size} {status.st_mtime_ns}")
    return "\n".join(stamps)
