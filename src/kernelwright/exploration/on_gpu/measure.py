"""The fastest kernels of a run by their estimates, measured on a real GPU beside the naive one and cuBLAS.

found = measure(run, space, say)        # Measured: it stands in the journal then
found.order                             # names of those that are right, the fastest first
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kernelwright.device.real_gpu.cuda_executor import image_of
from kernelwright.device.settings import real_gpu
from kernelwright.errors import CompileError, DeviceError, Misuse, ToolError
from kernelwright.exploration.gpu_times import RIGHT, Measured, MeasuredKernel
from kernelwright.exploration.kernel_space import KernelSpace
from kernelwright.exploration.on_gpu.computation import GpuKernel
from kernelwright.exploration.on_gpu.process import ANSWER, REQUEST, image_name
from kernelwright.exploration.run import ExploredKernel, ExploreRun
from kernelwright.pipeline import compile as compile_program
from kernelwright.space.cuda_source import GeneratedKernel

MOST = 40
"""Kernels that are measured, the naive one besides: estimates rank kernels that a search likes with some 0.9, so that the fastest is
among the first few dozen, and seldom the first."""
TIMEOUT_S = 300.0


def measure(run: ExploreRun, space: KernelSpace, say: Callable[[str], None] = lambda line: None) -> Measured:
    """Runs them. ``say``: what is being done. A kernel that the GPU fails with is left out of the next try, and told. Raises ``ToolError``
    and ``DeviceError`` where the GPU cannot be had, ``Misuse`` for another one than the run is for."""
    settings = run.settings
    say(f"kernels for {settings.gpu}")
    chosen = [*([run.naive] if run.naive else []), *run.tried[:MOST]]
    ready, failed = list[tuple[ExploredKernel, GpuKernel, bytes]](), list[MeasuredKernel]()
    for each in chosen:
        try:
            ready.append((each, *_compiled(space.kernel(each.decisions), run, settings.arch)))
        except CompileError as error:
            failed.append(MeasuredKernel(each.name, each.time_us, error.message))
    while ready:
        say(f"on {settings.gpu}, {len(ready)} kernels")
        found = _asked(run, [(kernel, image) for _, kernel, image in ready])
        if found.get("gpu", settings.gpu) != settings.gpu:
            raise Misuse(
                f"this run is for {settings.gpu}, and {settings.measured} is {found['gpu']}",
                hint="go on where that GPU is, or start a new run",
            )
        if "failed" in found:
            lost = ready.pop(found["failed"])[0]
            failed.append(MeasuredKernel(lost.name, lost.time_us, found["because"]))
            continue
        rows = zip(ready, found["kernels"], strict=True)
        made = [MeasuredKernel(each.name, each.time_us, row["outputs"], row["us"]) for (each, _, _), row in rows]
        theirs = found["cublas"]
        right = theirs is not None and theirs["outputs"] == RIGHT
        why = f"cuBLAS is wrong here: {theirs['outputs']}" if theirs and not right else found["no_cublas"]
        return Measured(settings.gpu, (*made, *failed), theirs["us"] if right else None, why)
    return Measured(settings.gpu, tuple(failed))


def _compiled(kernel: GeneratedKernel, run: ExploreRun, arch: str) -> tuple[GpuKernel, bytes]:
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
        path = Path(folder) / "kernel.cu"
        path.write_text(kernel.source, encoding="utf-8")
        unit = compile_program(path, arch=arch).units[0]
        name = unit.module.kernels[0].name
        return GpuKernel.of(kernel, name, dict(run.subject.sizes)), image_of(unit.optimised, arch).data


def _asked(run: ExploreRun, kernels: Sequence[tuple[GpuKernel, bytes]]) -> dict[str, Any]:
    """What the process on the GPU answers; ``failed`` and ``because`` where it did not come to its end."""
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
        for number, (_, image) in enumerate(kernels):
            Path(folder, image_name(number)).write_bytes(image)
        request = {
            "subject": run.subject.as_json(), "beside": str(run.folder.resolve()), "ordinal": _ordinal(run.settings.measured),
            "kernels": [kernel.as_json() for kernel, _ in kernels],
        }  # fmt: skip
        Path(folder, REQUEST).write_text(json.dumps(request))
        command = [sys.executable, "-P", "-m", "kernelwright.exploration.on_gpu.process", folder]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, env=_environment())
            said, how = done.stdout, f"the GPU's process ended with {done.returncode}: {done.stderr.strip()[-300:]}"
        except subprocess.TimeoutExpired as late:
            given = late.stdout or ""
            said = given if isinstance(given, str) else given.decode()
            how = f"it does not end: it was stopped after {TIMEOUT_S:g} s"
        path = Path(folder, ANSWER)
        found: dict[str, Any] = json.loads(path.read_text()) if path.is_file() else {}
    if "refused" in found:
        raise ToolError(
            f"the best kernels are to be measured on {run.settings.gpu}: {found['refused']}",
            hint=found["hint"] or f"kw explore --resume {run.name} goes on where that GPU is",
        )
    if not found:
        blamed = _last_number(said)
        if blamed is None:
            raise DeviceError(how, hint="nvidia-smi and dmesg say more; kw explore --resume goes on")
        return {"failed": blamed, "because": how}
    return found


def _last_number(said: str) -> int | None:
    lines = said.split()
    return int(lines[-1]) if lines and lines[-1].isdigit() else None


def _ordinal(device: str) -> int:
    return int(real_gpu(device).partition(":")[2])


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(each for each in sys.path if each)}
