"""What an exploration leaves for people: the kernel as CUDA C and PTX, its decisions, the naive kernel; and the record of the best.

kw-runs/matmul-1/best.cu  best.ptx  naive.cu  decisions.json
kw-runs/matmul-1/program.cu        the best kernel with a host program around it, for kw run, kw evolve or nvcc
kw-runs/explored.json              the best of each computation, size and GPU so far
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kernelwright.cache import write_atomically
from kernelwright.errors import Misuse
from kernelwright.exploration.decisions import DECISIONS, Decisions
from kernelwright.exploration.host_program import geometry, host_program
from kernelwright.exploration.kernel_space import KernelSpace
from kernelwright.exploration.run import ExploredKernel, ExploreRun
from kernelwright.exploration.subject import Subject
from kernelwright.pipeline import compile as compile_program
from kernelwright.space.cuda_source import GeneratedKernel

RECORD = "explored.json"
PROGRAM = "program.cu"
"""The best kernel with a host program around it."""
MOST_REPLAYED = 1 << 36
"""Iterations of a kernel that is run as a whole: more take longer than a worker has."""
FORMAT = 1


def write_kernel_files(run: ExploreRun, space: KernelSpace) -> list[Path]:
    """Of a run that has a best kernel."""
    best, naive = run.best, run.naive
    assert best is not None
    kernel = space.kernel(best.decisions)
    text = headed(run, best, kernel)
    written = {"best.cu": text, "best.ptx": _ptx(kernel, run.subject)}
    written[PROGRAM] = host_program(run.subject, text, kernel)
    if naive is not None:
        written["naive.cu"] = headed(run, naive, space.kernel(naive.decisions))
    about = {"format": FORMAT, **run.subject.as_json(), "time_us": best.time_us, "decisions": list(best.decisions)}
    written["decisions.json"] = json.dumps(about, indent=1) + "\n"
    for name, text in written.items():
        write_atomically(run.folder / name, text.encode())
    return [run.folder / name for name in written]


def headed(run: ExploreRun, explored: ExploredKernel, kernel: GeneratedKernel) -> str:
    """The text of a kernel with what is to be known for launching it."""
    scratch = [each.name for each in kernel.scratch]
    names = (*kernel.arrays, *scratch, *kernel.scalars, *(size.name for size in kernel.sizes))
    multiples = "".join(f", {size.name} a multiple of {size.multiple}" for size in kernel.sizes if size.multiple > 1)
    room = "".join(
        f"// {each.name}: {kernel.grid_text} * {each.text} floats, of any content\n" for each in kernel.scratch
    )
    return (
        f"// {run.subject} on {run.subject.gpu.label}: estimated {explored.time_us:.2f} us\n"
        f"// {kernel.name}<<<{geometry(kernel)}>>>({', '.join(names)}){multiples}\n"
        f"{room}"
        f"// {kernel.shared_bytes} bytes of shared memory, of its own; made by kw explore, seed {run.settings.seed}\n"
        f"{kernel.source}"
    )


def _ptx(kernel: GeneratedKernel, subject: Subject) -> str:
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
        path = Path(folder) / "best.cu"
        path.write_text(kernel.source, encoding="utf-8")
        return compile_program(str(path), arch=subject.gpu.arch).ptx()


def read_decisions(path: Path) -> tuple[Subject, Decisions]:
    """A file that ``write_kernel_files`` wrote, or a person edited. Raises ``Misuse``."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Misuse(f"{path} cannot be read: {error.strerror}", hint="decisions.json of a run of kw explore") from None
    except ValueError as error:
        raise Misuse(f"{path} is no JSON: {error}", hint="decisions.json of a run of kw explore") from None
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise Misuse(f"{path} holds no decisions that this version reads", hint="decisions.json of a run of kw explore")
    return Subject.from_json(value, path.parent), DECISIONS.from_json(value.get("decisions"))


def read_replay(path: Path) -> tuple[Subject, Decisions]:
    """The same, of a kernel that is to be run as a whole. What is wrong is told of the file; raises ``Misuse`` for sizes that would run
    for longer than a worker may, too."""
    try:
        subject, decisions = read_decisions(path)
        subject.check()
    except Misuse as error:
        if error.place is not None or str(path) in error.message:
            raise
        raise Misuse(f"{path}: {error.message}", hint="put back what kw explore wrote there") from error
    if subject.work > MOST_REPLAYED:
        raise Misuse(
            f"{path}: {subject} has {subject.work:.1e} iterations, all of which a replay runs, and it runs {MOST_REPLAYED:.1e} at most",
            hint="put back what kw explore wrote there, or give smaller sizes",
        )
    return subject, decisions


def record_best(run: ExploreRun, kernel: ExploredKernel) -> bool:
    """Whether it is the best so far of its computation, sizes and GPU; then the record says so. A damaged record is begun anew."""
    path = run.folder.parent / RECORD
    known = best_known(path)
    own = run.subject.own
    name = f"{run.subject}{f' of {own.digest[:12]}' if own else ''} on {run.subject.device}"
    if name in known and known[name]["time_us"] <= kernel.time_us:
        return False
    known[name] = {"time_us": kernel.time_us, "run": run.name, "decisions": list(kernel.decisions)}
    write_atomically(path, (json.dumps(known, indent=1, sort_keys=True) + "\n").encode())
    return True


def best_known(path: Path) -> dict[str, Any]:
    """What the record says, by ``matmul 1024 1024 1024 on h200``; for a computation of a person's with what its file says."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    right = isinstance(found, dict) and all(isinstance(v, Mapping) and "time_us" in v for v in found.values())
    return found if right else {}
