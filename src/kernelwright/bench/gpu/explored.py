"""Table 2 of paper 004 on a GPU: kernels that explorations have found, beside cuBLAS, a naive kernel and one that is tiled by hand.

Each kernel computes on the inputs of its exploration, and what it leaves is compared with NumPy in double precision. Its time lies between
two events, the L2 empty before, less what a launch that does nothing takes there; all kernels of a computation take turns, 40 each as in
the paper: their median is shown, and between which times eight tenths of them are. The estimates that led the search, and the bounds that
pruned it, are held against these times.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from kernelwright.bench.gpu.deadline import NEVER, Deadline
from kernelwright.bench.gpu.images import read_image
from kernelwright.bench.result import Measured, Row, Say
from kernelwright.device.real_gpu.gpu import CudaGpu
from kernelwright.errors import KernelwrightError
from kernelwright.exploration.gpu_times import LEAST_RANKED
from kernelwright.exploration.on_gpu.computation import ComputationOnGpu, GpuKernel
from kernelwright.exploration.on_gpu.cublas import Blas, find_cublas
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.library import example

MANIFEST = "explored.json"
ROUNDS = 40
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
    launched: GpuKernel
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
        return cls(**{**value, "launched": GpuKernel.from_json(value["launched"])})


def run_explored(folder: Path, ordinal: int, model: str | None, say: Say, until: Deadline = NEVER) -> Measured:
    """A row for each problem, then one for each kernel. In this process: kernels of ours, which end."""
    result = Measured("explored")
    rows = [ExploredRow.from_json(each) for each in json.loads((folder / MANIFEST).read_text())]
    problems = dict.fromkeys(row.problem for row in rows)
    if not problems:
        result.notes.append("no explorations were prepared: kw explore in build/bench-space leaves them")
    gpu = CudaGpu(ordinal)
    try:
        blas, why = find_cublas()
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
    """One computation on the GPU, with its kernels."""

    def __init__(self, rows: Sequence[ExploredRow], folder: Path, gpu: CudaGpu, blas: Blas | None) -> None:
        self._rows, self._folder, self._gpu, self._blas = rows, folder, gpu, blas

    def measured(self) -> list[Row]:
        """A row for each kernel, and one for cuBLAS where it does the same."""
        first = self._rows[0]
        family = example(first.computation)
        declared = family.computation(**first.sizes)
        with ComputationOnGpu(family, declared, first.sizes, self._gpu, self._blas) as computation:
            return self._measured(computation)

    def _measured(self, computation: ComputationOnGpu) -> list[Row]:
        found, starts = list[Row](), list[Callable[[], None]]()
        for row in self._rows:
            image = read_image(self._folder, row.image, self._gpu.arch)
            starts.append(computation.prepared(row.launched, image.data))
            found.append(
                {
                    "problem": row.problem, "role": row.role, "model": row.model, "outputs": computation.outputs(starts[-1]),
                    "measured us": 0.0, "estimated us": round(row.estimated_us, 3), "bound us": round(row.bound_us, 3),
                }
            )  # fmt: skip
        theirs = computation.cublas()
        if theirs is not None:
            starts.append(theirs[0])
            found.append({**found[0], "role": "cuBLAS", "outputs": theirs[1], "estimated us": 0.0, "bound us": 0.0})
        for made, taken in zip(found, computation.times_us(starts, ROUNDS), strict=True):
            made["measured us"] = round(float(np.median(taken)), 3)
            made["a tenth below"], made["a tenth above"] = (
                round(float(each), 3) for each in np.quantile(taken, (0.1, 0.9))
            )
        return found
