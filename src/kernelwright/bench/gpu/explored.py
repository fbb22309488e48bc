"""Table 2 of paper 004 on a GPU: kernels that explorations have found, beside cuBLAS, a naive kernel and one that is tiled by hand.

Each kernel computes on the inputs of its exploration, and what it leaves is compared with NumPy in double precision. Its time lies between
two events, the L2 empty before, less what a launch that does nothing takes there; all kernels of a computation take turns. The estimates
that led the search, and the bounds that pruned it, are held against these times.
"""

from __future__ import annotations

import ctypes
import json
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelwright.bench.gpu.deadline import NEVER, Deadline
from kernelwright.bench.gpu.images import read_image
from kernelwright.bench.result import Measured, Row, Say
from kernelwright.device.real_gpu.gpu import CudaGpu
from kernelwright.errors import KernelwrightError, ToolError
from kernelwright.launch import Launch
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.computation.family import SEED, TOLERANCE, shaped_view
from kernelwright.space.library import example

MANIFEST = "explored.json"
ROUNDS = 11
WARMUP = 2
LEAST_RANKED = 5
PAPER = {
    "axpy 67108864": 1.47, "matmul 256 256 32": 2.42, "matmul 1024 1024 1024": 0.78, "matmul_strided 1024 1024 1024": 66.7,
}  # fmt: skip
"""Over cuBLAS (of strided matrices over the naive kernel), on a Quadro K4000 (Table 2)."""


