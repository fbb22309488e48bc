"""The kernel of again.cu on a small row, and on one whose launch is judged by a sample of its blocks: whoever loads this file samples
launches of much less work than usual, its workers as well."""

from pathlib import Path

import numpy as np

from kernelwright.evaluate import Case, Workload
from kernelwright.evaluate.judging import sampled_cases

sampled_cases.LEAST_WORK = 1000


def case(n: int, seed: int) -> Case:
    values = np.random.default_rng(seed).random(n, dtype=np.float32)
    arguments = {"in": values, "out": np.zeros(n, np.float32), "n": np.int32(n), "passes": np.int32(5)}
    return Case(grid=((n + 63) // 64,), block=(64,), arguments=arguments)


workload = Workload(Path(__file__).with_name("again.cu"), "again", cases=(case(20_000, 1), case(200, 2)))
