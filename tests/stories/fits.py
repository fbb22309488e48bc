"""A workload whose training data hide what the kernel is for: other data come from its generator."""

from pathlib import Path

import numpy as np

from kernelwright.evaluate import Case, Workload


def case(n: int, seed: int, low: float = 0.0) -> Case:
    values = np.random.default_rng(seed).uniform(low, 1.0, n).astype(np.float32)
    return Case(grid=((n + 63) // 64,), block=(64,), arguments={"in": values, "out": np.zeros(n, np.float32), "n": n})


def other(seed: int) -> Case:
    return case(100 + 10 * seed, seed, low=-1.0)


workload = Workload(Path(__file__).with_name("fits.cu"), "fits", cases=(case(256, 1), case(200, 2)), generator=other)
