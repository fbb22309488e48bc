"""Searches that a GPU's own times lead, made ready: the launches that finished runs of the suite were judged by.

FOLDER/PROGRAM/subject.json    which launches, and how outputs are compared
FOLDER/PROGRAM/*.capture       what is in memory before and after them, and the kernels' code
FOLDER/runtime/*.so            the virtual GPU's own C code, which is compiled by zig
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from kernelwright.bench.gpu.measured_search import MODEL, PROCESSORS, RUNTIME, SUBJECT
from kernelwright.bench.result import Say
from kernelwright.codegen.simt.launching import runtime_library
from kernelwright.device.timing_model import native_loops
from kernelwright.evaluate.workload.subject import Recordings
from kernelwright.evolution.genomes import GENOMES, EvolveRun

PROGRAMS = ("nn", "pathfinder", "bfs")
"""Small data: they have to travel."""
MOST_BYTES = 12 << 20
"""Of one program."""


def prepare_searches(folder: Path, runs: Mapping[tuple[str, str], Path], say: Say, notes: list[str]) -> None:
    """Writes a folder for each program that there is a run of, by program and arm. What is not taken is said in ``notes``."""
    folder.mkdir(parents=True, exist_ok=True)
    if runs:
        _prepare_runtime(folder / RUNTIME)
    for name in PROGRAMS:
        found = [path for (program, _), path in runs.items() if program == name]
        if not found:
            notes.append(f"searches: there is no run of {name}")
            continue
        say(f"searches: {name}")
        _prepare(folder / name, found[0], name, notes)


def _prepare_runtime(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for processor, _ in PROCESSORS:
        (folder / f"{processor}.so").write_bytes(runtime_library.compiled(processor))
    (folder / MODEL).write_bytes(native_loops.compiled())


def _prepare(place: Path, path: Path, name: str, notes: list[str]) -> None:
    with EvolveRun.open(path, GENOMES) as run:
        subject = run.subject
    if not isinstance(subject, Recordings):
        notes.append(f"searches: {name} has no recordings")
        return
    size = sum(Path(each).stat().st_size for each in subject.files)
    if size > MOST_BYTES:
        notes.append(f"searches: the recordings of {name} take {size >> 20} MiB: left out")
        return
    place.mkdir(parents=True, exist_ok=True)
    for each in subject.files:
        shutil.copyfile(each, place / Path(each).name)
    flags = subject.flags
    if flags is not None:
        flags = replace(flags, texts=tuple((kernel, Path(text).name) for kernel, text in flags.texts))
    paths = tuple(Path(each).name for each in subject.paths)
    # The program itself stays here: what it needs is not on the other machine.
    carried = replace(subject, paths=paths, program=None, larger=None, flags=flags)
    (place / SUBJECT).write_text(json.dumps(carried.as_json(), indent=1))
