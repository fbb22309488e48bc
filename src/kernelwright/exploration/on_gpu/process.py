"""The process that runs explored kernels on a GPU, and may lose its context to one of them.

    python -m kernelwright.exploration.on_gpu.process FOLDER

FOLDER/request.json   the subject, the GPU's number, the kernels     FOLDER/0.image ...   their code
FOLDER/answer.json    what came of each; or which one the GPU failed with
standard output       the number of each kernel, before it runs
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from kernelwright.device.real_gpu.gpu import CudaGpu
from kernelwright.device.real_gpu.lock import GpuLock
from kernelwright.errors import DeviceError, KernelwrightError
from kernelwright.exploration.on_gpu.computation import ComputationOnGpu, GpuKernel
from kernelwright.exploration.on_gpu.cublas import find_cublas
from kernelwright.exploration.subject import Subject

REQUEST, ANSWER = "request.json", "answer.json"


def image_name(number: int) -> str:
    """Of the file with a kernel's code."""
    return f"{number}.image"


def answer(folder: Path) -> dict[str, Any]:
    """Does what is asked."""
    request = json.loads((folder / REQUEST).read_text())
    subject = Subject.from_json(request["subject"], Path(request["beside"]))
    kernels = [GpuKernel.from_json(each) for each in request["kernels"]]
    gpu = CudaGpu(request["ordinal"])
    lock = GpuLock(gpu.properties.uuid.hex())
    lock.take()
    try:
        blas, why = find_cublas()
        found: dict[str, Any] = {"gpu": gpu.name, "no_cublas": why}
        with ComputationOnGpu(subject.family, subject.declared, dict(subject.sizes), gpu, blas) as computation:
            return found | _measured(computation, kernels, folder)
    finally:
        lock.give_back()


def _measured(computation: ComputationOnGpu, kernels: list[GpuKernel], folder: Path) -> dict[str, Any]:
    starts, outputs = list[Callable[[], None]](), list[str]()
    for number, kernel in enumerate(kernels):
        print(number, flush=True)  # the one to blame if nothing comes after
        try:
            starts.append(computation.prepared(kernel, (folder / image_name(number)).read_bytes()))
            outputs.append(computation.outputs(starts[-1]))
        except DeviceError as error:
            return {"failed": number, "because": error.message}
    theirs = computation.cublas()
    if theirs is not None:
        starts.append(theirs[0])
        outputs.append(theirs[1])
    times = np.median(computation.times_us(starts), axis=1).tolist()
    rows = [{"outputs": said, "us": us} for said, us in zip(outputs, times, strict=True)]
    return {"kernels": rows[: len(kernels)], "cublas": rows[-1] if theirs is not None else None}


def main(folder: Path) -> None:
    """Writes the answer; what cannot be done at all is told in it."""
    try:
        found = answer(folder)
    except KernelwrightError as error:
        found = {"refused": error.message, "hint": error.hint}
    (folder / ANSWER).write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
