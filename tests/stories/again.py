"""A workload with something to find: the kernel of again.cu on two rows."""

from pathlib import Path

import numpy as np

from kernelwright.evaluate import Case, Workload


def case(n: int, seed: int) -> Case:
    values = np.random.default_rng(seed).random(n, dtype=np.float32)
    arguments = {"in": values, "out": np.zeros(n, np.float32), "n": np.int32(n), "passes": np.int32(5)}
    return Case(grid=((n + 63) // 64,), block=(64,), arguments=arguments)


workload = Workload(Path(__file__).with_name("again.cu"), "again", cases=(case(256, 1), case(200, 2)))
