"""What explorations have found, made ready for a GPU: kernels of finished runs of ``kw explore``, as ``explored.py`` has them.

    cd build/bench-space && kw explore matmul 1024 1024 1024 --device h200

Of each run are carried: the naive kernel, the best, the one that is tiled by hand where there is one, and kernels from the fastest
to the slowest that the run has tried, each with its bound and its estimate.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from kernelwright.bench.gpu.explored import MANIFEST, ExploredRow
from kernelwright.bench.gpu.images import ARCH, write_image
from kernelwright.bench.result import Say
from kernelwright.bench.space.hand_tiled import hand_tiled
from kernelwright.cache import content_key
from kernelwright.errors import KernelwrightError
from kernelwright.evaluate.outcome import Ok
from kernelwright.evaluate.run.run import FOLDER
from kernelwright.exploration.decisions import DECISIONS
from kernelwright.exploration.kernel_space import KernelSpace
from kernelwright.exploration.on_gpu.computation import GpuKernel
from kernelwright.exploration.run import ExploreRun
from kernelwright.exploration.trial import Trials
from kernelwright.pipeline import compile as compile_program
from kernelwright.space.cuda_source import GeneratedKernel

OTHERS = 24
"""Kernels of a run besides its best."""
Each = TypeVar("Each")


def prepare_explored(folder: Path, kept: Path, say: Say, notes: list[str], most: int = OTHERS) -> None:
    """Writes the folder, empty of kernels where ``kept`` holds no finished run. What cannot be made is left out and said in ``notes``."""
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[ExploredRow] = []
    for path in sorted((kept / FOLDER).glob("*/")):
        try:
            with ExploreRun.open(path, DECISIONS) as run:
                if run.ended is None or run.subject.own is not None or run.subject.dynamic:
                    continue
                say(f"explored: {run.subject}")
                rows += _rows(run, folder, most)
        except KernelwrightError as error:
            notes.append(f"explored, {path.name}: {error.message}")
    (folder / MANIFEST).write_text(json.dumps([row.as_json() for row in rows], indent=1))


def _rows(run: ExploreRun, folder: Path, most: int) -> Iterator[ExploredRow]:
    space = KernelSpace(run.subject)
    for role, kernel, estimated_us, bound_us in _kernels(run, space, most):
        unit = _compiled(kernel, folder)
        yield ExploredRow(
            computation=run.subject.computation, sizes=dict(run.subject.sizes), model=run.subject.device, role=role,
            image=unit[0], launched=GpuKernel.of(kernel, unit[1], dict(run.subject.sizes)), estimated_us=estimated_us, bound_us=bound_us,
        )  # fmt: skip


def _kernels(run: ExploreRun, space: KernelSpace, most: int) -> Iterator[tuple[str, GeneratedKernel, float, float]]:
    """(role, kernel, estimated time, its bound) of each; what is tiled by hand has no bound."""
    tried, named = run.tried, [("best", run.best), ("naive", run.naive)]
    others = [("", each) for each in spread(tried[1:], most)]
    for role, each in [*named, *others]:
        if each is not None:
            bound = space.bound.time_us(space.decided(each.decisions))
            yield role, space.kernel(each.decisions), each.time_us, bound
    if run.subject.computation == "matmul":
        sizes = dict(run.subject.sizes)
        try:
            tiled = hand_tiled(sizes["m"], sizes["n"], sizes["k"])
        except KernelwrightError:
            return  # its tiles do not divide these sizes
        trials = Trials(run.subject)
        outcome = trials.of([tiled])[0].outcome
        trials.close()
        if isinstance(outcome, Ok):
            yield "tiled by hand", tiled, outcome.time_us, 0.0


def spread(sorted_by_time: Sequence[Each], most: int) -> list[Each]:
    """So many at equal distances, the first and the last among them."""
    if len(sorted_by_time) <= most or most < 2:
        return list(sorted_by_time[:most])
    last = len(sorted_by_time) - 1
    return [sorted_by_time[number * last // (most - 1)] for number in range(most)]


def _compiled(kernel: GeneratedKernel, folder: Path) -> tuple[str, str]:
    """The key of its machine code, and its name there."""
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as scratch:
        source = Path(scratch) / "kernel.cu"
        source.write_text(kernel.source, encoding="utf-8")
        unit = compile_program(source, arch=ARCH).units[0]
    key = content_key([unit.optimised])[:16]
    write_image(folder, key, unit.optimised)
    return key, unit.module.kernels[0].name
