"""The kernels of ``kernels.cu`` as workloads, and short ways to prove."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from kernelwright.bench.prove.planted import SOUND, UNSAFE, Planted
from kernelwright.evaluate.judging.case_runner import Modules, by_kernel
from kernelwright.evaluate.workload.case import Case
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.pipeline import compile as compile_program
from kernelwright.prove import Effort

SOURCE = Path(__file__).parent / "kernels.cu"
BY_NAME = {one.kernel: one for one in (*UNSAFE, *SOUND)}
QUICK = Effort(orders=2, draws=3, changes=6, tries=12)


@cache
def modules(changed: bool = False) -> Modules:
    return by_kernel(compile_program(SOURCE, define=("VARIANT",) if changed else ()).module)


def variant(kernel: str) -> Modules:
    return {kernel: modules(True)[kernel]}


def floats(n: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).uniform(0.5, 2.0, n).astype(np.float32)


def zeros(n: int, dtype: Any = np.float32) -> Any:
    return np.zeros(n, dtype)


def workload(kernel: str, *cases: Case, **more: Any) -> Workload:
    return Workload(SOURCE, kernel, cases, **more)


def planted(kernel: str) -> Planted:
    return BY_NAME[kernel]
