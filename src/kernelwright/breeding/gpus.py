"""What images of kernels are run on: a virtual GPU, which takes optimised IR, or a real one, which takes cubins."""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.architectures import DEFAULT_ARCHITECTURE
from kernelwright.device.arena import ARENA_BASE, GAP
from kernelwright.device.fault import Fault
from kernelwright.device.from_python.device import Device
from kernelwright.device.real_gpu.availability import require_gpu
from kernelwright.device.real_gpu.worker import CudaWorker, Job
from kernelwright.device.real_gpu.worker import Image as Code
from kernelwright.errors import ToolError
from kernelwright.farm.backends.backend import Image
from kernelwright.launch import Launch
from kernelwright.pipeline import Program, load
from kernelwright.target import DEFAULT_GPU

ALIGN = 256


class VirtualGpu:
    """Translates kernels for this processor when they are launched. Each image gets a device of its own: what it occupied
    there goes with it."""

    arch = DEFAULT_ARCHITECTURE

    def __init__(self) -> None:
        self._device: Device | None = None
        self._program: Program | None = None

    def load(self, image: Image) -> None:
        """Loads an image of bred programs. Raises ``ToolError`` for a format that does not run here."""
        if image.format != "ir":
            raise ToolError(f"a {image.format} does not run on a virtual GPU", hint="compile to IR")
        self.close()
        with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
            path = Path(folder, "population.ll")
            path.write_bytes(image.data)
            self._program = load(path)
        # What an individual reads past its rows is no answer.
        self._device = Device(DEFAULT_GPU, timing=False, strict=True)

    def launch(self, kernel: str, grid: tuple[int, int], threads: int, arrays: Sequence[NDArray[Any]]) -> Fault | None:
        assert self._device is not None and self._program is not None
        return self._device.launch(self._program.kernel(kernel), grid, threads, arrays).fault

    def close(self) -> None:
        if self._device is not None:
            self._device.close()
            self._device = None


class RealGpu:
    """GPU number ``ordinal``, in a process of its own. Raises ``ToolError`` and ``DeviceError`` where there is none."""

    def __init__(self, ordinal: int = 0) -> None:
        require_gpu(ordinal)
        self._worker = CudaWorker(ordinal, exclusive=False)
        self._code = Code(b"")

    @property
    def arch(self) -> str:
        """``sm_90``. Starts the GPU's process."""
        return self._worker.info().arch

    def load(self, image: Image) -> None:
        """Loads an image of bred programs. Raises ``ToolError`` for a format that does not run here."""
        if image.format != "cubin":
            raise ToolError(f"{image.format} does not run on a GPU", hint="compile to a cubin")
        self._worker.forget([self._code])
        self._code = Code(image.data, "the population")

    def launch(self, kernel: str, grid: tuple[int, int], threads: int, arrays: Sequence[NDArray[Any]]) -> Fault | None:
        addresses = _addresses([each.nbytes for each in arrays])
        memory = [(address, each.tobytes()) for address, each in zip(addresses, arrays, strict=True)]
        packed = struct.pack(f"<{len(addresses)}Q", *addresses)
        job = Job(self._code, Launch(kernel, (*grid, 1), (threads, 1, 1), packed))
        launched, after = self._worker.run(job, memory)
        for address, each in zip(addresses, arrays, strict=True):
            if address in after and each.flags.writeable:
                np.copyto(each, np.frombuffer(after[address], each.dtype).reshape(each.shape))
        return launched.fault

    def close(self) -> None:
        self._worker.close()


def _addresses(sizes: Sequence[int]) -> list[int]:
    """Places for buffers, apart from each other, so that what leaves one does not reach the next."""
    found, at = [], ARENA_BASE + GAP
    for size in sizes:
        found.append(at)
        at += -(-size // ALIGN) * ALIGN + GAP
    return found