@dataclass(frozen=True)
class ExploredRow:
    """One kernel. ``role``: best, naive, tiled by hand; empty: one of those tried. Times in microseconds, without the launch, of the GPU
    ``model``; a bound of 0: none."""

    computation: str
    sizes: dict[str, int]
    model: str
    role: str
    image: str
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arrays: tuple[str, ...]
    scratch: dict[str, int] = field(default_factory=dict)
    """Elements, by name."""
    scalars: tuple[str, ...] = ()
    estimated_us: float = 0.0
    bound_us: float = 0.0

    @property
    def problem(self) -> str:
        """The computation's name and its sizes, separated by spaces."""
        return " ".join([self.computation, *map(str, self.sizes.values())])

    def as_json(self) -> dict[str, Any]:
        """Its fields by name, as ``from_json`` reads them."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ExploredRow:
        """What ``as_json`` wrote. Raises ``KeyError`` or ``TypeError`` for anything else."""
        lists = {name: tuple(value[name]) for name in ("grid", "block", "arrays", "scalars")}
        return cls(**{**value, **lists})


def run_explored(folder: Path, ordinal: int, model: str | None, say: Say, until: Deadline = NEVER) -> Measured:
    """A row for each problem, then one for each kernel. In this process: kernels of ours, which end."""
    result = Measured("explored")
    rows = [ExploredRow.from_json(each) for each in json.loads((folder / MANIFEST).read_text())]
    problems = dict.fromkeys(row.problem for row in rows)
    if not problems:
        result.notes.append("no explorations were prepared: kw explore in build/bench-space leaves them")
    gpu = CudaGpu(ordinal)
    try:
        blas, why = _blas()
        if blas is None:
            result.notes.append(f"no cuBLAS: {why}")
        heads, kernels = list[Row](), list[Row]()
        for problem in until.before(problems, result):
            say(problem)
            try:
                bench = _Problem([row for row in rows if row.problem == problem], folder, gpu, blas)
                measured = bench.measured()
            except KernelwrightError as error:
                heads.append({"problem": problem, "failed": error.message})
                continue
            heads.append(head(problem, measured))
            kernels += measured
    finally:
        gpu.close()
    result.rows = [*heads, *kernels]
    _promise(result, kernels, heads, model)
    return result


def head(problem: str, kernels: Sequence[Row]) -> Row:
    """What Table 2 says of a problem, and how far estimates are right."""
    from kernelwright.device.timing_model.fit import spearman

    by_role = {row["role"]: row for row in kernels if row["role"]}
    best, naive = by_role["best"], by_role.get("naive")
    row: Row = {"problem": problem, "best us": best["measured us"], "estimated": best["estimated us"]}
    for role in ("naive", "tiled by hand", "cuBLAS"):
        if role in by_role:
            row[f"over {role}"] = round(by_role[role]["measured us"] / best["measured us"], 3)
    if naive is not None:
        row["over naive, estimated"] = round(naive["estimated us"] / best["estimated us"], 3)
    row["the paper's"] = PAPER.get(problem)
    ours = [each for each in kernels if each["estimated us"]]
    fastest = min(ours, key=lambda each: float(each["measured us"]))
    row["fastest measured us"] = fastest["measured us"]
    if len(ours) >= LEAST_RANKED:
        rank = spearman([e["estimated us"] for e in ours], [e["measured us"] for e in ours])
        row |= {"kernels": len(ours), "rank correlation": None if rank is None else round(rank, 3)}
    return row


def _promise(result: Measured, kernels: Sequence[Row], heads: Sequence[Row], model: str | None) -> None:
    result.at_most("problems that fail", sum("failed" in row for row in heads), 0)
    result.at_most("kernels whose outputs are wrong", sum(row["outputs"] != "right" for row in kernels), 0)
    bounded = [row for row in kernels if row["bound us"] and row["model"] == model]
    if not bounded:
        result.notes.append("the bounds are of another GPU: they are not held against these times")
    faster = sum(row["measured us"] < row["bound us"] for row in bounded) if bounded else None
    result.at_most("kernels that are faster than their bound", faster, 0)


class _Problem:
    """One computation on the GPU: its memory, its kernels."""

    def __init__(self, rows: Sequence[ExploredRow], folder: Path, gpu: CudaGpu, blas: Blas | None) -> None:
        self._rows = rows
        self._folder = folder
        self._gpu = gpu
        self._blas = blas
        first = rows[0]
        self._family = example(first.computation)
        self._declared = self._family.computation(**first.sizes)
        self._inputs = self._family.inputs(self._declared, SEED)
        self._expected = self._family.expected(self._declared, self._inputs)
        self._held: dict[str, int] = {}

    def measured(self) -> list[Row]:
        try:
            for name, array in self._inputs.items():
                self._held[name] = self._gpu.allocate(array.nbytes)
                self._gpu.write(self._held[name], array.tobytes())
            return self._measured()
        finally:
            for address in self._held.values():
                self._gpu.free(address)

    def _measured(self) -> list[Row]:
        found, starts = list[Row](), list[Callable[[], None]]()
        for row in self._rows:
            starts.append(self._start(row))
            found.append(
                {
                    "problem": row.problem, "role": row.role, "model": row.model, "outputs": self._outputs(starts[-1]),
                    "measured us": 0.0, "estimated us": round(row.estimated_us, 3), "bound us": round(row.bound_us, 3),
                }
            )  # fmt: skip
        theirs = self._cublas()
        if theirs is not None:
            starts.append(theirs)
            outputs = self._outputs(partial(self._from_inputs, theirs))
            found.append({**found[0], "role": "cuBLAS", "outputs": outputs, "estimated us": 0.0, "bound us": 0.0})
        for made, us in zip(found, self._times(starts), strict=True):
            made["measured us"] = round(us, 3)
        return found

    def _start(self, row: ExploredRow) -> Callable[[], None]:
        image = read_image(self._folder, row.image, self._gpu.arch)
        loaded = self._gpu.load(image.data, row.problem)
        for name, elements in row.scratch.items():
            if name not in self._held:
                self._held[name] = self._gpu.allocate(4 * elements)
        function = self._gpu.function(loaded, row.kernel)
        launch = Launch(row.kernel, row.grid, row.block, self._parameters(row))
        return partial(self._gpu.driver.launch, function, launch)

    def _parameters(self, row: ExploredRow) -> bytes:
        pointers = [self._held[name] for name in (*row.arrays, *row.scratch)]
        scalars = [self._family.scalars[name] for name in row.scalars]
        return np.array(pointers, np.uint64).tobytes() + np.array(scalars, np.float32).tobytes()

    def _outputs(self, start: Callable[[], None]) -> str:
        """``right``, or what is not."""
        for name in self._expected:
            self._gpu.write(self._held[name], self._inputs[name].tobytes())
        start()
        for name, expected in self._expected.items():
            data = self._gpu.read(self._held[name], self._inputs[name].nbytes)
            found: npt.NDArray[Any] = shaped_view(self._declared.arrays[name], np.frombuffer(data, np.float32))
            error = float(np.abs(found - expected).max()) / max(float(np.abs(expected).max()), 1e-30)
            if not error <= TOLERANCE:
                return f"{name} is off by {error:.3g} of its largest value"
        return "right"

    def _times(self, starts: Sequence[Callable[[], None]]) -> list[float]:
        """Medians, without what a launch takes."""
        nothing = statistics.median(self._gpu.between_us(partial(self._gpu.keep_busy, 0)) for _ in range(ROUNDS))
        taken: list[list[float]] = [[] for _ in starts]
        for number in range(-WARMUP, ROUNDS):
            for own, start in zip(taken, starts, strict=True):
                us = self._gpu.between_us(start, cold=True)
                if number >= 0:
                    own.append(us)
        return [max(statistics.median(own) - nothing, 1e-3) for own in taken]

    def _cublas(self) -> Callable[[], None] | None:
        """cuBLAS has no product of matrices with a stride in each row."""
        if self._blas is None:
            return None
        sizes, at = self._rows[0].sizes, self._held
        match self._rows[0].computation:
            case "axpy":
                # Adds to its second vector, which is as many bytes read and written.
                return partial(self._axpy, sizes["n"], self._family.scalars["alpha"])
            case "matmul":
                return partial(self._blas.product, sizes["m"], sizes["n"], sizes["k"], at["A"], at["B"], at["C"])
        return None

    def _from_inputs(self, start: Callable[[], None]) -> None:
        """``start``, for what adds to an output: to the vector that we add to another."""
        if self._rows[0].computation == "axpy":
            self._gpu.driver.copy(self._held["Z"], self._held["Y"], self._inputs["Z"].nbytes)
        start()

    def _axpy(self, n: int, alpha: float) -> None:
        assert self._blas is not None
        self._blas.add(n, alpha, self._held["X"], self._held["Z"])


class Blas:
    """cuBLAS by its C interface, in the context that is current. Raises ``ToolError`` where a call fails."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self._handle = ctypes.c_void_p()
        self._call("cublasCreate_v2", ctypes.byref(self._handle))

    def product(self, m: int, n: int, k: int, a: int, b: int, c: int) -> None:
        """C = A * B, row after row: of columns, which cuBLAS has, it is B * A."""
        one, zero = ctypes.byref(ctypes.c_float(1)), ctypes.byref(ctypes.c_float(0))
        pointer = ctypes.c_void_p
        self._call(
            "cublasSgemm_v2", self._handle, 0, 0, n, m, k, one, pointer(b), n, pointer(a), k, zero, pointer(c), n
        )

    def add(self, n: int, alpha: float, x: int, y: int) -> None:
        """y = alpha * x + y."""
        factor = ctypes.byref(ctypes.c_float(alpha))
        self._call("cublasSaxpy_v2", self._handle, n, factor, ctypes.c_void_p(x), 1, ctypes.c_void_p(y), 1)

    def _call(self, name: str, *arguments: Any) -> None:
        status = getattr(self._library, name)(*arguments)
        if status:
            raise ToolError(f"{name} returned {status}")


def _blas() -> tuple[Blas | None, str]:
    """cuBLAS, and why there is none."""
    trouble = "libcublas is not found"
    for path in _libraries():
        try:
            return Blas(ctypes.CDLL(path)), ""
        except (OSError, ToolError, AttributeError) as error:
            trouble = str(error)
    return None, trouble


def _libraries() -> Iterator[str]:
    """Where it may lie: as the loader finds it, in NVIDIA's packages, in a toolkit."""
    for version in (13, 12):
        yield f"libcublas.so.{version}"
    folders = [Path(entry) / "nvidia" for entry in sys.path if entry]
    for folder in [*folders, Path("/usr/local/cuda")]:
        yield from map(str, sorted(folder.glob("**/libcublas.so.1*")))
