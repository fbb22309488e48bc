"""One computation in a GPU's memory: kernels for it are run on the inputs of its exploration and compared with NumPy in double precision;
then all are timed in turns, between two events, the L2 empty before, less what a launch that does nothing takes there.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, field
from functools import partial
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelwright.device.real_gpu.gpu import CudaGpu
from kernelwright.errors import DeviceError
from kernelwright.exploration.gpu_times import RIGHT
from kernelwright.exploration.on_gpu.cublas import Blas
from kernelwright.launch import Launch
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.computation import Computation
from kernelwright.space.computation.family import SEED, TOLERANCE, Family, shaped_view
from kernelwright.space.cuda_source import GeneratedKernel

ROUNDS = 11
WARMUP = 2


@dataclass(frozen=True)
class GpuKernel:
    """A kernel as it is launched. ``kernel``: its mangled name; ``scratch``: elements, by name; ``sizes``: those that are given at
    launch."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arrays: tuple[str, ...]
    scratch: dict[str, int] = field(default_factory=dict)
    scalars: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()

    @classmethod
    def of(cls, kernel: GeneratedKernel, name: str, sizes: Mapping[str, int]) -> GpuKernel:
        """``sizes``: all of the computation's."""
        given = tuple(sizes[each.name] for each in kernel.sizes)
        return cls(
            name, kernel.grid, kernel.block, kernel.arrays, kernel.scratch_elements(sizes), kernel.scalars, given
        )

    def as_json(self) -> dict[str, Any]:
        """Its fields by name, as ``from_json`` reads them."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> GpuKernel:
        """What ``as_json`` wrote. Raises ``KeyError`` or ``TypeError`` for anything else."""
        lists = {name: tuple(value[name]) for name in ("grid", "block", "arrays", "scalars", "sizes")}
        return cls(**{**value, **lists})


class ComputationOnGpu:
    """Its arrays lie in the GPU's memory until it is closed; use it as a context manager. In this process, which a kernel that fails takes
    the context from."""

    def __init__(
        self, family: Family, declared: Computation, sizes: Mapping[str, int], gpu: CudaGpu, blas: Blas | None
    ) -> None:
        self._family, self._declared, self._sizes = family, declared, sizes
        self._gpu, self._blas = gpu, blas
        self._inputs = family.inputs(declared, SEED)
        self._expected = family.expected(declared, self._inputs)
        self._held: dict[str, int] = {}

    def __enter__(self) -> ComputationOnGpu:
        for name, array in self._inputs.items():
            self._held[name] = self._gpu.allocate(array.nbytes)
            self._gpu.write(self._held[name], array.tobytes())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            for address in self._held.values():
                self._gpu.free(address)
        except DeviceError:
            pass  # a kernel took the context, and its memory, with it

    def prepared(self, kernel: GpuKernel, image: bytes) -> Callable[[], None]:
        """Starts the kernel. Raises ``DeviceError`` for code that the driver refuses."""
        loaded = self._gpu.load(image, kernel.kernel)
        for name, elements in kernel.scratch.items():
            if name not in self._held:
                self._held[name] = self._gpu.allocate(4 * elements)
        function = self._gpu.function(loaded, kernel.kernel)
        launch = Launch(kernel.kernel, kernel.grid, kernel.block, self._parameters(kernel))
        return partial(self._gpu.driver.launch, function, launch)

    def _parameters(self, kernel: GpuKernel) -> bytes:
        pointers = [self._held[name] for name in (*kernel.arrays, *kernel.scratch)]
        scalars = [self._family.scalars[name] for name in kernel.scalars]
        numbers = np.array(scalars, np.float32).tobytes() + np.array(kernel.sizes, np.int32).tobytes()
        return np.array(pointers, np.uint64).tobytes() + numbers

    def outputs(self, start: Callable[[], None]) -> str:
        """``right``, or what is not. Raises ``DeviceError`` where the kernel fails."""
        for name in self._expected:
            self._gpu.write(self._held[name], self._inputs[name].tobytes())
        start()
        for name, expected in self._expected.items():
            data = self._gpu.read(self._held[name], self._inputs[name].nbytes)
            found: npt.NDArray[Any] = shaped_view(self._declared.arrays[name], np.frombuffer(data, np.float32))
            error = float(np.abs(found - expected).max()) / max(float(np.abs(expected).max()), 1e-30)
            if not error <= TOLERANCE:
                return f"{name} is off by {error:.3g} of its largest value"
        return RIGHT

    def times_us(self, starts: Sequence[Callable[[], None]], rounds: int = ROUNDS) -> npt.NDArray[np.float64]:
        """Of each what it takes in every round without what a launch takes, sorted: (starts, rounds)."""
        nothing = statistics.median(self._gpu.between_us(partial(self._gpu.keep_busy, 0)) for _ in range(ROUNDS))
        turns = [[self._gpu.between_us(start, cold=True) for start in starts] for _ in range(WARMUP + rounds)]
        return np.maximum(np.sort(np.array(turns[WARMUP:]).T) - nothing, 1e-3)

    def cublas(self) -> tuple[Callable[[], None], str] | None:
        """cuBLAS doing the same, and whether that is right; None where it has no such routine, or there is none: it has no product of
        matrices with a stride in each row."""
        if self._blas is None:
            return None
        sizes, at = self._sizes, self._held
        match self._family.name:
            case "axpy":
                # Adds to its second vector, which is as many bytes read and written.
                start = partial(self._axpy, sizes["n"], self._family.scalars["alpha"])
            case "matmul":
                start = partial(self._blas.product, sizes["m"], sizes["n"], sizes["k"], at["A"], at["B"], at["C"])
            case _:
                return None
        return start, self.outputs(partial(self._from_inputs, start))

    def _from_inputs(self, start: Callable[[], None]) -> None:
        """``start``, for what adds to an output: to the vector that we add to another."""
        if self._family.name == "axpy":
            self._gpu.driver.copy(self._held["Z"], self._held["Y"], self._inputs["Z"].nbytes)
        start()

    def _axpy(self, n: int, alpha: float) -> None:
        assert self._blas is not None
        self._blas.add(n, alpha, self._held["X"], self._held["Z"])
